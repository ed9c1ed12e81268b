package outgoing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// NewClient returns a client that posts: a copy of own or, if own is nil, a client
// in which a request may take 30 seconds and whose connections are those of t. Unless own
// has a CheckRedirect, the client follows at most three redirects, and only those that
// keep the method and that follow allows, from the URL of the first request to the next.
func NewClient(own *http.Client, t *http.Transport, follow func(from, to *url.URL) bool) *http.Client {
	client := http.Client{Timeout: 30 * time.Second}
	if own != nil {
		client = *own
	} else {
		t.ForceAttemptHTTP2, t.MaxResponseHeaderBytes = true, 64<<10
		t.TLSHandshakeTimeout, t.IdleConnTimeout = 10*time.Second, 10*time.Second
		client.Transport = t
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if first := via[0]; len(via) > 3 || r.Method != first.Method || !follow(first.URL, r.URL) {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	return &client
}

// A StatusError is an answer that is not a success.
type StatusError struct {
	Code       int
	Reason     string        // the first 200 bytes of the body
	RetryAfter time.Duration // at most a day; 0 if the answer states no wait
}

// Error returns, for example, `status 500: "out of order"`.
func (e *StatusError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("status %d", e.Code)
	}
	return fmt.Sprintf("status %d: %q", e.Code, e.Reason)
}

// Form is the media type of a form.
const Form = "application/x-www-form-urlencoded"

// Post sends a content once, with its media type and links (RFC 8288). It returns a
// *StatusError for an answer other than 2xx. Its errors do not contain the URL, which may
// hold a secret.
func Post(ctx context.Context, client *http.Client, to, mediaType, content string, links ...string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(content))
	if err != nil {
		return errors.New("not a URL to post to")
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("User-Agent", UserAgent)
	for _, link := range links {
		req.Header.Add("Link", link)
	}
	resp, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return err
	}
	defer resp.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode/100 == 2 {
		return nil
	}
	wait, _ := RetryAfter(resp.Header, time.Now(), 24*time.Hour)
	return &StatusError{Code: resp.StatusCode, Reason: string(reason), RetryAfter: wait}
}
