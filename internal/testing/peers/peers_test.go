package peers

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tdewolff/parse/v2"
	lexer "github.com/tdewolff/parse/v2/xml"

	"github.com/websync-go/websync/internal/xmlscan"
)

// The counts of a document are what every peer that reads it must count. Namespace
// declarations are no attributes, and text is in bytes.
type counts struct{ elements, attrs, text int }

// The readers are the peers that read.
var readers = []struct {
	name string
	read func(doc []byte) (counts, error)
	raw  bool // it does not decode text, so that its bytes differ
}{
	{name: "websync", read: countTokens},
	{name: "encoding-xml", read: countEncodingXML},
	{name: "etree", read: countTree},
	{name: "tdewolff", read: countLexer, raw: true},
}

func countTokens(doc []byte) (n counts, err error) {
	r := xmlscan.NewReader(bytes.NewReader(doc))
	for {
		switch k, err := r.Next(); {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case k == xmlscan.Start:
			n.elements++
			n.attrs += len(r.Attrs())
		case k == xmlscan.Text:
			n.text += len(r.Text())
		}
	}
}

// countEncodingXML reads what encoding/xml checks: duplicate attributes, unbound
// prefixes, two roots and empty input pass.
func countEncodingXML(doc []byte) (n counts, err error) {
	dec := xml.NewDecoder(bytes.NewReader(doc))
	depth := 0
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			depth++
			n.elements++
			for _, a := range t.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					n.attrs++
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth > 0 {
				n.text += len(t)
			}
		}
	}
}

// countTree reads the whole document into memory. etree uses the Decoder of encoding/xml
// and accepts what that accepts. It resolves no names.
func countTree(doc []byte) (n counts, err error) {
	d := etree.NewDocument()
	if err := d.ReadFromBytes(doc); err != nil {
		return n, err
	}
	n.addElement(d.Root())
	return n, nil
}

func (n *counts) addElement(e *etree.Element) {
	n.elements++
	for _, a := range e.Attr {
		if cmp.Or(a.Space, a.Key) != "xmlns" {
			n.attrs++
		}
	}
	for _, c := range e.Child {
		switch c := c.(type) {
		case *etree.Element:
			n.addElement(c)
		case *etree.CharData:
			n.text += len(c.Data)
		}
	}
}

// countLexer only splits: the lexer checks no tags, names, characters, attributes or
// namespaces, and decodes nothing. It needs the document in one piece.
func countLexer(doc []byte) (n counts, err error) {
	l := lexer.NewLexer(parse.NewInputBytes(doc))
	inPI := false
	for {
		switch k, _ := l.Next(); k {
		case lexer.ErrorToken:
			if err := l.Err(); err != io.EOF {
				return n, err
			}
			return n, nil
		case lexer.StartTagPIToken:
			inPI = true
		case lexer.StartTagToken:
			inPI = false
			n.elements++
		case lexer.AttributeToken:
			if !inPI && !bytes.HasPrefix(l.Text(), []byte("xmlns")) {
				n.attrs++
			}
		case lexer.TextToken, lexer.CDATAToken:
			n.text += len(l.Text())
		}
	}
}

// A saxParser is the C program that reads with libxml2. The others read a stream; it has
// the document in memory.
type saxParser struct {
	dir string
	err error // there is no compiler or no libxml2
}

func buildSAXParser(dir string) saxParser {
	p := saxParser{dir: dir}
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "libxml-2.0").Output()
	if err != nil {
		flags, err = exec.Command("xml2-config", "--cflags", "--libs").Output()
	}
	if err != nil {
		p.err = fmt.Errorf("libxml2 is not installed with its headers: %w", err)
		return p
	}
	args := append([]string{"-O2", "-o", p.program(), filepath.Join("testdata", "libxml2", "sax.c")}, strings.Fields(string(flags))...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		p.err = fmt.Errorf("cannot compile for libxml2: %w %s", err, out)
	}
	return p
}

func (p saxParser) program() string { return filepath.Join(p.dir, "sax") }

// read parses a document n times. It returns the seconds that this took, without the
// start of the program and the reading of the file.
func (p saxParser) read(doc []byte, times int) (seconds float64, n counts, err error) {
	file := filepath.Join(p.dir, "doc.xml")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		return 0, n, err
	}
	out, err := exec.Command(p.program(), file, strconv.Itoa(times)).Output()
	if err != nil {
		return 0, n, err
	}
	_, err = fmt.Sscan(string(out), &seconds, &n.elements, &n.attrs, &n.text)
	return seconds, n, err
}

// benchmark reports the time that the program took by its own clock in place of the
// benchmark's.
func (p saxParser) benchmark(b *testing.B, doc []byte) {
	if p.err != nil {
		b.Skip(p.err)
	}
	seconds, _, err := p.read(doc, b.N)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(seconds*1e9/float64(b.N), "ns/op")
	b.ReportMetric(float64(len(doc))*float64(b.N)/1e6/seconds, "MB/s")
}

// The peers of a benchmark do the same work.
func TestPeers(t *testing.T) {
	for _, d := range append(irregularDocuments(20), regularDocuments(20)...) {
		t.Run(d.name, func(t *testing.T) {
			want, err := countTokens(d.doc)
			require.NoError(t, err)
			for _, p := range readers {
				got, err := p.read(d.doc)
				require.NoError(t, err, p.name)
				if p.raw {
					got.text = want.text
				}
				assert.Equal(t, want, got, p.name)
			}
		})
	}
}

// The program in C reads the same, if it can be built.
func TestSAXParser(t *testing.T) {
	p := buildSAXParser(t.TempDir())
	if p.err != nil {
		t.Skip(p.err)
	}
	for _, d := range append(irregularDocuments(20), regularDocuments(20)...) {
		want, err := countTokens(d.doc)
		require.NoError(t, err)
		_, got, err := p.read(d.doc, 2)
		require.NoError(t, err)
		assert.Equal(t, want, got, d.name)
	}
	_, _, err := p.read([]byte("<a></b>"), 1)
	assert.Error(t, err)
}
