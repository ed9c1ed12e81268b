package websync

// An Attr is one attribute of a foreign namespace, kept verbatim.
type Attr struct {
	Space string // namespace URI, never a prefix
	Local string
	Value string // unescaped
}

// An Element is foreign markup as text. It is one well-formed element that declares every
// prefix it uses, so it can be written into any document as it stands.
type Element struct {
	Space string // namespace URI of the element
	Local string
	XML   string // the whole element, its start and end tags included
}
