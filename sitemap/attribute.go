package sitemap

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/xmlscan"
)

var (
	errPrefix    = errors.New("a prefix must be a name that does not begin with xml, is not reserved and is not used twice")
	errAttrSpace = errors.New("must have a namespace other than that of sitemaps and of XML")
	errAttrName  = errors.New("must have a name")
	errAttrTwice = errors.New("is there twice")
)

// appendAttrs appends the Namespaces and Attrs of h to the start tag of the root.
func (w *Writer) appendAttrs(h *Head) error {
	prefixes := make(map[string]string) // by namespace
	for _, prefix := range slices.Sorted(maps.Keys(h.Namespaces)) {
		space := h.Namespaces[prefix]
		switch taken := w.Appender != nil && prefix == w.Appender.Prefix; {
		case taken, !element.IsPrefix(prefix):
			return w.refuseAttr(prefix, errPrefix)
		case !element.IsAttrSpace(space, Namespace):
			return w.refuseAttr(prefix, errAttrSpace)
		}
		prefixes[space] = prefix
		if err := w.appendAttr("xmlns:"+prefix, space); err != nil {
			return err
		}
	}
	for i := range h.Attrs {
		a := &h.Attrs[i]
		named := func(other websync.Attr) bool { return other.Space == a.Space && other.Local == a.Local }
		switch {
		case !element.IsAttrSpace(a.Space, Namespace):
			return w.refuseAttr(a.Local, errAttrSpace)
		case !element.IsLocal(a.Local):
			return w.refuseAttr(a.Local, errAttrName)
		case slices.IndexFunc(h.Attrs, named) < i:
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
	b, err := xmlscan.AppendAttr(w.buf, " "+name+`="`, value)
	if err != nil {
		return w.refuseAttr(name, err)
	}
	w.buf = b
	return nil
}

func (w *Writer) refuseAttr(name string, err error) error {
	return w.check.refuse("", w.root(), fmt.Errorf("the attribute or prefix %.100q: %w", name, err))
}
