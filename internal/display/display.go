// Package display holds what the HTML pages of several packages have in common: the style
// sheet, and how numbers, times and texts from the web are written for people.
package display

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/websync-go/websync"
)

var (
	//go:embed style.css
	style string
	//go:embed head.html
	head string
)

// New returns a template that can use the functions style, plural, number, bytes, date,
// duration, mark and shown, and the template head, of a title, which ends inside the
// style sheet.
func New(name string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"plural": Plural, "number": Number, "bytes": Bytes, "date": Time, "duration": Duration, "mark": Mark, "shown": Shown,
	}).Parse(head))
}

// Mark returns the words for a class of the style sheet with a sign, so that a page does
// not depend on colours.
func Mark(class, words string) string {
	return map[string]string{"pass": "✓ ", "warn": "! ", "fail": "✗ "}[class] + words
}

// Plural returns a number with the word for one thing or many.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number returns a number with a comma before each third digit.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := len(digits) % 3
	if n < 0 {
		first = (len(digits)-1)%3 + 1
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && i%3 == first%3 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Bytes returns a number of bytes in three digits, such as "1.23 MB".
func Bytes(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return Plural(n, "byte", "bytes")
	}
	f, unit := float64(n)/1000, 0
	for f >= 999.5 && unit < len(units)-1 {
		f, unit = f/1000, unit+1
	}
	return fmt.Sprintf("%.3g %cB", f, units[unit])
}

// Time returns a time in UTC.
func Time(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// Duration returns a duration in one or two units, such as "12.3 ms" or "3 h 20 min".
func Duration(d time.Duration) string {
	for _, u := range []struct {
		unit        time.Duration
		name, small string
		in          time.Duration // of small
	}{
		{24 * time.Hour, "d", "h", time.Hour},
		{time.Hour, "h", "min", time.Minute},
		{time.Minute, "min", "s", time.Second},
	} {
		if d = roundAbove(d, u.unit, u.in); d < u.unit {
			continue
		}
		text := fmt.Sprintf("%d %s", d/u.unit, u.name)
		if rest := d % u.unit / u.in; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, u.small)
		}
		return text
	}
	switch {
	case d <= 0:
		return "0 s"
	case d >= 999500*time.Microsecond:
		return digits(d.Seconds()) + " s"
	case d >= 999500*time.Nanosecond:
		return digits(d.Seconds()*1e3) + " ms"
	}
	return digits(d.Seconds()*1e6) + " µs"
}

// roundAbove rounds a duration that is a unit or more, or almost.
func roundAbove(d, unit, to time.Duration) time.Duration {
	if d < unit-to/2 {
		return d
	}
	return d.Round(to)
}

// digits returns three significant digits at most.
func digits(f float64) string {
	scale := math.Pow(10, math.Max(0, 2-math.Floor(math.Log10(f))))
	return strconv.FormatFloat(math.Round(f*scale)/scale, 'f', -1, 64)
}

// Shown returns a text from the web as a page shows it: in one line, without control
// characters and those that change the order of others, and not longer than 400
// characters. Secrets of URLs in it are redacted.
func Shown(text string) string {
	const longest = 400
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == '\u061c', r == '\u200e', r == '\u200f',
			'\u2028' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	text = redact(text)
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

// Shape returns a text without what is different in each of many errors: URLs, quoted
// values, numbers and the like become "…".
func Shape(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			b.WriteString("…")
			continue
		}
		b.WriteString(part)
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		if varies(strings.TrimRight(word, ":,;.")) {
			words[i] = "…" + word[len(strings.TrimRight(word, ":,;")):]
		}
	}
	return strings.Join(words, " ")
}

// varies reports whether a word is likely a name or a number of one case.
func varies(word string) bool {
	digits, others := 0, 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		} else {
			others++
		}
	}
	isURL := strings.Contains(word, "/") && strings.Contains(word, ":")
	return isURL || digits >= 4 || digits > 0 && others == 0 || len(word) > 60
}

// redact redacts every URL in a text.
func redact(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(` "<>`, r) }) // one of them ends a URL
	var b strings.Builder
	for _, word := range words {
		before, rest, _ := strings.Cut(text, word)
		b.WriteString(before + websync.RedactURL(word))
		text = rest
	}
	return b.String() + text
}
