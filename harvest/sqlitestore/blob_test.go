package sqlitestore

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSyncDirs: bodies are finished while Updates make the names of others durable.
func TestSyncDirs(t *testing.T) {
	d := &Store{unsynced: map[string]bool{}}
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				d.noteUnsynced(dir)
				assert.NoError(t, d.sync())
				assert.NoError(t, d.sync())
			}
		})
	}
	group.Wait()
	assert.Empty(t, d.unsynced)
}
