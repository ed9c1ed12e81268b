package rdf_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/testing/testkit"
)

func iri(local string) rdf.Term { return rdf.IRI("http://e.example/" + local) }

func readAll(r *rdf.Reader) (all []rdf.Quad, err error) {
	for q, err := range r.All() {
		if err != nil {
			return all, err
		}
		all = append(all, q)
	}
	return all, nil
}

func write(t testing.TB, quads ...rdf.Quad) string {
	var b bytes.Buffer
	w := rdf.NewWriter(&b)
	for _, q := range quads {
		require.NoError(t, w.Write(q))
	}
	require.NoError(t, w.Flush())
	return b.String()
}

// object returns a quad with the object o.
func object(o rdf.Term) rdf.Quad {
	return rdf.Quad{Triple: rdf.Triple{Subject: iri("s"), Predicate: iri("p"), Object: o}}
}

const head = "<http://e.example/s> <http://e.example/p> "

// Each term in its canonical form, in N-Quads §4 and the canonicalization of RDF 1.2.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		text string
		term rdf.Term
	}{
		{`<http://e.example/x>`, iri("x")},
		{`<urn:isbn:1>`, rdf.IRI("urn:isbn:1")},
		{`<http://e.example/é?q=ü#ö>`, iri("é?q=ü#ö")},
		{`_:b1`, rdf.Blank("b1")},
		{`_:0.a-é·_`, rdf.Blank("0.a-é·_")},
		{`""`, rdf.Literal("", "")},
		{`"x"`, rdf.Literal("x", rdf.XSDString)},
		{`"x"@sv`, rdf.Text("x", "sv")},
		{`"x"@en-GB-oed2`, rdf.Text("x", "en-GB-oed2")},
		{`"1"^^<http://www.w3.org/2001/XMLSchema#integer>`, rdf.Literal("1", rdf.XSD+"integer")},
		{`"\t\b\n\r\f\"\\'"`, rdf.Literal("\t\b\n\r\f\"\\'", "")},
		{`"\u0000\u0001\u000B\u001F\u007F"`, rdf.Literal("\x00\x01\x0b\x1f\x7f", "")},
		{"\"é\u0080\u2028😀\"", rdf.Literal("é\u0080\u2028😀", "")},
	} {
		t.Run(c.text, func(t *testing.T) {
			require.NoError(t, c.term.Check())
			assert.Equal(t, c.text, c.term.String())
			q := object(c.term)
			line := head + c.text + " .\n"
			assert.Equal(t, line, write(t, q))
			got, err := readAll(rdf.NewReader(strings.NewReader(line)))
			require.NoError(t, err)
			assert.Equal(t, []rdf.Quad{q}, got)
		})
	}
}

func TestReader(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"empty":             {"", ""},
		"comments":          {"# one\n\n  \t# two\r\n" + head + "_:x. # three", head + "_:x .\n"},
		"no line feed":      {head + "_:x .", head + "_:x .\n"},
		"CR LF":             {head + "_:x .\r\n" + head + "_:y .\r\n", head + "_:x .\n" + head + "_:y .\n"},
		"graphs":            {head + "_:x <http://g/> .\n" + head + "_:x _:g .", head + "_:x <http://g/> .\n" + head + "_:x _:g .\n"},
		"no spaces":         {`<http://a><http://b>"c"<http://d>.`, "<http://a> <http://b> \"c\" <http://d> .\n"},
		"many spaces":       {"\t<http://a> \t <http://b>\t\"c\"@en \t.\t", "<http://a> <http://b> \"c\"@en .\n"},
		"escapes":           {head + `"\u00E9\U0001F600\'\t" .`, head + "\"é😀'\\t\" .\n"},
		"escapes in an IRI": {`<http://a/\u00e9> <http://b> <http://a/\U000000E9> .`, "<http://a/é> <http://b> <http://a/é> .\n"},
		"label with a stop": {"_:a.b <http://b> _:c.d.", "_:a.b <http://b> _:c.d .\n"},
		"explicit string":   {head + `"a"^^<http://www.w3.org/2001/XMLSchema#string> .`, head + "\"a\" .\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(rdf.NewReader(iotest.OneByteReader(strings.NewReader(c.doc))))
			require.NoError(t, err)
			assert.Equal(t, c.want, write(t, got...))
		})
	}
}

func TestReaderErrors(t *testing.T) {
	for name, c := range map[string]struct {
		doc, want string
		is        error
	}{
		"relative IRI":         {"<a> <http://b> <http://c> .", "column 1: not an absolute IRI", nil},
		"space in an IRI":      {"<http://a b> <http://b> <http://c> .", "column 1: an IRI with a character that no IRI has", nil},
		"escaped space":        {`<http://a/\u0020> <http://b> <http://c> .`, "column 1: an IRI with a character that no IRI has", nil},
		"short escape in IRI":  {`<http://a/\n> <http://b> <http://c> .`, "column 11: an unknown escape", nil},
		"unknown escape":       {head + `"\x" .`, "column 44: an unknown escape", nil},
		"half an escape":       {head + `"\u00e" .`, "column 44: an unknown escape", nil},
		"no hex":               {head + `"\u00zz" .`, "column 44: an escape that stands for no character", nil},
		"surrogate":            {head + `"\uD800" .`, "column 44: an escape that stands for no character", nil},
		"beyond Unicode":       {head + `"\U00110000" .`, "column 44: an escape that stands for no character", nil},
		"literal subject":      {`"a" <http://b> <http://c> .`, "column 1: a literal as subject", nil},
		"literal predicate":    {`<http://a> "b" <http://c> .`, "column 12: a literal as predicate", nil},
		"blank predicate":      {`<http://a> _:b <http://c> .`, "column 12: a blank node as predicate", nil},
		"literal graph":        {head + `_:x "g" .`, "column 47: a literal as graph", nil},
		"no stop":              {head + "_:x\n", "column 46: the line ends before the statement does", nil},
		"cut":                  {head + "_:x", "column 46: the line ends before the statement does: document ends too early", websync.ErrTruncated},
		"cut after two":        {head, "column 43: the line ends before the statement does: document ends too early", websync.ErrTruncated},
		"cut literal":          {head + `"x`, "column 43: a literal without its closing quote: document ends too early", websync.ErrTruncated},
		"cut IRI":              {"<http://a", "column 1: an IRI without its closing bracket: document ends too early", websync.ErrTruncated},
		"five terms":           {head + "_:x _:y _:z .", "column 51: '_' where the statement must end with a full stop", nil},
		"two statements":       {head + "_:x . " + head + "_:x .", "column 49: '<' after the statement", nil},
		"two stops":            {"_:a <http://b> _:c.. ", "column 20: '.' after the statement", nil},
		"label":                {"_:-a <http://b> _:c .", "column 1: a blank node without a label", nil},
		"colon in a label":     {"_:a:b <http://b> _:c .", "column 4: ':' where a term must begin", nil},
		"colon for a label":    {"_::a <http://b> _:c .", "column 1: a blank node without a label", nil},
		"colon ends a label":   {head + "_:a: .", "column 46: ':' where a term must begin", nil},
		"no colon":             {"_a <http://b> _:c .", `column 1: "_" without the colon of a blank node`, nil},
		"language":             {head + `"x"@1 .`, `column 46: "1" where a language tag must be`, nil},
		"space before a type":  {head + `"x" ^^<http://a> .`, "column 47: '^' where a term must begin", nil},
		"langString":           {head + `"x"^^<` + rdf.LangString + "> .", "an rdf:langString without a language", nil},
		"raw line feed":        {head + "\"a\nb\" .", "column 43: a literal without its closing quote", nil},
		"raw carriage return":  {head + "\"a\rb\" .", "column 43: a carriage return in a literal", nil},
		"not UTF-8":            {head + "\"a\xff\" .", "column 45: bytes that are not UTF-8", nil},
		"prefixed name":        {"a:b a:c a:d .", "column 1: 'a' where a term must begin", nil},
		"long line":            {head + `"` + strings.Repeat("x", 1000) + `" .`, "column 1: line over 500 bytes: over the limit", websync.ErrLimit},
		"line of the buffer":   {strings.Repeat(" ", 200_000), "column 1: line over 500 bytes: over the limit", websync.ErrLimit},
		"error in a long line": {"# x\n\n" + strings.Repeat(" ", 400) + "x", "line 3, column 401: 'x' where a term must begin", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := rdf.NewReader(strings.NewReader(c.doc))
			r.Document, r.MaxLine = "x.nq", 500
			_, err := readAll(r)
			testkit.CheckParseError(t, "rdf", err)
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, "rdf: x.nq: line ")
			if c.is == nil {
				assert.NotErrorIs(t, err, websync.ErrTruncated)
			} else {
				assert.ErrorIs(t, err, c.is)
			}
			_, again := r.Next()
			assert.Equal(t, err, again)
		})
	}
	_, err := readAll(rdf.NewReader(iotest.TimeoutReader(strings.NewReader(strings.Repeat(head+"_:x .\n", 5000)))))
	assert.ErrorIs(t, err, iotest.ErrTimeout)
	_, err = readAll(rdf.NewReader(iotest.ErrReader(io.ErrUnexpectedEOF)))
	assert.ErrorIs(t, err, websync.ErrTruncated)
	unlimited := rdf.NewReader(strings.NewReader(head + `"` + strings.Repeat("x", 1<<20) + `" .`))
	unlimited.MaxLine = -1
	all, err := readAll(unlimited)
	require.NoError(t, err)
	assert.Len(t, all[0].Object.Value, 1<<20)
}

func TestWriterErrors(t *testing.T) {
	ok := object(iri("o"))
	for name, c := range map[string]struct {
		change func(q *rdf.Quad)
		want   string
	}{
		"no subject":        {func(q *rdf.Quad) { q.Subject = rdf.Term{} }, `rdf: the subject is the no term "", but must be an IRI or a blank node`},
		"literal subject":   {func(q *rdf.Quad) { q.Subject = rdf.Text("x", "") }, `rdf: the subject is the literal "\"x\"", but must be an IRI or a blank node`},
		"blank predicate":   {func(q *rdf.Quad) { q.Predicate = rdf.Blank("x") }, `rdf: the predicate is the blank node "_:x", but must be an IRI`},
		"no object":         {func(q *rdf.Quad) { q.Object = rdf.Term{} }, `rdf: the object is the no term "", but must be a term`},
		"literal graph":     {func(q *rdf.Quad) { q.Graph = rdf.Text("x", "") }, `rdf: the graph is the literal "\"x\"", but must be an IRI or a blank node`},
		"relative":          {func(q *rdf.Quad) { q.Object = rdf.IRI("a") }, `rdf: the object "<a>" is not an absolute IRI`},
		"space":             {func(q *rdf.Quad) { q.Object = rdf.IRI("http://a b") }, `rdf: the object "<http://a\\u0020b>" is an IRI with a character that no IRI has`},
		"IRI not UTF-8":     {func(q *rdf.Quad) { q.Object = rdf.IRI("http://\xff") }, `is not UTF-8`},
		"label":             {func(q *rdf.Quad) { q.Object = rdf.Blank("a.") }, `is a label that no blank node has`},
		"colon in a label":  {func(q *rdf.Quad) { q.Object = rdf.Blank("a:b") }, `is a label that no blank node has`},
		"empty label":       {func(q *rdf.Quad) { q.Graph = rdf.Blank("") }, `is a label that no blank node has`},
		"label not UTF-8":   {func(q *rdf.Quad) { q.Object = rdf.Blank("a\xff") }, `is a label that no blank node has`},
		"literal not UTF-8": {func(q *rdf.Quad) { q.Object = rdf.Text("\xff", "") }, `is a literal that is not UTF-8`},
		"language":          {func(q *rdf.Quad) { q.Object = rdf.Text("x", "sv_SE") }, `is a literal with a language that is no tag`},
		"digits first":      {func(q *rdf.Quad) { q.Object = rdf.Text("x", "1a") }, `is a literal with a language that is no tag`},
		"language at end":   {func(q *rdf.Quad) { q.Object = rdf.Text("x", "sv-") }, `is a literal with a language that is no tag`},
		"both": {func(q *rdf.Quad) { q.Object = rdf.Term{Kind: rdf.KindLiteral, Lang: "sv", Datatype: rdf.XSDString} },
			`is a literal with a language and a datatype`},
		"datatype":   {func(q *rdf.Quad) { q.Object = rdf.Literal("x", "integer") }, `is not an absolute IRI`},
		"langString": {func(q *rdf.Quad) { q.Object = rdf.Literal("x", rdf.LangString) }, `is an rdf:langString without a language`},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := rdf.NewWriter(&b)
			bad := ok
			c.change(&bad)
			require.ErrorContains(t, w.Write(bad), c.want)
			require.NoError(t, w.Write(ok))
			require.NoError(t, w.Flush())
			assert.Equal(t, ok.String()+"\n", b.String(), "the bad quad leaves nothing")
		})
	}
	full := errors.New("disk full")
	w := rdf.NewWriter(writerFunc(func([]byte) (int, error) { return 0, full }))
	require.NoError(t, w.Write(ok), "buffered")
	require.ErrorIs(t, w.Flush(), full)
	assert.ErrorIs(t, w.Write(ok), full, "sticks")
	w = rdf.NewWriter(writerFunc(func([]byte) (int, error) { return 0, full }))
	var err error
	for range 10_000 {
		if err = w.Write(ok); err != nil {
			break
		}
	}
	assert.ErrorIs(t, err, full, "the buffer is limited")
	assert.EqualError(t, rdf.IRI("a").Check(), `rdf: the IRI "<a>" is not an absolute IRI`)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestTermMethods(t *testing.T) {
	assert.Equal(t, "", rdf.Term{}.String())
	assert.Error(t, rdf.Term{}.Check())
	assert.Equal(t, rdf.XSDString, rdf.Text("x", "").DatatypeIRI())
	assert.Equal(t, rdf.LangString, rdf.Text("x", "sv").DatatypeIRI())
	assert.Equal(t, rdf.XMLLiteral, rdf.Literal("x", rdf.XMLLiteral).DatatypeIRI())
	assert.Equal(t, "", iri("x").DatatypeIRI())
	assert.Equal(t, head+`"x" .`, object(rdf.Text("x", "")).Triple.String())
	assert.Equal(t, "IRI", rdf.KindIRI.String())
}

// FuzzReader: whatever is read can be written and read again, and is the same.
func FuzzReader(f *testing.F) {
	f.Add([]byte(head + "\"\\u00e9\\n\"@sv-SE <http://g> . # c\n_:a <http://b> \"1\"^^<http://c>."))
	f.Add([]byte("<http://a\\u00e9> <http://b> _:c.d .\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		quads, err := readAll(rdf.NewReader(bytes.NewReader(data)))
		testkit.CheckParseError(t, "rdf", err)
		text := write(t, quads...)
		again, err := readAll(rdf.NewReader(strings.NewReader(text)))
		require.NoError(t, err)
		require.Equal(t, quads, again)
		require.Equal(t, text, write(t, again...), "the form is canonical")
	})
}

// FuzzWriter: the Writer refuses a term, or a Reader reads it as it is.
func FuzzWriter(f *testing.F) {
	f.Add(uint8(1), "http://a/<", "", "")
	f.Add(uint8(2), "b.1", "", "")
	f.Add(uint8(3), "a\x00\"\\\n\u2028", "sv", "")
	f.Add(uint8(3), "1", "", rdf.XSD+"integer")
	f.Fuzz(func(t *testing.T, kind uint8, value, lang, datatype string) {
		o := rdf.Term{Kind: rdf.Kind(kind % 4), Value: value}
		if o.Kind == rdf.KindLiteral {
			if o = rdf.Literal(value, datatype); lang != "" {
				o = rdf.Text(value, lang)
			}
		}
		q := object(o)
		var b bytes.Buffer
		w := rdf.NewWriter(&b)
		if err := w.Write(q); err != nil {
			require.Error(t, o.Check())
			return
		}
		require.NoError(t, o.Check())
		require.NoError(t, w.Flush())
		got, err := readAll(rdf.NewReader(&b))
		require.NoError(t, err)
		require.Equal(t, []rdf.Quad{q}, got)
	})
}
