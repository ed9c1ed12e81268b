package rdfa

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/survive"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// Fixed limits of documents. What exceeds one is websync.ErrLimit.
const (
	maxDepth = 512              // how deep elements may be nested: the limit of package html
	maxAttrs = webpage.MaxAttrs // how many attributes an element may have, declarations included: as in xmlscan
)

// An Extractor extracts the triples of documents with RDFa. The zero value is usable. It
// is safe for concurrent use.
type Extractor struct {
	// MaxBytes limits the bytes of a document, decompressed; more are websync.ErrLimit.
	// If zero, it is 12 MiB; if negative, there is no limit. The tree of the document may
	// have one node for each 64 of these bytes, and 10,000 at least, where two attributes
	// count as one, and 128 bytes of text as another: 196,608, which take about 25 MB.
	// Formatting elements that are not closed as they were opened count wherever they may
	// be repeated. A bytes.Buffer as src is not copied.
	// Literals of nested elements, which repeat the same text, and IRIs that are not
	// absolute may have four times as many bytes as the document, and 16 MiB more.
	MaxBytes int64

	// MaxTriples limits the triples of a document; more are websync.ErrLimit. If zero, it
	// is 50,000; if negative, there is no limit.
	MaxTriples int
}

var kind = document.Kind{Format: "rdfa", Name: "a document with RDFa", Else: "not markup"}

// Extract returns the triples of the document in src in the order of the document; some
// may occur more than once. A document without RDFa has no triples, which is no error.
// Labels of blank nodes are unique within the result only.
//
// Elements may be nested 512 deep, and have 256 attributes.
//
// Report receives each departure from the specification that does not stop the Extractor.
// If nil, they are dropped. A wrong value is reported once a document, with the line
// where it first occurs. Findings of HTML have no column.
//
// Base is the absolute URL that the document was obtained from, after redirects.
// ContentType is the value of the HTTP header, which decides on the host language and,
// unless there is a byte-order mark, on the encoding. If it is empty,
// application/octet-stream or text/plain, the document's first bytes decide.
//
// Errors are *websync.ParseError, except for a base that is no absolute URL. They wrap
// [websync.ErrNotDocument] for empty input, for other media types and for what is not
// markup, [websync.ErrTruncated] for XML that is cut short, and [websync.ErrLimit] for
// documents over a limit. HTML that is cut short is no error, but the finding rdfa-end.
func (x *Extractor) Extract(src io.Reader, base, contentType string, report func(websync.Finding)) ([]rdf.Triple, error) {
	url, _, _ := strings.Cut(base, "#")
	if rdf.IRI(url).Check() != nil {
		return nil, fmt.Errorf("rdfa: the base %q must be an absolute URL", websync.RedactURL(base))
	}
	d := &extraction{to: report, url: url}
	d.document = document.Document{Kind: kind, URL: base, ContentType: contentType, MaxDepth: maxDepth}
	d.document.Report = d.departure
	p := &processor{url: url, maxTriples: cmp.Or(x.MaxTriples, 50_000), report: d.report}
	if p.maxTriples < 0 {
		p.maxTriples = int(^uint(0) >> 1)
	}
	maxBytes := cmp.Or(x.MaxBytes, document.PageBytes)
	if maxBytes > 0 {
		d.maxNodes = int(min(max(maxBytes/bytesPerNode, 10_000), 1<<30))
	}
	if err := d.document.Open(src, maxBytes); err != nil {
		return nil, err
	}
	if err := survive.Panic("rdfa", func() error { return d.parse(p, contentType) }); err != nil {
		return nil, err
	}
	p.maxText = 16<<20 + 4*int(min(d.document.Size(), 1<<28))
	s := &scope{base: d.base(p)}
	p.element(p.root, &context{scope: s, lang: p.defaultLang(), subject: rdf.IRI(s.base), lists: new(lists)})
	if p.err == nil && p.copies && p.host.hasHTMLRules() {
		p.triples, p.err = copyPatterns(p.triples, p.maxTriples)
	}
	if p.err != nil {
		return nil, d.document.Fail(0, 0, "", p.err)
	}
	return p.triples, nil
}

// An extraction is one call of Extract.
type extraction struct {
	to       func(websync.Finding) // receives the findings; may be nil
	url      string
	document document.Document
	maxNodes int    // of the tree; 0: no limit
	text     []byte // an HTML document in UTF-8
	lines    map[string]int
	reported map[reported]bool
}

type reported struct{ rule, element, value, message string }

// add reports a departure, once.
func (d *extraction) add(r Rule, line, column int, element, value, message string) {
	if key := (reported{r.Name, element, value, message}); d.isNew(key) {
		d.reported[key] = true
		d.to(r.Finding(d.document.URL, line, column, element, []byte(value), message))
	}
}

func (d *extraction) isNew(key reported) bool {
	if d.reported == nil {
		d.reported = make(map[reported]bool)
	}
	return d.to != nil && !d.reported[key] && len(d.reported) < maxReported
}

// report reports a departure of a value, once. Line numbers are those of the value's
// first occurrence, since the nodes have no positions.
func (d *extraction) report(r Rule, element, value, message string) {
	if !d.isNew(reported{r.Name, element, value, message}) {
		return
	}
	line := d.lines[value]
	if value != "" && line == 0 {
		if at := bytes.Index(d.text, []byte(value)); at >= 0 {
			line = 1 + bytes.Count(d.text[:at], []byte("\n"))
		}
	}
	d.add(r, line, 0, element, value, message)
}

// maxReported is how many findings of one document are reported at most.
const maxReported = 200

func (d *extraction) departure(kind document.Departure, line, column int, value []byte, message string) {
	r := ruleXML
	switch kind {
	case document.Compression:
		r = ruleGzip
	case document.Preamble:
		r = rulePrologue
	case document.Encoding, document.Doctype:
		return // both are common and right
	}
	d.add(r, line, column, "", string(value), message)
}

// parse reads the document into p.root, and determines the host language.
func (d *extraction) parse(p *processor, contentType string) error {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		media = strings.ToLower(strings.TrimSpace(syntax.Essence(contentType)))
	}
	head := d.document.Head()
	page := media == "text/html"
	switch {
	case media == "application/xhtml+xml":
		return d.parseXHTML(p)
	case syntax.IsXML(media), !page && isGeneric(media) && bytes.Contains(head, []byte("<?xml")):
		return d.parseXML(p, xml)
	case !page && !isGeneric(media):
	case !isMarkup(head), !page && !document.StartsAsXML(head):
		return d.document.NotThis(head)
	default:
		return d.parseHTML(p, params["charset"])
	}
	return d.document.Fail(0, 0, "", fmt.Errorf("the media type %q can't hold RDFa: %w", media, websync.ErrNotDocument))
}

// isGeneric reports whether a media type says nothing about a document.
func isGeneric(media string) bool {
	return media == "" || media == "text/plain" || media == "application/octet-stream"
}

// isMarkup reports whether a document may be HTML or XML. Pages begin with all sorts of
// things, but not as the formats that are mistaken for them.
func isMarkup(head []byte) bool {
	start := bytes.TrimSpace(head)
	if len(start) == 0 || document.StartsAsXML(head) {
		return len(start) > 0
	}
	for _, other := range [...]string{"%PDF", "PK\x03\x04", "{", "["} {
		if bytes.HasPrefix(start, []byte(other)) {
			return false
		}
	}
	return bytes.IndexByte(head, '<') >= 0
}

var errNoRoot = errors.New("no element")
