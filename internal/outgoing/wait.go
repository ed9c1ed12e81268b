package outgoing

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Backoff returns how long to wait after the given number of failed attempts: first,
// twice as long, four times as long and so on, at most longest, less a random part of up
// to a half.
func Backoff(attempts int, first, longest time.Duration) time.Duration {
	wait := first
	for ; attempts > 1 && wait < longest; attempts-- {
		wait *= 2
	}
	wait = min(wait, longest)
	return wait - rand.N(wait/2)
}

// RetryAfter returns the wait that a Retry-After header states (RFC 9110 §10.2.3), and
// whether there is one: a number of seconds, or the time from the Date of the answer to
// the date in the header. An answer without a Date was sent now. The wait is at least 0
// and at most longest.
func RetryAfter(h http.Header, now time.Time, longest time.Duration) (wait time.Duration, ok bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	wait, ok = Seconds(text)
	if !ok {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0, false
		}
		sent, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			sent = now
		}
		wait = at.Sub(sent)
	}
	return min(max(wait, 0), longest), true
}

// Seconds parses a number of seconds, at most 100 years. It accepts a fraction, which the
// specifications of Retry-After and Crawl-delay do not know.
func Seconds(text string) (d time.Duration, ok bool) {
	const most = float64(100 * 365 * 24 * time.Hour / time.Second)
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return time.Duration(min(n, most) * float64(time.Second)), true
}
