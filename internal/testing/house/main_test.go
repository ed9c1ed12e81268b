package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestList counts a folder that has one of each.
func TestList(t *testing.T) {
	dir := t.TempDir()
	src := `package p

// Comments and blank lines are no code.

type T struct{ A, B int; c bool }

func F() { once(1, true); often(true, x); often(x, x); T{}.m(false); generic[int](true); variable(x) }

func once(n int, literal bool) {}

func often(literal, other bool) {}

func (T) m(bool) {}

func generic[X any](b bool) {}

func variable(b bool) { once(1, 2, true) }

var x = false // ` + strings.Repeat("x", 130) + `
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\n\nfunc test() { variable(true) }\n"), 0o600))

	h := newHouse()
	require.NoError(t, filepath.WalkDir(dir, h.visit))
	var out bytes.Buffer
	h.list(&out)
	assert.Equal(t, `p.go:13: m is named at one place
p.go:15: generic is named at one place
p.go:17: variable is named at one place
p.go:9: once: the bool parameter literal is true or false in 1 calls
p.go:11: often: the bool parameter literal is true or false in 1 calls
p.go:13: m: the bool parameter _ is true or false in 1 calls
p.go:15: generic: the bool parameter b is true or false in 1 calls
p.go:19: 147 columns
`, strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""))

	out.Reset()
	h.print(&out)
	assert.Equal(t, `     9 lines of code
     1 of them over 130 columns
     1 folders with Go files
     5 unexported functions
    60 of them named at one place, percent
     0 functions with a cyclomatic complexity over 15
     0 functions over 80 lines
     4 bool parameters where a caller writes true or false
     2 exported names
     2 exported fields of exported structs
`, out.String())
}
