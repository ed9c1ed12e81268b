package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

// TestHarvestReader: a role of PostgreSQL that may only read is enough for -plan and
// -audit. Without them the message names the rights that are missing.
func TestHarvestReader(t *testing.T) {
	pgtest.Server(t)
	dsn, drop, err := pgtest.NewDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	w := newWeb(t)
	args := []string{"-protocol", "sitemap", "-allow-private", "-rate", "1000", w.URL + "/sitemap.xml"}
	w.set("/a", text("one"))
	w.set("/sitemap.xml", text(w.urlset("/a")))
	callHarvest(t, append([]string{"-store", "postgres:" + dsn}, args...)...).is(t, exitDone)

	args = append([]string{"-store", "postgres:" + pgtest.Reader(t, dsn, "websync")}, args...)
	callHarvest(t, append([]string{"-audit"}, args...)...).is(t, exitDone)
	w.set("/sitemap.xml", text(w.urlset("/a", "/b")))
	plan := callHarvest(t, append([]string{"-plan"}, args...)...)
	plan.is(t, exitDone)
	assert.Contains(t, plan.stdout, "created   "+w.URL+"/b")
	run := callHarvest(t, args...)
	run.is(t, exitFailed)
	assert.Contains(t, run.stderr, "writing also INSERT, UPDATE and DELETE")
	assert.NotContains(t, run.stderr, "may have been applied")
}
