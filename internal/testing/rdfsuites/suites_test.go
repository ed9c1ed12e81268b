package rdfsuites

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdf"
)

const folderEnv = "WEBSYNC_RDF_SUITES"

// read returns a file of the suites, or skips the test.
func read(t *testing.T, name string) []byte {
	if os.Getenv(folderEnv) == "" {
		t.Skip(folderEnv + " is not set")
	}
	data, err := os.ReadFile(filepath.Join(os.Getenv(folderEnv), name))
	require.NoError(t, err)
	return data
}

// A suite counts tests. The page docs/rdf.md names those that are not passed, and those
// whose graph has more statements than the suite wants, each with a finding.
type suite struct {
	t                     *testing.T
	name, page            string
	passed, of            int
	excused, kept, failed map[string]bool
}

func newSuite(t *testing.T, name string) *suite {
	page, err := os.ReadFile("../../../docs/rdf.md")
	require.NoError(t, err)
	s := &suite{t: t, name: name, page: string(page), failed: make(map[string]bool)}
	s.excused, s.kept = s.named(name), s.named(name+", more")
	return s
}

// named returns the tests that a row of the table in the page names.
func (s *suite) named(row string) map[string]bool {
	names := make(map[string]bool)
	for line := range strings.Lines(s.page) {
		if strings.HasPrefix(line, "| "+row+" |") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

// test notes the outcome of a test; no fault means passed.
func (s *suite) test(name, fault string) {
	s.of++
	if fault == "" {
		s.passed++
		return
	}
	s.failed[name] = true
	assert.True(s.t, s.excused[name] || s.kept[name], "%s: %s", name, fault)
}

// end checks that the page has the number, and that all those that it names have failed.
func (s *suite) end() {
	assert.Contains(s.t, s.page, fmt.Sprintf("| %s | %d of %d |", s.name, s.passed, s.of))
	for _, names := range []map[string]bool{s.excused, s.kept} {
		for name := range names {
			assert.True(s.t, s.failed[name], "%s passes, but is named", name)
		}
	}
}

func TestNQuads(t *testing.T) {
	s := newSuite(t, "N-Quads")
	for _, name := range []string{"rdf-n-quads", "rdf-n-triples"} {
		folder := "rdf-tests/rdf/rdf11/" + name
		manifest := read(t, folder+"/manifest.ttl")
		for _, m := range regexp.MustCompile(`(?s)rdft:Test\w+(Positive|Negative)Syntax.*?mf:action\s*<([^>]+)>`).FindAllSubmatch(manifest, -1) {
			var err error
			for _, err = range rdf.NewReader(bytes.NewReader(read(t, folder+"/"+string(m[2])))).All() {
			}
			fault := ""
			if (err == nil) != (string(m[1]) == "Positive") {
				fault = fmt.Sprint("error: ", err)
			}
			s.test(string(m[2]), fault)
		}
	}
	s.end()
}

// A jsonTest is a test of the suites of the JSON-LD API.
type jsonTest struct {
	ID     string   `json:"@id"`
	Types  []string `json:"@type"`
	Input  string
	Expect string
	Option struct{ Base, SpecVersion, ProcessingMode, RDFDirection, ExpandContext string }
}

// jsonTests returns those tests of a suite that have no option which the Extractor lacks.
func jsonTests(t *testing.T, name string) (tests []jsonTest) {
	var manifest struct{ Sequence []jsonTest }
	require.NoError(t, json.Unmarshal(read(t, "json-ld-api/tests/"+name+"-manifest.jsonld"), &manifest))
	for _, test := range manifest.Sequence {
		o := test.Option
		if o.SpecVersion != "json-ld-1.0" && o.ProcessingMode != "json-ld-1.0" && o.RDFDirection == "" && o.ExpandContext == "" {
			tests = append(tests, test)
		}
	}
	return tests
}

const jsonBase = "https://w3c.github.io/json-ld-api/tests/"

// contexts returns the documents of a suite that are contexts.
func contexts(t *testing.T, name string) map[string][]byte {
	all := make(map[string][]byte)
	folder := filepath.Join(os.Getenv(folderEnv), "json-ld-api/tests")
	require.NoError(t, filepath.WalkDir(filepath.Join(folder, name), func(file string, _ os.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".jsonld" || strings.HasSuffix(file, "-out.jsonld") {
			return err
		}
		data, err := os.ReadFile(file)
		var doc map[string]any
		if json.Unmarshal(data, &doc) == nil && doc["@context"] != nil && len(doc) == 1 {
			rel, _ := filepath.Rel(folder, file)
			all[jsonBase+filepath.ToSlash(rel)] = data
		}
		return err
	}))
	return all
}

// runJSON runs a suite. Expected returns the triples of an expected document.
func runJSON(t *testing.T, name string, expected func(data []byte, base string) ([]rdf.Triple, error)) {
	s := newSuite(t, name)
	tests := jsonTests(t, name)
	x := jsonld.Extractor{Contexts: contexts(t, name)}
	for _, test := range tests {
		base := test.Option.Base
		if base == "" {
			base = jsonBase + test.Input
		}
		var faults []string
		got, err := x.Extract(bytes.NewReader(read(t, "json-ld-api/tests/"+test.Input)), base, "application/ld+json", func(f websync.Finding) {
			if f.Severity >= websync.SeverityWarning {
				faults = append(faults, f.String())
			}
		})
		if err != nil {
			faults = append(faults, err.Error())
		}
		fault := ""
		switch {
		case strings.Contains(test.Types[0], "Negative"):
			if len(faults) == 0 {
				fault = fmt.Sprint("no finding: ", got)
			}
		case strings.Contains(test.Types[0], "Syntax"):
			if len(faults) > 0 {
				fault = fmt.Sprint(faults)
			}
		default:
			want, err := expected(read(t, "json-ld-api/tests/"+test.Expect), base)
			require.NoError(t, err, test.ID)
			if !isomorphic(got, want) {
				fault = fmt.Sprintf("%v\ngot  %v\nwant %v", faults, got, want)
			}
			if s.kept[test.ID] {
				assert.NotEmpty(t, faults, test.ID)
				assert.True(t, match(want, got, make(map[string]rdf.Term), func(map[string]rdf.Term) bool { return true }), fault)
			}
		}
		s.test(test.ID, fault)
	}
	s.end()
}

func TestToRDF(t *testing.T) {
	runJSON(t, "toRdf", func(data []byte, _ string) ([]rdf.Triple, error) {
		known := make(map[rdf.Triple]bool)
		for q, err := range rdf.NewReader(bytes.NewReader(data)).All() {
			if err != nil {
				return nil, err
			}
			q.Object.Lang = strings.ToLower(q.Object.Lang)
			known[q.Triple] = true
		}
		return slices.Collect(maps.Keys(known)), nil
	})
}

// TestExpand compares the triples of the documents, because the Extractor returns no
// others. In what is expected, relative IRIs have no base, and null is no IRI.
func TestExpand(t *testing.T) {
	runJSON(t, "expand", func(data []byte, base string) ([]rdf.Triple, error) {
		data = fmt.Appendf(nil, `{"@context":{"@base":null},"@graph":%s}`, bytes.ReplaceAll(data, []byte(`"@id": null`), []byte(`"@id": "@reserved"`)))
		return new(jsonld.Extractor).Extract(bytes.NewReader(data), base, "application/ld+json", nil)
	})
}

// isomorphic reports whether two graphs are equal but for the labels of blank nodes.
func isomorphic(a, b []rdf.Triple) bool {
	if len(a) != len(b) {
		return false
	}
	return match(b, a, make(map[string]rdf.Term), func(bound map[string]rdf.Term) bool {
		images := make(map[rdf.Term]bool)
		for _, term := range bound {
			if term.Kind != rdf.KindBlank || images[term] {
				return false
			}
			images[term] = true
		}
		return true
	})
}

// match calls accept with what the blank nodes of a pattern stand for in a graph, for
// each solution, until it is true.
func match(pattern, graph []rdf.Triple, bound map[string]rdf.Term, accept func(bound map[string]rdf.Term) bool) bool {
	if len(pattern) == 0 {
		return accept(bound)
	}
	known := func(t rdf.Term) int {
		if _, ok := bound[t.Value]; ok || t.Kind != rdf.KindBlank {
			return 1
		}
		return 0
	}
	next := 0
	for i, p := range pattern {
		if q := pattern[next]; known(p.Subject)+known(p.Predicate)+known(p.Object) > known(q.Subject)+known(q.Predicate)+known(q.Object) {
			next = i
		}
	}
	p, rest := pattern[next], slices.Delete(slices.Clone(pattern), next, next+1)
	for _, t := range graph {
		with := maps.Clone(bound)
		if bind(with, p.Subject, t.Subject) && bind(with, p.Predicate, t.Predicate) && bind(with, p.Object, t.Object) &&
			match(rest, graph, with, accept) {
			return true
		}
	}
	return false
}

func bind(bound map[string]rdf.Term, p, t rdf.Term) bool {
	if p.Kind != rdf.KindBlank {
		return p == t
	}
	if b, ok := bound[p.Value]; ok {
		return b == t
	}
	bound[p.Value] = t
	return true
}
