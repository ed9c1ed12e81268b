package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
)

var root = filepath.Join("..", "..")

// listed returns the rules that -list-rules prints, by their ids.
func listed(t *testing.T, args ...string) map[string]listedRule {
	t.Helper()
	got := check(t, "", append(args, "-list-rules", "-json")...)
	require.Equal(t, exitDone, got.code, got.stderr)
	rules := map[string]listedRule{}
	for line := range strings.Lines(got.stdout) {
		var r listedRule
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		_, twice := rules[r.Rule]
		assert.False(t, twice, "two rules have the id %s", r.Rule)
		assert.NotEmpty(t, r.Message, r.Rule)
		assert.True(t, r.Section != "" || r.Spec == "harvest", r.Rule)
		rules[r.Rule] = r
	}
	return rules
}

func TestListRules(t *testing.T) {
	all := listed(t)
	var sum int
	for _, spec := range specs[1:] {
		rules := listed(t, "-spec", spec)
		require.NotEmpty(t, rules, spec)
		for id, r := range rules {
			assert.Equal(t, spec, r.Spec)
			assert.Equal(t, all[id], r)
		}
		sum += len(rules)
	}
	for _, r := range all {
		if r.Spec == "harvest" {
			sum++
		}
	}
	assert.Equal(t, len(all), sum)

	got := check(t, "", "-list-rules", "-spec", "eli")
	assert.Contains(t, "\n"+got.stdout, "\njsonld-json: error: a script whose text is not JSON (RFC 8259)\n")
	assert.Contains(t, "\n"+got.stdout, "\nP4-018: info: No URL is listed twice. (ELI Pillar IV §3.2.2)\n")
	assert.Contains(t, check(t, "", "-list-rules").stdout, "\nid-length: error: a file whose id is longer than any Store takes: it is skipped\n")

	got = check(t, "", "-list-rules", "good.xml")
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.stderr, "-list-rules takes no file")
}

// TestRulesDocument compares docs/rules.md with the rules.
func TestRulesDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(rulesHead)
	for _, of := range allRules() {
		fmt.Fprintf(&b, "\n## %s: package %s\n\n| rule | severity | section | a finding is about |\n|---|---|---|---|\n", of.spec, of.path)
		for _, r := range of.rules {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Name, r.Severity, r.Section, r.Summary)
		}
	}
	testkit.Golden(t, filepath.Join(root, "docs", "rules.md"), []byte(b.String()))
}

const rulesHead = `# The rules that findings name

Each finding names one of these rules. ` + "`go run ./examples/websync check -list-rules`" + ` prints the same list; -spec chooses the rules of
one specification, -json prints objects. The test TestRulesDocument in examples/websync writes this page.

- **error**: against a requirement of the specification. **warning**: against its advice, or a departure that readers
  accept. **info**: allowed, but worth knowing. A check that can only guess reports a warning; with -lenient only what
  costs readers an entry is an error.
- Documents of ResourceSync are sitemaps, too, and those of Atom-PMH and rinfo Atom feeds: the rules of sitemap and atom
  apply to them as well. For ELI Pillar IV the program reports the rules P4; a Source also reports the others of eli, and
  those of sitemap and atom. A rule of Pillar IV states what is demanded, not what is wrong.
- The rules of harvest are those of the engine, for every protocol, of directories, and of what no Publisher lists.
`

// TestFindingsAreListed checks all documents of the module's tests by each specification:
// every finding names a rule of the list.
func TestFindingsAreListed(t *testing.T) {
	all := listed(t)
	named := map[string]bool{}
	for _, dir := range []string{"atom", "atom/anyfeed", "atompmh", "eli", "eli/conformance", "resourcesync", "rinfo", "sitemap"} {
		testkit.Files(t, filepath.Join(root, dir, "testdata"), nil, func(path string, _ []byte) {
			for _, spec := range specs {
				got := check(t, "", "-json", "-spec", spec, path)
				for line := range strings.Lines(got.stdout) {
					var f websync.Finding
					require.NoError(t, json.Unmarshal([]byte(line), &f))
					if f.Rule == "" {
						continue // a file, or the outcome of all rules
					}
					r, ok := all[f.Rule]
					assert.True(t, ok, "%s, -spec %s: %s is not listed", path, spec, f.Rule)
					assert.Equal(t, r.Section, f.Section, f.Rule)
					named[f.Rule] = true
				}
			}
		})
	}
	assert.Greater(t, len(named), 100)
}

// TestRulesAreListed checks the sources of the module: the packages that declare rules
// are those of the list, and no finding is made without a rule.
func TestRulesAreListed(t *testing.T) {
	paths, all := map[string]bool{}, listed(t)
	for _, of := range allRules() {
		paths[of.path] = true
	}
	declaring := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil || filepath.Join(dir, d.Name()) == filepath.FromSlash("internal/document/rules.go") {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if isName(n.Fun, "document", "NewRules") {
					declaring[filepath.ToSlash(dir)] = true
				}
			case *ast.CompositeLit:
				name, ok := field(n, map[string]string{"Rule": "Name", "Finding": "Rule"})
				if !ok {
					break
				}
				declaring[filepath.ToSlash(dir)] = true
				_, ok = all[name]
				assert.True(t, ok, "%s: the rule %q is not listed", path, name)
				assert.True(t, isName(n.Type, "websync", "Rule"), "%s: a finding without a Rule", path)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, paths, declaring)
}

func isName(x ast.Expr, pkg, name string) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// field returns the text of a field of a literal of one of package websync's types. The
// fields are by the types' names.
func field(lit *ast.CompositeLit, fields map[string]string) (text string, ok bool) {
	for typ, name := range fields {
		if !isName(lit.Type, "websync", typ) {
			continue
		}
		for _, x := range lit.Elts {
			pair, keyed := x.(*ast.KeyValueExpr)
			if !keyed || pair.Key.(*ast.Ident).Name != name {
				continue
			}
			if value, isLit := pair.Value.(*ast.BasicLit); isLit {
				text, _ = strconv.Unquote(value.Value)
			}
			return text, true
		}
	}
	return "", false
}
