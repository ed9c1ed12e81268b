package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestPublishReader: a role of PostgreSQL that may only read is enough to publish, but
// not to keep a record of dumps.
func TestPublishReader(t *testing.T) {
	pgtest.Server(t)
	dsn, drop, err := pgtest.NewDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	db, err := pgstore.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	testkit.Fill(t, store, "one", []string{"text"}, websync.Item{
		Resource: websync.Resource{ID: "urn:a"},
		Bodies:   []websync.Body{{Name: "content", Link: websync.Link{Type: "text/plain"}, Key: websync.SHA256([]byte("text"))}},
	})
	require.NoError(t, db.Close())

	reader := "postgres:" + pgtest.Reader(t, dsn, "websync")
	a := callPublish(t, "-store", reader, "-out", t.TempDir())
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Contains(t, a.stderr, "3 written")
	_, list := get(t, servePublish(t, "-store", reader))
	assert.Contains(t, list, "urn=3Aa~content")
	a = callPublish(t, "-store", reader, "-protocol", "resourcesync", "-dumps", t.TempDir(), "-out", t.TempDir())
	require.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, "writing also INSERT, UPDATE and DELETE")
}
