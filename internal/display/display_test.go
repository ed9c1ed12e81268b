package display

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 123456: "123,456", 1234567: "1,234,567",
		-1: "-1", -123: "-123", -1234: "-1,234", -123456: "-123,456", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		assert.Equal(t, want, Number(n))
	}
	assert.Equal(t, "1 entry", Plural(1, "entry", "entries"))
	assert.Equal(t, "0 entries", Plural(0, "entry", "entries"))
	assert.Equal(t, "2,000 entries", Plural(2000, "entry", "entries"))
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 999_499: "999 kB", 999_999: "1 MB", 1 << 40: "1.1 TB",
		math.MaxInt64: "9.22 EB",
	} {
		assert.Equal(t, want, Bytes(n))
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 1: "0.001 µs", 1500: "1.5 µs", 999: "0.999 µs", 999_400: "999 µs", 999_700: "1 ms",
		12_345_678: "12.3 ms", 999_499_999: "999 ms", 999_700_000: "1 s", time.Second: "1 s", 1234 * time.Millisecond: "1.23 s",
		59_400 * time.Millisecond: "59.4 s", 59_700 * time.Millisecond: "1 min", 90 * time.Second: "1 min 30 s", time.Hour - time.Second: "1 h",
		time.Hour - 10*time.Millisecond: "1 h", 200 * time.Minute: "3 h 20 min", 24*time.Hour - time.Second: "1 d", 281 * time.Hour: "11 d 17 h",
		math.MaxInt64: "106751 d 23 h",
	} {
		assert.Equal(t, want, Duration(d))
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode \U0001f600":                     "plain, ünïcode \U0001f600",
		"a\x1b[2J\x00b\u202egpj\u2066\u200f\u2028c\xff": "a\ufffd[2J\ufffdb\ufffdgpj\ufffd\ufffd c\ufffd",
		"a\nb\tc\r\nd": "a b c  d",
		"fetch: https://me:hunter2@x.example/a?token=hunter2&b=1: 503":   "fetch: https://x.example/a?token=xxxxx&b=1: 503",
		`"https://x.example/?key=hunter2" (http://me:hunter2@y.example)`: `"https://x.example/?key=xxxxx" (http://y.example)`,
		"<a href=https://x.example/#token=hunter2>":                      "<a href=https://x.example/#token=xxxxx>",
		"/a?sig=hunter2 //me:hunter2@x.example/":                         "/a?sig=xxxxx //x.example/",
		"a  b ":                                                          "a  b ",
		"":                                                               "",
	} {
		assert.Equal(t, want, Shown(text))
	}
	assert.Equal(t, strings.Repeat("ü", 400)+"…", Shown(strings.Repeat("ü", 401)))
}
