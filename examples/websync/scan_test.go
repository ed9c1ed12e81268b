package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
)

func TestTheFirstScanDelaysNoOther(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "text"})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src := &dirsource.Source{Dir: dir, Base: "https://example.com/"}
		store := harvest.NewCatalog(memstore.New())
		s := &scanner{source: src, harvester: &harvest.Harvester{Catalog: store, MaxDelete: -1}, every: 2 * time.Second, console: cli.NewConsole("publish", io.Discard, io.Discard)}
		require.NoError(t, s.scan(ctx))
		s.took = time.Hour // so many files there were
		done := make(chan struct{})
		go func() {
			s.watch(ctx)
			close(done)
		}()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "b.txt"), nil, 0o600))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		head, err := store.Head(ctx)
		require.NoError(t, err)
		assert.EqualValues(t, 2, head.Live[src.Key()])
		cancel()
		<-done
	})
}
