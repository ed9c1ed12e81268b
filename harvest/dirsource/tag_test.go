package dirsource_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest/dirsource"
)

// A fileInfo describes a file that need not exist. Sys depends on the system.
type fileInfo struct {
	fs.FileInfo
	size int64
	time time.Time
	sys  any
}

func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return i.time }
func (i fileInfo) Sys() any           { return i.sys }

func TestTag(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tag := func(info fileInfo, now time.Time) string { return dirsource.Tag(&dirsource.Source{}, info, now) }
	old := fileInfo{size: 10, time: now.Add(-2 * time.Second)}
	assert.Equal(t, tag(old, now), tag(old, now.Add(time.Hour)), "at rest")
	assert.NotEqual(t, tag(old, now), tag(fileInfo{size: 11, time: old.time}, now), "size")
	assert.NotEqual(t, tag(old, now), tag(fileInfo{size: 10, time: old.time.Add(-1)}, now), "time")

	young := fileInfo{size: 10, time: old.time.Add(1)}
	assert.NotEqual(t, tag(young, now), tag(young, now.Add(1)), "too young to be sure")
	assert.Equal(t, tag(young, now.Add(1)), tag(young, now.Add(time.Hour)))
	assert.True(t, strings.HasPrefix(tag(young, now), tag(young, now.Add(1))))
	assert.NotEqual(t, tag(old, now), dirsource.Tag(&dirsource.Source{MD5: true}, old, now))
}
