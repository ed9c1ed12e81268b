package websync_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeProgramBuilds builds the program that README.md shows.
func TestReadmeProgramBuilds(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, program, ok := bytes.Cut(readme, []byte("```go\n"))
	require.True(t, ok)
	program, _, ok = bytes.Cut(program, []byte("```\n"))
	require.True(t, ok)
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(file, program, 0o644))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "program"), file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
