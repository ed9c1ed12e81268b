package websync

import (
	"strings"
	"time"
)

// ParseDatetimeLenient reads what ParseDatetime reads, and what publishers write instead:
// white space around it, a space instead of T, a time without a zone (read as UTC),
// without minutes or with a comma before the fraction, a zone without a colon or by name,
// one digit for a month, day or hour, slashes for hyphens, a date with a zone, and the
// dates of HTTP and mail (RFC 9110 §5.6.7, RFC 5322 §3.3). A date that does not exist is
// an error.
//
// Departure names the departures that were accepted, for the message of a [Finding]. It
// is empty exactly if ParseDatetime reads s.
func ParseDatetimeLenient(s string) (d Datetime, departure string, err error) {
	if d, err = ParseDatetime(s); err == nil {
		return d, "", nil
	}
	text, spaces := strings.TrimSpace(s), ""
	if text != s {
		spaces = "white space around it"
		if d, err = ParseDatetime(text); err == nil {
			return d, spaces, nil
		}
	}
	for _, read := range []func(*lenientReader) bool{(*lenientReader).iso, (*lenientReader).mail} {
		l := lenientReader{rest: text, notes: spaces}
		if read(&l) {
			d, err = l.datetime()
			if err != nil {
				return Datetime{}, "", err
			}
			return d, l.notes, nil
		}
	}
	return Datetime{}, "", err
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
	if l.year = digits(l.rest, 0, 4); l.year < 0 || len(l.rest) == 4 {
		return false
	}
	l.rest = l.rest[4:]
	hyphen := l.rest[0]
	if hyphen == '/' {
		l.forgive("slashes instead of hyphens")
	} else if hyphen != '-' {
		return false
	}
	if !l.skip(hyphen) || !l.field(&l.month) || !l.skip(hyphen) || !l.field(&l.day) {
		return false
	}
	l.prec = PrecisionDay

	if l.rest == "" {
		return true
	}
	spaces := l.skipSpaces()
	switch {
	case l.skip('T') || l.skip('t'):
	case spaces && l.rest[0]-'0' <= 9:
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

// mail reads all of l.rest as a date of HTTP (RFC 1123, RFC 850 or asctime) or of mail,
// with or without the weekday.
func (l *lenientReader) mail() bool {
	// Here one digit, for example, is no departure.
	notes := join("; ", l.notes, "a date as in HTTP or mail")
	if weekday, rest, ok := strings.Cut(l.rest, ","); ok && isWeekday(weekday) {
		l.rest = rest
	}
	f := strings.Fields(l.rest)
	if len(f) > 0 && isWeekday(f[0]) {
		f = f[1:]
	}
	if len(f) > 0 && strings.Count(f[0], "-") == 2 {
		f = append(strings.Split(f[0], "-"), f[1:]...)
	}
	var day, month, year, clock, zone string
	switch {
	case len(f) >= 4 && parseMonth(f[0]) > 0: // asctime, with the zone of date(1) or without
		day, month, year, clock, zone = f[1], f[0], f[len(f)-1], f[2], "GMT"
		if len(f) == 5 {
			zone = f[3]
		}
	case len(f) >= 3:
		day, month, year = f[0], f[1], f[2]
		if len(f) > 3 {
			clock = f[3]
		}
		if len(f) > 4 {
			zone = f[4]
		}
	}
	if len(f) > 5 || !l.mailDate(day, month, year) {
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
	if hours, ok := namedZone(s); ok {
		l.offset = hours * 60
		return "a name for the time zone", true
	}
	if s[0] != '+' && s[0] != '-' {
		return "", false
	}
	switch hour := digits(s, 1, 2); {
	case hour >= 0 && len(s) == len("+01"):
		return "a time zone without minutes", l.setOffset(s[0], hour, 0) == nil
	case hour >= 0 && len(s) == len("+0100") && digits(s, 3, 2) >= 0:
		return "a time zone without a colon", l.setOffset(s[0], hour, digits(s, 3, 2)) == nil
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

func (l *lenientReader) skipSpaces() bool {
	before := len(l.rest)
	l.rest = strings.TrimLeft(l.rest, " \t\r\n")
	return len(l.rest) < before
}

func isWeekday(s string) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if isName(s, d.String()) {
			return true
		}
	}
	return false
}

// parseMonth returns the number of an English month, or 0.
func parseMonth(s string) int {
	for m := time.January; m <= time.December; m++ {
		if isName(s, m.String()) {
			return int(m)
		}
	}
	return 0
}

// isName reports whether s is the name or its first three letters, in any case.
func isName(s, name string) bool {
	return strings.EqualFold(s, name) || strings.EqualFold(s, name[:3])
}

// namedZone returns the hours east of UTC of a zone of RFC 822 or of Europe.
func namedZone(s string) (hours int, ok bool) {
	switch strings.ToUpper(s) {
	case "GMT", "UTC", "UT", "WET":
		return 0, true
	case "CET", "WEST":
		return 1, true
	case "CEST", "EET":
		return 2, true
	case "EEST":
		return 3, true
	case "EDT":
		return -4, true
	case "EST", "CDT":
		return -5, true
	case "CST", "MDT":
		return -6, true
	case "MST", "PDT":
		return -7, true
	case "PST":
		return -8, true
	}
	return 0, false
}
