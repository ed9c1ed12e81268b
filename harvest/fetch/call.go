package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
)

// A call is one Fetch. It makes attempts (repeat), each of which follows redirects
// (redirect.go). Every request passes allowed, robots.txt (robotspermission.go) and the
// gate of its host (host.go), and is an exchange (exchange.go). The body of the answer is
// decoded and limited by a body (body.go), which reads a transfer (transfer.go). Where
// that breaks off, it resumes with another exchange of the same call.
type call struct {
	c         *Client
	req       *harvest.Request
	url       *url.URL
	root      string         // origin of Request.Root
	robots    bool           // it requests a robots.txt, which no robots.txt forbids
	attempt   int            // from 1
	redirects int            // that an attempt may follow
	patience  time.Duration  // how long it may still wait
	since     time.Time      // it has been waiting; zero: it does not wait
	spent     time.Duration  // of Timeout, by the earlier exchanges of the transfer
	last      *host          // that answered last
	cookies   http.CookieJar // that redirects in a circle have set; may be nil
	probe     bool           // no other request may be sent to the host until the answer comes
	plain     bool           // no request has a condition: a 304 was for something else

	// What a transfer sets to request the rest of a body.
	ifRange string // empty: the whole body is requested
	from    int64
	whole   bool // the server has no ranges
}

func (c *Client) newCall(req *harvest.Request) (*call, error) {
	c.start()
	u, err := parseURL(req.URL)
	if err != nil {
		return nil, err
	}
	for name, values := range req.Header {
		if slices.Contains(ownHeaders, strings.ToLower(name)) {
			return nil, refused(req.URL, "Request.Header %s is set by the Client", http.CanonicalHeaderKey(name))
		}
		if !sendable(name) || !sendable(values...) {
			return nil, refused(req.URL, "Request.Header %q has control characters", name)
		}
	}
	if !sendable(req.Accept, c.set.agent[0]) {
		return nil, refused(req.URL, "Request.Accept or Client.UserAgent has control characters")
	}
	return &call{
		c: c, req: req, url: u, root: c.rootOrigin(req.Root),
		redirects: limit(c.MaxRedirects, 10, 0),
		patience:  limit(c.MaxWait, 5*time.Minute, forever),
	}, nil
}

// A root is a Request.Root and its origin.
type root struct{ url, origin string }

// rootOrigin returns the origin of a Request.Root; it is empty if that is no URL. Most
// requests have the Root of the one before.
func (c *Client) rootOrigin(text string) string {
	last := c.root.Load()
	if last == nil || last.url != text {
		last = &root{url: text}
		if u, err := url.Parse(text); err == nil && text != "" {
			last.origin = originOf(u)
		}
		c.root.Store(last)
	}
	return last.origin
}

// name returns the URL without secrets.
func (k *call) name() string { return websync.RedactURL(k.url.String()) }

// repeat makes attempts until one succeeds, its failure is final, or patience ends. The
// function use is a part of each.
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

// again waits for the next attempt after one that failed with err. It returns err if
// there is no other attempt, or the error of a wait that was cancelled.
func (k *call) again(ctx context.Context, err error) error {
	if k.attempt >= limit(k.c.Attempts, 4, 1) || !retried(err) {
		return err
	}
	wait := k.c.backoff(k.attempt)
	if at, ok := harvest.RetryAfter(err); ok {
		wait = max(wait, time.Until(at))
	}
	if wait > k.patience {
		return err
	}
	var alarm <-chan struct{}
	if k.last != nil {
		alarm = k.last.watch()
		if err := k.last.alone(k); err != nil {
			return err
		}
	}
	if err := k.sleep(ctx, originOf(k.url), wait, alarm); err != nil {
		return err
	}
	k.attempt++
	return nil
}

// try makes one attempt, redirects included.
func (k *call) try(ctx context.Context) (*harvest.Response, error) {
	k.spent = 0
	x, err := k.follow(ctx)
	if err == nil && x.isAnother(k.req.Validator) {
		x.end(nil)
		k.plain = true
		x, err = k.follow(ctx)
	}
	if err != nil {
		return nil, err
	}
	return k.answer(x)
}

// spool replaces the body by a spool of all its bytes, if the Request wants that.
func (k *call) spool(resp *harvest.Response) error {
	if !k.req.Spool || resp.NotModified {
		return nil
	}
	defer resp.Body.Close()
	s, err := spool.Read(resp.Body, 0)
	if err != nil {
		if _, ok := errors.AsType[*RequestError](err); !ok { // of the file
			err = &RequestError{URL: websync.RedactURL(resp.URL), Err: err}
		}
		return err
	}
	resp.Body, resp.Length = s, s.Size()
	return nil
}

// answer returns the last exchange of an attempt as a Response or an error.
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
		// An ETag in the answer may belong to another representation, whose bytes the
		// caller does not have (RFC 9111 §4.3.4).
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
	err := x.statusError()
	x.discard()
	return nil, err
}

// send makes one request for u, if nothing forbids it. The request counts against the
// limits of its host until the exchange ends.
func (k *call) send(ctx context.Context, u *url.URL) (*exchange, error) {
	origin := originOf(u)
	if err := k.allowed(u, origin); err != nil {
		return nil, err
	}
	h := k.c.host(ctx, origin, k.root)
	err := h.alone(k)
	if err == nil {
		h.requireInterval(k.req.Interval)
		err = k.permitted(ctx, h, u)
	}
	if err == nil {
		err = h.enter(ctx, k)
	}
	if err != nil {
		k.c.hosts.leave(h)
		return nil, err
	}
	return k.exchange(ctx, h, u)
}

// allowed returns an error if no request may be made for u, which is at origin.
func (k *call) allowed(u *url.URL, origin string) error {
	if err := checkURL(u); err != nil {
		return refused(u.String(), "%w", err)
	}
	if root, err := url.Parse(k.root); k.req.SameHost && (err != nil || !strings.EqualFold(u.Hostname(), root.Hostname())) {
		return refused(u.String(), "not on the host of the source, which Request.SameHost demands")
	}
	if k.c.AllowPrivate || origin == k.root {
		return nil
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := new(Guard).Check(addr); err != nil {
			return &RequestError{URL: websync.RedactURL(u.String()), Kind: harvest.ErrForbidden, Err: err}
		}
	}
	return nil
}

// request returns the HTTP request for u, with the credentials for its origin, and
// whether it is conditional.
func (k *call) request(ctx context.Context, origin string, u *url.URL) (r *http.Request, conditional bool, err error) {
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
	if k.cookies != nil {
		for _, c := range k.cookies.Cookies(u) {
			r.AddCookie(c)
		}
	}
	if sign := k.c.signer(origin); sign != nil && (origin == k.root || k.c.Entrust == nil || k.c.Entrust(k.root, origin)) {
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

// ownHeaders are those that the Client alone sets: three for credentials, which are sent
// to one origin only, and what decides how the answer is read.
var ownHeaders = []string{
	"authorization", "cookie", "proxy-authorization", // Client.Authorize
	"user-agent", "from", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
	"if-unmodified-since", "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
	"transfer-encoding", "upgrade",
}
