package eli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/charset"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

const sectionCSV = "RFC 4180 §2"

// The lines of a CSV list.
var (
	ruleCSVLine  = rules.Error("csv-line", sectionCSV, "a line that is not an ELI, a date and perhaps a title")
	ruleCSVQuote = rules.Error("csv-quote", sectionCSV,
		"a quotation mark that is not closed, or that is inside of a field without being doubled")
	ruleCSVCut = rules.Warning("csv-cut", "RFC 9112 §8",
		"a list that may have been cut off: only the closed connection ended it")
	ruleCSVFields    = rules.Warning("csv-fields", sectionCSV, "more than three fields: the rest is read as part of the title")
	ruleCSVSeparator = rules.Warning("csv-separator", sectionCSV, "fields that are not separated by commas")
	ruleCSVEncoding  = rules.Warning("csv-encoding", sectionCSV, "another encoding than UTF-8")
	ruleCSVDate      = rules.Warning("csv-date", "W3C-DTF", "a date that is not a W3C datetime")
	ruleCSVTwice     = rules.Info("csv-duplicate", sectionCSV, "an ELI that is listed more than once: the latest date counts")
)

// csvKind is what a csvReader expects.
var csvKind = document.Kind{Format: "eli", Name: "a list of ELIs", Else: "a text of which no line has an ELI and a date"}

// A csvReader reads the acts of a list in CSV. It holds one line at a time. A line that
// can't be read, or that may hide others, is a finding and counts as skipped. A list
// without an act, or without a line break at its end, is an error.
type csvReader struct {
	name        string // of the document
	contentType string
	src         io.Reader
	maxBytes    int64
	maxURI      int                   // bytes
	report      func(websync.Finding) // may be nil

	doc     *document.Document
	in      *bufio.Reader
	head    []byte // the beginning of the document
	comma   byte   // between fields
	line    int    // the next one, from 1
	rows    int    // so far, without blank lines
	acts    int
	skipped int
	decoded *charset.Reader // of doc; nil if no encoding but UTF-8 is stated
	excel   bool            // Windows-1252 was reported
}

// A csvAct is one line of a list.
type csvAct struct {
	uri, title string
	at         websync.Datetime
	line       int
}

var errCSVCut = fmt.Errorf("%w: the last line has no line break at its end, so the list may have been cut off",
	websync.ErrTruncated)

// csvWindow is how long a row can be, line breaks included.
const csvWindow = 64 << 10

// next returns the next act, or io.EOF.
func (r *csvReader) next() (csvAct, error) {
	if r.doc == nil {
		if err := r.begin(); err != nil {
			return csvAct{}, err
		}
	}
	for {
		row, err := r.row()
		if err == io.EOF && r.acts == 0 {
			err = r.doc.NotThis(r.head)
		}
		if err == nil && row.cut {
			err = r.doc.Fail(row.line, row.fields[len(row.fields)-1].column, "", errCSVCut)
		}
		if err != nil {
			return csvAct{}, err
		}
		if act, ok := r.act(&row); ok {
			r.acts++
			return act, nil
		}
	}
}

// begin finds out the encoding and the separator.
func (r *csvReader) begin() error {
	r.line = 1
	r.doc = &document.Document{Kind: csvKind, URL: r.name}
	r.doc.Report = func(_ document.Departure, line, column int, value []byte, message string) {
		r.add(ruleCSVEncoding, line, column, string(value), message)
	}
	if err := r.doc.Open(r.src, r.maxBytes); err != nil {
		return err
	}
	r.head = bytes.Clone(r.doc.Head())
	r.in = bufio.NewReaderSize(r.text(), 2*csvWindow)
	if mark, _ := r.in.Peek(len(document.ByteOrderMark)); string(mark) == document.ByteOrderMark {
		r.in.Discard(len(mark))
	}
	data, err := r.in.Peek(csvWindow)
	if err != nil && err != io.EOF {
		return r.doc.Fail(1, 1, "", err)
	}
	switch start := bytes.TrimLeft(data, " \t\r\n"); {
	case len(start) == 0, strings.IndexByte("<{[%", start[0]) >= 0, bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return r.doc.NotThis(r.head)
	}
	r.comma = separator(data)
	if r.comma != ',' {
		r.add(ruleCSVSeparator, 1, 1, string(r.comma), "the fields are not separated by commas")
	}
	return nil
}

// text returns the list in UTF-8, as far as a byte-order mark or the charset of the
// Content-Type state the encoding.
func (r *csvReader) text() io.Reader {
	shown, _ := charset.Sniff(r.head)
	c, notes := charset.Choose(shown, charset.Of(r.contentType), "")
	for _, note := range notes {
		r.add(ruleCSVEncoding, 1, 1, "", note)
	}
	if c.Encoding == charset.UTF8 || !c.Known() {
		return r.doc
	}
	r.add(ruleCSVEncoding, 1, 1, "", c.Encoding.String())
	r.decoded = charset.NewReader(r.doc, c, nil, nil)
	return r.decoded
}

// separator returns the separator with which the most rows at the beginning of a list
// have an ELI and a date.
func separator(data []byte) (best byte) {
	const rows = 50
	most := -1
	for _, comma := range []byte{',', ';', '\t'} {
		good, rest := 0, data
		for n := 0; n < rows && len(rest) > 0; n++ {
			row, size := splitRow(rest, comma)
			if rest = rest[size:]; len(row.fields) < 2 {
				continue
			}
			if _, _, err := websync.ParseDatetimeLenient(row.fields[1].text); err == nil &&
				strings.Contains(row.fields[0].text, "://") {
				good++
			}
		}
		if good > most {
			best, most = comma, good
		}
	}
	return best
}

// row reads the next row that is not blank.
func (r *csvReader) row() (csvRow, error) {
	for {
		data, err := r.in.Peek(csvWindow)
		switch {
		case err != nil && err != io.EOF:
			return csvRow{}, r.doc.Fail(r.line, 1, "", err)
		case len(data) == 0:
			return csvRow{}, io.EOF
		}
		row, size := splitRow(data, r.comma)
		if row.cut && size == len(data) && err != io.EOF {
			row = csvRow{fault: rowLong, breaks: 1}
		}
		row.line = r.line
		r.in.Discard(size)
		if row.fault == rowLong {
			if err := r.skipLine(); err != nil {
				return row, err
			}
		}
		r.line += row.breaks
		if len(row.fields) > 0 || row.fault == rowLong {
			return row, nil
		}
	}
}

// skipLine skips the rest of a line.
func (r *csvReader) skipLine() error {
	for {
		_, err := r.in.ReadSlice('\n')
		switch err {
		case nil, io.EOF:
			return nil
		case bufio.ErrBufferFull:
		default:
			return r.doc.Fail(r.line, 1, "", err)
		}
	}
}

// act returns the act of a row. ok is false if it has none that can be read.
func (r *csvReader) act(row *csvRow) (act csvAct, ok bool) {
	r.rows++
	r.decode(row)
	skip := func(rule Rule, f csvField, message string) (csvAct, bool) {
		r.skipped++
		r.add(rule, row.line+f.line, f.column, f.text, message+": skipped")
		return csvAct{}, false
	}
	switch {
	case row.fault == rowLong:
		return skip(ruleCSVLine, csvField{column: 1}, fmt.Sprintf("a line of more than %d bytes", csvWindow))
	case row.fault == rowOpen:
		return skip(ruleCSVQuote, row.fields[0], "a quotation mark that is not closed")
	case row.fault == rowStray && row.breaks > 1:
		return skip(ruleCSVQuote, row.fields[0],
			"a quotation mark that is not doubled, in a field of several lines: it may hide another line")
	case r.rows == 1 && row.isHeader():
		return csvAct{}, false
	}
	uri := row.fields[0]
	if fault := r.uriFault(uri.text); fault != "" {
		return skip(ruleCSVLine, uri, fault)
	}
	if len(row.fields) < 2 {
		return skip(ruleCSVLine, uri, "an ELI without a date")
	}
	date := row.fields[1]
	at, departure, err := websync.ParseDatetimeLenient(date.text)
	if err != nil {
		return skip(ruleCSVLine, date, "not a date: "+err.Error())
	}
	if departure != "" {
		r.add(ruleCSVDate, row.line+date.line, date.column, date.text, departure)
	}
	act = csvAct{uri: uri.text, at: at, line: row.line}
	var title []string
	for _, f := range row.fields[2:] {
		title = append(title, f.text)
	}
	if len(title) > 1 {
		f := row.fields[3]
		r.add(ruleCSVFields, row.line+f.line, f.column, f.text,
			fmt.Sprintf("%d fields: a title with %q in it needs quotation marks", len(row.fields), r.comma))
	}
	if row.fault == rowStray {
		r.add(ruleCSVQuote, row.line, uri.column, uri.text,
			"a quotation mark inside of a field must be doubled, and the field be in quotation marks")
	}
	act.title = strings.Join(strings.Fields(strings.Join(title, string(r.comma)+" ")), " ")
	return act, true
}

// uriFault returns why a text can't be an ELI, or "".
func (r *csvReader) uriFault(text string) string {
	switch fault := syntax.IRIFault(text); {
	case !syntax.IsHTTP(text) || !strings.Contains(text, "://"):
		return "not an HTTP URI"
	case fault != "":
		return "not an HTTP URI: " + fault
	case len(text) > r.maxURI:
		return "longer than any Store accepts"
	}
	return ""
}

// decode makes UTF-8 of the fields of a row, which may be in Windows-1252 if they are of
// Excel.
func (r *csvReader) decode(row *csvRow) {
	for i := range row.fields {
		f := &row.fields[i]
		if utf8.ValidString(f.text) {
			continue
		}
		if r.decoded != nil {
			r.add(ruleCSVEncoding, row.line+f.line, f.column, "",
				fmt.Sprintf("bytes that are not %s become U+FFFD", r.decoded.Encoding()))
			f.text = strings.ToValidUTF8(f.text, "\uFFFD")
			continue
		}
		if !r.excel {
			r.excel = true
			r.add(ruleCSVEncoding, row.line+f.line, f.column, "", "not UTF-8: read as Windows-1252")
		}
		f.text, _ = charmap.Windows1252.NewDecoder().String(f.text) // any bytes are valid
	}
}

func (r *csvReader) add(rule Rule, line, column int, value, message string) {
	if r.report != nil {
		r.report(rule.Finding(r.name, line, column, "", []byte(value), message))
	}
}

// A csvRow is one row of a list: a line, or more if a field has line breaks.
type csvRow struct {
	fields []csvField // without blank ones at the end
	line   int
	breaks int  // line breaks
	cut    bool // no line break ends it
	fault  rowFault
}

// A csvField is one field, without blanks and quotation marks around it.
type csvField struct {
	text   string
	line   int // from 0: that of the row
	column int
}

type rowFault uint8

const (
	rowFine  rowFault = iota
	rowStray          // a quotation mark inside of a field is not doubled
	rowOpen           // a quotation mark is not closed; the row is its first line
	rowLong           // the row does not end in the window
)

// isHeader reports whether the first row of a list has the names of its fields.
func (row *csvRow) isHeader() bool {
	for i, f := range row.fields {
		if strings.Contains(f.text, "://") {
			return false
		}
		if _, _, err := websync.ParseDatetimeLenient(f.text); i == 1 && err == nil {
			return false
		}
	}
	return true
}

// splitRow returns the first row of data and its length.
func splitRow(data []byte, comma byte) (csvRow, int) {
	row, n, ok := splitFields(data, comma, '"')
	if !ok {
		row, n, _ = splitFields(data, comma, noQuote)
		row.fault = rowOpen
	}
	for k := len(row.fields); k > 0 && row.fields[k-1].text == ""; k-- {
		row.fields = row.fields[:k-1]
	}
	return row, n
}

// noQuote stands for a row in which quotation marks have no meaning.
const noQuote byte = 0

// splitFields returns the fields of the first row of data, and its length. ok is false if
// a quotation mark is not closed.
func splitFields(data []byte, comma, quote byte) (row csvRow, n int, ok bool) {
	start := 0 // of the line
	for {
		n = skipBlanks(data, n, comma)
		f := csvField{line: row.breaks, column: n - start + 1}
		if quote != noQuote && n < len(data) && data[n] == quote {
			text, end, breaks, stray, closed := splitQuoted(data, n, comma)
			if !closed {
				return row, 0, false
			}
			if breaks > 0 {
				start = n + bytes.LastIndexAny(data[n:end], "\r\n") + 1
			}
			f.text, n, row.breaks = strings.Trim(text, " \t\r\n"), end, row.breaks+breaks
			if stray {
				row.fault = rowStray
			}
		} else {
			end := n + syntax.IndexAny(data[n:], string(comma)+"\r\n")
			f.text = strings.TrimRight(string(data[n:end]), " \t")
			if n = end; quote != noQuote && strings.IndexByte(f.text, quote) >= 0 {
				row.fault = rowStray
			}
		}
		row.fields = append(row.fields, f)
		switch {
		case n == len(data):
			row.cut = true
			return row, n, true
		case data[n] == comma:
			n++
			continue
		case data[n] == '\r' && n+1 < len(data) && data[n+1] == '\n':
			n++
		}
		row.breaks++
		return row, n + 1, true
	}
}

// splitQuoted returns the text of a field that begins with a quotation mark, where it
// ends, and how many line breaks are in it. stray reports whether it has a quotation mark
// that is not doubled. closed is false if nothing closes it before the next line that
// begins with a URI.
func splitQuoted(data []byte, at int, comma byte) (text string, end, breaks int, stray, closed bool) {
	var b []byte
	for i := at + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"' && i+1 < len(data) && data[i+1] == '"':
			i++
		case c == '"':
			end = skipBlanks(data, i+1, comma)
			if end == len(data) || data[end] == comma || data[end] == '\r' || data[end] == '\n' {
				return string(b), end, breaks, stray, true
			}
			stray = true
		case c == '\n', c == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			breaks++
			if beginsRow(data[i+1:]) {
				return "", 0, 0, stray, false
			}
		}
		b = append(b, data[i])
	}
	return "", 0, 0, stray, false
}

// beginsRow reports whether a line begins with a URI.
func beginsRow(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\"")
	return slices.ContainsFunc([]string{"http://", "https://"}, func(scheme string) bool {
		return len(line) >= len(scheme) && syntax.EqualFold(line[:len(scheme)], scheme)
	})
}

// skipBlanks returns the position of the first byte that is neither a space nor, unless
// that separates the fields, a tab.
func skipBlanks(data []byte, at int, comma byte) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t' && comma != '\t') {
		at++
	}
	return at
}
