package publish

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the user may not read or write is an error of one line, and all files stay.
func TestWriteDirWithoutPermission(t *testing.T) {
	for name, test := range map[string]struct {
		file     string
		mode     os.FileMode
		document string
		want     string
	}{
		"a directory that is read-only":      {".", 0o555, "/c", "publish: renameat .websync/new/1 c: permission denied"},
		"a directory that can't be read":     {".", 0o300, "/c", "permission denied"},
		"its own files that can't be read":   {private, 0, "/c", "publish: statat .websync/lock: permission denied"},
		"its own files that are read-only":   {private, 0o555, "/c", "publish: mkdirat .websync/new: permission denied"},
		"a manifest that can't be read":      {manifestFile, 0, "/c", "publish: openat .websync/manifest: permission denied"},
		"a lock that can't be read":          {lockFile, 0, "/c", "publish: openat .websync/lock: permission denied"},
		"a directory of files, if read-only": {"d", 0o555, "/d/c", "publish: renameat .websync/new/1 d/c: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := WriteDir(t.Context(), dir, Text("/a", "a"), Text("/d/b", "b"))
			require.NoError(t, err)
			before := files(t, dir)
			if os.Geteuid() == 0 {
				asNobody(t, dir)
			}
			file := filepath.Join(dir, test.file)
			require.NoError(t, os.Chmod(file, test.mode))
			_, err = WriteDir(t.Context(), dir, Text(test.document, "c"))
			require.NoError(t, os.Chmod(file, 0o755))
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, before, files(t, dir))
		})
	}
}

// asNobody gives dir to a user without privileges, whom the test then is. Temporary files
// are beside dir.
func asNobody(t *testing.T, dir string) {
	const nobody = 65534
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o777))
	t.Setenv("TMPDIR", filepath.Dir(dir))
	require.NoError(t, filepath.Walk(dir, func(name string, _ os.FileInfo, _ error) error { return os.Chown(name, nobody, nobody) }))
	runtime.LockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		assert.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}
