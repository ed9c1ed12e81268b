package websync_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeProgramsBuild builds the programs that README.md shows.
func TestReadmeProgramsBuild(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	parts := bytes.Split(readme, []byte("```go\n"))[1:]
	require.Len(t, parts, 2)
	dir := t.TempDir()
	for i, part := range parts {
		program, _, ok := bytes.Cut(part, []byte("```\n"))
		require.True(t, ok)
		file := filepath.Join(dir, fmt.Sprintf("main%d.go", i))
		require.NoError(t, os.WriteFile(file, program, 0o644))
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "program"), file).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
