package sitemap

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRules: every rule of the package is in the table, once, in the order of numbers
// that are its own.
func TestRules(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rule.go", nil, 0)
	require.NoError(t, err)
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "rule") && v.Names[0].Name != "ruleTable" {
			declared++
		}
		return true
	})
	rules := Rules()
	assert.Len(t, rules, declared)
	names := make(map[string]bool)
	for i, r := range rules {
		assert.False(t, names[r.Name], r.Name)
		names[r.Name] = true
		assert.Truef(t, strings.HasPrefix(r.Name, "sitemap-"), r.Name)
		assert.NotEmpty(t, r.Section, r.Name)
		assert.NotEmpty(t, r.Summary, r.Name)
		if i > 0 {
			assert.Greater(t, r.Number, rules[i-1].Number, r.Name)
		}
	}
	rules[0].Name = "changed"
	assert.NotEqual(t, "changed", Rules()[0].Name, "the table is not handed out")
}

// TestRulesDocumented: doc.go lists the table as it is.
func TestRulesDocumented(t *testing.T) {
	var want strings.Builder
	for _, r := range Rules() {
		fmt.Fprintf(&want, "//\t%-4d%-8s%-29s%s\n", r.Number, r.Severity, r.Name, r.Summary)
	}
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(doc), "// # Rules\n")
	require.True(t, ok)
	_, rest, ok = strings.Cut(rest, "//\n//\t")
	require.True(t, ok)
	got, _, ok := strings.Cut("//\t"+rest, "//\n")
	require.True(t, ok)
	assert.Equal(t, want.String(), got)
}
