package dirsource_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest/dirsource"
)

func TestTagOfInode(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tag := func(inode uint64, modified, changed time.Time) string {
		sys := &syscall.Stat_t{Ino: inode, Ctim: syscall.NsecToTimespec(changed.UnixNano())}
		return dirsource.Tag(&dirsource.Source{}, fileInfo{time: modified, sys: sys}, now)
	}
	old := now.Add(-time.Hour)
	assert.Equal(t, tag(1, old, old), tag(1, old, old))
	assert.NotEqual(t, tag(1, old, old), tag(2, old, old), "inode")
	assert.NotEqual(t, tag(1, old, old), tag(1, old, old.Add(1)), "time of the change")
	assert.Contains(t, tag(1, old, now), "at", "changed just now, whatever time was set")
	assert.NotContains(t, tag(1, now.AddDate(70, 0, 0), old), "at", "a time in the future hides nothing")
}
