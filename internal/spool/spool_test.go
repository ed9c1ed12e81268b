package spool

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpool(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 100} {
		for _, memory := range []int64{10, 0, -1} {
			text := strings.Repeat("x", size)
			s, err := Read(strings.NewReader(text), memory)
			require.NoError(t, err)
			require.EqualValues(t, size, s.Size())
			for range 2 {
				got := readAll(t, s)
				require.Equal(t, text, got)
				_, err = s.Seek(0, 0)
				require.NoError(t, err)
			}
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			require.Empty(t, readAll(t, s))
		}
	}
}

func readAll(t *testing.T, r io.Reader) string {
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(data)
}
