package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

type signer = func(*http.Request) error

// signer returns the function that adds credentials to requests to origin, or nil.
func (c *Client) signer(origin string) signer {
	sign, _ := c.signers.Load(origin)
	f, _ := sign.(signer)
	return f
}

// Authorize makes sign add credentials to every request to origin, for example
// "https://example.org": to that scheme, name and port, and to no other after a redirect,
// but see [Client] Entrust.
// The Client calls sign for each request just before it is sent, from several goroutines;
// sign must change nothing but the header. If sign is nil, requests to origin have no
// credentials any more.
func (c *Client) Authorize(origin string, sign func(*http.Request) error) error {
	u, err := url.Parse(origin)
	if err != nil {
		return fmt.Errorf("fetch: origin: %w", errors.Unwrap(err))
	}
	if err := checkURL(u); err != nil {
		return fmt.Errorf("fetch: origin: %w", err)
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("fetch: origin %q must have no path and no query", websync.RedactURL(origin))
	}
	if sign == nil {
		c.signers.Delete(originOf(u))
	} else {
		c.signers.Store(originOf(u), sign)
	}
	return nil
}

// Header returns a function for [Client.Authorize] that sets a header, such as one with a
// key. It refuses a malformed one, and those that the Client sets itself, credentials
// apart. No error has the value.
func Header(name, value string) (func(*http.Request) error, error) {
	own := slices.Index(ownHeaders, strings.ToLower(name)) >= 3 || strings.EqualFold(name, "Accept-Encoding")
	token := func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }
	switch {
	case name == "" || strings.ContainsFunc(name, token):
		return nil, fmt.Errorf("fetch: %q is not the name of a header", name)
	case own:
		return nil, fmt.Errorf("fetch: header %s is set by the Client", http.CanonicalHeaderKey(name))
	case !sendable(value):
		return nil, fmt.Errorf("fetch: header %s: the value has control characters", name)
	}
	return func(r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}, nil
}

// Basic returns a function for [Client.Authorize] that adds a user name and a password
// (RFC 7617).
func Basic(user, password string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.SetBasicAuth(user, password)
		return nil
	}
}

// Bearer returns a function for [Client.Authorize] that adds a token (RFC 6750).
func Bearer(token string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}
