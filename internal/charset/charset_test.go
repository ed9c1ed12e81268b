package charset_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/websync-go/websync/internal/charset"
)

// names are the encodings of the Encoding Standard of more than one byte a character, and
// those of one byte.
const (
	wide   = "gbk gb18030 big5 shift_jis euc-jp euc-kr iso-2022-jp"
	narrow = "ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 " +
		"iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 " +
		"windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic"
)

func encodingOf(t testing.TB, name string) encoding.Encoding {
	e, err := htmlindex.Get(name)
	require.NoError(t, err)
	return e
}

func read(t *testing.T, c charset.Choice, src io.Reader) string {
	b, err := io.ReadAll(charset.NewReader(src, c, nil, nil))
	require.NoError(t, err)
	return string(b)
}

func choose(t *testing.T, stated, declared string) charset.Choice {
	c, _ := charset.Choose(charset.Encoding{}, stated, declared)
	require.True(t, c.Known(), "%s %s", stated, declared)
	return c
}

func TestLookup(t *testing.T) {
	for label, want := range map[string]string{
		"UTF-8": "UTF-8", "utf8": "UTF-8", " Utf_8 ": "UTF-8", "utf8mb4": "UTF-8", "unicode-1-1-utf-8": "UTF-8",
		"iso-8859-1": "windows-1252", "latin1": "windows-1252", "ISO_8859-1": "windows-1252", "iso8859_1": "windows-1252",
		"iso-8859-9": "windows-1254", "ISO8859-15": "iso-8859-15", "iso_8859-15": "iso-8859-15", "iso-8859-11": "windows-874",
		"win-1251": "windows-1251", "cp1251": "windows-1251", "Windows1251": "windows-1251", "koi8r": "koi8-r", "KOI8_U": "koi8-u",
		"gb2312": "gbk", "GB_2312-80": "gbk", "cp936": "gbk", "gb18030": "gb18030", "Big5-HKSCS": "big5", "cp950": "big5",
		"sjis": "shift_jis", "Shift-JIS": "shift_jis", "shiftjis": "shift_jis", "cp932": "shift_jis", "windows-31j": "shift_jis", "eucjp": "euc-jp",
		"iso2022jp": "iso-2022-jp", "ks_c_5601-1987": "euc-kr", "cp949": "euc-kr", "EUCKR": "euc-kr",
		"us-ascii": "US-ASCII", "ASCII": "US-ASCII", "cp437": "ibm437", "IBM850": "ibm850", "cp866": "ibm866",
		"utf-16": "UTF-16", "UTF16BE": "UTF-16", "ucs-2": "UTF-16", "utf-32": "UTF-32",
		"": "", "x-unknown": "", "iso-2022-kr": "", "hz-gb-2312": "", "replacement": "", "utf-7": "", "ebcdic": "",
		"x-us-ascii": "US-ASCII",
	} {
		assert.Equal(t, want, charset.Lookup(label).String(), "%q", label)
	}
	for name := range strings.FieldsSeq(wide + " " + narrow) {
		assert.Equal(t, name, charset.Lookup(name).String())
		assert.Equal(t, name, charset.Lookup(strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(name))).String(), name)
	}
}

func TestOf(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "text/xml": "", "text/xml; charset=utf-8": "utf-8", `text/xml;charset="GBK"`: "GBK", "text/xml; Charset = 'koi8-r' ;x=y": "koi8-r",
		"text/xml; q=1; CHARSET=big5": "big5", "text/xml; charset=": "", "text/xml; charset": "", "text/xml; charset=a, text/html": "a",
		"charset=utf-8": "", "text/xml; xcharset=a": "",
	} {
		assert.Equal(t, want, charset.Of(header), header)
	}
}

func TestChoose(t *testing.T) {
	const unknown = "x-unknown"
	for _, c := range []struct{ stated, declared, want string }{
		{"", "", "UTF-8"}, {"", "utf-8", "UTF-8"}, {"utf-8", "", "UTF-8"}, {"utf-8", "utf8", "UTF-8"},
		{"", "koi8-r", "koi8-r"}, {"koi8-r", "koi8-r", "koi8-r"}, {"koi8-r", "KOI8R", "koi8-r"},
		{"koi8-r", "", "koi8-r or UTF-8"}, {"koi8-r", "utf-8", "koi8-r or UTF-8"}, {"utf-8", "koi8-r", "koi8-r or UTF-8"},
		{"us-ascii", "koi8-r", "koi8-r or UTF-8"}, {"koi8-r", "us-ascii", "koi8-r or UTF-8"}, {"us-ascii", "", "US-ASCII or UTF-8"},
		{"", "us-ascii", "US-ASCII or UTF-8"}, {"utf-8", "ascii", "US-ASCII or UTF-8"}, {"ascii", "ascii", "US-ASCII or UTF-8"},
		{"koi8-r", "big5", "koi8-r, noted"}, {"big5", "koi8-r", "big5, noted"},
		{"iso-2022-jp", "", "iso-2022-jp"}, {"utf-8", "iso-2022-jp", "iso-2022-jp"},
		{unknown, "", "UTF-8, noted"}, {unknown, "koi8-r", "koi8-r, noted"}, {"koi8-r", unknown, ", noted"},
		{"utf-8", unknown, ", noted"}, {"", unknown, ", noted"}, {unknown, unknown, ", noted, noted"}, {"utf-16", unknown, ", noted, noted"},
		{"utf-16", "", "UTF-8, noted"}, {"utf-16", "koi8-r", "koi8-r, noted"}, {"", "utf-16", "UTF-8, noted"}, {"koi8-r", "utf-16", "koi8-r or UTF-8, noted"},
	} {
		got, notes := charset.Choose(charset.Encoding{}, c.stated, c.declared)
		text := got.Encoding.String()
		if got.OrUTF8 {
			text += " or UTF-8"
		}
		assert.Equal(t, c.want, text+strings.Repeat(", noted", len(notes)), "%q %q", c.stated, c.declared)
		assert.Equal(t, !strings.HasPrefix(c.want, ","), got.Known())
	}
	for _, c := range []struct {
		shown            charset.Encoding
		stated, declared string
		notes            int
	}{
		{charset.UTF8, "utf-8", "us-ascii", 0}, {charset.UTF8, "koi8-r", "utf-16", 2}, {charset.UTF8, "", "x-unknown", 1},
		{charset.UTF16LE, "", "utf-16", 0}, {charset.UTF16BE, "utf-16le", "utf-16", 0}, {charset.UTF16LE, "utf-8", "koi8-r", 2},
	} {
		got, notes := charset.Choose(c.shown, c.stated, c.declared)
		assert.Equal(t, charset.Choice{Encoding: c.shown}, got)
		assert.Len(t, notes, c.notes, "%v %q %q", c.shown, c.stated, c.declared)
	}
}

// sample returns text of as many characters as an encoding has of those up to U+FFFF, and
// ASCII between them. What the encoder does not have is left out.
func sample(t testing.TB, name string) (text, encoded string) {
	e := encodingOf(t, name)
	var b strings.Builder
	for c := rune(0xA0); c < 0x10000; c++ {
		if !utf8.ValidRune(c) || c == 0xFFFD && name != "gb18030" || 0xE000 <= c && c < 0xF900 {
			continue
		}
		coded, err := e.NewEncoder().String(string(c))
		if err != nil {
			continue
		}
		if back, _ := e.NewDecoder().String(coded); back == string(c) {
			fmt.Fprintf(&b, "<%c>", c)
		}
	}
	encoded, err := e.NewEncoder().String(b.String())
	require.NoError(t, err)
	return b.String(), encoded
}

// TestReader: each encoding is decoded, however the source returns its bytes.
func TestReader(t *testing.T) {
	for name := range strings.FieldsSeq(wide + " " + narrow) {
		t.Run(name, func(t *testing.T) {
			want, encoded := sample(t, name)
			require.NotEmpty(t, want)
			assert.Equal(t, want, read(t, choose(t, "", name), strings.NewReader(encoded)))
			assert.Equal(t, want, read(t, choose(t, name, "utf-8"), strings.NewReader(encoded)), "in doubt")
			assert.Equal(t, want, read(t, choose(t, name, ""), iotest.OneByteReader(strings.NewReader(encoded))), "byte by byte")
			if name != "iso-2022-jp" {
				assert.Equal(t, want, read(t, choose(t, name, ""), strings.NewReader(want)), "UTF-8 after all")
			}
			r := charset.NewReader(strings.NewReader(encoded[10:]), choose(t, name, name), []byte(encoded[:10]), nil)
			require.NoError(t, iotest.TestReader(r, []byte(want)), "begun, and read in small pieces")
		})
	}
}

// TestInvalid: what can't be decoded becomes a byte that is not UTF-8, and the markup
// behind it stays. U+FFFD itself is no fault.
func TestInvalid(t *testing.T) {
	invalid := string([]byte{charset.Invalid})
	for _, c := range []struct{ name, in, want string }{
		{"gbk", "a\xff<b>\x81\x20<c>", "a" + invalid + "<b>" + invalid + " <c>"},
		{"gb18030", "\x84\x31\xa4\x37<\xff>\x84\x31\xa4\x37", "\uFFFD<" + invalid + ">\uFFFD"},
		{"gb18030", "\x81\x30<\x84\x31\xa4\x37", invalid + "0<\uFFFD"},
		{"gb18030", strings.Repeat("\x84\x31\xa4\x37\xff", 20_000), strings.Repeat("\uFFFD"+invalid, 20_000)},
		{"big5", "\x81<b>\xff", invalid + "<b>" + invalid},
		{"shift_jis", "\x81<b>\xff\xa0", invalid + "<b>" + invalid + invalid},
		{"euc-jp", "\xa4<b>\xff", invalid + "<b>" + invalid},
		{"euc-kr", "\xb0<b>\xff", invalid + "<b>" + invalid},
		{"iso-2022-jp", "\x80<b>", invalid + "<b>"},
		{"windows-1253", "\xaa<b>\x81", invalid + "<b>\u0081"},
	} {
		assert.Equal(t, c.want, read(t, choose(t, "", c.name), strings.NewReader(c.in)), "%s %.20q", c.name, c.in)
		assert.Equal(t, c.want, read(t, choose(t, "", c.name), iotest.OneByteReader(strings.NewReader(c.in))), "%s %.20q", c.name, c.in)
	}
	for name := range strings.FieldsSeq("gbk gb18030 big5 shift_jis euc-jp euc-kr " + narrow) {
		for lead := 0x80; lead <= 0xFF; lead++ {
			got := read(t, choose(t, "", name), strings.NewReader(string([]byte{byte(lead)})+"<a>"))
			assert.True(t, strings.HasSuffix(got, "<a>"), "%s %x", name, lead)
		}
	}
}

// TestDecide: nine of ten of the first characters beyond ASCII decide, wherever they begin.
func TestDecide(t *testing.T) {
	c := choose(t, "iso-8859-1", "")
	for _, before := range []int{0, 1, 4095, 4096, 32 << 10, 100_000} {
		ascii := strings.Repeat("a", before)
		for in, want := range map[string]string{
			"é": "é", "\xe9": "é", strings.Repeat("é", 10) + "\xe9": strings.Repeat("é", 10) + "\xff", "é\xe9\xe9": "Ã©éé", strings.Repeat("é", 9) + "\xe9": strings.Repeat("Ã©", 9) + "é", "é" + strings.Repeat("b", 8000) + "\xe9\xe9": "é" + strings.Repeat("b", 8000) + "\xff\xff",
		} {
			want = strings.ReplaceAll(want, "\xff", "\xe9")
			assert.Equal(t, ascii+want, read(t, c, strings.NewReader(ascii+in)), "%d %.10q", before, in)
			assert.Equal(t, ascii+want, read(t, c, iotest.OneByteReader(strings.NewReader(ascii+in))), "%d %.10q", before, in)
		}
	}
	r := charset.NewReader(strings.NewReader("abc\xe9"), c, nil, nil)
	assert.Equal(t, charset.UTF8, r.Encoding())
	_, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "windows-1252", r.Encoding().String())
}

func TestReaderErrors(t *testing.T) {
	for _, c := range []charset.Choice{choose(t, "", "koi8-r"), choose(t, "koi8-r", ""), choose(t, "", "big5")} {
		b, err := io.ReadAll(charset.NewReader(io.MultiReader(strings.NewReader("ab\xc1"), iotest.ErrReader(io.ErrUnexpectedEOF)), c, nil, nil))
		assert.Equal(t, io.ErrUnexpectedEOF, err)
		assert.Equal(t, "ab", string(b[:2]))
		_, err = io.ReadAll(charset.NewReader(stuck{}, c, nil, nil))
		assert.Equal(t, io.ErrNoProgress, err)
	}
}

// stuck returns neither bytes nor an error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// FuzzReader: what a Reader returns depends on the bytes alone, not on how they are read,
// and with enough of them decoded, none is left.
func FuzzReader(f *testing.F) {
	all := strings.Fields(wide + " " + narrow + " us-ascii utf-16le utf-16be utf-8")
	for i := range all {
		f.Add(uint8(i), false, []byte("a\x1b$B\x30\x21\x1b(B\x84\x31\xa4\x37\xff\x81<é\xe9\x00"))
		f.Add(uint8(i), true, []byte("abc\x8e\xa4\xa6<\x8f\xb0\xa1\xfe\xfe\xd8\x00"))
	}
	f.Fuzz(func(t *testing.T, n uint8, inDoubt bool, data []byte) {
		c := charset.Choice{Encoding: charset.Lookup(all[int(n)%len(all)]), OrUTF8: inDoubt}
		want := read(t, c, bytes.NewReader(data))
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			require.Equal(t, want, read(t, c, wrap(bytes.NewReader(data))))
		}
		got, err := io.ReadAll(iotest.OneByteReader(charset.NewReader(nil, c, data, io.EOF)))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.LessOrEqual(t, len(want), 4*len(data))
	})
}
