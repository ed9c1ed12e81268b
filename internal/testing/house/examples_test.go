package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnreached reads a module of one package, with one name of each kind that an example
// reaches and one that it does not.
func TestUnreached(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"p/p.go": `package p

type (
	Used       struct{ Field Part }
	Part       int
	Of         int
	Returned   struct{}
	Unused     struct{ Field Part }
	Field      int
	unexported int
)

const One, Two Part = 1, 2

const (
	Grouped = "a"
	Beside  = "b"
)

const Alone = "c"

var Err, ErrElse error

func (*Used) Method(Of) (r Returned) { return }

func Function() {}
`,
		"p/example_test.go":           "package p_test\n\nfunc Example() { x := p.Used{Field: p.Grouped}; x.Function(p.Err) }\n",
		"p/p_test.go":                 "package p\n\nfunc Test() { Function(); ErrElse = nil }\n",
		"p/internal/i.go":             "package i\n\ntype Internal int\n",
		"p/internal/example_test.go":  "package i\n\nvar _ = p.Alone\n",
		"examples/websync/main.go":    "package main\n\nvar _ = p.Alone\n",
		"examples/small/main.go":      "package main\n\nfunc Main() { q.Run() }\n",
		"q/q.go":                      "package q\n\nfunc Run(p.ByProgram) {}\n",
		"p/testdata/not_go_at_all.go": "",
		"p/more.go":                   "package p\n\ntype ByProgram int\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(src), 0o600))
	}
	names, err := unreached(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"p.Alone", "p.ErrElse", "p.Field", "p.Function", "p.Unused"}, names)
}
