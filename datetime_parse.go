package websync

// ParseDatetime reads a datetime of the W3C note, from a year to a fraction of a second,
// or of RFC 3339. It accepts nothing else: a time needs a zone, and white space is an
// error. It cuts off the digits of the fraction after the ninth.
//
// The errors do not repeat s: they are meant for a [ParseError] or a [Finding], which
// hold the value and its position.
func ParseDatetime(s string) (Datetime, error) {
	c := civil{month: 1, day: 1}
	if c.year = digits(s, 0, 4); c.year < 0 {
		return Datetime{}, errSyntax
	}
	if len(s) == len("2006") {
		c.prec = PrecisionYear
		return c.datetime()
	}
	if c.month = digits(s, 5, 2); c.month < 0 || s[4] != '-' {
		return Datetime{}, errSyntax
	}
	if len(s) == len("2006-01") {
		c.prec = PrecisionMonth
		return c.datetime()
	}
	if c.day = digits(s, 8, 2); c.day < 0 || s[7] != '-' {
		return Datetime{}, errSyntax
	}
	if len(s) == len("2006-01-02") {
		c.prec = PrecisionDay
		return c.datetime()
	}
	if s[10]|0x20 != 't' {
		return Datetime{}, errSyntax
	}
	rest, ok := c.clock(s[11:])
	if !ok {
		return Datetime{}, errSyntax
	}
	if err := c.zone(rest); err != nil {
		return Datetime{}, err
	}
	return c.datetime()
}

// clock reads hh:mm, hh:mm:ss or hh:mm:ss.fraction off the front of s.
func (c *civil) clock(s string) (rest string, ok bool) {
	c.hour, c.minute = digits(s, 0, 2), digits(s, 3, 2)
	if c.hour < 0 || c.minute < 0 || s[2] != ':' {
		return s, false
	}
	c.prec = PrecisionMinute
	s = s[5:]
	if s == "" || s[0] != ':' {
		return s, true
	}
	if c.second = digits(s, 1, 2); c.second < 0 {
		return s, false
	}
	c.prec = PrecisionSecond
	s = s[3:]
	if s == "" || s[0] != '.' {
		return s, true
	}
	return c.fraction(s[1:])
}

// fraction reads at least one digit off the front of s and keeps at most nine.
func (c *civil) fraction(s string) (rest string, ok bool) {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		if c.prec < PrecisionNanosecond {
			c.nano = c.nano*10 + int(s[n]-'0')
			c.prec++
		}
		n++
	}
	c.nano *= int(powers[9-c.prec.digits()])
	return s[n:], n > 0
}

// zone reads all of s as Z, +hh:mm or -hh:mm.
func (c *civil) zone(s string) error {
	if s == "" {
		return errNoZone
	}
	if s[0]|0x20 == 'z' && len(s) == 1 {
		return nil
	}
	hour, minute := digits(s, 1, 2), digits(s, 4, 2)
	if hour < 0 || minute < 0 || len(s) != len("+07:00") || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return errSyntax
	}
	return c.setOffset(s[0], hour, minute)
}

func (c *civil) setOffset(sign byte, hour, minute int) error {
	if hour > 23 || minute > 59 {
		return errNoOffset
	}
	c.offset = hour*60 + minute
	switch {
	case sign == '-' && c.offset == 0:
		c.flags = minusZero
	case sign == '-':
		c.offset = -c.offset
	case c.offset == 0:
		c.flags = plusZero
	}
	return nil
}

// digits returns the number that the n digits of s from i make, or -1.
func digits(s string, i, n int) int {
	if i+n > len(s) {
		return -1
	}
	v := 0
	for _, c := range []byte(s[i : i+n]) {
		if c -= '0'; c > 9 {
			return -1
		}
		v = v*10 + int(c)
	}
	return v
}
