package dirsource_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// unprivileged removes from this goroutine, until the end of the test, the privilege to
// ignore the modes of files, which root has.
func unprivileged(t *testing.T) {
	const version3, override, readSearch = 0x20080522, 1, 2 // capabilities(7)
	// effective, permitted, inheritable
	type set [3]uint32
	header := struct {
		version uint32
		pid     int32
	}{version: version3}
	var before [2]set
	call := func(trap uintptr, sets *[2]set) {
		_, _, errno := syscall.RawSyscall(trap, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(sets)), 0)
		require.Zero(t, errno)
	}
	runtime.LockOSThread()
	call(syscall.SYS_CAPGET, &before)
	now := before
	now[0][0] &^= 1<<override | 1<<readSearch
	call(syscall.SYS_CAPSET, &now)
	t.Cleanup(func() {
		call(syscall.SYS_CAPSET, &before)
		runtime.UnlockOSThread()
	})
}

func (x *tree) chmod(name string, mode os.FileMode) {
	x.Helper()
	require.NoError(x, os.Chmod(x.path(name), mode))
}

func TestUnreadable(t *testing.T) {
	newForbidding := func(t *testing.T, name string, mode os.FileMode) *tree {
		x := newTree(t, t.TempDir())
		for _, file := range []string{"a", "b/c", "b/d", "e"} {
			x.write(file, file)
		}
		x.run()
		x.chmod(name, mode)
		t.Cleanup(func() { x.chmod(name, 0o777) })
		unprivileged(t)
		return x
	}
	incomplete := func(t *testing.T, yielded []harvest.Event, problem string) {
		t.Helper()
		require.Len(t, problems(yielded), 1)
		assert.ErrorIs(t, problems(yielded)[0], os.ErrPermission)
		assert.ErrorContains(t, problems(yielded)[0], problem)
		end := yielded[len(yielded)-1]
		assert.Equal(t, harvest.SnapshotEnd, end.Kind)
		assert.False(t, end.Complete)
		assert.True(t, end.Resume.IsZero())
	}
	t.Run("directory", func(t *testing.T) {
		x := newForbidding(t, "b", 0)
		listed, yielded := x.list(t)
		assert.Equal(t, []string{"a", "e"}, listed)
		incomplete(t, yielded, `/b": permission denied`)
	})
	t.Run("directory whose names can be read but not its files", func(t *testing.T) {
		x := newForbidding(t, "b", 0o600)
		listed, yielded := x.list(t)
		assert.Equal(t, []string{"a", "e"}, listed)
		incomplete(t, yielded, "permission denied")
	})
	t.Run("the root", func(t *testing.T) {
		x := newForbidding(t, ".", 0)
		_, _, err := events(t.Context(), x.src)
		assert.ErrorIs(t, err, os.ErrPermission)
	})
	t.Run("nothing is deleted", func(t *testing.T) {
		x := newForbidding(t, "b", 0)
		report := x.run()
		assert.False(t, report.Complete)
		assert.Zero(t, report.Deleted)
		assert.Len(t, x.live(), 4)
	})
	t.Run("file", func(t *testing.T) {
		x := newForbidding(t, "a", 0)
		listed, yielded := x.list(t)
		assert.Equal(t, []string{"a", "b/c", "b/d", "e"}, listed)
		assert.Empty(t, problems(yielded), "reading it is another matter")
		err := x.src.Get(t.Context(), &harvest.Job{Resource: websync.Resource{ID: base + "a"}})
		assert.ErrorIs(t, err, os.ErrPermission)
	})
}

// A time that is set back does not hide a change: the system records when it was set.
func TestTimeIsSetBack(t *testing.T) {
	x := newTree(t, t.TempDir())
	change := func(text string) syscall.Timespec {
		x.write("a", text)
		x.touch("a", time.Unix(1.7e9, 0))
		info, err := os.Stat(x.path("a"))
		require.NoError(t, err)
		return info.Sys().(*syscall.Stat_t).Ctim
	}
	before := change("old")
	x.run()
	for change("new") == before { // until its clock has ticked
	}
	assert.EqualValues(t, 1, x.run().Updated)
	assert.Equal(t, "new", x.live()["a"])
}
