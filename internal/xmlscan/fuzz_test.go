package xmlscan_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

// addCorpus adds every small document of the matrix, with a number, to the corpus of a
// fuzz target.
func addCorpus(f *testing.F) {
	n := uint64(1)
	add := func(doc string) {
		if len(doc) < 4096 {
			f.Add([]byte(doc), n)
			n = n*6364136223846793005 + 1442695040888963407
		}
	}
	for _, c := range rejected {
		add(c.doc)
	}
	for _, c := range accepted {
		add(c.doc)
	}
	for _, doc := range samples(2) {
		add(string(doc))
	}
}

// FuzzReader: no panic; errors have positions; limits hold; tokens balance.
func FuzzReader(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, mode uint64) {
		r := xmlscan.NewReader(bytes.NewReader(doc))
		r.MaxDepth = 1 + int(mode>>8%16)
		r.MaxAttrs = 1 + int(mode>>16%8)
		r.MaxToken = 16 + int(mode>>24%1024)
		if mode&1 != 0 {
			r.Recover = func(line, col int, msg string) { requirePosition(t, doc, line, col) }
		}
		depth := 0
		for {
			k, err := r.Next()
			if err == io.EOF {
				require.Zero(t, depth)
				return
			}
			if err != nil {
				var syntax *xmlscan.SyntaxError
				require.ErrorAs(t, err, &syntax)
				requirePosition(t, doc, syntax.Line, syntax.Column)
				return
			}
			line, col := r.Position()
			requirePosition(t, doc, line, col)
			switch k {
			case xmlscan.Start:
				depth++
				require.Equal(t, depth, r.Depth())
				require.NotEmpty(t, r.Name().Local)
				require.LessOrEqual(t, len(r.Attrs()), r.MaxAttrs)
				for _, a := range r.Attrs() {
					requireChars(t, a.Value)
				}
			case xmlscan.Text:
				require.NotEmpty(t, r.Text())
				require.LessOrEqual(t, len(r.Text()), 3*r.MaxToken)
				requireChars(t, r.Text())
			case xmlscan.End:
				require.Equal(t, depth, r.Depth())
				depth--
			}
			require.LessOrEqual(t, depth, r.MaxDepth)
		}
	})
}

func requirePosition(t *testing.T, doc []byte, line, col int) {
	t.Helper()
	require.Positive(t, line)
	require.Positive(t, col)
	require.LessOrEqual(t, line, bytes.Count(doc, []byte("\n"))+1)
	require.LessOrEqual(t, col, 3*len(doc)+1) // a byte can take three in UTF-8
}

func requireChars(t *testing.T, b []byte) {
	t.Helper()
	if _, err := xmlscan.AppendText(nil, string(b)); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
}

// splitReader returns data in pieces whose sizes depend on a number, sometimes with empty
// reads or with EOF beside data.
type splitReader struct {
	data []byte
	n    uint64
}

func (s *splitReader) Read(p []byte) (int, error) {
	s.n = s.n*6364136223846793005 + 1442695040888963407
	size := min(int(s.n>>60), len(s.data), len(p))
	copy(p, s.data[:size])
	s.data = s.data[size:]
	if len(s.data) == 0 && (size == 0 || s.n>>59&1 == 0) {
		return size, io.EOF
	}
	return size, nil
}

// readAll returns the tokens, the faults and the error of a document as text.
func readAll(src io.Reader, recover bool) string {
	var faults strings.Builder
	r := xmlscan.NewReader(src)
	if recover {
		r.Recover = func(line, col int, msg string) { fmt.Fprintf(&faults, "%d:%d %s\n", line, col, msg) }
	}
	tokens, err := trace(r)
	return fmt.Sprintf("%s\n%s%v", tokens, faults.String(), err)
}

// FuzzSplit: however the input is cut into reads, the tokens, faults and errors are the
// same.
func FuzzSplit(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, n uint64) {
		want := readAll(bytes.NewReader(doc), n&1 != 0)
		require.Equal(t, want, readAll(&splitReader{doc, n}, n&1 != 0))
	})
}

// FuzzAgainstEncodingXML: both read the same tokens or both return an error, except for
// the known faults of encoding/xml.
func FuzzAgainstEncodingXML(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, _ uint64) {
		r := xmlscan.NewReader(bytes.NewReader(doc))
		r.MaxDepth, r.MaxAttrs = -1, -1
		got, err := trace(r)
		want, peerErr := traceEncodingXML(doc)
		switch {
		case err != nil && peerErr != nil:
		case err != nil:
			if !acceptedWrongly(doc, err.(*xmlscan.SyntaxError)) {
				t.Fatalf("%q: only websync refuses: %v", doc, err)
			}
		case peerErr != nil:
			if !refusedWrongly(doc, peerErr) {
				t.Fatalf("%q: only encoding/xml refuses: %v", doc, peerErr)
			}
		default:
			require.Equal(t, sameSpace(want), sameSpace(got), "%q", doc)
		}
	})
}

// sameSpace hides that encoding/xml does not normalise the white space of attributes.
func sameSpace(trace string) string {
	// names of namespaces are not quoted
	return strings.NewReplacer(`\t`, " ", `\n`, " ", `\r`, " ", "\t", " ", "\n", " ", "\r", " ").Replace(trace)
}

// acceptedWrongly reports whether our error is one that encoding/xml is known not to
// return.
func acceptedWrongly(doc []byte, err *xmlscan.SyntaxError) bool {
	for _, known := range []string{
		"empty input", "the first character is not '<'", "text before the root", "text after the root", "markup after the root",
		// no root element, or inside a DOCTYPE that it cuts elsewhere
		"input ended inside the document",
		"twice",
		"where white space or the end of the tag is expected",
		// a colon first or last, or a local part that starts with a digit
		"invalid name",
		"invalid target",       // a colon, or XML in capitals
		"is not declared",      // prefix
		"declared as empty",    // prefix
		"prefix xmlns",         // declared, or on an element
		"bound to",             // xml, xmlns
		"XML declaration",      // late, faulty
		"unsupported encoding", // encoding/xml ignores the label
		"that XML forbids",     // references to surrogates
		"white space after the target",
		`"<!"`, "DOCTYPE", // any directive anywhere
		"entity declaration", "parameter entities",
		"UTF-32",
	} {
		if strings.Contains(err.Msg, known) {
			return true
		}
	}
	if bytes.Contains(doc, []byte("<!DOCTYPE")) && strings.Contains(err.Msg, "in a comment") {
		return true // encoding/xml reads no comments there
	}
	// it does not check the characters of comments and the like
	unread := bytes.Contains(doc, []byte("<!")) || bytes.Contains(doc, []byte("<?"))
	return unread && (strings.Contains(err.Msg, "character") || strings.Contains(err.Msg, "byte that is not"))
}

// refusedWrongly reports whether encoding/xml is known to refuse such documents.
func refusedWrongly(doc []byte, err error) bool {
	msg := err.Error()
	switch {
	case doc[0] == 0 || doc[0] > 0xF0 || len(doc) > 1 && doc[1] == 0: // UTF-16
		return true
	case bytes.Contains(doc, []byte("<!DOCTYPE")): // it ends elsewhere: encoding/xml counts quotes in comments and instructions
		return true
	case strings.Contains(msg, "invalid XML name"), strings.Contains(msg, "expected attribute name"), strings.Contains(msg, "expected element name"),
		strings.Contains(msg, "expected target name"):
		return !isASCII(doc) // names of the fifth edition
	case strings.Contains(msg, "unsupported version"), strings.Contains(msg, "encoding"):
		return bytes.Contains(doc, []byte("<?"))
	}
	return false
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// FuzzRoundTrip: what is read, written and read again is the same; so is what is
// captured.
func FuzzRoundTrip(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, n uint64) {
		want, err := trace(xmlscan.NewReader(bytes.NewReader(doc)))
		if err != nil {
			return
		}
		r := xmlscan.NewReader(&splitReader{doc, n})
		_, err = r.Next()
		require.NoError(t, err)
		text, err := r.AppendElement(nil)
		require.NoError(t, err)
		got, err := trace(xmlscan.NewReader(bytes.NewReader(text)))
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
	})
}

// FuzzCapture: any element of a document has the same tokens after it was captured as
// text, and that text is written in one way.
func FuzzCapture(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, n uint64) {
		index := int(n>>1) % 8
		find := func() *xmlscan.Reader {
			r := xmlscan.NewReader(&splitReader{doc, n})
			if n&1 != 0 {
				r.Recover = func(int, int, string) {}
			}
			for i := 0; i <= index; {
				k, err := r.Next()
				if err != nil {
					return nil
				}
				if k == xmlscan.Start {
					i++
				}
			}
			return r
		}
		r := find()
		if r == nil {
			return
		}
		text, err := r.AppendElement(nil)
		if err != nil {
			return
		}
		got, err := trace(xmlscan.NewReader(bytes.NewReader(text)))
		require.NoError(t, err, "%q", text)
		require.Equal(t, traceElement(t, find()), got, "%q", text)
		want := written(t, find())
		name := len("<") + len(r.RawName()) // declarations follow
		require.Equal(t, want[:name], string(text[:name]))
		require.True(t, strings.HasSuffix(string(text), want[name:]), "%q is not written as %q", text, want)
	})
}

// written writes the element whose Start is current from its tokens.
func written(t *testing.T, r *xmlscan.Reader) string {
	depth, last := r.Depth(), xmlscan.Start
	var b []byte
	var err error
	value := func(name, value string) {
		b, err = xmlscan.AppendAttr(b, " "+name+`="`, value)
		require.NoError(t, err)
	}
	for k := xmlscan.Start; ; {
		switch k {
		case xmlscan.Start:
			b = append(b, "<"+r.RawName()...)
			for prefix, space := range r.Declarations() {
				value(strings.TrimSuffix("xmlns:"+prefix, ":"), space)
			}
			for i, a := range r.Attrs() {
				value(r.RawAttrName(i), string(a.Value))
			}
			b = append(b, '>')
		case xmlscan.Text:
			b, err = xmlscan.AppendText(b, string(r.Text()))
			require.NoError(t, err)
		case xmlscan.End:
			if last != xmlscan.Start {
				b = append(b, "</"+r.RawName()+">"...)
			} else {
				b = append(b[:len(b)-1], "/>"...)
			}
			if r.Depth() == depth {
				return string(b)
			}
		}
		last = k
		k, err = r.Next()
		require.NoError(t, err)
	}
}

// traceElement is trace for the element whose Start is current.
func traceElement(t *testing.T, r *xmlscan.Reader) string {
	depth := r.Depth()
	var b strings.Builder
	b.WriteString(token(r, xmlscan.Start))
	for {
		k, err := r.Next()
		require.NoError(t, err)
		b.WriteString(token(r, k))
		if k == xmlscan.End && r.Depth() == depth {
			return b.String()
		}
	}
}

// FuzzNextTag: NextTag returns the tags that Next returns, at the same positions, and the
// same error.
func FuzzNextTag(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, n uint64) {
		tags, all := xmlscan.NewReader(&splitReader{doc, n}), xmlscan.NewReader(bytes.NewReader(doc))
		for {
			want, wantErr := all.Next()
			if want == xmlscan.Text {
				continue
			}
			got, err := tags.NextTag()
			require.Equal(t, wantErr, err)
			if err != nil {
				return
			}
			require.Equal(t, want, got)
			require.Equal(t, all.Name(), tags.Name())
			line, column := all.Position()
			gotLine, gotColumn := tags.Position()
			require.Equal(t, [2]int{line, column}, [2]int{gotLine, gotColumn})
		}
	})
}
