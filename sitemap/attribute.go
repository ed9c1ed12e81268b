package sitemap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

var (
	errPrefix    = errors.New("a prefix must be a name that does not begin with xml, is not reserved and is not used twice")
	errAttrSpace = errors.New("must have a namespace other than that of sitemaps and of XML")
	errAttrName  = errors.New("must have a name")
	errAttrTwice = errors.New("is there twice")
)

// appendAttrs appends Namespaces and Attrs to the start tag of the root.
func (w *Writer) appendAttrs() error {
	prefixes := make(map[string]string) // by namespace
	for _, prefix := range slices.Sorted(maps.Keys(w.Namespaces)) {
		space := w.Namespaces[prefix]
		reserved := w.Appender != nil && prefix == w.Appender.Prefix || isGenerated(prefix) || len(prefix) >= 3 && strings.EqualFold(prefix[:3], "xml")
		switch {
		case reserved || !isName(prefix):
			return w.refuseAttr(prefix, errPrefix)
		case !isForeign(space):
			return w.refuseAttr(prefix, errAttrSpace)
		}
		prefixes[space] = prefix
		if err := w.appendAttr("xmlns:"+prefix, space); err != nil {
			return err
		}
	}
	for i := range w.Attrs {
		a := &w.Attrs[i]
		named := func(other websync.Attr) bool { return other.Space == a.Space && other.Local == a.Local }
		switch {
		case !isForeign(a.Space):
			return w.refuseAttr(a.Local, errAttrSpace)
		case !isName(a.Local):
			return w.refuseAttr(a.Local, errAttrName)
		case slices.IndexFunc(w.Attrs, named) < i:
			return w.refuseAttr(a.Local, errAttrTwice)
		}
		if prefixes[a.Space] == "" {
			prefixes[a.Space] = fmt.Sprintf("ns%d", i+1)
			if err := w.appendAttr("xmlns:"+prefixes[a.Space], a.Space); err != nil {
				return err
			}
		}
		if err := w.appendAttr(prefixes[a.Space]+":"+a.Local, a.Value); err != nil {
			return err
		}
	}
	return nil
}

// appendAttr appends an attribute.
func (w *Writer) appendAttr(name, value string) error {
	b, err := xmlscan.AppendAttr(append(w.buf, " "+name+`="`...), value)
	if err != nil {
		return w.refuseAttr(name, err)
	}
	w.buf = append(b, '"')
	return nil
}

func (w *Writer) refuseAttr(name string, err error) error {
	return w.check.refuse("", w.root(), fmt.Errorf("the attribute or prefix %.100q: %w", name, err))
}

// isGenerated reports whether a prefix has the form of those that appendAttrs generates.
func isGenerated(prefix string) bool {
	return len(prefix) > 2 && prefix[:2] == "ns" && syntax.IsDigit(prefix[2])
}

// isForeign reports whether an attribute of the root may be in a namespace.
func isForeign(space string) bool {
	return space != "" && space != Namespace && space != xmlNamespace && space != "http://www.w3.org/2000/xmlns/"
}

// isName reports whether s is a name without a colon.
func isName(s string) bool {
	name, err := element.Name("<" + s + ` xmlns=""/>`)
	return err == nil && name.Local == s
}
