package websync

import (
	"strings"
	"unicode"
)

// ParseDatetimeLenient reads what ParseDatetime reads, and what publishers write instead:
// white space around it, a space instead of T, a time without a zone (read as UTC),
// without minutes or with a comma before the fraction, a zone without a colon or by name,
// one digit for a month, day or hour, slashes for hyphens, a date with a zone, dates that
// end in the year, such as 16-01-2024 and 5.1.2024, unless day and month may be meant the
// other way round, and the dates of HTTP and mail (RFC 9110 §5.6.7, RFC 5322 §3.3, §4.3),
// with comments, years of two digits, military zones and any weekday. A date that does not
// exist is an error.
//
// Departure names the departures that were accepted, for the message of a [Finding]. It
// is empty exactly if ParseDatetime reads s.
func ParseDatetimeLenient(s string) (d Datetime, departure string, err error) {
	if d, err = ParseDatetime(s); err == nil {
		return d, "", nil
	}
	text, around := strings.TrimSpace(s), ""
	if text != s {
		around = "white space around it"
		if d, err = ParseDatetime(text); err == nil {
			return d, around, nil
		}
	}
	l := lenientReader{rest: text, notes: around}
	if !l.iso() {
		if l = (lenientReader{rest: text, notes: around}); !l.mail() {
			return Datetime{}, "", err
		}
	}
	if d, err = l.datetime(); err != nil {
		return Datetime{}, "", err
	}
	return d, l.notes, nil
}

// A lenientReader reads a civil off the front of rest and notes the departures that it
// accepts.
type lenientReader struct {
	civil
	rest  string
	notes string
}

func (l *lenientReader) forgive(note string) { l.notes = join("; ", l.notes, note) }

// iso reads all of l.rest as year, month and day, and perhaps a time.
func (l *lenientReader) iso() bool {
	if !l.isoDate() && !l.reversedDate() {
		return false
	}
	if l.rest == "" {
		return true
	}
	hasSpace := l.skipSpaces()
	switch {
	case l.skip('T') || l.skip('t'):
	case hasSpace && l.rest[0]-'0' <= 9:
		l.forgive("a space instead of T")
	default:
		l.forgive("a time zone without a time")
		_, ok := l.anyZone()
		l.offset, l.flags = 0, 0
		return ok
	}
	if !l.time() {
		return false
	}
	if l.skipSpaces() {
		l.forgive("a space before the zone")
	}
	note, ok := l.anyZone()
	if note != "" {
		l.forgive(note)
	}
	return ok
}

// isoDate reads year, month and day.
func (l *lenientReader) isoDate() bool {
	year := digits(l.rest, 0, 4)
	if year < 0 || len(l.rest) == 4 {
		return false
	}
	l.year, l.rest = year, l.rest[4:]
	hyphen := l.rest[0]
	if hyphen == '/' {
		l.forgive("slashes instead of hyphens")
	} else if hyphen != '-' {
		return false
	}
	l.prec = PrecisionDay
	return l.skip(hyphen) && l.field(&l.month) && l.skip(hyphen) && l.field(&l.day)
}

// reversedDate reads day, month and year. With full stops the day comes first; otherwise
// the date counts only if it can't be meant in another way.
func (l *lenientReader) reversedDate() bool {
	if !l.field(&l.day) || l.rest == "" || strings.IndexByte("-./", l.rest[0]) < 0 {
		return false
	}
	separator := l.rest[0]
	if !l.skip(separator) || !l.field(&l.month) || !l.skip(separator) {
		return false
	}
	note := "the day before the month and the year"
	if separator != '.' && l.day != l.month && l.day <= 12 {
		if l.month <= 12 {
			return false
		}
		l.day, l.month, note = l.month, l.day, "the month and the day before the year"
	}
	if l.year = digits(l.rest, 0, 4); l.year < 0 {
		return false
	}
	l.forgive(note)
	l.rest, l.prec = l.rest[4:], PrecisionDay
	return true
}

// mail reads all of l.rest as a date of HTTP (RFC 1123, RFC 850 or asctime) or of mail,
// with or without the weekday.
func (l *lenientReader) mail() bool {
	// Here one digit, for example, is no departure.
	notes := "a date as in HTTP or mail"
	if l.notes != "" {
		notes = l.notes + "; " + notes
	}
	day, month, year, clock, zone := mailFields(l.rest)
	if !l.mailDate(day, month, year) {
		return false
	}
	l.prec = PrecisionDay
	if l.rest = clock; clock != "" {
		if !l.time() || l.rest != "" {
			return false
		}
		if zone == "" {
			notes = join("; ", notes, noZoneNote)
		}
		l.rest = zone
		if _, ok := l.anyZone(); !ok {
			return false
		}
	}
	l.notes = notes
	return true
}

// mailFields returns the fields of a date of HTTP or mail, in whatever order they stand
// there. They are empty if it has too few or too many, clock and zone also if it has
// none.
func mailFields(text string) (day, month, year, clock, zone string) {
	if weekday, rest, ok := strings.Cut(text, ","); ok && isWord(weekday) {
		text = rest
	}
	var all [6]string // day, month and year may be one
	n := 0
	for text = withoutComments(text); ; n++ {
		field, rest := cutField(text)
		if field == "" {
			break
		}
		if n == len(all) {
			return
		}
		all[n], text = field, rest
	}
	f := all[:]
	if isWeekday(f[0]) {
		f, n = f[1:], n-1
	}
	if strings.Count(f[0], "-") == 2 {
		f = append(strings.Split(f[0], "-"), f[1:]...)
		n += 2
	}
	switch {
	case n < 3 || n > 5:
	case n >= 4 && parseMonth(f[0]) > 0: // asctime, with the zone of date(1) or without
		day, month, year, clock, zone = f[1], f[0], f[n-1], f[2], "GMT"
		if n == 5 {
			zone = f[3]
		}
	default:
		day, month, year, clock, zone = f[0], f[1], f[2], f[3], f[4]
	}
	return day, month, year, clock, zone
}

// cutField cuts the first field off a text, with the white space before it.
func cutField(text string) (field, rest string) {
	from := len(text) - len(trimSpaces(text))
	to := from
	for to < len(text) && !isSpace(text[to]) {
		to++
	}
	return text[from:to], text[to:]
}

// withoutComments returns a text without what is in parentheses (RFC 5322 §3.2.2).
func withoutComments(text string) string {
	if strings.IndexByte(text, '(') < 0 {
		return text
	}
	depth := 0
	return strings.Map(func(c rune) rune {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
			return ' '
		case depth == 0:
			return c
		}
		return -1
	}, text)
}

func (l *lenientReader) mailDate(day, month, year string) bool {
	l.rest = day
	if !l.field(&l.day) || l.rest != "" {
		return false
	}
	l.month = parseMonth(month)
	if l.year = digits(year, 0, len(year)); len(year) == 2 && l.year >= 0 {
		l.year += 1900
		if l.year < 1970 {
			l.year += 100
		}
	} else if len(year) != 4 {
		return false
	}
	return l.month > 0 && l.year >= 0
}

// time reads hh, hh:mm or hh:mm:ss with or without a fraction.
func (l *lenientReader) time() bool {
	if !l.field(&l.hour) {
		return false
	}
	l.prec = PrecisionMinute
	if !l.skip(':') {
		l.forgive("a time without minutes")
		return true
	}
	if !l.field(&l.minute) {
		return false
	}
	if !l.skip(':') {
		return true
	}
	if !l.field(&l.second) {
		return false
	}
	l.prec = PrecisionSecond
	comma := l.skip(',')
	if comma {
		l.forgive("a comma before the fraction")
	}
	if !comma && !l.skip('.') {
		return true
	}
	rest, ok := l.fraction(l.rest)
	l.rest = rest
	return ok
}

const noZoneNote = "no time zone, read as UTC"

// anyZone reads all of l.rest. The note names a departure from Z, +hh:mm and -hh:mm.
func (l *lenientReader) anyZone() (note string, ok bool) {
	s := l.rest
	if s == "" {
		return noZoneNote, true
	}
	if l.zone(s) == nil {
		return "", true
	}
	if s[0] != '+' && s[0] != '-' {
		return l.zoneName(s)
	}
	switch hour := digits(s, 1, 2); {
	case hour >= 0 && len(s) == len("+01"):
		return "a time zone without minutes", l.setOffset(s[0], hour, 0) == nil
	case hour >= 0 && len(s) == len("+0100") && digits(s, 3, 2) >= 0:
		return "a time zone without a colon", l.setOffset(s[0], hour, digits(s, 3, 2)) == nil
	}
	return "", false
}

// zoneName reads the name of a zone.
func (l *lenientReader) zoneName(s string) (note string, ok bool) {
	if hours, ok := zoneHours[strings.ToUpper(s)]; ok {
		l.offset = hours * 60
		return "a name for the time zone", true
	}
	if c := s[0] | 0x20; len(s) == 1 && c >= 'a' && c < 'z' && c != 'j' {
		return "a military time zone, read as UTC", l.setOffset('-', 0, 0) == nil // RFC 5322 §4.3
	}
	return "", false
}

// field reads one or two digits.
func (l *lenientReader) field(v *int) bool {
	if *v = digits(l.rest, 0, 2); *v >= 0 {
		l.rest = l.rest[2:]
		return true
	}
	if *v = digits(l.rest, 0, 1); *v >= 0 {
		l.rest = l.rest[1:]
		l.forgive("one digit instead of two")
		return true
	}
	return false
}

func (l *lenientReader) skip(c byte) bool {
	if l.rest == "" || l.rest[0] != c {
		return false
	}
	l.rest = l.rest[1:]
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func trimSpaces(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func (l *lenientReader) skipSpaces() bool {
	before := len(l.rest)
	l.rest = trimSpaces(l.rest)
	return len(l.rest) < before
}

// isWord reports whether s is letters only, such as a weekday in any language.
func isWord(s string) bool {
	for _, c := range s {
		if !unicode.IsLetter(c) && c != '.' {
			return false
		}
	}
	return s != ""
}

var (
	weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	months   = [...]string{
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
	}
)

func isWeekday(s string) bool { return indexOf(s, weekdays[:]) > 0 }

// parseMonth returns the number of an English month, or 0.
func parseMonth(s string) int { return indexOf(s, months[:]) }

// indexOf returns which of some names s is, from 1, or 0. It may be shortened to three
// letters or more, and be in any case.
func indexOf(s string, names []string) int {
	if len(s) < 3 {
		return 0
	}
	for i, name := range names {
		if len(s) <= len(name) && name[0] == s[0]|0x20 && name[2] == s[2]|0x20 && strings.EqualFold(s, name[:len(s)]) {
			return i + 1
		}
	}
	return 0
}

// zoneHours has the hours east of UTC of the zones of RFC 822 and of Europe.
var zoneHours = map[string]int{
	"GMT": 0, "UTC": 0, "UT": 0, "WET": 0,
	"CET": 1, "WEST": 1,
	"CEST": 2, "EET": 2,
	"EEST": 3,
	"EDT":  -4,
	"EST":  -5, "CDT": -5,
	"CST": -6, "MDT": -6,
	"MST": -7, "PDT": -7,
	"PST": -8,
}
