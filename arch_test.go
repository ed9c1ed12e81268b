package websync_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/websync-go/websync"

// mayImport is the architecture: which packages of this module each package may import. A
// name that ends in /... stands for all below it.
var mayImport = map[string][]string{
	".":                            {},
	"internal/charset":             {"internal/syntax"},
	"internal/xmlscan":             {"internal/charset", "internal/syntax"},
	"internal/document":            {".", "internal/charset", "internal/xmlscan", "internal/syntax"},
	"internal/testing/endtoend":    {},
	"internal/testing/instep":      {},
	"internal/testing/hostile":     {},
	"internal/testing/chaos":       {},
	"internal/testing/histories":   {},
	"internal/testing/docs":        {},
	"internal/testing/interop":     {},
	"internal/testing/rdfsuites":   {},
	"internal/syntax":              {},
	"internal/spool":               {},
	"internal/codec":               {"."},
	"internal/element":             {".", "internal/xmlscan"},
	"internal/docfetch":            {".", "harvest", "internal/document", "internal/spool", "internal/survive", "internal/syntax"},
	"internal/survive":             {"."},
	"internal/publishing":          {".", "internal/element", "internal/syntax"},
	"internal/outgoing":            {"."},
	"internal/webpage":             {".", "internal/charset", "internal/document", "internal/syntax"},
	"internal/patch":               {".", "internal/jsonscan"},
	"internal/jsonscan":            {".", "internal/syntax"},
	"internal/testing/suite":       {".", "harvest", "internal/testing/racing"},
	"internal/testing/pgtest":      {},
	"internal/logkey":              {},
	"internal/eliterms":            {},
	"internal/sorted":              {},
	"internal/testing/fill":        {},
	"internal/testing/racing":      {},
	"internal/testing/testkit":     {".", "harvest", "harvest/memstore", "internal/testing/fill", "internal/testing/racing", "internal/xmlscan"},
	"internal/testing/naive":       {".", "harvest", "harvest/fetch", "harvest/memstore", "internal/testing/testkit", "publish"},
	"internal/testing/house":       {},
	"internal/testing/bench":       {},
	"internal/testing/waits":       {"internal/testing/bench"},
	"internal/testing/waits/lists": {"harvest", "harvest/fetch", "harvest/sqlitestore", "sitemap"},
	"internal/testing/browser":     {},
	"internal/display":             {"."},
	"sitemap":                      {".", "internal/...", "harvest"},
	"sitemap/google":               {".", "internal/...", "sitemap"},
	"atom":                         {".", "internal/...", "harvest"},
	"atom/anyfeed":                 {".", "internal/...", "harvest", "atom"},
	"resourcesync":                 {".", "internal/...", "harvest", "sitemap"},
	"eli":                          {".", "internal/...", "harvest", "sitemap", "atom", "eli/rdf", "eli/rdfa"},
	"eli/conformance":              {".", "internal/...", "harvest", "sitemap", "atom", "eli", "eli/rdf", "eli/rdfa"},
	"eli/rdf":                      {".", "internal/..."},
	"eli/rdfa":                     {".", "internal/...", "eli/rdf"},
	"eli/jsonld":                   {".", "internal/...", "eli/rdf"},
	"atompmh":                      {".", "internal/...", "harvest", "atom"},
	"rinfo":                        {".", "internal/...", "harvest", "atom"},
	"harvest":                      {".", "internal/spool", "internal/codec", "internal/testing/fill", "internal/logkey", "internal/sorted", "internal/survive", "internal/syntax"},
	"harvest/union":                {".", "harvest", "internal/syntax"},
	"harvest/fetch":                {".", "harvest", "internal/outgoing", "internal/spool", "internal/syntax"},
	"harvest/memstore":             {".", "harvest", "internal/sorted"},
	"harvest/sqlitestore":          {".", "harvest", "internal/logkey", "internal/sorted", "internal/spool"},
	"harvest/pgstore":              {".", "harvest", "internal/logkey", "internal/survive"},
	"harvest/storetest":            {".", "harvest", "internal/testing/racing", "internal/testing/suite", "publish/catalogtest"},
	"harvest/sourcetest":           {".", "harvest", "internal/spool", "internal/testing/racing", "internal/testing/suite"},
	"harvest/dirsource":            {".", "harvest", "internal/docfetch", "internal/spool", "internal/syntax"},
	"harvest/notify":               {".", "harvest", "internal/outgoing"},
	"harvest/schedule":             {".", "harvest", "internal/survive"},
	"harvest/status":               {".", "harvest", "harvest/union", "internal/display", "internal/survive"},
	"harvest/discover":             {"..."},
	"publish":                      {".", "internal/outgoing", "internal/spool", "internal/syntax"},
	"publish/catalogtest":          {".", "internal/testing/suite"},
	"examples/...":                 {"..."},
}

// mayLinkHTTP are the packages that may carry net/http, even through a dependency.
var mayLinkHTTP = []string{
	"harvest/fetch", "harvest/notify", "harvest/status", "harvest/discover", "internal/testing/bench", "internal/testing/naive", "internal/testing/waits", "internal/testing/waits/...", "internal/outgoing", "publish", "eli/jsonld", "examples/...",
}

// databases are the drivers of databases, and who may link them: an importer of harvest
// compiles neither.
var databases = map[string][]string{
	"github.com/jackc/pgx":    {"harvest/pgstore", "internal/testing/pgtest", "examples/..."},
	"zombiezen.com/go/sqlite": {"harvest/sqlitestore", "internal/testing/waits", "internal/testing/waits/lists", "examples/..."},
}

// protocols import harvest from source.go only, and eli, which has a second Source, from
// csv.go, too.
var protocols = []string{"sitemap", "atom", "resourcesync", "eli", "atompmh", "rinfo"}

// onlyStandard are the suites whose import costs nothing.
var onlyStandard = []string{"internal/testing/suite", "harvest/storetest", "harvest/sourcetest", "publish/catalogtest"}

type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func (p goPackage) name() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

func packages(t *testing.T) (all []goPackage) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...").Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := dec.Decode(&p)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

// matches reports whether name is in the list, whose entries may end in "...".
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, any := strings.CutSuffix(pattern, "...")
		return name == pattern || any && strings.HasPrefix(name+"/", prefix)
	})
}

func own(importPath string) (string, bool) {
	return goPackage{ImportPath: importPath}.name(), importPath == module || strings.HasPrefix(importPath, module+"/")
}

func TestImportTable(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name()
		allowed, known := mayImport[name]
		for pattern, list := range mayImport {
			if !known && matches([]string{pattern}, name) {
				allowed, known = list, true
			}
		}
		if !known {
			t.Errorf("%s has no line in the import table", name)
			continue
		}
		for _, imp := range p.Imports {
			if dep, ok := own(imp); ok && !matches(allowed, dep) {
				t.Errorf("%s imports %s", name, dep)
			}
		}
		if slices.Contains(p.Deps, "net/http") && !matches(mayLinkHTTP, name) {
			t.Errorf("%s links net/http", name)
		}
		for _, dep := range p.Deps {
			for database, linkers := range databases {
				if strings.HasPrefix(dep, database) && !matches(linkers, name) {
					t.Errorf("%s links %s", name, dep)
				}
			}
			host, _, _ := strings.Cut(dep, "/")
			if _, ok := own(dep); !ok && matches(onlyStandard, name) && strings.Contains(host, ".") {
				t.Errorf("%s links %s", name, dep)
			}
		}
	}
}

func TestProtocolsMeetTheEngineInOneFile(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(protocols, p.name()) {
			continue
		}
		for _, file := range p.GoFiles {
			data, err := os.ReadFile(path.Join(p.Dir, file))
			require.NoError(t, err)
			if file != "source.go" && !(p.name() == "eli" && file == "csv.go") && bytes.Contains(data, []byte(`"`+module+`/harvest"`)) {
				t.Errorf("%s/%s imports harvest", p.name(), file)
			}
		}
	}
}

// belowTheEngine are the names of package harvest, beside those of store.go, record.go,
// fingerprint.go and the files catalog*.go themselves, that the latter use.
var belowTheEngine = []string{"Checkpoint", "Validator"}

// nothing imports packages that have no names.
type nothing struct{}

func (nothing) Import(importPath string) (*types.Package, error) {
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p, nil
}

// TestCatalogStandsBelowTheEngine: a Catalog knows nothing of the engine that works on
// it.
func TestCatalogStandsBelowTheEngine(t *testing.T) {
	names, err := filepath.Glob("harvest/*.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}} // the names of imports are not known
	harvest, _ := config.Check("harvest", fset, files, &info)
	below := func(pos token.Pos) bool {
		name := filepath.Base(fset.Position(pos).Filename)
		return strings.HasPrefix(name, "catalog") || slices.Contains([]string{"store.go", "record.go", "fingerprint.go"}, name)
	}
	checked := 0
	for id, use := range info.Uses {
		if use.Parent() != harvest.Scope() || !strings.HasPrefix(filepath.Base(fset.Position(id.Pos()).Filename), "catalog") {
			continue
		}
		checked++
		if !below(use.Pos()) && !slices.Contains(belowTheEngine, use.Name()) {
			t.Errorf("%s: %s belongs to the engine", fset.Position(id.Pos()), use.Name())
		}
	}
	require.Greater(t, checked, 1000)
}
