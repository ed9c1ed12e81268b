package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

// A call is one Fetch on its way: the request made ready, and what is left of its
// patience.
type call struct {
	c        *Client
	req      *harvest.Request
	url      *url.URL
	root     string // origin of the source's own URL
	robots   bool   // it asks for robots.txt, which robots.txt doesn't rule
	attempt  int    // from 1
	patience time.Duration
	since    time.Time     // it waits; zero: it doesn't
	spent    time.Duration // of Timeout, by the earlier exchanges of a transfer

	ifRange string // asks for the rest of a body, if that is what it was; see transfer
	from    int64
	whole   bool // there is no point in asking for the rest
}

func (c *Client) newCall(req *harvest.Request) (*call, error) {
	c.start()
	u, err := parseURL(req.URL)
	if err != nil {
		return nil, err
	}
	for name, values := range req.Header {
		if ownHeader(name) {
			return nil, refused(req.URL, "header %s is not the caller's to set", http.CanonicalHeaderKey(name))
		}
		if !sendable(name) || !sendable(values...) {
			return nil, refused(req.URL, "header %q has control characters", name)
		}
	}
	if !sendable(req.Accept, c.set.agent[0]) {
		return nil, refused(req.URL, "header has control characters")
	}
	k := &call{c: c, req: req, url: u, patience: c.set.maxWait}
	if root, err := url.Parse(req.Root); err == nil && req.Root != "" {
		k.root = originOf(root)
	}
	return k, nil
}

// run makes attempts until one succeeds, its failure is final, or patience ends.
func (k *call) run(ctx context.Context) (*harvest.Response, error) {
	if k.req.Spool {
		return k.repeat(ctx, spoolBody)
	}
	return k.repeat(ctx, func(*harvest.Response) error { return nil })
}

// repeat makes attempts, of which use is a part.
func (k *call) repeat(ctx context.Context, use func(*harvest.Response) error) (*harvest.Response, error) {
	var failed error
	for k.attempt = 1; ; {
		resp, err := k.try(ctx)
		if err == nil {
			err = use(resp)
		}
		if err == nil {
			return resp, nil
		}
		if failed != nil && errors.Is(err, harvest.ErrNotYet) {
			return nil, later(failed, err)
		}
		failed = err
		if err := k.again(ctx, failed); err != nil {
			return nil, err
		}
	}
}

// again waits for the next attempt after one that failed. If there is none, it returns
// why: err, or that the caller has ended it.
func (k *call) again(ctx context.Context, err error) error {
	if k.attempt >= k.c.set.attempts || !retried(err) {
		return err
	}
	wait := k.c.backoff(k.attempt)
	if at, ok := harvest.RetryAfter(err); ok {
		wait = max(wait, time.Until(at))
	}
	if wait > k.patience {
		return err
	}
	if err := k.sleep(ctx, originOf(k.url), wait); err != nil {
		return err
	}
	k.attempt++
	return nil
}

// try makes one attempt, redirects included.
func (k *call) try(ctx context.Context) (*harvest.Response, error) {
	k.spent = 0
	x, err := k.follow(ctx)
	if err != nil {
		return nil, err
	}
	return k.answer(x)
}

// spoolBody reads the body to its end.
func spoolBody(resp *harvest.Response) error {
	if resp.NotModified {
		return nil
	}
	defer resp.Body.Close()
	s, err := spool.Read(resp.Body, 0)
	if err != nil {
		if _, ok := errors.AsType[*RequestError](err); !ok { // no room for it
			err = &RequestError{URL: websync.RedactURL(resp.URL), Err: err}
		}
		return err
	}
	resp.Body, resp.Length = s, s.Size()
	return nil
}

// answer turns the last exchange of an attempt into a Response or an error.
func (k *call) answer(x *exchange) (*harvest.Response, error) {
	h := x.resp.Header
	resp := &harvest.Response{URL: x.url.String(), Status: x.resp.StatusCode, Header: h, Length: -1}
	switch x.resp.StatusCode {
	case http.StatusNotModified:
		x.end(nil)
		if !x.conditional {
			return nil, &RequestError{URL: x.name(), Kind: harvest.ErrTemporary, Err: errUnasked}
		}
		resp.NotModified, resp.Length = true, 0
		// Another ETag is that of another representation, whose bytes nobody has (RFC
		// 9111 §4.3.4).
		resp.Validator = k.req.Validator
		resp.Validator.URL = k.req.URL
		return resp, nil
	case http.StatusOK, http.StatusNonAuthoritativeInfo:
		if resp.MayBeCut = x.closeDelimited(); !resp.MayBeCut {
			resp.Validator = validator(k.req.URL, h)
		}
		b, err := newBody(x, k)
		if err != nil {
			x.end(err)
			return nil, err
		}
		resp.Body, resp.Length = b, b.length
		return resp, nil
	}
	err := &StatusError{URL: x.name(), Code: x.resp.StatusCode, RetryAt: x.retryAt}
	x.discard()
	return nil, err
}

// send makes one request for u. It has passed all that may forbid it, and it counts
// against the limits of its host until the exchange ends.
func (k *call) send(ctx context.Context, u *url.URL) (*exchange, error) {
	if err := k.check(u); err != nil {
		return nil, err
	}
	h := k.c.hosts.use(ctx, k.c, originOf(u))
	if !k.robots && !k.c.IgnoreRobots {
		if err := k.permitted(ctx, h, u); err != nil {
			k.c.hosts.leave(h)
			return nil, err
		}
	}
	if err := h.enter(ctx, k); err != nil {
		k.c.hosts.leave(h)
		return nil, err
	}
	return k.exchange(ctx, h, u)
}

// check refuses URLs that no request is made for.
func (k *call) check(u *url.URL) error {
	if err := checkURL(u); err != nil {
		return refused(u.String(), "%w", err)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !k.private(originOf(u)) {
		if err := new(Guard).Check(addr); err != nil {
			return &RequestError{URL: websync.RedactURL(u.String()), Kind: harvest.ErrForbidden, Err: err}
		}
	}
	return nil
}

// private reports whether the host at origin may have an address that is not public.
func (k *call) private(origin string) bool { return k.c.AllowPrivate || origin == k.root }

// request returns the HTTP request for u and whether it is conditional.
func (k *call) request(ctx context.Context, u *url.URL) (r *http.Request, conditional bool, err error) {
	h := make(http.Header, len(k.req.Header)+8)
	for name, values := range k.req.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	h["User-Agent"] = k.c.set.agent
	if k.c.set.from != nil {
		h["From"] = k.c.set.from
	}
	if k.req.Accept != "" {
		h["Accept"] = []string{k.req.Accept}
	}
	if _, ok := h["Accept-Encoding"]; !ok {
		h["Accept-Encoding"] = acceptGzip
		if k.req.Identity {
			h["Accept-Encoding"] = acceptIdentity
		}
	}
	if k.ifRange != "" {
		h["Range"] = []string{"bytes=" + strconv.FormatInt(k.from, 10) + "-"}
		h["If-Range"] = []string{k.ifRange}
	} else {
		conditional = k.condition(h, u)
	}
	r = (&http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if sign := k.c.grants.of(originOf(u)); sign != nil {
		if err := sign(r); err != nil {
			return nil, false, refused(u.String(), "credentials: %w", err)
		}
	}
	return r, conditional, nil
}

var (
	acceptGzip     = []string{"gzip"}
	acceptIdentity = []string{"identity"}
)

// condition adds the Request's Validator to the header. An ETag names one representation;
// a date does not, and so it is used only where the redirects lead to the same path:
// another document that is older would pass for unchanged.
func (k *call) condition(h http.Header, u *url.URL) bool {
	v := k.req.Validator
	if v.IsZero() || v.URL != "" && v.URL != k.req.URL || !sendable(v.ETag, v.LastModified) {
		return false
	}
	if v.ETag != "" {
		h["If-None-Match"] = []string{v.ETag}
	}
	same := u == k.url || u.Path == k.url.Path && u.RawQuery == k.url.RawQuery
	if v.LastModified != "" && same {
		h["If-Modified-Since"] = []string{v.LastModified}
	}
	return v.ETag != "" || same
}

// validator returns what the header of an answer says about the representation.
func validator(url string, h http.Header) harvest.Validator {
	const long = 1024 // they are stored by the million
	v := harvest.Validator{URL: url, ETag: strings.TrimSpace(h.Get("ETag")), LastModified: h.Get("Last-Modified")}
	if len(v.ETag) > long || !sendable(v.ETag) {
		v.ETag = ""
	}
	modified, err := http.ParseTime(v.LastModified)
	if err != nil || len(v.LastModified) > long || !isPast(modified, h.Get("Date")) {
		v.LastModified = ""
	}
	return v
}

// isPast reports whether a Last-Modified lies in an earlier second than its answer.
// Within the same second the representation could have changed again, and would pass for
// unchanged ever after (RFC 9110 §8.8.2.2).
func isPast(modified time.Time, date string) bool {
	answered, err := http.ParseTime(date)
	return err != nil || modified.Before(answered)
}

// sendable reports whether values may stand in a header.
func sendable(values ...string) bool {
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
	}
	return true
}

// ownHeader reports whether a header is the Client's own: credentials, which are bound to
// origins, and what decides how the answer is read.
func ownHeader(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "cookie", "proxy-authorization", // Client.Authorize
		"user-agent", "from", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
		"if-unmodified-since", "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
		"transfer-encoding", "upgrade":
		return true
	}
	return false
}

// parseURL returns a URL as it is sent: without fragment and with escapes where the query
// needs them.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		// url.Error shows the URL as it is
		return nil, &RequestError{URL: websync.RedactURL(raw), Err: errors.Unwrap(err)}
	}
	if err := checkURL(u); err != nil {
		return nil, refused(raw, "%w", err)
	}
	return tidy(u), nil
}

// tidy makes u fit for a request line.
func tidy(u *url.URL) *url.URL {
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = escapeQuery(u.RawQuery)
	return u
}

// escapeQuery escapes what net/url leaves as it is in a query: white space, controls,
// quotes and raw UTF-8.
func escapeQuery(q string) string {
	return syntax.Escape(q, func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' })
}

// maxURL is how long a URL may be, in bytes: twice what RFC 9110 §4.1 wants everybody to
// understand.
const maxURL = 16_000

func urlLen(u *url.URL) int { return len(u.Host) + len(u.EscapedPath()) + len(u.RawQuery) }

// maxHost is how long a host's name may be, in bytes. RFC 1035 §2.3.4 allows 255; other
// alphabets take more in a URL.
const maxHost = 1000

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q: only http and https are fetched", u.Scheme)
	case u.Hostname() == "":
		return errors.New("URL without a host")
	case urlLen(u) > maxURL:
		return fmt.Errorf("URL of %d bytes: at most %d are asked for", urlLen(u), maxURL)
	case len(u.Host) > maxHost:
		return fmt.Errorf("host name of %d bytes: at most %d are used", len(u.Host), maxHost)
	case u.User != nil:
		return errors.New("credentials in the URL: give them to the Client for their origin")
	}
	return nil
}

// originOf returns scheme, name and port, the port only if it is not the scheme's own.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}
