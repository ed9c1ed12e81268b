package xmlscan

import "iter"

const (
	xmlURI   = "http://www.w3.org/XML/1998/namespace"
	xmlnsURI = "http://www.w3.org/2000/xmlns/"
)

// A prefix holds its current namespace, so that resolving a name needs no search.
type prefix struct {
	name  string
	uri   string // empty: not bound
	depth int    // of the element that declared it; 0 if it is predefined or not bound

	captured    uint64 // the last capture that declares it because it is used there
	declaration string // as captures write it, if one did since it was bound
}

// A binding remembers what a prefix stood for before it was declared.
type binding struct {
	prefix *prefix
	uri    string
	depth  int
}

func (t *names) prefix(name string) *prefix {
	p := t.prefixes[name]
	if p == nil {
		p = &prefix{name: name}
		t.prefixes[name] = p
	}
	return p
}

// bind handles a declaration of p in the current tag.
func (r *Reader) bind(p *prefix, value []byte, at int) bool {
	uri := r.uri(value)
	switch {
	case uri == "" && p != r.none:
		return r.fail(at, nil, "prefix %s must not be declared as empty", p.name)
	case p.name == "xmlns":
		return r.fail(at, nil, "the prefix xmlns must not be declared")
	case (p.name == "xml") != (uri == xmlURI), uri == xmlnsURI:
		return r.fail(at, nil, "prefix %q must not be bound to %s", p.name, uri)
	case p.name == "xml":
		return true
	}
	r.binds = append(r.binds, binding{p, p.uri, p.depth})
	r.decls = append(r.decls, p)
	p.uri, p.depth, p.declaration = uri, len(r.stack)+1, ""
	return true
}

// uri returns the name of a namespace as a string, the same each time.
func (t *names) uri(value []byte) string {
	uri, ok := t.uris[string(value)]
	if !ok {
		uri = string(value)
		t.uris[uri] = uri
		t.size += len(uri)
		t.full = t.full || t.size > maxNameBytes
	}
	return uri
}

// unbind takes back the declarations of an element that has ended.
func (t *names) unbind(n int) {
	for i := len(t.binds) - 1; i >= n; i-- {
		b := t.binds[i]
		b.prefix.uri, b.prefix.depth, b.prefix.declaration = b.uri, b.depth, ""
	}
	t.binds = t.binds[:n]
}

// undeclared handles a name whose prefix is not bound. If Recover is set, its namespace
// is the prefix.
func (r *Reader) undeclared(q *qname, at int) (space string, ok bool) {
	return q.prefix.name, r.fault(at, "prefix "+q.prefix.name+" is not declared")
}

// Declarations returns an iterator over the namespace declarations of the current Start,
// in the order of the document: the prefix, empty for the default namespace, and the
// namespace. The strings may be kept. A declaration of the prefix xml is not among them.
func (r *Reader) Declarations() iter.Seq2[string, string] {
	return func(yield func(prefix, space string) bool) {
		for _, p := range r.decls {
			if !yield(p.name, p.uri) {
				return
			}
		}
	}
}

// RawName returns the name of the current Start or End as the document has it, with its
// prefix. The string may be kept.
func (r *Reader) RawName() string { return r.current().name.raw }

// RawAttrName returns the name of one of Attrs as the document has it, with its prefix.
// The string may be kept.
func (r *Reader) RawAttrName(i int) string { return r.raws[i].name.raw }
