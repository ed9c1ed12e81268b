package spool

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReportsErrors(t *testing.T) {
	for release, want := range map[string]bool{
		"5.8.0": true, "5.15.0-91-generic": true, "6.1": true, "10.0.1": true, "5.7.19": false, "4.19.0": false, "": false, "x": false,
	} {
		assert.Equal(t, want, reportsErrors(release), release)
	}
}

func TestSyncDisk(t *testing.T) {
	d, err := os.Open(t.TempDir())
	require.NoError(t, err)
	if !CanSyncDisk(d) {
		t.Skip("not a file system that can be flushed as a whole")
	}
	require.NoError(t, SyncDisk(d))
	require.NoError(t, d.Close())
	require.Error(t, SyncDisk(d))
	require.False(t, CanSyncDisk(d))
}
