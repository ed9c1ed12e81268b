package resourcesync

import (
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/sitemap"
)

// ValidateOptions are the settings of [Validate]. The zero value is usable; checks that
// need a missing field are skipped.
type ValidateOptions struct {
	// Document is the URL or file name of the document. Findings carry it.
	Document string

	// URL is where the document is published. If empty, it is Document, if that is a URL.
	URL string

	// ContentType is as in Reader.
	ContentType string

	// Report receives every finding.
	Report func(websync.Finding)

	// Now, if set, makes dates more than a day after it findings.
	Now time.Time

	// Extensions are the extensions of sitemaps whose elements are checked, as in
	// sitemap.ValidateOptions.
	Extensions []sitemap.Extension

	// Lenient makes a finding at most a warning if it costs no entry, because a [Reader]
	// reads over it.
	Lenient bool

	// MaxBytes limits the bytes of the document, as in Reader. If zero, it is 1 GiB; if
	// negative, there is no limit.
	MaxBytes int64
}

// A Summary is what Validate has counted.
type Summary struct {
	Capability Capability
	Index      bool
	websync.Counts
}

// Name returns what the document is, with an article: "a Change List Index".
func (s *Summary) Name() string {
	if f := formOf(documentKind{s.Capability, s.Index}); f != nil {
		return f.name
	}
	return anyForm.name
}

// Validate reads one document as a [Reader] does, and reports every departure from the
// standard, versions 1.0 and 1.1, and from the protocol of sitemaps: see [Rules] and
// [sitemap.Rules]. It does not ask where a document may lie and on which hosts the
// resources are: that a source may list them is not for the document to prove.
//
// The error is that of the Reader, and is reported as a finding, too, unless src itself
// has failed. It is nil for a document that was read to its end, whatever the findings.
//
// Validate needs memory as [sitemap.Validate] does, and about 40 bytes for each path; it
// compares each path with the first million of them.
func Validate(src io.Reader, o ValidateOptions) (Summary, error) {
	return newValidator(o).run(src)
}

// A validator is one run of Validate.
type validator struct {
	o     ValidateOptions
	scan  *scanner
	sum   Summary
	check checker
	begun bool  // the head has been checked
	view  *View // of the entry that is checked; nil: the document

	each func(*Entry) // is called with each entry, if set
}

func newValidator(o ValidateOptions) *validator {
	if o.URL == "" {
		o.URL = o.Document
	}
	v := &validator{o: o, scan: newScanner(o.Document, o.URL)}
	v.scan.reports.To, v.scan.reports.Lenient, v.scan.positions = v.count, o.Lenient, true
	v.check.report = v.report
	return v
}

func (v *validator) run(src io.Reader) (Summary, error) {
	sum, err := sitemap.Validate(src, sitemap.ValidateOptions{
		Document: v.o.Document, URL: v.o.URL, ContentType: v.o.ContentType, Now: v.o.Now,
		Extensions: v.o.Extensions, Lenient: v.o.Lenient, MaxBytes: v.o.MaxBytes,
		Report: v.relay, Anywhere: true, Take: v.scan.take, Entry: v.entry,
	})
	switch {
	case err != nil:
		err = ours(err)
	case sum.Kind == sitemap.Text:
		err = &websync.ParseError{Format: "resourcesync", Document: v.o.Document, Err: errText}
		v.scan.reports.Loss(ruleDocument, 0, 0, "", nil, errText.Error())
	default:
		v.scan.head.Index = sum.Kind == sitemap.Index
		v.begin()
		v.scan.end()
	}
	v.sum.Capability, v.sum.Index = v.scan.head.Metadata.Capability, sum.Kind == sitemap.Index
	v.sum.Entries, v.sum.Skipped, v.sum.Bytes = sum.Entries, sum.Skipped, sum.Bytes
	return v.sum, err
}

// relay passes on a finding on the sitemap, if its rule holds for this document.
func (v *validator) relay(f websync.Finding) {
	if f.Rule == sitemapDuplicate && v.check.form != nil && (v.check.form.changes || v.check.form.manifest) {
		return // a resource that changed twice
	}
	if f.Rule != sitemapEmpty {
		v.count(f)
	}
}

func (v *validator) count(f websync.Finding) {
	f.Document = v.o.Document
	document.Counting(&v.sum.Counts, v.o.Report)(f)
}

// begin checks the head, once.
func (v *validator) begin() {
	if !v.begun {
		v.begun = true
		v.check.bare = !v.scan.known
		v.check.document(&v.scan.head)
	}
}

// entry checks an entry that the validator of the sitemap has read.
func (v *validator) entry(from *sitemap.View, kind sitemap.Kind) {
	if kind == sitemap.Text {
		return
	}
	v.scan.head.Index = kind == sitemap.Index
	v.begin()
	v.view = v.scan.turn(from)
	e := v.view.Clone()
	v.check.entry(&e)
	v.check.add(&e)
	if v.each != nil {
		v.each(&e)
	}
	v.view = nil
}

// report reports on the entry at hand, or on the document.
func (v *validator) report(rule Rule, at subject, value, message string) {
	element, p := "ln", v.scan.headAt
	switch {
	case at == onMetadata:
		element = "md"
		if v.view != nil && v.view.known {
			p = v.view.at
		} else if v.view != nil {
			p = position{v.view.Line, v.view.Column}
		}
	case at == onEntry && v.view == nil:
		element = ""
	case at == onEntry:
		element, p = "url", position{v.view.Line, v.view.Column}
		if v.scan.head.Index {
			element = "sitemap"
		}
	case v.view == nil:
		p = v.scan.linksAt[at]
	default:
		p = v.view.Links[at].at
	}
	v.scan.reports.Add(rule, p.line, p.column, element, []byte(value), message)
}
