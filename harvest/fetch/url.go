package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	// maxURL limits the length of a URL, in bytes. RFC 9110 §4.1 recommends to support
	// half of it.
	maxURL = 16_000
	// maxHost limits the length of a host, in bytes. RFC 1035 §2.3.4 allows 255; names in
	// other alphabets take more in a URL.
	maxHost = 1000
)

// parseURL returns a URL as it is sent: without a fragment, and with escapes where the
// query needs them.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		// Without the url.Error, which contains the URL.
		return nil, &RequestError{URL: websync.RedactURL(raw), Err: errors.Unwrap(err)}
	}
	if err := checkURL(u); err != nil {
		return nil, refused(raw, "%w", err)
	}
	return normalize(u), nil
}

// normalize removes the fragment of u, and escapes what net/url leaves as it is in a
// query: white space, control characters, quotes and raw UTF-8.
func normalize(u *url.URL) *url.URL {
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = syntax.Escape(u.RawQuery, func(c byte) bool {
		return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>'
	})
	return u
}

func checkURL(u *url.URL) error {
	size := len(u.Host) + len(u.EscapedPath()) + len(u.RawQuery)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q must be http or https", u.Scheme)
	case u.Hostname() == "":
		return errors.New("URL without a host")
	case size > maxURL:
		return fmt.Errorf("URL of %d bytes is longer than %d", size, maxURL)
	case len(u.Host) > maxHost:
		return fmt.Errorf("host of %d bytes is longer than %d", len(u.Host), maxHost)
	case u.User != nil:
		return errors.New("URL with credentials: use Client.Authorize")
	}
	return nil
}

// originOf returns scheme, name and port, the port only if it is not that of the scheme.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}
