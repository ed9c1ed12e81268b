package xmlscan

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/websync-go/websync/internal/syntax"
)

// reference decodes the reference that src, at buf[at], starts with, and returns the
// bytes it took.
func (r *Reader) reference(dst, src []byte, at int) ([]byte, int, bool) {
	if c, n := simpleReference(src); n > 0 {
		return append(dst, c), n, true
	}
	if len(src) > 1 && src[1] == '#' {
		return r.charReference(dst, src, at)
	}
	n := 1 + nameLen(src[1:])
	name := src[1:n]
	closed := n < len(src) && src[n] == ';'
	if c := predefined(name); c != 0 && closed {
		return append(dst, c), n + 1, true
	}
	if !closed || !isName(name) {
		return append(dst, '&'), 1, r.misread(at, noReference)
	}
	if e, ok := r.entities[string(name)]; ok && e.isText {
		if r.expanded += len(e.text); r.expanded > maxExpanded {
			return dst, 0, r.fail(at, ErrLimit, "references to entities stand for more than %d bytes", maxExpanded)
		}
		return append(dst, e.text...), n + 1, true
	}
	undefined := "undefined entity " + string(name)
	if c := htmlEntities()[string(name)]; c != "" {
		return append(dst, c...), n + 1, r.fault(at, undefined)
	}
	return append(dst, src[:n+1]...), n + 1, r.misread(at, undefined)
}

// The limits on the entities of a document.
const (
	maxEntities = 1000
	maxEntity   = 64 << 10 // bytes of one
	maxExpanded = 1 << 20  // bytes that the references stand for
)

// An entity is one that is declared.
type entity struct {
	text   []byte
	isText bool // it has no markup, and all its references are known
}

// declare keeps the internal entity whose value is at buf[at]. Of several with one name,
// the first counts (XML 1.0 §4.2).
func (r *Reader) declare(name, value []byte, at int) bool {
	if _, ok := r.entities[string(name)]; ok {
		return true
	}
	if len(r.entities) == maxEntities {
		return r.fail(at, ErrLimit, "more than %d entities", maxEntities)
	}
	before := r.losses
	var text []byte // §4.5: with characters for their references
	for {
		n := bytes.Index(value, []byte("&#"))
		if n < 0 {
			break
		}
		text, value = append(text, value[:n]...), value[n:]
		var ok bool
		if text, n, ok = r.charReference(text, value, at); !ok {
			return false
		}
		value = value[n:]
	}
	text = append(text, value...)
	var e entity
	if bytes.IndexByte(text, '<') < 0 {
		clean, ok := cleanText(text), false
		if e.text, ok = r.decode(bytes.Clone(text[:clean]), text, clean, at, inText); !ok {
			return false
		}
		e.isText = r.losses == before
	}
	r.losses = before
	if len(e.text) > maxEntity {
		return r.fail(at, ErrLimit, "an entity of more than %d bytes", maxEntity)
	}
	if r.entities == nil {
		r.entities = make(map[string]entity)
	}
	r.entities[string(name)] = e
	return true
}

// simpleReference returns what one of the most frequent references stands for, and its
// length, if src starts with one.
func simpleReference(src []byte) (c byte, n int) {
	switch {
	case len(src) < 5:
	case string(src[:5]) == "&amp;":
		return '&', 5
	case string(src[:4]) == "&lt;":
		return '<', 4
	case string(src[:4]) == "&gt;":
		return '>', 4
	}
	return 0, 0
}

const noReference = "'&' does not start a reference"

func isName(b []byte) bool {
	return isNCName(bytes.ReplaceAll(b, []byte(":"), []byte("_")))
}

// predefined returns what one of the five entities of XML 1.0 §4.6 stands for.
func predefined(name []byte) byte {
	switch string(name) {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	return 0
}

// charReference decodes a character reference.
func (r *Reader) charReference(dst, src []byte, at int) ([]byte, int, bool) {
	digits, base := src[2:], 10
	if len(digits) > 0 && digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n := 0
	for n < len(digits) && isDigit(digits[n], base) {
		n++
	}
	if n == 0 || n == len(digits) || digits[n] != ';' {
		return append(dst, '&'), 1, r.misread(at, noReference)
	}
	c, err := strconv.ParseInt(string(bytes.TrimLeft(digits[:n], "0")), base, 32)
	n += len(src) - len(digits) + 1
	if err != nil || !syntax.IsXMLCharacter(rune(c)) {
		ref := src[:min(n, 20)]
		return dst, n, r.lose(at, ref, func() string { return "reference to a character that XML forbids: " + string(ref) })
	}
	return append(dst, string(rune(c))...), n, true
}

func isDigit(c byte, base int) bool {
	return '0' <= c && c <= '9' || base == 16 && ('a' <= c && c <= 'f' || 'A' <= c && c <= 'F')
}

// htmlEntities returns the characters of the entities of HTML 4.01 §24 other than those
// of XML.
var htmlEntities = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for entity := range strings.SplitSeq(htmlEntityList, ";") {
		name, c, _ := strings.Cut(entity, "=")
		m[name] = c
	}
	return m
})

const htmlEntityList = "" +
	"nbsp=\u00a0;iexcl=¡;cent=¢;pound=£;curren=¤;yen=¥;brvbar=¦;sect=§;uml=¨;copy=©;ordf=ª;laquo=«;not=¬;shy=\u00ad;" +
	"reg=®;macr=¯;deg=°;plusmn=±;sup2=²;sup3=³;acute=´;micro=µ;para=¶;middot=·;cedil=¸;sup1=¹;ordm=º;raquo=»;" +
	"frac14=¼;frac12=½;frac34=¾;iquest=¿;Agrave=À;Aacute=Á;Acirc=Â;Atilde=Ã;Auml=Ä;Aring=Å;AElig=Æ;Ccedil=Ç;" +
	"Egrave=È;Eacute=É;Ecirc=Ê;Euml=Ë;Igrave=Ì;Iacute=Í;Icirc=Î;Iuml=Ï;ETH=Ð;Ntilde=Ñ;Ograve=Ò;Oacute=Ó;Ocirc=Ô;" +
	"Otilde=Õ;Ouml=Ö;times=×;Oslash=Ø;Ugrave=Ù;Uacute=Ú;Ucirc=Û;Uuml=Ü;Yacute=Ý;THORN=Þ;szlig=ß;agrave=à;aacute=á;" +
	"acirc=â;atilde=ã;auml=ä;aring=å;aelig=æ;ccedil=ç;egrave=è;eacute=é;ecirc=ê;euml=ë;igrave=ì;iacute=í;icirc=î;" +
	"iuml=ï;eth=ð;ntilde=ñ;ograve=ò;oacute=ó;ocirc=ô;otilde=õ;ouml=ö;divide=÷;oslash=ø;ugrave=ù;uacute=ú;ucirc=û;" +
	"uuml=ü;yacute=ý;thorn=þ;yuml=ÿ;OElig=Œ;oelig=œ;Scaron=Š;scaron=š;Yuml=Ÿ;fnof=ƒ;circ=ˆ;tilde=˜;Alpha=Α;Beta=Β;" +
	"Gamma=Γ;Delta=Δ;Epsilon=Ε;Zeta=Ζ;Eta=Η;Theta=Θ;Iota=Ι;Kappa=Κ;Lambda=Λ;Mu=Μ;Nu=Ν;Xi=Ξ;Omicron=Ο;Pi=Π;Rho=Ρ;" +
	"Sigma=Σ;Tau=Τ;Upsilon=Υ;Phi=Φ;Chi=Χ;Psi=Ψ;Omega=Ω;alpha=α;beta=β;gamma=γ;delta=δ;epsilon=ε;zeta=ζ;eta=η;" +
	"theta=θ;iota=ι;kappa=κ;lambda=λ;mu=μ;nu=ν;xi=ξ;omicron=ο;pi=π;rho=ρ;sigmaf=ς;sigma=σ;tau=τ;upsilon=υ;phi=φ;" +
	"chi=χ;psi=ψ;omega=ω;thetasym=ϑ;upsih=ϒ;piv=ϖ;ensp=\u2002;emsp=\u2003;thinsp=\u2009;zwnj=\u200c;zwj=\u200d;lrm=\u200e;" +
	"rlm=\u200f;ndash=–;mdash=—;lsquo=‘;rsquo=’;sbquo=‚;ldquo=“;rdquo=”;bdquo=„;dagger=†;Dagger=‡;bull=•;" +
	"hellip=…;permil=‰;prime=′;Prime=″;lsaquo=‹;rsaquo=›;oline=‾;frasl=⁄;euro=€;image=ℑ;weierp=℘;real=ℜ;" +
	"trade=™;alefsym=ℵ;larr=←;uarr=↑;rarr=→;darr=↓;harr=↔;crarr=↵;lArr=⇐;uArr=⇑;rArr=⇒;dArr=⇓;hArr=⇔;" +
	"forall=∀;part=∂;exist=∃;empty=∅;nabla=∇;isin=∈;notin=∉;ni=∋;prod=∏;sum=∑;minus=−;lowast=∗;radic=√;" +
	"prop=∝;infin=∞;ang=∠;and=∧;or=∨;cap=∩;cup=∪;int=∫;there4=∴;sim=∼;cong=≅;asymp=≈;ne=≠;equiv=≡;" +
	"le=≤;ge=≥;sub=⊂;sup=⊃;nsub=⊄;sube=⊆;supe=⊇;oplus=⊕;otimes=⊗;perp=⊥;sdot=⋅;lceil=⌈;rceil=⌉;" +
	"lfloor=⌊;rfloor=⌋;lang=〈;rang=〉;loz=◊;spades=♠;clubs=♣;hearts=♥;diams=♦"
