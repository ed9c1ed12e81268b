package outgoing

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		value, date string
		want        time.Duration
		none        bool
	}{
		{value: "120", want: 2 * time.Minute},
		{value: " 0 ", want: 0},
		{value: "1.5", want: 1500 * time.Millisecond},
		{value: "99999999999999999999999999", want: 24 * time.Hour},
		{value: "86401", want: 24 * time.Hour},
		{value: "Sun, 01 Mar 2026 12:01:00 GMT", want: time.Minute},
		{value: "Sun, 01 Mar 2026 10:01:00 GMT", date: "Sun, 01 Mar 2026 10:00:00 GMT", want: time.Minute},
		{value: "Sunday, 01-Mar-26 12:01:00 GMT", want: time.Minute},
		{value: "Sun Mar  1 12:01:00 2026", want: time.Minute},
		{value: "Sun, 01 Mar 2026 12:01:00 GMT", date: "nonsense", want: time.Minute},
		{value: "Sun, 01 Mar 2026 11:00:00 GMT", want: 0},
		{value: "Fri, 31 Dec 9999 23:59:59 GMT", want: 24 * time.Hour},
		{value: "", none: true},
		{value: "-5", none: true},
		{value: "1e9", none: true},
		{value: "0x10", none: true},
		{value: "Inf", none: true},
		{value: ".", none: true},
		{value: "tomorrow", none: true},
	} {
		wait, ok := RetryAfter(http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}, now, 24*time.Hour)
		assert.Equal(t, !tt.none, ok, tt.value)
		assert.Equal(t, tt.want, wait, tt.value)
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Sun, 01 Mar 2026 12:01:00 GMT", "Sun, 01 Mar 2026 12:00:00 GMT")
	f.Add("99999999999999999999", "x")
	f.Add("0.0000001", "")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, date string) {
		wait, ok := RetryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, now, time.Hour)
		if wait < 0 || wait > time.Hour || !ok && wait != 0 {
			t.Errorf("%q, %q: %s, %v", value, date, wait, ok)
		}
	})
}

func TestBackoff(t *testing.T) {
	for attempts, longest := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 7: time.Minute, 1 << 40: time.Minute,
	} {
		for range 100 {
			d := Backoff(attempts, time.Second, time.Minute)
			require.Greater(t, d, longest/2-1)
			require.LessOrEqual(t, d, longest)
		}
	}
}
