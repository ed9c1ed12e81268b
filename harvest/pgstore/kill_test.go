package pgstore

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

// childEnv makes the test binary a process that harvests a listing. Its value is a child
// in JSON.
const childEnv = "WEBSYNC_PGSTORE_CHILD"

type child struct {
	Server, Schema string
	Source         string
	Entries        int
	Late           time.Duration // its clock
	Commit         int           // the COMMIT in which it kills itself; 0: none
	Sent           bool          // after it was sent, without an answer; else before
}

// harvest is what the process does.
func (c *child) harvest(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(c.Server)
	if err != nil {
		return err
	}
	commits := 0
	n := &network{conns: map[*cutConn]bool{}, atCommit: func(sent bool) bool {
		if !sent {
			commits++
		}
		if commits == c.Commit && sent == c.Sent {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
		return false
	}}
	config.ConnConfig.DialFunc = n.dial
	s, err := onStore(open(ctx, config, &Options{Schema: c.Schema}))
	if err != nil {
		return err
	}
	s.Now = func() time.Time { return time.Now().Add(c.Late) }
	_, err = listing{c.Source, c.Entries}.harvest(ctx, s.Catalog)
	return err
}

// run runs the process and waits for it.
func (c *child) run(t testing.TB) error {
	args, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(args))
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// childMain runs the process that the test binary is made to be, and reports whether it
// is one.
func childMain() bool {
	args := os.Getenv(childEnv)
	if args == "" {
		return false
	}
	var c child
	err := json.Unmarshal([]byte(args), &c)
	if err == nil {
		err = c.harvest(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// TestKill kills processes with a signal inside COMMIT, before it is sent and after. The
// next one goes on from there.
func TestKill(t *testing.T) {
	dsn := pgtest.Server(t)
	s := reopen(t, dsn, pgtest.Schema(t, dsn))
	c := &child{Server: dsn, Schema: s.db.schema, Source: "a", Entries: 5_000}
	kills := 8
	if racing.Few() {
		kills = 4
	}
	for killed := 0; killed < kills; {
		c.Late += time.Hour // the claim of the process that was killed is over
		c.Commit, c.Sent = 1+rand.IntN(5), killed%2 == 0
		err := c.run(t)
		inspect(t, s)
		if err == nil { // what was left took fewer COMMITs: more is listed
			c.Entries += 5_000
			continue
		}
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.False(t, exit.Exited(), "the process ended by itself: %v", exit)
		killed++
	}
	c.Late += time.Hour
	c.Commit = 0
	require.NoError(t, c.run(t))
	checkListing(t, s, listing{c.Source, c.Entries})
}

// BenchmarkTwo compares two processes, each with a source, on one schema with one
// process. x-one is the entries in a second of both, together, beside those of one alone.
func BenchmarkTwo(b *testing.B) {
	dsn := pgtest.Server(b)
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	harvestAll := func(sources ...string) time.Duration {
		schema := pgtest.Schema(b, dsn)
		require.NoError(b, reopen(b, dsn, schema).Close())
		began := time.Now()
		var all sync.WaitGroup
		for _, source := range sources {
			all.Go(func() {
				if err := (&child{Server: dsn, Schema: schema, Source: source, Entries: n}).run(b); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		pgtest.Ask(b, dsn, "drop schema "+schema+" cascade")
		return took
	}
	var ratios []float64
	for b.Loop() {
		one, two := harvestAll("a"), harvestAll("a", "b")
		ratios = append(ratios, 2*one.Seconds()/two.Seconds())
	}
	b.ReportMetric(median(ratios), "x-one")
}
