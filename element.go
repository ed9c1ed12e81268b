package websync

// An Attr is one attribute of a foreign namespace, kept verbatim.
type Attr struct {
	Space string // namespace URI, never a prefix
	Local string
	Value string // unescaped
}

// An Element is foreign markup as text: one well-formed element that declares every
// prefix it uses, so that a writer can copy it into any document unchanged.
type Element struct {
	Space string // namespace URI of the element
	Local string
	XML   string // the whole element, its start and end tags included
}
