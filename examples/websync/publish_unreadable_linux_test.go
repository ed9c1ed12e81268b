package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExportOfWhatCannotBeRead(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "text"})
	out, fresh := t.TempDir(), t.TempDir()
	require.Equal(t, exitDone, callPublish(t, "-dir", dir, "-out", out).code)

	// Files of no length that have content: they seem to change whenever they are read,
	// even by root.
	unreadable := "/proc/sys/kernel/random"
	a := callPublish(t, "-dir", unreadable, "-out", out)
	assert.Equal(t, exitLeft, a.code)
	assert.Empty(t, a.stdout)
	assert.Contains(t, a.stderr, "stays as it is")
	assert.FileExists(t, filepath.Join(out, "a.txt"))

	a = callPublish(t, "-dir", unreadable, "-out", fresh)
	assert.Equal(t, exitLeft, a.code)
	assert.Contains(t, a.stderr, `boot_id: dirsource: "/proc/sys/kernel/random/boot_id": changes while it is read`)
	assert.FileExists(t, filepath.Join(fresh, "sitemap.xml"))
}
