package websync_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

func parse(t testing.TB, s string) websync.Datetime {
	t.Helper()
	d, err := websync.ParseDatetime(s)
	require.NoError(t, err, s)
	return d
}

func TestParseDatetime(t *testing.T) {
	tests := []struct {
		in         string
		precision  websync.Precision
		start, end string // RFC 3339
	}{
		{"2024", websync.PrecisionYear, "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"0001", websync.PrecisionYear, "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z"},
		{"2024-02", websync.PrecisionMonth, "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"2024-12", websync.PrecisionMonth, "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"2024-02-29", websync.PrecisionDay, "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"2000-02-29", websync.PrecisionDay, "2000-02-29T00:00:00Z", "2000-03-01T00:00:00Z"},
		{"2024-02-29T12:34Z", websync.PrecisionMinute, "2024-02-29T12:34:00Z", "2024-02-29T12:35:00Z"},
		{"2024-02-29T12:34+01:00", websync.PrecisionMinute, "2024-02-29T12:34:00+01:00", "2024-02-29T12:35:00+01:00"},
		{"2024-02-29T12:34:56Z", websync.PrecisionSecond, "2024-02-29T12:34:56Z", "2024-02-29T12:34:57Z"},
		{"2024-02-29T12:34:56-03:30", websync.PrecisionSecond, "2024-02-29T12:34:56-03:30", "2024-02-29T12:34:57-03:30"},
		{"2024-02-29T12:34:56+23:59", websync.PrecisionSecond, "2024-02-29T12:34:56+23:59", "2024-02-29T12:34:57+23:59"},
		{"2024-02-29T12:34:56+00:00", websync.PrecisionSecond, "2024-02-29T12:34:56Z", "2024-02-29T12:34:57Z"},
		{"2024-02-29T12:34:56-00:00", websync.PrecisionSecond, "2024-02-29T12:34:56Z", "2024-02-29T12:34:57Z"},
		{"2024-02-29T12:34:56.7Z", websync.PrecisionSecond + 1, "2024-02-29T12:34:56.7Z", "2024-02-29T12:34:56.8Z"},
		{"2024-02-29T12:34:56.70Z", websync.PrecisionSecond + 2, "2024-02-29T12:34:56.7Z", "2024-02-29T12:34:56.71Z"},
		{"2024-02-29T12:34:56.000Z", websync.PrecisionMillisecond, "2024-02-29T12:34:56Z", "2024-02-29T12:34:56.001Z"},
		{"2024-02-29T12:34:56.000001Z", websync.PrecisionMicrosecond, "2024-02-29T12:34:56.000001Z", "2024-02-29T12:34:56.000002Z"},
		{"2024-02-29T23:59:59.999999999Z", websync.PrecisionNanosecond, "2024-02-29T23:59:59.999999999Z", "2024-03-01T00:00:00Z"},
		{"1969-12-31T23:59:59.5Z", websync.PrecisionSecond + 1, "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.6Z"},
		{"2016-12-31T23:59:60Z", websync.PrecisionSecond, "2017-01-01T00:00:00Z", "2017-01-01T00:00:01Z"},
		{"1990-12-31T15:59:60-08:00", websync.PrecisionSecond, "1990-12-31T16:00:00-08:00", "1990-12-31T16:00:01-08:00"},
		{"2015-07-01T01:59:60.25+02:00", websync.PrecisionSecond + 2, "2015-07-01T02:00:00.25+02:00", "2015-07-01T02:00:00.26+02:00"},
		{"0001-01-01T00:00:00Z", websync.PrecisionSecond, "0001-01-01T00:00:00Z", "0001-01-01T00:00:01Z"},
		{"9999-12-31T23:59:59.999999999Z", websync.PrecisionNanosecond, "9999-12-31T23:59:59.999999999Z", ""},
		{"9999", websync.PrecisionYear, "9999-01-01T00:00:00Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d := parse(t, tt.in)
			assert.Equal(t, tt.in, d.String())
			assert.Equal(t, tt.precision, d.Precision())
			assert.False(t, d.IsZero())
			assert.Equal(t, tt.start, d.Time().Format(time.RFC3339Nano))
			if tt.end == "" { // the year 10000 has no text
				assert.Equal(t, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), d.End())
				return
			}
			assert.Equal(t, tt.end, d.End().Format(time.RFC3339Nano))
		})
	}
}

func TestParseDatetimeNormalizes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lower case", "2024-02-29t12:34:56z", "2024-02-29T12:34:56Z"},
		{"ten digits", "2024-02-29T12:34:56.1234567899Z", "2024-02-29T12:34:56.123456789Z"},
		{"many zeros", "2024-02-29T12:34:56.000000000000000000Z", "2024-02-29T12:34:56.000000000Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parse(t, tt.in)
			assert.Equal(t, tt.want, d.String())
			assert.Equal(t, parse(t, tt.want), d)
		})
	}
}

func TestParseDatetimeErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "not a W3C date"},
		{"yesterday", "not a W3C date"},
		{"202", "not a W3C date"},
		{"20240", "not a W3C date"},
		{"2024-", "not a W3C date"},
		{"2024-2", "not a W3C date"},
		{"2024-02-", "not a W3C date"},
		{"2024/02", "not a W3C date"},
		{"2024-02/29", "not a W3C date"},
		{"20240229", "not a W3C date"},
		{"-024-02-29", "not a W3C date"},
		{" 2024-02-29", "not a W3C date"},
		{"2024-02-29 ", "not a W3C date"},
		{"2024-02-29Z", "not a W3C date"},
		{"2024-02-29T", "not a W3C date"},
		{"2024-02-29T12", "not a W3C date"},
		{"2024-02-29T12Z", "not a W3C date"},
		{"2024-02-29T12:3Z", "not a W3C date"},
		{"2024-02-29T12.34Z", "not a W3C date"},
		{"2024-02-29 12:34:56Z", "not a W3C date"},
		{"2024-02-29T12:34:5Z", "not a W3C date"},
		{"2024-02-29T12:34:56.Z", "not a W3C date"},
		{"2024-02-29T12:34:56,7Z", "not a W3C date"},
		{"2024-02-29T12:34.5Z", "not a W3C date"},
		{"2024-02-29T12:34:56ZZ", "not a W3C date"},
		{"2024-02-29T12:34:56+01", "not a W3C date"},
		{"2024-02-29T12:34:56+0100", "not a W3C date"},
		{"2024-02-29T12:34:56+01:00 ", "not a W3C date"},
		{"2024-02-29T12:34:56 01:00", "not a W3C date"},
		{"2024-02-29T12:34", "a time without a time zone"},
		{"2024-02-29T12:34:56", "a time without a time zone"},
		{"2024-02-29T12:34:56.789", "a time without a time zone"},
		{"2024-00", "no such date"},
		{"2024-13-01", "no such date"},
		{"2024-01-00", "no such date"},
		{"2024-04-31", "no such date"},
		{"2023-02-29", "no such date"},
		{"1900-02-29", "no such date"},
		{"2024-02-30T12:34:56Z", "no such date"},
		{"2024-02-29T24:00:00Z", "no such time of day"},
		{"2024-02-29T12:60:00Z", "no such time of day"},
		{"2024-02-29T12:34:61Z", "no such time of day"},
		{"2024-02-29T12:34:60Z", "no such time of day"},
		{"2024-02-28T23:59:60Z", "no such time of day"},
		{"2016-12-31T23:59:60+01:00", "no such time of day"},
		{"2016-12-31T22:59:60Z", "no such time of day"},
		{"2017-01-01T00:30:60Z", "no such time of day"},
		{"2024-02-29T12:34:56+24:00", "no such time zone"},
		{"2024-02-29T12:34:56+01:60", "no such time zone"},
		{"0000", "the year is not between 1 and 9999"},
		{"0000-00-00T00:00:00Z", "the year is not between 1 and 9999"},
		{"0001-01-01T00:00:00+00:01", "the year is not between 1 and 9999"},
		{"9999-12-31T23:59:00-00:01", "the year is not between 1 and 9999"},
		{"9999-12-31T23:59:60Z", "the year is not between 1 and 9999"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d, err := websync.ParseDatetime(tt.in)
			assert.EqualError(t, err, tt.want)
			assert.Zero(t, d)
		})
	}
}

func TestParseDatetimeLenient(t *testing.T) {
	tests := []struct{ in, want, departure string }{
		{"2024-02-29", "2024-02-29", ""},
		{"2020-03-18T01:20:10Z", "2020-03-18T01:20:10Z", ""},
		{"\n  2024-02 \t", "2024-02", "white space around it"},
		{"2020-03-18 01:20:10", "2020-03-18T01:20:10Z", "a space instead of T; no time zone, read as UTC"},
		{" 2020-03-18 01:20:10Z", "2020-03-18T01:20:10Z", "white space around it; a space instead of T"},
		{"2020-03-18T01:20", "2020-03-18T01:20Z", "no time zone, read as UTC"},
		{"2020-03-18T01:20:10.50", "2020-03-18T01:20:10.50Z", "no time zone, read as UTC"},
		{"2020-03-18T01:20:10,5Z", "2020-03-18T01:20:10.5Z", "a comma before the fraction"},
		{"2010-03-08T15:55:34+0100", "2010-03-08T15:55:34+01:00", "a time zone without a colon"},
		{"2010-03-08T15:55:34-0000", "2010-03-08T15:55:34-00:00", "a time zone without a colon"},
		{"2010-03-08T15:55:34-03", "2010-03-08T15:55:34-03:00", "a time zone without minutes"},
		{"2010-03-08T15Z", "2010-03-08T15:00Z", "a time without minutes"},
		{"2010-03-08T15", "2010-03-08T15:00Z", "a time without minutes; no time zone, read as UTC"},
		{"2010-03-08 15:55:34 +0100", "2010-03-08T15:55:34+01:00",
			"a space instead of T; a space before the zone; a time zone without a colon"},
		{"2010-03-08 15:55:34 UTC", "2010-03-08T15:55:34Z",
			"a space instead of T; a space before the zone; a name for the time zone"},
		{"2010-3-8", "2010-03-08", "one digit instead of two; one digit instead of two"},
		{"2010/03/08", "2010-03-08", "slashes instead of hyphens"},
		{"2010-03-08Z", "2010-03-08", "a time zone without a time"},
		{"2010-03-08-05:00", "2010-03-08", "a time zone without a time"},
		{"2010-03-08 +01:00", "2010-03-08", "a time zone without a time"},
		{"2016-12-31 23:59:60Z", "2016-12-31T23:59:60Z", "a space instead of T"},
		{"16-01-2024 00:00:00", "2024-01-16T00:00:00Z", "the day before the month and the year; a space instead of T; no time zone, read as UTC"},
		{"16-01-2024", "2024-01-16", "the day before the month and the year"},
		{"16/01/2024T08:30:00+01:00", "2024-01-16T08:30:00+01:00", "the day before the month and the year"},
		{"5.1.2024", "2024-01-05", "one digit instead of two; one digit instead of two; the day before the month and the year"},
		{"01.02.2024 08:30", "2024-02-01T08:30Z", "the day before the month and the year; a space instead of T; no time zone, read as UTC"},
		{"02/02/2024", "2024-02-02", "the day before the month and the year"},
		{"01/31/2024", "2024-01-31", "the month and the day before the year"},

		{"Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Sun Nov  6 08:49:37 CET 1994", "1994-11-06T08:49:37+01:00", "a date as in HTTP or mail"},
		{"Sun,06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"06 Nov 1994 08:49 +0100", "1994-11-06T08:49+01:00", "a date as in HTTP or mail"},
		{"6 november 2024 08:49:37 EDT", "2024-11-06T08:49:37-04:00", "a date as in HTTP or mail"},
		{"Fri, 1 Mar 24 08:49:37 PST", "2024-03-01T08:49:37-08:00", "a date as in HTTP or mail"},
		{"Sun, 06 Nov 1994 08:49:37", "1994-11-06T08:49:37Z",
			"a date as in HTTP or mail; no time zone, read as UTC"},
		{"06 Nov 1994", "1994-11-06", "a date as in HTTP or mail"},
		{"Sun, 06 Nov 1994 08:49:37 +0000 (UTC)", "1994-11-06T08:49:37+00:00", "a date as in HTTP or mail"},
		{"Sun, 06 (the (first)) Nov 1994 (x) 08:49:37 GMT (y)", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Mon, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Son., 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Tues Sept 6 08:49:37 1994", "1994-09-06T08:49:37Z", "a date as in HTTP or mail"},
		{"Tues, 6 Sept 94 08:49:37 A", "1994-09-06T08:49:37-00:00", "a date as in HTTP or mail"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d, departure, err := websync.ParseDatetimeLenient(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, d.String())
			assert.Equal(t, tt.departure, departure)
		})
	}
}

func TestParseDatetimeLenientZones(t *testing.T) {
	tests := map[string]string{
		"GMT": "Z", "UTC": "Z", "UT": "Z", "Z": "Z", "utc": "Z", "WET": "Z",
		"CET": "+01:00", "WEST": "+01:00", "CEST": "+02:00", "EET": "+02:00", "EEST": "+03:00",
		"EDT": "-04:00", "EST": "-05:00", "CDT": "-05:00", "CST": "-06:00", "MDT": "-06:00",
		"MST": "-07:00", "PDT": "-07:00", "PST": "-08:00",
		"+0530": "+05:30", "+05": "+05:00", "-0000": "-00:00", "+00": "+00:00",
	}
	for zone, want := range tests {
		d, _, err := websync.ParseDatetimeLenient("Sun, 06 Nov 1994 08:49:37 " + zone)
		assert.NoError(t, err, zone)
		assert.Equal(t, "1994-11-06T08:49:37"+want, d.String(), zone)
	}
}

func TestParseDatetimeLenientErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "not a W3C date"},
		{" ", "not a W3C date"},
		{"soon", "not a W3C date"},
		{"0000-00-00 00:00:00", "the year is not between 1 and 9999"},
		{"2023-02-29 12:00:00", "no such date"},
		{" 2023-02-29 ", "no such date"},
		{"2024-02-29 24:00:00", "no such time of day"},
		{"Thu, 30 Feb 2024 08:49:37 GMT", "no such date"},
		{"2024/02-29", "not a W3C date"},
		{"2024-02-29 noon", "not a W3C date"},
		{"2024-02-29T12:34:56 XYZ", "not a W3C date"},
		{"2024-02-29T12:34:56+9900", "not a W3C date"},
		{"2024-02-29T12:34:56.", "not a W3C date"},
		{"2024-02-29T1:", "not a W3C date"},
		{"2024-02-29Tnoon", "not a W3C date"},
		{"2024-02-29T12:34:", "not a W3C date"},
		{"2024-02-29T12:34:56+010", "not a W3C date"},
		{"2024-02-29T12:34:56+01x0", "not a W3C date"},
		{"Sun, 06 Nov 1994 08:49:37 XYZ", "not a W3C date"},
		{"01-02-2020", "not a W3C date"},
		{"01/02/2020", "not a W3C date"},
		{"16-01/2024", "not a W3C date"},
		{"16-01-24", "not a W3C date"},
		{"16-01-20245", "not a W3C date"},
		{"16 01 2024", "not a W3C date"},
		{"31.02.2024", "no such date"},
		{"16.", "not a W3C date"},
		{"1584494410", "not a W3C date"},
		{"Sun, 06 Nov 194 08:49:37 GMT", "not a W3C date"},
		{"Sun, 06 Nov 1994 08:49:37 GMT GMT", "not a W3C date"},
		{"Sun, 06 Nov 1994 0849 GMT", "not a W3C date"},
		{"Son 06 Nov 1994 08:49:37 GMT", "not a W3C date"},
		{"6 Sun, 06 Nov 1994 08:49:37 GMT", "not a W3C date"},
		{"Sun, 06 Nov 1994 08:49:37 J", "not a W3C date"},
		{"Sun, 06 No 1994 08:49:37 GMT", "not a W3C date"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d, departure, err := websync.ParseDatetimeLenient(tt.in)
			assert.EqualError(t, err, tt.want)
			assert.Zero(t, d)
			assert.Empty(t, departure)
		})
	}
}

func TestNewDatetime(t *testing.T) {
	zone := func(seconds int) *time.Location { return time.FixedZone("", seconds) }
	tests := []struct {
		name string
		in   time.Time
		want string
	}{
		{"UTC", time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC), "2024-02-29T12:34:56Z"},
		{"fraction", time.Date(2024, 2, 29, 12, 34, 56, 120_000_000, time.UTC), "2024-02-29T12:34:56.120000Z"},
		{"nanosecond", time.Date(2024, 2, 29, 12, 34, 56, 120_000_100, time.UTC), "2024-02-29T12:34:56.120000100Z"},
		{"nanosecond", time.Date(2024, 2, 29, 12, 34, 56, 1, time.UTC), "2024-02-29T12:34:56.000000001Z"},
		{"offset", time.Date(2024, 2, 29, 12, 34, 56, 0, zone(-12600)), "2024-02-29T12:34:56-03:30"},
		{"offset zero", time.Date(2024, 2, 29, 12, 34, 56, 0, zone(0)), "2024-02-29T12:34:56Z"},
		{"local mean time", time.Date(1900, 1, 1, 12, 0, 0, 0, zone(1172)), "1900-01-01T11:59:28+00:19"},
		{"local mean time, west", time.Date(1900, 1, 1, 12, 0, 0, 0, zone(-1172)), "1900-01-01T12:00:32-00:19"},
		{"less than a minute", time.Date(1900, 1, 1, 12, 0, 0, 0, zone(-30)), "1900-01-01T12:00:30Z"},
		{"offset of a day", time.Date(2024, 2, 29, 12, 0, 0, 0, zone(86400)), "2024-02-28T12:00:00Z"},
		{"offset of a day, west", time.Date(2024, 2, 29, 12, 0, 0, 0, zone(-86400)), "2024-03-01T12:00:00Z"},
		{"zero", time.Time{}, ""},
		{"before year 1", time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC), ""},
		{"before year 1 in UTC", time.Date(1, 1, 1, 0, 30, 0, 0, zone(3600)), ""},
		{"before year 1 in its zone", time.Date(0, 12, 31, 23, 30, 0, 0, zone(-3600)), ""},
		{"after year 9999", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{"after year 9999 in UTC", time.Date(9999, 12, 31, 23, 30, 0, 0, zone(-3600)), ""},
		{"after year 9999 in its zone", time.Date(10000, 1, 1, 0, 30, 0, 0, zone(3600)), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := websync.NewDatetime(tt.in)
			assert.Equal(t, tt.want, d.String())
			if tt.want == "" {
				assert.True(t, d == websync.Datetime{})
				return
			}
			assert.True(t, d == parse(t, tt.want))
			assert.True(t, tt.in.Equal(d.Time()))
		})
	}
}

func TestDateOf(t *testing.T) {
	day := parse(t, "2024-02-29")
	assert.Equal(t, day, websync.DateOf(time.Date(2024, 2, 29, 12, 0, 0, 1, time.UTC)))
	assert.Equal(t, day, websync.DateOf(time.Date(2024, 2, 29, 0, 30, 0, 0, time.FixedZone("", 3600))))
	assert.Equal(t, day, websync.DateOf(time.Date(2024, 2, 29, 23, 30, 0, 0, time.FixedZone("", -3600))))
	assert.Zero(t, websync.DateOf(time.Time{}))
}

func TestDatetimeZero(t *testing.T) {
	var zero websync.Datetime
	some := parse(t, "0001")
	assert.True(t, zero.IsZero())
	assert.Equal(t, websync.PrecisionUnstated, zero.Precision())
	assert.Empty(t, zero.String())
	assert.True(t, zero.Time().IsZero())
	assert.True(t, zero.End().IsZero())
	assert.Zero(t, zero.UTC())
	assert.Zero(t, zero.WithPrecision(websync.PrecisionDay))
	assert.Zero(t, some.WithPrecision(websync.PrecisionUnstated))
	assert.Equal(t, 0, zero.Compare(zero))
	assert.Equal(t, -1, zero.Compare(some))
	assert.Equal(t, 1, some.Compare(zero))
	for _, pair := range [][2]websync.Datetime{{zero, zero}, {zero, some}, {some, zero}} {
		assert.False(t, pair[0].Before(pair[1]))
		assert.False(t, pair[0].After(pair[1]))
		assert.False(t, pair[0].Overlaps(pair[1]))
	}
}

func TestDatetimeSize(t *testing.T) {
	assert.EqualValues(t, 16, unsafe.Sizeof(websync.Datetime{}))
}

// ordered is in the order of Compare.
var ordered = []string{
	"",
	"0001", "0001-01-01T00:00:00Z",
	"1969-12-31T23:59:59.5Z",
	"1970", "1970-01", "1970-01-01", "1970-01-01T00:00Z", "1970-01-01T00:00:00Z",
	"2023-12-31T23:30Z",
	"2024", "2024-01", "2024-01-01",
	"2023-12-31T19:00-05:00", "2024-01-01T00:00Z", "2024-01-01T00:00+00:00", "2024-01-01T00:00-00:00",
	"2024-01-01T01:00+01:00",
	"2024-01-01T00:00:00Z", "2024-01-01T00:00:00.0Z", "2024-01-01T00:00:00.00Z",
	"2024-01-01T00:00:00.000000001Z",
	"2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.50Z",
	"2024-01-01T00:00:01Z",
	"2024-01-01T00:00:00-08:00",
	"2024-01-02",
	"9999-12-31T23:59:59.999999999Z",
}

func TestDatetimeCompare(t *testing.T) {
	for i, a := range ordered {
		for j, b := range ordered {
			var x, y websync.Datetime
			require.NoError(t, x.UnmarshalText([]byte(a)))
			require.NoError(t, y.UnmarshalText([]byte(b)))
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			assert.Equal(t, want, x.Compare(y), "%s, %s", a, b)
			assert.Equal(t, want == 0, x == y, "%s, %s", a, b)
		}
	}
	leap, after := parse(t, "2016-12-31T23:59:60Z"), parse(t, "2017-01-01T00:00:00Z")
	assert.NotEqual(t, 0, leap.Compare(after))
	assert.True(t, leap.Time().Equal(after.Time()))
}

func TestDatetimeOverlaps(t *testing.T) {
	tests := []struct{ a, b, relation string }{
		{"2024", "2024-02-29T12:00:00Z", "overlaps"},
		{"2024", "2025", "before"},
		{"2024", "2025-01-01T00:00:00+01:00", "overlaps"},
		{"2024", "2025-01-01T00:00:00Z", "before"},
		{"2024-02-29", "2024-02-29", "overlaps"},
		{"2024-02-29", "2024-02", "overlaps"},
		{"2024-02-29", "2024-03", "before"},
		{"2024-02-28", "2024-02-29T00:00:00Z", "before"},
		{"2024-02-29", "2024-02-29T23:59:59.999999999Z", "overlaps"},
		{"2024-02-29", "2024-03-01T00:59:59+01:00", "overlaps"},
		{"2024-02-29T12:00Z", "2024-02-29T12:00:59Z", "overlaps"},
		{"2024-02-29T12:00Z", "2024-02-29T12:01:00Z", "before"},
		{"2024-02-29T12:00:00Z", "2024-02-29T12:00:00.999Z", "overlaps"},
		{"2024-02-29T12:00:00Z", "2024-02-29T13:00:00+01:00", "overlaps"},
		{"2024-02-29T12:00:00+01:00", "2024-02-29T12:00:00Z", "before"},
		{"2024-02-29T12:00:00.1Z", "2024-02-29T12:00:00.19Z", "overlaps"},
		{"2024-02-29T12:00:00.1Z", "2024-02-29T12:00:00.2Z", "before"},
		{"2024-02-29T12:00:00.123456789Z", "2024-02-29T12:00:00.123456789Z", "overlaps"},
		{"2024-02-29T12:00:00.123456788Z", "2024-02-29T12:00:00.123456789Z", "before"},
		{"9999", "9999-12-31T23:59:59.999999999Z", "overlaps"},
		{"2024-02-29T12:00:00.000000000Z", "2024-02-29T13:00:00.900000000+01:00", "before"},
		{"2024-02-29T12:00:00.000000000Z", "2024-02-29T13:00:00.000000000+01:00", "overlaps"},
	}
	for _, tt := range tests {
		t.Run(tt.a+" "+tt.relation+" "+tt.b, func(t *testing.T) {
			a, b := parse(t, tt.a), parse(t, tt.b)
			assert.Equal(t, tt.relation == "overlaps", a.Overlaps(b))
			assert.Equal(t, tt.relation == "overlaps", b.Overlaps(a))
			assert.Equal(t, tt.relation == "before", a.Before(b))
			assert.Equal(t, tt.relation == "before", b.After(a))
			assert.False(t, a.After(b))
			assert.False(t, b.Before(a))
		})
	}
}

func TestDatetimeUTC(t *testing.T) {
	tests := []struct{ in, want string }{
		{"2024-02", "2024-02"},
		{"2024-01-01T00:30+01:00", "2023-12-31T23:30Z"},
		{"2024-01-01T00:30:00.10-05:30", "2024-01-01T06:00:00.10Z"},
		{"2024-01-01T00:30:00-00:00", "2024-01-01T00:30:00Z"},
		{"1990-12-31T15:59:60-08:00", "1990-12-31T23:59:60Z"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			assert.Equal(t, parse(t, tt.want), parse(t, tt.in).UTC())
		})
	}
}

func TestDatetimeWithPrecision(t *testing.T) {
	tests := []struct {
		in        string
		precision websync.Precision
		want      string
	}{
		{"2024", websync.PrecisionMonth, "2024-01"},
		{"2024", websync.PrecisionDay, "2024-01-01"},
		{"2024-02", websync.PrecisionMinute, "2024-02-01T00:00Z"},
		{"2024-02-29", websync.PrecisionSecond, "2024-02-29T00:00:00Z"},
		{"2024-02-29", websync.PrecisionMillisecond, "2024-02-29T00:00:00.000Z"},
		{"2024-02-29", websync.PrecisionNanosecond + 1, "2024-02-29T00:00:00.000000000Z"},
		{"2024-02-29T12:34+01:00", websync.PrecisionSecond, "2024-02-29T12:34:00+01:00"},
		{"2024-02-29T00:34+01:00", websync.PrecisionDay, "2024-02-29"},
		{"2024-02-29T12:34:56.789Z", websync.PrecisionYear, "2024"},
		{"2024-02-29T12:34:56.789Z", websync.PrecisionMonth, "2024-02"},
		{"2024-02-29T12:34:56.789-00:00", websync.PrecisionMinute, "2024-02-29T12:34-00:00"},
		{"2024-02-29T12:34:56.789-03:30", websync.PrecisionSecond, "2024-02-29T12:34:56-03:30"},
		{"2024-02-29T12:34:56.789Z", websync.PrecisionSecond + 1, "2024-02-29T12:34:56.7Z"},
		{"2024-02-29T12:34:56.789Z", websync.PrecisionMillisecond, "2024-02-29T12:34:56.789Z"},
		{"2016-12-31T23:59:60.5Z", websync.PrecisionSecond, "2016-12-31T23:59:60Z"},
		{"2016-12-31T23:59:60.5Z", websync.PrecisionMinute, "2016-12-31T23:59Z"},
		{"0001-01-01T23:59:59-23:59", websync.PrecisionYear, "0001"},
		{"9999-12-31T23:59:59+23:59", websync.PrecisionDay, "9999-12-31"},
	}
	for _, tt := range tests {
		t.Run(tt.in+" to "+tt.precision.String(), func(t *testing.T) {
			d := parse(t, tt.in).WithPrecision(tt.precision)
			assert.Equal(t, tt.want, d.String())
			assert.True(t, d == parse(t, tt.want))
		})
	}
}

func TestDatetimeText(t *testing.T) {
	type record struct {
		A websync.Datetime
		B websync.Datetime `json:",omitzero"`
	}
	in := record{A: parse(t, "2024-02-29T12:34:56.70+01:00")}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	assert.Equal(t, `{"A":"2024-02-29T12:34:56.70+01:00"}`, string(text))

	var out record
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Equal(t, in, out)

	require.NoError(t, json.Unmarshal([]byte(`{"A":""}`), &out))
	assert.Zero(t, out)

	before := parse(t, "2024")
	d := before
	assert.EqualError(t, d.UnmarshalText([]byte("2024-02-29 12:34")), "not a W3C date")
	assert.Equal(t, before, d)

	appended, err := before.AppendText([]byte("in "))
	require.NoError(t, err)
	assert.Equal(t, "in 2024", string(appended))
}

func TestPrecisionString(t *testing.T) {
	assert.Equal(t, "unstated", websync.PrecisionUnstated.String())
	assert.Equal(t, "second", websync.PrecisionSecond.String())
	assert.Equal(t, "100 milliseconds", (websync.PrecisionSecond + 1).String())
	assert.Equal(t, "millisecond", websync.PrecisionMillisecond.String())
	assert.Equal(t, "microsecond", websync.PrecisionMicrosecond.String())
	assert.Equal(t, "nanosecond", websync.PrecisionNanosecond.String())
}

func FuzzDatetime(f *testing.F) {
	for _, s := range ordered {
		f.Add(s, "2016-12-31T23:59:60Z", "2024-01-01T00:30:00.5+01:00")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var ds []websync.Datetime
		for _, s := range []string{a, b, c} {
			if d, ok := checkText(t, s); ok {
				ds = append(ds, d)
			}
		}
		for _, d := range ds {
			for _, e := range ds {
				checkOrder(t, d, e)
			}
		}
		if len(ds) == 3 && ds[0].Compare(ds[1]) <= 0 && ds[1].Compare(ds[2]) <= 0 {
			assert.LessOrEqual(t, ds[0].Compare(ds[2]), 0, "%v", ds)
		}
	})
}

// checkText checks that a Datetime and its text hold the same.
func checkText(t *testing.T, s string) (websync.Datetime, bool) {
	d, err := websync.ParseDatetime(s)
	if err != nil {
		return d, false
	}
	again, err := websync.ParseDatetime(d.String())
	require.NoError(t, err)
	require.True(t, d == again, "%q: %v, %v", s, d, again)
	if d.Precision() < websync.PrecisionNanosecond || len(s) == len(d.String()) {
		require.Equal(t, strings.ToUpper(s), d.String())
	}
	require.True(t, d.Time().Before(d.End()), s)
	for _, same := range []websync.Datetime{
		d.UTC(), d.WithPrecision(websync.PrecisionNanosecond), websync.NewDatetime(d.Time()),
	} {
		require.True(t, d.Time().Equal(same.Time()), "%q: %v", s, same)
	}
	for p := d.Precision(); p <= websync.PrecisionNanosecond; p++ {
		finer := d.WithPrecision(p)
		require.Equal(t, p, finer.Precision())
		require.True(t, d.Time().Equal(finer.Time()), "%v, %v", d, finer)
		again, err := websync.ParseDatetime(finer.String())
		require.NoError(t, err)
		require.True(t, again == finer, "%v, %v", finer, again)
		require.True(t, finer.WithPrecision(d.Precision()) == d, "%v, %v", d, finer)
	}
	for p := websync.PrecisionYear; p <= d.Precision(); p++ {
		cut := d.WithPrecision(p)
		require.Equal(t, p, cut.Precision())
		require.True(t, strings.HasPrefix(d.String(), withoutZone(cut)), "%v, %v", d, cut)
	}
	return d, true
}

func withoutZone(d websync.Datetime) string {
	s := d.String()
	if d.Precision() < websync.PrecisionMinute {
		return s
	}
	if utc, ok := strings.CutSuffix(s, "Z"); ok {
		return utc
	}
	return s[:len(s)-len("+07:00")]
}

func checkOrder(t *testing.T, d, e websync.Datetime) {
	require.Equal(t, d.Compare(e), -e.Compare(d), "%v, %v", d, e)
	require.Equal(t, d == e, d.Compare(e) == 0, "%v, %v", d, e)
	require.Equal(t, d == e, d.String() == e.String(), "%v, %v", d, e)
	holds := 0
	for _, relation := range []bool{d.Before(e), d.After(e), d.Overlaps(e)} {
		if relation {
			holds++
		}
	}
	require.Equal(t, 1, holds, "%v, %v", d, e)
	if d.Compare(e) <= 0 {
		require.False(t, d.Time().After(e.Time()), "%v, %v", d, e)
		require.False(t, d.After(e), "%v, %v", d, e)
	}
}

func FuzzDatetimeLenient(f *testing.F) {
	for _, s := range slices.Concat(ordered, []string{
		" 2020-03-18 1:20:10,5 +0100", "2020/3/18 +01", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"06 Nov 1994 08:49 PDT",
	}) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		strict, strictErr := websync.ParseDatetime(s)
		d, departure, err := websync.ParseDatetimeLenient(s)
		if err != nil {
			require.Error(t, strictErr)
			require.Zero(t, d)
			return
		}
		require.Equal(t, strictErr == nil, departure == "")
		if strictErr == nil {
			require.True(t, d == strict)
		}
		again, err := websync.ParseDatetime(d.String())
		require.NoError(t, err)
		require.True(t, d == again)
	})
}

func BenchmarkParseDatetime(b *testing.B) {
	for _, s := range []string{"2024-02-29", "2024-02-29T12:34:56Z", "2024-02-29T12:34:56.123456+01:00"} {
		b.Run(fmt.Sprintf("%s/websync", s), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := websync.ParseDatetime(s); err != nil {
					b.Fatal(err)
				}
			}
		})
		// the peer; it knows one of the forms
		b.Run(fmt.Sprintf("%s/time", s), func(b *testing.B) {
			layout := time.RFC3339
			if len(s) == len(time.DateOnly) {
				layout = time.DateOnly
			}
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := time.Parse(layout, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDatetimeAppendText(b *testing.B) {
	d := parse(b, "2024-02-29T12:34:56.123456+01:00")
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = d.AppendText(buf[:0])
	}
}

func TestEveryDay(t *testing.T) {
	step := 1
	if racing.Few() {
		step = 31
	}
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.AddDate(0, 0, step) {
		text := at.Format(time.DateOnly)
		d, err := websync.ParseDatetime(text)
		if err != nil || !d.Time().Equal(at) || d.String() != text {
			t.Fatalf("%v: %v, %v", at, d, err)
		}
	}
}

func TestDatetimeIsOver(t *testing.T) {
	for _, test := range []struct {
		d, now string
		want   bool
	}{
		{"2024-02-29", "2024-03-01T23:59:59Z", false},
		{"2024-02-29", "2024-03-02T00:00:00Z", true},
		{"2024-02", "2024-03-01T23:59:59Z", false},
		{"2024-02", "2024-03-02T00:00:00Z", true},
		{"2024-02-29T12:00Z", "2024-02-29T12:01:59Z", false},
		{"2024-02-29T12:00Z", "2024-02-29T12:02:00Z", true},
		{"2024-02-29T12:00:00+02:00", "2024-02-29T10:01:00Z", false},
		{"2024-02-29T12:00:00+02:00", "2024-02-29T10:01:01Z", true},
		{"", "2024-02-29T10:01:01Z", false},
	} {
		var d websync.Datetime
		if test.d != "" {
			d = parse(t, test.d)
		}
		assert.Equal(t, test.want, d.IsOver(parse(t, test.now).Time()), "%s at %s", test.d, test.now)
	}
	assert.False(t, parse(t, "2024").IsOver(time.Time{}))
}
