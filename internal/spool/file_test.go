package spool

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var f File
	empty := readAll(t, f.Section(Span{}))
	require.Empty(t, empty)
	require.Zero(t, f.Size())
	require.NoError(t, f.Close())

	one, err := f.Append(strings.NewReader("one"))
	require.NoError(t, err)
	boom := errors.New("boom")
	_, err = f.Append(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(boom)))
	require.ErrorIs(t, err, boom)
	require.EqualValues(t, 3, f.Size())
	two, err := f.Append(strings.NewReader("two"))
	require.NoError(t, err)
	require.EqualValues(t, 6, f.Size())
	_, err = f.WriteAt([]byte("X"), 1)
	require.NoError(t, err)
	require.Equal(t, "two", readAll(t, f.Section(two)))
	require.Equal(t, "oXe", readAll(t, f.Section(one)))

	name := f.file.Name()
	require.NoError(t, f.Close())
	require.NoFileExists(t, name)
	require.Zero(t, f.Size())
	_, err = f.Append(strings.NewReader("again"))
	require.NoError(t, err)
	require.NoError(t, f.Close())

	t.Setenv("TMPDIR", dir+"/none")
	_, err = f.Append(strings.NewReader("x"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, os.ErrNotExist)
}
