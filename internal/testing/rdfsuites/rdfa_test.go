package rdfsuites

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
)

// TestRDFa asks the questions of the suite about its documents, in all host languages of
// RDFa 1.1.
func TestRDFa(t *testing.T) {
	const folder, version = "rdfa.github.io/test-suite/", "rdfa1.1"
	s := newSuite(t, "RDFa")
	var manifest struct {
		Tests []struct {
			Num                     string
			ExpectedResults         bool
			HostLanguages, Versions []string
		} `json:"@graph"`
	}
	require.NoError(t, json.Unmarshal(read(t, folder+"manifest.jsonld"), &manifest))
	for _, test := range manifest.Tests {
		if !slices.Contains(test.Versions, version) {
			continue
		}
		for _, host := range test.HostLanguages {
			ext, media := "html", "text/html"
			switch {
			case strings.HasPrefix(host, "xhtml"):
				ext, media = "xhtml", "application/xhtml+xml"
			case host == "svg":
				ext, media = "svg", "image/svg+xml"
			case host == "xml":
				ext, media = "xml", "application/xml"
			}
			name := "test-cases/" + version + "/" + host + "/" + test.Num
			base := "http://rdfa.info/test-suite/" + name + "." + ext
			got, err := new(rdfa.Extractor).Extract(bytes.NewReader(read(t, folder+name+"."+ext)), base, media, nil)
			require.NoError(t, err, name)
			fault := ""
			if query := string(read(t, folder+name+".sparql")); ask(query, base, got) != test.ExpectedResults {
				fault = fmt.Sprintf("got %v\n%s", got, query)
			}
			s.test(host+"/"+test.Num, fault)
		}
	}
	s.end()
}

// A query is a query of the suite, in that part of SPARQL which it uses.
type query struct {
	tokens   []string
	base     string
	prefixes map[string]string
	required []rdf.Triple
	absent   []rdf.Triple // an OPTIONAL, of which a FILTER wants that it is not bound
	blank    []string     // variables
	plain    []string     // variables of literals without a language
	unnamed  int
}

var token = regexp.MustCompile(`(?s)""".*?"""|"(?:[^"\\]|\\.)*"|<[^<>\s]*>|#[^\n]*|@[A-Za-z-]+|\^\^|\?\w+|\w*:[\w-]*|\w+|[^\s]`)

// ask reports whether a graph is a solution.
func ask(text, base string, graph []rdf.Triple) bool {
	q := &query{base: base, prefixes: make(map[string]string)}
	for _, token := range token.FindAllString(text, -1) {
		if token[0] != '#' {
			q.tokens = append(q.tokens, token)
		}
	}
	q.document()
	return match(q.required, graph, make(map[string]rdf.Term), func(bound map[string]rdf.Term) bool {
		for _, name := range q.blank {
			if bound[name].Kind != rdf.KindBlank {
				return false
			}
		}
		for _, name := range q.plain {
			if bound[name].Kind != rdf.KindLiteral || bound[name].Lang != "" {
				return false
			}
		}
		return q.absent == nil || !match(q.absent, graph, bound, func(map[string]rdf.Term) bool { return true })
	})
}

func (q *query) next() string {
	if len(q.tokens) == 0 {
		return "}"
	}
	token := q.tokens[0]
	q.tokens = q.tokens[1:]
	return token
}

func (q *query) peek(token string) bool { return len(q.tokens) > 0 && q.tokens[0] == token }

func (q *query) document() {
	for len(q.tokens) > 0 {
		switch token := q.next(); strings.ToUpper(token) {
		case "BASE":
			q.base = strings.Trim(q.next(), "<>")
		case "PREFIX":
			name := q.next()
			q.prefixes[strings.TrimSuffix(name, ":")] = strings.Trim(q.next(), "<>")
		case "OPTIONAL":
			q.next()
			required := q.required
			q.required = nil
			q.triples()
			q.required, q.absent = required, q.required
		case "FILTER":
			q.filter()
		case "ASK", "WHERE", ".", "}":
		case "{":
			q.triples()
		default:
			panic("SPARQL: " + token)
		}
	}
}

func (q *query) filter() {
	for !q.peek("}") {
		switch strings.ToUpper(q.next()) {
		case "ISBLANK":
			q.next()
			q.blank = append(q.blank, q.next())
		case "LANG":
			q.next()
			q.plain = append(q.plain, q.next())
		}
	}
}

// triples reads the triples of a group.
func (q *query) triples() {
	for !q.peek("}") && !q.peek("OPTIONAL") && !q.peek("FILTER") {
		if !q.peek(".") {
			q.properties(q.term())
			continue
		}
		q.next()
	}
}

func (q *query) properties(subject rdf.Term) {
	for !q.peek(".") && !q.peek("}") && !q.peek("]") && !q.peek("FILTER") && !q.peek("OPTIONAL") {
		predicate := q.term()
		for more := true; more; more = q.peek(",") && q.next() != "" {
			q.required = append(q.required, rdf.Triple{Subject: subject, Predicate: predicate, Object: q.term()})
		}
		for q.peek(";") {
			q.next()
		}
	}
}

// term reads a term. Variables and blank nodes are blank nodes, as match wants them.
func (q *query) term() rdf.Term {
	switch token := q.next(); {
	case token == "a":
		return rdf.IRI(rdf.Type)
	case token == "[":
		subject := q.newBlank()
		q.properties(subject)
		q.next()
		return subject
	case token[0] == '?', strings.HasPrefix(token, "_:"):
		return rdf.Blank(token)
	case token[0] == '<':
		iri := strings.Trim(token, "<>")
		if base, _ := url.Parse(q.base); !strings.Contains(iri, ":") {
			relative, _ := base.Parse(iri)
			iri = relative.String()
		}
		return rdf.IRI(iri)
	case token == "(":
		if q.peek(")") {
			q.next()
			return rdf.IRI(rdf.Nil)
		}
		cell := q.newBlank()
		first := q.term()
		q.tokens = slices.Insert(q.tokens, 0, "(")
		q.required = append(q.required, rdf.Triple{Subject: cell, Predicate: rdf.IRI(rdf.First), Object: first},
			rdf.Triple{Subject: cell, Predicate: rdf.IRI(rdf.Rest), Object: q.term()})
		return cell
	case token[0] == '"':
		return q.literal(token)
	case strings.Contains(token, ":"):
		prefix, name, _ := strings.Cut(token, ":")
		return rdf.IRI(q.prefixes[prefix] + name)
	default:
		panic("SPARQL: " + token)
	}
}

func (q *query) newBlank() rdf.Term {
	q.unnamed++
	return rdf.Blank(fmt.Sprint("unnamed", q.unnamed))
}

func (q *query) literal(token string) rdf.Term {
	text := strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(strings.Trim(token, `"`))
	switch {
	case q.peek("^^"):
		q.next()
		return rdf.Literal(text, q.term().Value)
	case len(q.tokens) > 0 && q.tokens[0][0] == '@':
		return rdf.Text(text, q.next()[1:])
	}
	return rdf.Literal(text, "")
}
