package websync

import (
	"cmp"
	"errors"
	"time"
)

// A Datetime is a W3C datetime or an RFC 3339 timestamp with the precision and the zone
// it was stated in. It stands for a period: "2024" for a year, "2024-02-29T12:00Z" for a
// minute. Two Datetimes are == exactly if their text is the same. An instant is a period
// of a nanosecond: WithPrecision(PrecisionNanosecond) makes one of a Datetime, and Before
// and After then compare it exactly with others.
//
// The zero value means "not stated". Its text is empty, and Compare sorts it before all
// others.
//
// Years range from 1 to 9999, also in UTC. Dates without a time are in UTC. A leap second
// keeps its text, but its instant is that of the second after it, because [time.Time]
// cannot represent it.
type Datetime struct {
	sec    int64 // start of the period: Unix time
	nano   int32
	offset int16 // minutes east of UTC
	prec   Precision
	flags  uint8
}

// The flags of a Datetime.
const (
	// the text is second 60; sec is that of the second after it
	leapSecond uint8 = 1 << iota
	plusZero         // the zone is +00:00, not Z
	// the zone is -00:00: UTC, local zone unknown (RFC 3339 §4.3)
	minusZero
)

// A Precision is the length of the period that a [Datetime] stands for. Precisions are
// ordered from coarse to fine. Between PrecisionSecond and PrecisionNanosecond there is
// one for each number of fraction digits.
type Precision uint8

const (
	PrecisionUnstated Precision = iota // of the zero Datetime
	PrecisionYear
	PrecisionMonth
	PrecisionDay
	PrecisionMinute
	PrecisionSecond

	PrecisionMillisecond = PrecisionSecond + 3
	PrecisionMicrosecond = PrecisionSecond + 6
	PrecisionNanosecond  = PrecisionSecond + 9
)

var precisions = [...]string{
	"unstated", "year", "month", "day", "minute", "second",
	"100 milliseconds", "10 milliseconds", "millisecond",
	"100 microseconds", "10 microseconds", "microsecond",
	"100 nanoseconds", "10 nanoseconds", "nanosecond",
}

// String returns the length of the period, e.g. "day" or "10 milliseconds".
func (p Precision) String() string { return precisions[min(p, PrecisionNanosecond)] }

// digits returns the number of fraction digits.
func (p Precision) digits() int { return max(int(p)-int(PrecisionSecond), 0) }

var (
	errSyntax   = errors.New("not a W3C date")
	errNoDate   = errors.New("no such date")
	errNoTime   = errors.New("no such time of day")
	errNoOffset = errors.New("no such time zone")
	errNoZone   = errors.New("a time without a time zone")
	errYear     = errors.New("the year is not between 1 and 9999")
)

// Unix times between which a Datetime lies: the years 1 to 9999 in UTC.
const (
	minUnix = -62135596800
	maxUnix = 253402300800
)

var powers = [...]int32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// NewDatetime returns t with its offset and its precision: a second, or a microsecond or
// nanosecond if it has a fraction, so that no digit of a fraction depends on chance: of
// two times within a millisecond one is later, although one of them ends in zeros.
// Offsets are whole minutes: NewDatetime cuts off the seconds of an old local mean time
// and keeps the instant. It returns the zero Datetime for the zero Time and for years
// outside 1 to 9999.
func NewDatetime(t time.Time) Datetime {
	if t.IsZero() {
		return Datetime{}
	}
	_, zone := t.Zone()
	offset := zone / 60
	if offset <= -24*60 || offset >= 24*60 {
		offset = 0
	}
	d := Datetime{sec: t.Unix(), nano: int32(t.Nanosecond()), offset: int16(offset), prec: PrecisionSecond}
	switch {
	case d.nano%1000 != 0:
		d.prec = PrecisionNanosecond
	case d.nano != 0:
		d.prec = PrecisionMicrosecond
	}
	if local := d.sec + int64(offset)*60; min(d.sec, local) < minUnix || max(d.sec, local) >= maxUnix {
		return Datetime{}
	}
	return d
}

// DateOf returns the date of t in its own zone, which may differ from the date in UTC. It
// returns the zero Datetime for the zero Time and for years outside 1 to 9999.
func DateOf(t time.Time) Datetime { return NewDatetime(t).WithPrecision(PrecisionDay) }

// IsZero reports whether d is not stated.
func (d Datetime) IsZero() bool { return d.prec == PrecisionUnstated }

// Precision returns the precision in which d is stated.
func (d Datetime) Precision() Precision { return d.prec }

// Time returns the first instant of the period, in the zone as stated. A date without a
// time starts at midnight UTC. Time returns the zero Time for the zero Datetime.
func (d Datetime) Time() time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	t := time.Unix(d.sec, int64(d.nano))
	if d.offset == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", int(d.offset)*60))
}

// End returns the first instant after the period, or the zero Time for the zero Datetime.
func (d Datetime) End() time.Time {
	switch t := d.Time(); d.prec {
	case PrecisionUnstated:
		return t
	case PrecisionYear:
		return t.AddDate(1, 0, 0)
	case PrecisionMonth:
		return t.AddDate(0, 1, 0)
	case PrecisionDay:
		return t.AddDate(0, 0, 1)
	case PrecisionMinute:
		return t.Add(time.Minute)
	default:
		return t.Add(time.Duration(powers[9-d.prec.digits()]))
	}
}

// Compare returns -1, 0 or +1 in a total order: by the first instant, then the coarser
// before the finer, then by zone. It returns 0 exactly if d == e. The zero Datetime comes
// first.
func (d Datetime) Compare(e Datetime) int {
	if d.IsZero() || e.IsZero() {
		return cmp.Compare(d.prec, e.prec)
	}
	if d.sec != e.sec {
		return cmp.Compare(d.sec, e.sec)
	}
	return cmp.Or(
		cmp.Compare(d.nano, e.nano),
		cmp.Compare(d.prec, e.prec),
		cmp.Compare(d.offset, e.offset),
		cmp.Compare(d.flags, e.flags),
	)
}

// Before reports whether the whole period of d lies before that of e. For two stated
// Datetimes exactly one of Before, After and Overlaps is true; if one is not stated, none
// is.
func (d Datetime) Before(e Datetime) bool {
	return !d.IsZero() && !e.IsZero() && !d.UTC().End().After(e.UTC().Time())
}

// After reports whether the whole period of d lies after that of e.
func (d Datetime) After(e Datetime) bool { return e.Before(d) }

// Overlaps reports whether the periods of d and e have an instant in common, so that both
// can mean the same moment: "2024-02-29" overlaps "2024-02-29T12:00:00Z".
func (d Datetime) Overlaps(e Datetime) bool {
	return !d.IsZero() && !e.IsZero() && !d.Before(e) && !e.Before(d)
}

// IsOver reports whether the period of d was over at a moment of its publisher's clock,
// so that any later change has a later Datetime. It allows a minute for clocks that
// differ and, if d is a date or coarser, a day for the publisher's time zone. The period
// of the zero Datetime is never over.
func (d Datetime) IsOver(now time.Time) bool {
	slack := time.Minute
	if d.prec <= PrecisionDay {
		slack = 24 * time.Hour
	}
	return !d.IsZero() && !d.End().Add(slack).After(now)
}

// UTC returns the same period stated in Z. It returns a date without a time unchanged.
func (d Datetime) UTC() Datetime {
	d.offset = 0
	d.flags &= leapSecond
	return d
}

// WithPrecision returns d with the precision p. A coarser p cuts the text: the day of
// "2024-01-01T00:30+01:00" is "2024-01-01". A finer p states the first instant.
// WithPrecision returns the zero Datetime if d is zero or p is PrecisionUnstated.
func (d Datetime) WithPrecision(p Precision) Datetime {
	if d.IsZero() || p == PrecisionUnstated {
		return Datetime{}
	}
	if p = min(p, PrecisionNanosecond); p >= d.prec {
		d.prec = p
		return d
	}
	c := d.civil()
	c.prec = p
	if p < PrecisionDay {
		c.day = 1
	}
	if p < PrecisionMonth {
		c.month = 1
	}
	if p < PrecisionMinute {
		c.hour, c.minute, c.offset, c.flags = 0, 0, 0, 0
	}
	if p < PrecisionSecond {
		c.second = 0
	}
	unit := int(powers[9-p.digits()])
	c.nano -= c.nano % unit
	cut, _ := c.datetime() // what is cut from a valid Datetime is valid
	return cut
}

// String returns the text that ParseDatetime reads, with T and Z in upper case, or "" for
// the zero value.
func (d Datetime) String() string {
	var buf [len("2006-01-02T15:04:05.999999999+07:00")]byte
	b, _ := d.AppendText(buf[:0])
	return string(b)
}

// AppendText implements [encoding.TextAppender]. The error is always nil.
func (d Datetime) AppendText(b []byte) ([]byte, error) {
	if d.IsZero() {
		return b, nil
	}
	c := d.civil()
	const layout = "2006-01-02T15:04:05"
	from := len(b)
	b = append(b, layout...)
	text := (*[len(layout)]byte)(b[from:])
	two(text[0:2], c.year/100)
	two(text[2:4], c.year%100)
	two(text[5:7], c.month)
	two(text[8:10], c.day)
	two(text[11:13], c.hour)
	two(text[14:16], c.minute)
	two(text[17:19], c.second)
	if d.prec < PrecisionSecond {
		b = b[:from+lengths[d.prec]]
	}
	if d.prec < PrecisionMinute {
		return b, nil
	}
	if n := d.prec.digits(); n > 0 {
		b = appendDigits(append(b, '.'), c.nano/int(powers[9-n]), n)
	}
	return c.appendZone(b), nil
}

// lengths are those of the texts of dates, without the zone.
var lengths = [...]int{
	PrecisionYear: len("2006"), PrecisionMonth: len("2006-01"), PrecisionDay: len("2006-01-02"),
	PrecisionMinute: len("2006-01-02T15:04"),
}

// MarshalText implements [encoding.TextMarshaler] with the form of String.
func (d Datetime) MarshalText() ([]byte, error) { return d.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It is as strict as ParseDatetime;
// empty text is the zero value.
func (d *Datetime) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Datetime{}
		return nil
	}
	parsed, err := ParseDatetime(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// A civil is a Datetime by the fields of its text. The fields that prec leaves out are
// those of the first instant.
type civil struct {
	year, month, day     int
	hour, minute, second int
	nano                 int
	offset               int // minutes east of UTC
	prec                 Precision
	flags                uint8 // plusZero or minusZero; a leap second is second 60
}

// civil is the inverse of datetime.
func (d Datetime) civil() civil {
	local := d.sec + int64(d.offset)*60
	leap := 0
	if d.flags&leapSecond != 0 {
		leap = 1
	}
	local -= int64(leap)
	days := local / 86400
	second := int(local - days*86400)
	if second < 0 {
		days, second = days-1, second+86400
	}
	c := civil{
		hour: second / 3600, minute: second / 60 % 60, second: second%60 + leap, nano: int(d.nano),
		offset: int(d.offset), prec: d.prec, flags: d.flags &^ leapSecond,
	}
	c.setDays(int(days))
	return c
}

// until1970 is the number of days from March 1 of year 0 to 1970-01-01.
const until1970 = 719_468

// days returns the number of days from 1970-01-01, in years that begin in March, so that
// leap days come last.
func (c *civil) days() int64 {
	y, m := c.year, c.month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	return int64(365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + c.day - 1 - until1970)
}

// setDays is the inverse of days.
func (c *civil) setDays(days int) {
	const years400 = 400*365 + 97
	days += until1970
	era := days / years400 // years from 1 to 9999 have none below zero
	days -= era * years400
	year := (days - days/1460 + days/36524 - days/(years400-1)) / 365
	days -= 365*year + year/4 - year/100
	month := (5*days + 2) / 153
	c.year, c.month, c.day = 400*era+year, month+3, days-(153*month+2)/5+1
	if c.month > 12 {
		c.year, c.month = c.year+1, c.month-12
	}
}

// datetime checks the fields, each alone and together. The caller has checked that the
// year has four digits, and the offset.
func (c *civil) datetime() (Datetime, error) {
	if c.year < 1 {
		return Datetime{}, errYear
	}
	if c.month < 1 || c.month > 12 || c.day < 1 || c.day > daysIn(c.year, c.month) {
		return Datetime{}, errNoDate
	}
	if c.hour > 23 || c.minute > 59 || c.second > 60 {
		return Datetime{}, errNoTime
	}
	sec := c.days()*86400 + int64(c.hour*3600+(c.minute-c.offset)*60+c.second)
	d := Datetime{sec: sec, nano: int32(c.nano), offset: int16(c.offset), prec: c.prec, flags: c.flags}
	if d.sec < minUnix || d.sec >= maxUnix {
		return Datetime{}, errYear
	}
	if c.second == 60 {
		// Leap seconds end a month in UTC (RFC 3339 §5.7).
		if t := time.Unix(sec, 0).UTC(); t.Day() != 1 || t.Hour() != 0 || t.Minute() != 0 {
			return Datetime{}, errNoTime
		}
		d.flags |= leapSecond
	}
	return d, nil
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func (c *civil) appendZone(b []byte) []byte {
	offset, sign := c.offset, byte('+')
	switch {
	case offset == 0 && c.flags == 0:
		return append(b, 'Z')
	case offset < 0:
		offset, sign = -offset, '-'
	case c.flags == minusZero:
		sign = '-'
	}
	from := len(b)
	b = append(b, "+00:00"...)
	b[from] = sign
	two(b[from+1:], offset/60)
	two(b[from+4:], offset%60)
	return b
}

// two writes v, from 0 to 99, with two digits.
func two(b []byte, v int) {
	tens := uint8(v) / 10
	b[0], b[1] = '0'+tens, '0'+uint8(v)-10*tens
}

// appendDigits appends v, which has at most n decimal digits, with n of them.
func appendDigits(b []byte, v, n int) []byte {
	b = append(b, "000000000"[:n]...)
	for i := len(b) - 1; v > 0; i-- {
		b[i] += byte(v % 10)
		v /= 10
	}
	return b
}
