package jsonld

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// An Extractor extracts the triples of documents with JSON-LD. The zero value is usable.
// It is safe for concurrent use.
type Extractor struct {
	// MaxBytes limits the bytes of a document, decompressed; more are websync.ErrLimit.
	// If zero, it is 12 MiB; if negative, there is no limit.
	MaxBytes int64

	// MaxTriples limits the triples of a document; more are websync.ErrLimit. If zero, it
	// is 100,000; if negative, there is no limit.
	MaxTriples int

	// Contexts are context documents by their URLs, besides those that are built in. Each
	// is a JSON object with @context. What it refers to is resolved against its URL. The
	// map must not be modified.
	Contexts map[string][]byte
}

var kind = document.Kind{Format: "jsonld", Name: "a document with JSON-LD", Else: "neither markup nor JSON"}

// Extract returns the triples of the document in src. A document without JSON-LD has no
// triples, which is no error. Labels of blank nodes are unique within the result only.
//
// All scripts of a document together may have 100,000 JSON values, nested 100 deep.
//
// Base is the absolute URL that the document was obtained from, after redirects.
// ContentType is the value of the HTTP header. If it is empty, application/octet-stream
// or text/plain, the document's first bytes decide what it is.
//
// Report receives each departure that does not stop the Extractor. If nil, they are
// dropped. Those of a script have the line on which it begins.
//
// Errors are *websync.ParseError, except for a base that is no absolute URL and Contexts
// that are no contexts. They wrap [websync.ErrNotDocument] for empty input and for other
// media types, and [websync.ErrLimit] for documents over a limit.
func (x *Extractor) Extract(src io.Reader, base, contentType string, report func(websync.Finding)) ([]rdf.Triple, error) {
	url, _, _ := strings.Cut(base, "#")
	if rdf.IRI(url).Check() != nil {
		return nil, fmt.Errorf("jsonld: the base %q must be an absolute URL", websync.RedactURL(base))
	}
	d := &extraction{to: report, base: url, contexts: make(map[string]any), prepared: make(map[string]any),
		sealed: make(map[string]bool), maxTriples: cmp.Or(x.MaxTriples, 100_000)}
	if d.maxTriples < 0 {
		d.maxTriples = int(^uint(0) >> 1)
	}
	for url, text := range x.Contexts {
		if err := d.addContext(url, text); err != nil {
			return nil, err
		}
	}
	d.document = document.Document{Kind: kind, URL: base, Report: d.departure, MaxDepth: 512}
	if err := d.document.Open(src, cmp.Or(x.MaxBytes, document.PageBytes)); err != nil {
		return nil, err
	}
	scripts, err := d.scripts(contentType)
	if err != nil {
		return nil, err
	}
	for _, s := range scripts {
		if err := d.extract(s); err != nil {
			return nil, d.document.Fail(s.line, 0, "script", err)
		}
	}
	return d.triples, nil
}

// An extraction is one call of Extract.
type extraction struct {
	to         func(websync.Finding)
	document   document.Document
	base       string
	based      bool           // a <base> has set it
	contexts   map[string]any // of the user, by contextKey
	prepared   map[string]any // those of them that are used, without references to others
	maxTriples int

	values    int     // JSON values so far
	cost      float64 // of contexts so far
	mending   int     // definitions that were copied to find wrong ones
	pointers  int     // bytes of the JSON Pointers of bases
	triples   []rdf.Triple
	known     map[rdf.Triple]bool
	blanks    int
	reported  map[reported]bool
	script    script
	undefined bool // a context of the current script is not known

	// The current node.
	nodeBase string            // its base: @base of its context, or that of the document
	bases    map[string]string // those of parts with other ones, by JSON Pointers (RFC 6901)
	path     []string          // the position in it
	longest  int               // bytes of a @base of the script
	sealed   map[string]bool   // terms that are protected and null
	scoped   bool              // a context of a term has a @base or a @vocab
}

type reported struct{ rule, element, value, message string }

// maxReported is how many findings of one document are reported at most.
const maxReported = 200

// add reports a departure in the current script, once.
func (d *extraction) add(r Rule, element, value, message string) {
	d.addAt(r, d.script.line, 0, element, value, message)
}

func (d *extraction) addAt(r Rule, line, column int, element, value, message string) {
	key := reported{r.Name, element, value, message}
	if d.to == nil || d.reported[key] || len(d.reported) >= maxReported {
		return
	}
	if d.reported == nil {
		d.reported = make(map[reported]bool)
	}
	d.reported[key] = true
	d.to(r.Finding(d.document.URL, line, column, element, []byte(value), message))
}

func (d *extraction) departure(kind document.Departure, line, column int, value []byte, message string) {
	switch kind {
	case document.Compression:
		d.addAt(ruleGzip, line, column, "", string(value), message)
	case document.Fault, document.Preamble:
		d.addAt(ruleXML, line, column, "", string(value), message)
	}
}

// scripts returns the JSON-LD of the document.
func (d *extraction) scripts(contentType string) ([]script, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		media = strings.ToLower(strings.TrimSpace(syntax.Essence(contentType)))
	}
	markup, err := d.markup(media)
	if err != nil {
		return nil, err
	}
	data, err := d.document.All()
	if err != nil {
		return nil, err
	}
	if markup == asXML {
		found, err := d.scanXML(data, params["charset"])
		if err == nil || errors.Is(err, websync.ErrLimit) {
			return found, err
		}
		d.addAt(ruleXML, 0, 0, "", "", err.Error()+": read as HTML")
	}
	text := webpage.Decode(data, params["charset"], func(value, message string) {
		d.addAt(ruleEncoding, 0, 0, "", value, message)
	})
	if markup == noMarkup {
		return []script{{text: text, line: 1}}, nil
	}
	found, err := d.scanHTML(text)
	if err != nil {
		return nil, d.document.Fail(0, 0, "", err)
	}
	return found, nil
}

// A markup is what the scripts of a document are in.
type markup uint8

const (
	noMarkup markup = iota // the document is JSON
	asHTML
	asXML
)

// markup returns what the document is by its media type, or by its first bytes if that
// is generic.
func (d *extraction) markup(media string) (markup, error) {
	head := d.document.Head()
	start := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(document.ByteOrderMark)))
	if len(start) == 0 {
		return noMarkup, d.document.NotThis(head)
	}
	generic := slices.Contains([]string{"", "text/plain", "application/octet-stream"}, media)
	isXML := syntax.IsXML(media) || generic && bytes.HasPrefix(start, []byte("<?xml"))
	switch {
	case media == "application/json", strings.HasSuffix(media, "+json"), generic && (start[0] == '{' || start[0] == '['):
		return noMarkup, nil
	case !isXML && media != "text/html" && !generic:
		return noMarkup, d.document.Fail(0, 0, "",
			fmt.Errorf("the media type %q can't hold JSON-LD: %w", media, websync.ErrNotDocument))
	case !document.StartsAsXML(head) && (generic || bytes.IndexByte(head, '<') < 0):
		return noMarkup, d.document.NotThis(head)
	case isXML:
		return asXML, nil
	}
	return asHTML, nil
}
