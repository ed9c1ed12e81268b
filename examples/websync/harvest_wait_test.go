package main

import (
	"bytes"
	"github.com/websync-go/websync/internal/testing/racing"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

// TestWait: a process that was killed leaves its claim in PostgreSQL. The next run says
// until when it stands, and one with -wait begins then.
func TestWait(t *testing.T) {
	racing.Long(t) // takes the minute for which a claim stands
	t.Parallel()
	pgtest.Server(t)
	dsn, drop, err := pgtest.NewDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })

	w := newWeb(t)
	reached, stay := make(chan struct{}), make(chan struct{})
	w.set("/a", func(http.ResponseWriter, *http.Request) { close(reached); <-stay })
	w.set("/sitemap.xml", text(w.urlset("/a")))
	args := []string{"-store", "postgres:" + dsn, "-protocol", "sitemap", "-rate", "1000", w.URL + "/sitemap.xml"}
	var out bytes.Buffer
	cmd := process(append([]string{"harvest"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	<-reached
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "%s", &out)
	close(stay)

	w.set("/a", text("one"))
	held := callHarvest(t, args...)
	held.is(t, exitFailed)
	ends := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).FindString(held.stderr)
	at, err := time.Parse(time.RFC3339, ends)
	require.NoError(t, err, held.stderr)
	waited := callHarvest(t, append([]string{"-wait"}, args...)...)
	waited.is(t, exitDone)
	assert.Contains(t, waited.stderr, "waiting")
	assert.False(t, time.Now().Before(at), "the claim stood until %v", at)
}
