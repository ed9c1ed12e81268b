//go:build unix

package dirsource_test

import (
	"context"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/dirsource"
)

func TestOnlyRegularFiles(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("file", "file")
	require.NoError(t, syscall.Mkfifo(x.path("pipe"), 0o666))
	l, err := net.Listen("unix", x.path("socket"))
	require.NoError(t, err)
	defer l.Close()
	assert.True(t, x.run().InStep())
	assert.Equal(t, map[string]string{"file": "file"}, x.live())
}

func TestPipeInPlaceOfAFile(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b/c", "c")
	_, err := x.h.List(context.Background(), x.src)
	require.NoError(t, err)
	x.remove("a")
	x.remove("b")
	require.NoError(t, syscall.Mkfifo(x.path("a"), 0o666))
	require.NoError(t, syscall.Mkfifo(x.path("b"), 0o666))
	report, err := x.h.Work(context.Background(), x.src)
	require.NoError(t, err)
	assert.EqualValues(t, 2, report.Failed)
}

func TestDirThatIsAPipe(t *testing.T) {
	x := newTree(t, t.TempDir())
	require.NoError(t, syscall.Mkfifo(x.path("pipe"), 0o666))
	_, _, err := events(t.Context(), &dirsource.Source{Dir: x.path("pipe"), Base: base})
	assert.ErrorContains(t, err, "not a directory")
}
