package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/websync-go/websync"
)

// errRedirect: the redirects of an answer lead nowhere. The error is final.
var errRedirect = errors.New("redirect")

// follow sends the request and follows redirects until an answer is none. Each hop passes
// everything that a first request does.
func (k *call) follow(ctx context.Context) (*exchange, error) {
	u := k.url
	var seen []string
	signed := false // a hop had credentials and could not be overheard
	for hops := 0; ; hops++ {
		x, err := k.send(ctx, u)
		if err != nil {
			return nil, err
		}
		location := x.location()
		if location == "" {
			return x, nil
		}
		x.discard()
		if hops == k.redirects() {
			return nil, x.badRedirect("more than %d", hops)
		}
		next, err := u.Parse(location)
		if err != nil {
			return nil, x.badRedirect("to a malformed URL")
		}
		signed = signed || u.Scheme == "https" && k.c.grants.of(originOf(u)) != nil
		if signed && next.Scheme == "http" {
			return nil, refused(next.String(), "%w from https with credentials to http", errRedirect)
		}
		tidy(next)
		if seen = append(seen, u.String()); slices.Contains(seen, next.String()) {
			return nil, x.badRedirect("in a circle, to %s", websync.RedactURL(next.String()))
		}
		u = next
	}
}

func (k *call) redirects() int {
	if k.robots {
		return 5 // RFC 9309 §2.3.1.2
	}
	return k.c.set.redirects
}

// location returns the target of a redirect, or an empty string if the answer is none.
func (x *exchange) location() string {
	switch x.resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return x.resp.Header.Get("Location")
	}
	return ""
}

func (x *exchange) badRedirect(format string, args ...any) error {
	return &RequestError{URL: x.name(), Err: fmt.Errorf("%w %s", errRedirect, fmt.Sprintf(format, args...))}
}
