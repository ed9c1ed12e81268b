package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/websync-go/websync/harvest"
)

// A nameServer returns its answers one after the other, for any name, and repeats the
// last.
type nameServer struct {
	mu      sync.Mutex
	answers [][]string // addresses, for each lookup
	asked   int
}

// resolver returns a resolver that asks s over a pipe.
func (s *nameServer) resolver(t *testing.T) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe() // no PacketConn: messages have their length before them
		go s.serve(t, far)
		return near, nil
	}}
}

func (s *nameServer) serve(t *testing.T, conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var m dnsmessage.Message
		if !assert.NoError(t, m.Unpack(query)) {
			return
		}
		m.Response, m.Additionals = true, nil
		q := m.Questions[0]
		if q.Type == dnsmessage.TypeA {
			for _, addr := range s.next() {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()},
				})
			}
		}
		answer, err := m.Pack()
		if !assert.NoError(t, err) {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
			return
		}
	}
}

func (s *nameServer) next() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answers[min(s.asked, len(s.answers)-1)]
	s.asked++
	return answer
}

// The owner of a name can change what it resolves to at any time. The first answer is
// what counts.
func TestRebinding(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Connection", "close")
		w.Write([]byte("hello"))
	}))
	defer inside.Close()
	port := strconv.Itoa(inside.Listener.Addr().(*net.TCPAddr).Port)
	const here, elsewhere, metadata, public = "127.0.0.1", "127.0.0.99", "169.254.169.254", "8.8.8.8"
	for _, tt := range []struct {
		name    string
		url     string
		answers [][]string // the first is what decides, the second what is dialled
		fetched int        // of three
	}{
		{"public, then private", "http://source.example:P/a", [][]string{{public}, {here}}, 0},
		{"public and private", "http://source.example:P/a", [][]string{{public, here}, {here}}, 0},
		{"private", "http://source.example:P/a", [][]string{{here}}, 3},
		{"private, by an absolute name", "http://source.example.:P/a", [][]string{{here}}, 3},
		{"two private ones", "http://source.example:P/a", [][]string{{elsewhere, here}, {here}}, 3},
		{"private, then another", "http://source.example:P/a", [][]string{{elsewhere}, {here}}, 0},
		{"private, later another", "http://source.example:P/a", [][]string{{here}, {here}, {elsewhere}}, 1},
		{"private, later link-local", "http://source.example:P/a", [][]string{{here}, {here}, {metadata}}, 1},
		{"link-local", "http://source.example:P/a", [][]string{{metadata}}, 0},
		{"link-local, then private", "http://source.example:P/a", [][]string{{metadata}, {here}}, 0},
		{"localhost", "http://localhost:P/a", [][]string{{metadata}}, 3}, // from the table of hosts
		{"below localhost", "http://source.localhost:P/a", [][]string{{here}}, 3},
		{"below localhost, but elsewhere", "http://source.localhost:P/a", [][]string{{metadata}}, 0},
		{"digits", "http://127.0.0.1:P/a", [][]string{{metadata}}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked.Store(0)
			names := &nameServer{answers: tt.answers}
			c := &Client{Rate: -1, Attempts: -1, IgnoreRobots: true, resolver: names.resolver(t)}
			defer c.CloseIdleConnections()
			url := tt.url[:len(tt.url)-len("P/a")] + port + "/a"
			for i := range 3 {
				body, err := get(t.Context(), c, url)
				if i < tt.fetched {
					require.NoError(t, err)
					assert.Equal(t, "hello", body)
				} else {
					require.ErrorIs(t, err, harvest.ErrForbidden)
					assert.NotErrorIs(t, err, harvest.ErrTemporary)
				}
			}
			assert.EqualValues(t, tt.fetched, asked.Load())
		})
	}
}

// A name that was public stays public in later runs, although it may change between runs.
func TestRebindingBetweenRuns(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inside.Close()
	url := "http://source.example:" + strconv.Itoa(inside.Listener.Addr().(*net.TCPAddr).Port) + "/a"
	s := new(memState)
	for _, answers := range [][][]string{{{"8.8.8.8"}, {"127.0.0.1"}}, {{"127.0.0.1"}}} {
		names := &nameServer{answers: answers}
		c := New(s)
		c.Rate, c.Attempts, c.IgnoreRobots, c.resolver = -1, -1, true, names.resolver(t)
		_, err := get(t.Context(), c, url)
		require.ErrorIs(t, err, harvest.ErrForbidden)
		s.commit(c)
		c.CloseIdleConnections()
	}
	assert.Zero(t, asked.Load())
}
