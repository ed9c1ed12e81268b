package atom

import (
	"errors"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// ValidateOptions are the settings of [Validate]. The zero value is usable; checks that
// need a missing field are skipped.
type ValidateOptions struct {
	// Document is the URL or file name of the document. Findings carry it.
	Document string

	// URL is where the document is published; relative links are resolved against it. If
	// empty, it is Document, if that is a URL.
	URL string

	// ContentType is as in Reader.
	ContentType string

	// Report receives every finding, in the order of the document. Some checks are made
	// at the end of an element or of the document, and report there.
	Report func(websync.Finding)

	// Now, if set, makes times more than a day after it findings.
	Now time.Time

	// Lenient makes every finding at most a warning that costs no entry and no tombstone,
	// because a [Reader] reads over it.
	Lenient bool

	// MaxBytes limits the document, decompressed, as in Reader. If zero, it is 1 GiB; if
	// negative, there is no limit.
	MaxBytes int64

	// Item and Feed are for profiles of Atom, which have further rules. Item, if set, is
	// called with each item that a Reader returns. Feed, if set, is called at the end of
	// a Feed Document, when all of its metadata are read. What they report becomes a
	// Finding with the position of the item or feed. It counts in the Summary, and
	// Lenient applies.
	Item func(item *Item, report ReportFunc)
	Feed func(feed *Feed, report ReportFunc)
}

// A ReportFunc reports that an item, or a feed, departs from a rule.
type ReportFunc = websync.ReportFunc

// A Summary sums up a document.
type Summary struct {
	Kind Kind
	websync.Counts
	Tombstones int // those that a Reader returns

	ID string // of the feed or entry; ref of a tombstone
	// of the feed or entry; when of a tombstone; the zero value if it can't be read
	Updated websync.Datetime

	// Self, Current, Next, PrevArchive and NextArchive are the resolved targets of the
	// feed's first link of each relation, in a Feed Document.
	Self, Current, Next, PrevArchive, NextArchive string

	Archive  bool // fh:archive
	Complete bool // fh:complete

	// Earliest and Latest are the least and the greatest time of the entries (updated)
	// and tombstones (when).
	Earliest, Latest websync.Datetime
}

// Validate reads one document as a [Reader] does, and reports every departure from RFC
// 4287, RFC 5005, RFC 6721 and the drafts of the link extensions: see [Rules].
//
// The error is that of the Reader: the document is not Atom, is cut short, damaged or too
// long. It is reported as a finding, too, unless src itself has failed. The error is nil
// for a document that was read to its end, whatever the findings.
//
// It needs memory for one item, as a Reader does, and 32 to 96 bytes for each entry and
// tombstone, to find duplicate ids. It compares each with the first four million of them,
// and each alternate link of an element with the first 65,536.
func Validate(src io.Reader, o ValidateOptions) (Summary, error) {
	return newChecker(src, o).run()
}

// A checker makes the checks of Validate that a Reader does not make. The Reader calls it
// while it reads.
type checker struct {
	r   *Reader
	o   ValidateOptions
	src document.Source
	sum Summary

	head  feedFacts
	item  itemFacts
	html  htmlChecker
	ids   idTable
	small []byte // scratch space

	each func(v *View) // if set, called with each item
}

func newChecker(src io.Reader, o ValidateOptions) *checker {
	if o.URL == "" && syntax.Scheme(o.Document) > 1 {
		o.URL = o.Document
	}
	c := &checker{o: o, src: document.Source{Src: src}}
	c.r = NewReader(&c.src)
	c.r.Document, c.r.ContentType, c.r.Now, c.r.MaxBytes = o.URL, o.ContentType, o.Now, o.MaxBytes
	count := document.Counting(&c.sum.Counts, o.Report)
	c.r.Report = func(f websync.Finding) {
		f.Document = o.Document
		count(f)
	}
	c.r.reports.Lenient, c.r.check = o.Lenient, c
	return c
}

func (c *checker) run() (Summary, error) {
	for {
		v, err := c.r.NextView()
		if err != nil {
			return c.end(err)
		}
		name := "entry"
		if v.Deleted {
			name = "deleted-entry"
			c.sum.Tombstones++
		} else {
			c.sum.Entries++
		}
		if c.each != nil {
			c.each(v)
		}
		if c.o.Item != nil {
			item := v.Clone()
			c.o.Item(&item, c.reportAt(position{v.Line, v.Column}, name))
		}
	}
}

// reportAt returns the function by which a profile reports.
func (c *checker) reportAt(at position, name string) ReportFunc {
	return c.r.reports.At(at.line, at.column, name)
}

func (c *checker) end(err error) (Summary, error) {
	if err == io.EOF {
		err = nil
	}
	var failed *websync.ParseError
	if errors.As(err, &failed) {
		failed.Document = c.o.Document
	}
	if parse, rule, ok := c.src.Blame(err, ruleTruncated, ruleDocument, ruleXML); ok {
		c.r.reports.Loss(rule, parse.Line, parse.Column, parse.Element, nil, parse.Err.Error())
	}
	c.sum.Kind, c.sum.Skipped = c.r.Kind(), c.r.Skipped()
	if c.r.doc != nil {
		c.sum.Bytes = c.r.doc.Size()
	}
	return c.sum, err
}
