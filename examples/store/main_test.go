package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// TestStore: what was harvested is there when the file is opened again.
func TestStore(t *testing.T) {
	name := filepath.Join(t.TempDir(), "store.gob")
	store, err := open(name)
	require.NoError(t, err)
	page := harvest.Event{Resource: websync.Resource{ID: "urn:a"}, Open: harvest.OpenBytes([]byte("text"))}
	_, err = (&harvest.Harvester{Catalog: harvest.NewCatalog(store)}).Run(t.Context(), harvest.Of("demo", page))
	require.NoError(t, err)

	store, err = open(name)
	require.NoError(t, err)
	head, err := harvest.NewCatalog(store).Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"demo": 1}, head.Live)
}

// TestRules: the file is a Store by all rules.
func TestRules(t *testing.T) {
	racing.Long(t) // the whole suite takes half a minute
	again := func(t testing.TB, name string) harvest.Store {
		f, err := open(name)
		require.NoError(t, err)
		return f
	}
	storetest.Run(t, storetest.Options{
		Open:   func(t testing.TB) harvest.Store { return again(t, filepath.Join(t.TempDir(), "store.gob")) },
		Reopen: func(t testing.TB, db harvest.Store) harvest.Store { return again(t, db.(*file).name) },
	})
}
