package atom

import (
	"github.com/websync-go/websync/internal/xmlscan"
)

// tombstone reads an at:deleted-entry into r.view (RFC 6721 §3).
func (r *Reader) tombstone(in inherited) error {
	v := &r.view
	v.Deleted = true
	if r.watched {
		r.line, r.column = v.Line, v.Column
	}
	if ref, _ := r.scan.Attr("", "ref"); len(xmlscan.Trim(ref)) > 0 {
		v.ID = v.add(r.usable(ref, r.before, "a ref that is not one IRI: the tombstone is skipped"))
	} else {
		r.reportChild(ruleTombstoneRef, nil, "a tombstone without ref: it is skipped")
	}
	r.when()
	var seen children
	for {
		tag, err := r.nextTag()
		if err != nil || tag == xmlscan.End {
			return err
		}
		if err := r.tombstoneChild(&seen, in); err != nil {
			return err
		}
	}
}

// when reads the time of a deletion.
func (r *Reader) when() {
	v := &r.view
	when, ok := r.scan.Attr("", "when")
	if !ok {
		r.reportChild(ruleTombstoneWhen, nil, "a tombstone that does not say when")
		return
	}
	if v.Updated, ok = exactDate(when); !ok {
		var fault string
		v.Updated, fault = date3339(when)
		r.reportChild(ruleTombstoneWhen, when, fault)
		v.UpdatedText = v.add(when[:min(len(when), maxRaw)])
	}
	r.checkFuture(v.Updated)
}

func (r *Reader) tombstoneChild(seen *children, in inherited) error {
	v := &r.view
	name := r.scan.Name()
	child := tombstoneChildNamed(name)
	if r.own(name.Space) {
		child = childNamed(name.Local) & (childLink | childSource)
	}
	switch {
	case child == 0:
		return r.capture(name)
	case !r.admits(child, seen, v.kept, &ruleTombstoneChild):
		return r.scan.Skip()
	}
	switch child {
	case childBy:
		return r.person(&v.By, in)
	case childComment:
		return r.construct(&v.Comment, in)
	case childLink:
		before := len(v.buf)
		err := r.itemLink(in)
		v.kept += perChild + len(v.buf) - before
		return err
	}
	source, err := r.source(in)
	v.Source = source
	return err
}

func tombstoneChildNamed(name xmlscan.Name) children {
	switch name {
	case xmlscan.Name{Space: TombstoneNamespace, Local: "by"}:
		return childBy
	case xmlscan.Name{Space: TombstoneNamespace, Local: "comment"}:
		return childComment
	}
	return 0
}
