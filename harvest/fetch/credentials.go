package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/websync-go/websync"
)

// grants hold what signs the requests of an origin.
type grants struct {
	mu sync.RWMutex
	m  map[string]func(*http.Request) error
}

func (g *grants) of(origin string) func(*http.Request) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.m[origin]
}

// Authorize has sign add credentials to every request to origin, for example
// "https://example.org": to that scheme, name and port and no other, whatever redirects
// say. It is called for each request just before it is made, from several goroutines, and
// must not touch anything but the header. A nil sign takes the credentials away.
func (c *Client) Authorize(origin string, sign func(*http.Request) error) error {
	u, err := url.Parse(origin)
	if err != nil {
		return fmt.Errorf("fetch: origin: %w", errors.Unwrap(err))
	}
	if err := checkURL(u); err != nil {
		return fmt.Errorf("fetch: origin: %w", err)
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("fetch: origin: %s has a path: credentials are for all of a host", websync.RedactURL(origin))
	}
	c.grants.mu.Lock()
	defer c.grants.mu.Unlock()
	if c.grants.m == nil {
		c.grants.m = map[string]func(*http.Request) error{}
	}
	if sign == nil {
		delete(c.grants.m, originOf(u))
	} else {
		c.grants.m[originOf(u)] = sign
	}
	return nil
}

// Basic returns what [Client.Authorize] takes for a user name and a password.
func Basic(user, password string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.SetBasicAuth(user, password)
		return nil
	}
}

// Bearer returns what [Client.Authorize] takes for a token.
func Bearer(token string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}
