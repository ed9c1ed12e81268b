package anyfeed

import (
	"bytes"
	"fmt"
	"io"

	gofeed "github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/mmcdole/gofeed/rss"
)

// xml reads a feed of a format that is XML.
func (p *parser) xml(data []byte) error {
	o, err := p.outline(data)
	if err != nil {
		return err
	}
	if o.isAtom() {
		entries := func(f *gofeed.Feed) int { return len(f.Entries) }
		return translate(p, o, new(gofeed.Parser).Parse, entries, p.atom)
	}
	items := func(f *rss.Feed) int { return len(f.Items) }
	return translate(p, o, new(rss.Parser).Parse, items, p.rss)
}

// translate has gofeed parse a document, and tells what it finds. The outline must be of
// the same entries.
func translate[F any](p *parser, o *outline, parse func(io.Reader) (*F, error), count func(*F) int, tell func(*outline, *F)) error {
	var f *F
	err := guard(func() (err error) {
		f, err = parse(bytes.NewReader(o.data))
		return err
	})
	if err == nil && count(f) != len(o.items) {
		err = fmt.Errorf("gofeed finds %d entries instead of %d", count(f), len(o.items))
	}
	if err != nil {
		return p.doc.Fail(0, 0, "", err)
	}
	tell(o, f)
	return nil
}

// values returns the texts of the extension elements of one name.
func values(x ext.Extensions, prefix, local string) (texts []string) {
	for _, e := range x[prefix][local] {
		texts = append(texts, e.Value)
	}
	return texts
}

// value returns the first text that is not empty.
func value(x ext.Extensions, prefix, local string) string { return first(values(x, prefix, local)...) }
