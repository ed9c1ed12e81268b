package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"slices"

	"github.com/websync-go/websync"
)

// errRedirect: the redirects of an answer cannot be followed. The error is final.
var errRedirect = errors.New("redirect")

// follow sends the request and follows redirects to an answer that is none. Whether a hop
// may lead to another host or scheme is checked as for a first request, by allowed.
// Redirects in a circle may set a cookie without which there is no answer: then they are
// followed once more, with it.
func (k *call) follow(ctx context.Context) (*exchange, error) {
	u := k.url
	var seen []string
	cookies := k.cookies // that were set
	signed := false      // a hop had credentials and was encrypted
	for hops := 0; ; hops++ {
		x, err := k.send(ctx, u)
		if err != nil {
			if hops > 0 {
				err = redirected(err, k.url.String())
			}
			return nil, err
		}
		location := x.location()
		if location == "" {
			return x, nil
		}
		x.discard()
		cookies = x.addCookies(cookies)
		if hops == k.redirects {
			return nil, x.badRedirect("more than %d", hops)
		}
		next, err := u.Parse(location)
		if err != nil {
			return nil, x.badRedirect("to a malformed URL")
		}
		signed = signed || u.Scheme == "https" && k.c.signer(originOf(u)) != nil
		if signed && next.Scheme == "http" {
			return nil, refused(next.String(), "%w from https with credentials to http", errRedirect)
		}
		normalize(next)
		seen = append(seen, u.String())
		switch circle := slices.Contains(seen, next.String()); {
		case circle && k.cookies == nil && cookies != nil:
			k.cookies, seen = cookies, nil
		case circle:
			return nil, x.badRedirect("in a circle, to %s", websync.RedactURL(next.String()))
		}
		u = next
	}
}

// addCookies adds those that an answer sets to a jar, which is nil as long as there are
// none.
func (x *exchange) addCookies(jar http.CookieJar) http.CookieJar {
	if set := x.resp.Cookies(); len(set) > 0 {
		if jar == nil {
			jar, _ = cookiejar.New(nil) // which never fails
		}
		jar.SetCookies(x.url, set)
	}
	return jar
}

// redirected adds to an error where the redirects began: nothing else may name that URL.
func redirected(err error, from string) error {
	var e *RequestError
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Err = fmt.Errorf("%w (redirected from %s)", e.Err, websync.RedactURL(from))
	return &c
}

// location returns the target of a redirect, or an empty string if the answer is none.
func (x *exchange) location() string {
	switch x.resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return x.resp.Header.Get("Location")
	}
	return ""
}

func (x *exchange) badRedirect(format string, args ...any) error {
	return &RequestError{URL: x.name(), Err: fmt.Errorf("%w %s", errRedirect, fmt.Sprintf(format, args...))}
}
