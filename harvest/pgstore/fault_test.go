package pgstore

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

var errCut = errors.New("the connection was cut")

// A network is what the connections of a Store go through.
type network struct {
	mu    sync.Mutex
	down  bool
	stall bool // what arrives is not read
	conns map[*cutConn]bool
	// while down, atRefusal is called with how many connections were refused
	refused   int
	atRefusal func(refused int)
	// dialled has a value for each connection that was made
	dialled chan struct{}
	// atCommit is called before and after COMMIT is sent. If it returns true, the
	// connection is cut: before, or when the server has answered.
	atCommit func(sent bool) bool
}

// A cutConn is a connection that can be cut.
type cutConn struct {
	net.Conn
	network *network
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.network.mu.Lock()
	stalled := c.network.stall
	c.network.mu.Unlock()
	for stalled && err == nil {
		n = 0
		_, err = c.Conn.Read(p) // until a deadline, or the end of the connection
	}
	return n, err
}

// stop lets no answer arrive, or ends that.
func (n *network) stop(stall bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stall = stall
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		n.refused++
		if n.atRefusal != nil {
			n.atRefusal(n.refused)
		}
		return nil, errCut
	}
	inner, err := new(net.Dialer).DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	c := &cutConn{inner, n}
	n.conns[c] = true
	select {
	case n.dialled <- struct{}{}:
	default:
	}
	return c, nil
}

// set cuts all connections, or lets new ones be made.
func (n *network) set(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for c := range n.conns {
		c.Close()
	}
	clear(n.conns)
}

// refuse cuts all connections and refuses new ones. When it has refused a number of them,
// it calls then.
func (n *network) refuse(count int, then func()) {
	n.set(true)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = 0
	n.atRefusal = func(refused int) {
		if refused == count {
			then()
		}
	}
}

// cutAtCommit makes hook decide at each COMMIT whether the connection is cut: before it
// is sent, and once the server has answered.
func (n *network) cutAtCommit(hook func(sent bool) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.atCommit = hook
}

func (n *network) hook() func(sent bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.atCommit == nil {
		return func(bool) bool { return false }
	}
	return n.atCommit
}

func (c *cutConn) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("commit\x00")) {
		return c.Conn.Write(p)
	}
	atCommit := c.network.hook()
	if atCommit(false) {
		c.Close()
		return 0, errCut
	}
	n, err := c.Conn.Write(p)
	if err == nil && atCommit(true) {
		c.Read(make([]byte, 1)) // the answer of the server
		c.Close()
	}
	return n, err
}

// throughNetwork opens a Store whose connections can be cut.
func throughNetwork(t testing.TB, dsn, schema string, retry time.Duration) (*catalog, *network) {
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	n := &network{conns: map[*cutConn]bool{}, dialled: make(chan struct{}, 100)}
	config.ConnConfig.DialFunc = n.dial
	s, err := onStore(open(t.Context(), config, &Options{Schema: schema, Retry: retry}))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, n
}

// Each call is carried out once, whether the connection is lost before the server commits
// or after it.
func TestLostInCommit(t *testing.T) {
	dsn := pgtest.Server(t)
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			s, network := throughNetwork(t, dsn, pgtest.Schema(t, dsn), 0)
			beside := reopen(t, dsn, s.db.schema)
			losses := 0
			lose := func(what string, call func() error) {
				t.Helper()
				commits := 0
				network.cutAtCommit(func(sent bool) bool {
					if sent != after {
						return false
					}
					if commits++; commits%3 == 0 { // after two losses in a row
						return false
					}
					losses++
					return true
				})
				require.NoError(t, call(), what)
				network.cutAtCommit(nil)
			}
			for i := range 3 {
				lose("Update", func() error { return s.db.Update(t.Context(), countUp) })
				assert.Equal(t, strconv.Itoa(i+1), count(t, s))
			}
			lose("Update", func() error {
				return s.db.Update(t.Context(), func(tx harvest.Tx) error { return tx.Delete(counter) })
			})
			assert.Empty(t, count(t, s))
			for i := range 3 {
				lose("Swap", func() error {
					return s.Swap(t.Context(), "k", []byte(strconv.Itoa(i))[:min(i, 1)], []byte(strconv.Itoa(i+1)))
				})
			}
			for _, id := range []string{"1", "2", "3"} {
				lose("Fill", func() error {
					testkit.Fill(t, s.Catalog, "a", []string{"the body of " + id}, websync.Item{
						Resource: websync.Resource{ID: id},
						Bodies:   []websync.Body{{Name: "content", Key: websync.SHA256([]byte("the body of " + id))}},
					})
					return nil
				})
			}
			var held context.Context
			var release func()
			lose("Hold", func() (err error) {
				held, release, err = s.Hold(t.Context(), "a", 4*time.Second)
				return err
			})
			lose("Hold, renewing", func() error {
				until := heldUntil(t, beside, "a")
				require.Eventually(t, func() bool { return heldUntil(t, beside, "a").After(until) }, time.Minute, 10*time.Millisecond)
				return held.Err()
			})
			lose("release", func() error { release(); return nil })
			_, release, err := s.Hold(t.Context(), "a", time.Hour)
			require.NoError(t, err)
			release()
			assert.GreaterOrEqual(t, losses, 16)
			head, err := s.Head(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 3, head.Last)
			assert.EqualValues(t, 3, head.Live["a"])
			inspect(t, s)
		})
	}
}

// counter is no key of a Catalog.
var counter = []byte("x")

// countUp adds one to the counter.
func countUp(tx harvest.Tx) error {
	value, err := tx.Get(counter)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(string(value)) // 0 if there is none
	return tx.Set(counter, []byte(strconv.Itoa(n+1)))
}

// count returns the value of the counter.
func count(t testing.TB, s *catalog) (value string) {
	t.Helper()
	require.NoError(t, s.db.View(t.Context(), func(r harvest.Reader) error {
		b, err := r.Get(counter)
		value = string(b)
		return err
	}))
	return value
}

// heldUntil returns when the claim of name expires, which another holds.
func heldUntil(t testing.TB, s *catalog, name string) time.Time {
	t.Helper()
	_, _, err := s.Hold(t.Context(), name, time.Hour)
	held, ok := errors.AsType[*harvest.HeldError](err)
	require.True(t, ok, err)
	return held.Expires
}

// A call goes on after an outage that is shorter than Retry. A longer one is an error,
// and changes nothing.
func TestOutage(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	s, network := throughNetwork(t, dsn, schema, 0)
	require.NoError(t, s.Swap(t.Context(), "k", nil, []byte("1")))
	for i := range 3 { // the first call after an outage
		network.set(false)
		require.NoError(t, s.Swap(t.Context(), "k", strconv.AppendInt(nil, int64(i+1), 10), strconv.AppendInt(nil, int64(i+2), 10)))
		network.set(false)
		value, err := s.State(t.Context(), "k")
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(i+2), string(value))
	}
	network.set(true)
	read := make(chan error, 1)
	go func() {
		_, err := s.Head(t.Context())
		read <- err
	}()
	written := make(chan error, 1)
	go func() { written <- s.Swap(t.Context(), "k", []byte("4"), []byte("5")) }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, s.Swap(ctx, "other", nil, []byte("v")), context.DeadlineExceeded, "the context ends the wait")
	network.set(false)
	require.NoError(t, <-read)
	require.NoError(t, <-written)

	brief, network := throughNetwork(t, dsn, schema, 20*time.Millisecond)
	network.set(true)
	_, err := brief.Head(t.Context())
	require.ErrorContains(t, err, "pgstore: no connection to the server for 20ms: ")
	require.ErrorIs(t, err, errCut)
	require.ErrorContains(t, brief.Swap(t.Context(), "k", []byte("5"), []byte("6")), "no connection to the server for 20ms: ")

	brief, network = throughNetwork(t, dsn, schema, 20*time.Millisecond) // with connections that work
	network.cutAtCommit(func(sent bool) bool {
		if sent {
			network.set(true)
		}
		return sent
	})
	err = brief.Swap(t.Context(), "k", []byte("5"), []byte("6"))
	require.ErrorContains(t, err, "the last transaction may have been applied")
	require.NoError(t, s.Swap(t.Context(), "another", nil, []byte("v"))) // waits for the transaction
	value, err := s.State(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, "6", string(value))
}

// All calls together have the time of Retry: one that comes when it has passed ends with
// its first failure.
func TestOutageOfManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, err := pgxpool.ParseConfig("postgres://nobody@127.0.0.1:1/none")
		require.NoError(t, err)
		d, err := newStore(t.Context(), config, &Options{})
		require.NoError(t, err)
		defer d.Close()
		calls := 0
		lost := func() error {
			calls++
			time.Sleep(time.Second)
			return &lostError{errCut}
		}
		began := time.Now()
		require.ErrorContains(t, d.patiently(t.Context(), lost), "no connection to the server for 30s")
		assert.InDelta(t, 31, time.Since(began).Seconds(), 3)
		calls = 0
		require.ErrorIs(t, d.patiently(t.Context(), lost), errCut)
		assert.Equal(t, 1, calls, "the outage goes on")

		time.Sleep(time.Hour)
		calls = 0
		require.ErrorIs(t, d.patiently(t.Context(), lost), errCut)
		assert.Greater(t, calls, 5, "another outage")

		require.NoError(t, d.patiently(t.Context(), func() error { return nil }))
		calls = 0
		require.ErrorIs(t, d.patiently(t.Context(), lost), errCut)
		assert.Greater(t, calls, 5, "the server was reached meanwhile")
	})
}

// The error of a call that ends while it waits for a connection says so.
func TestCancelledInOutage(t *testing.T) {
	dsn := pgtest.Server(t)
	s, network := throughNetwork(t, dsn, pgtest.Schema(t, dsn), 0)
	for name, call := range map[string]func(context.Context) error{
		"reads":  func(ctx context.Context) error { _, err := s.Head(ctx); return err },
		"writes": func(ctx context.Context) error { return s.Swap(ctx, "k", nil, []byte("v")) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			network.refuse(3, cancel) // in the third attempt
			err := call(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errCut)
			network.set(false)
		})
	}
}

// A server that no longer answers is one that can't be reached.
func TestStall(t *testing.T) {
	dsn := pgtest.Server(t)
	s, network := throughNetwork(t, dsn, pgtest.Schema(t, dsn), 0)
	s.db.answer = 100 * time.Millisecond
	network.stop(true)
	for len(network.dialled) > 0 {
		<-network.dialled
	}
	call := make(chan error, 1)
	go func() { call <- s.Swap(t.Context(), "k", nil, []byte("1")) }()
	<-network.dialled // another connection is tried
	network.stop(false)
	network.set(false)
	require.NoError(t, <-call)
	value, err := s.State(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, "1", string(value))
}

// Close does not wait for a server that does not answer.
func TestCloseWhileStalled(t *testing.T) {
	dsn := pgtest.Server(t)
	s, network := throughNetwork(t, dsn, pgtest.Schema(t, dsn), 0)
	require.NoError(t, s.db.View(t.Context(), func(r harvest.Reader) error {
		_, err := r.Get([]byte("k"))
		network.stop(true) // the end of the transaction is sent, and has no answer
		return err
	}))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("Close waits for the server")
	}
}

// A harvest goes on although its connections end again and again.
func TestTerminated(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	config.ConnConfig.RuntimeParams["application_name"] = schema
	s, err := onStore(open(t.Context(), config, &Options{Schema: schema}))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	var killing sync.WaitGroup
	killed := 0
	killing.Go(func() {
		for ctx.Err() == nil && killed < racing.Some(40) {
			answers, err := pgtest.Query(dsn, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '"+schema+"' order by random() limit 1")
			assert.NoError(t, err)
			killed += len(answers)
		}
	})
	l := listing{"a", 5_000}
	l.run(t, s.Catalog, l.n)
	l.run(t, s.Catalog, 0)
	cancel()
	killing.Wait()
	t.Logf("%d connections were ended", killed)
	assert.Positive(t, killed)
	checkListing(t, s, l)
}

// checkListing checks that the Store holds the listing and nothing else, and that its
// parts agree.
func checkListing(t *testing.T, s *catalog, l listing) {
	t.Helper()
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, l.n, head.Last, "entries of the log")
	assert.EqualValues(t, l.n, head.Live[l.key], "live records")
	var last websync.Item
	for item, err := range s.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, last.Seq+1, item.Seq)
		require.True(t, item.Time.After(last.Time))
		last = item
	}
	for task, err := range s.Tasks(t.Context(), l.key, "") {
		t.Error("a task is left: ", task.Resource.ID, err)
	}
	inspect(t, s)
}

// inspect checks that the parts of the Store agree.
func inspect(t *testing.T, s *catalog) {
	t.Helper()
	faults, err := harvest.NewCatalog(s.db).Inspect(t.Context())
	require.NoError(t, err)
	assert.Empty(t, faults)
}
