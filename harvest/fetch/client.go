package fetch

import (
	"context"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Client gets representations over HTTP. Create it with [New], and set its fields
// before the first Fetch. It is safe for concurrent use.
type Client struct {
	// UserAgent identifies the program. If empty, it is "websync/" and the version, with
	// the address of the project. robots.txt knows the program by the first word, up to a
	// slash; with "Mozilla/5.0 (compatible; Name/1.0 …" by that name.
	UserAgent string

	// Contact is where the operator of a host can complain: a URL or a mail address. It
	// becomes part of the User-Agent. A mail address is also sent in From.
	Contact string

	// Rate limits the requests to a host in a second; 0.2 is one in five seconds. If
	// zero, it is 5; if negative, there is no limit.
	Rate float64

	// PerHost limits the transfers from one host at the same time, in this process:
	// processes that share a State each have a limit of their own. If zero, it is 4; if
	// negative, there is no limit.
	PerHost int

	// Concurrency limits all transfers at the same time, in this process. If zero, it is
	// 32; if negative, there is no limit.
	Concurrency int

	// Attempts limits how often a request is made; requests for the rest of a body that
	// broke off count. If zero, it is 4; if negative, it is 1.
	Attempts int

	// MaxBytes limits a decoded body, unless the Request has a limit. The transfer may be
	// an eighth and 1 KiB longer. If zero, it is 1 GiB; if negative, there is no limit.
	MaxBytes int64

	// MaxExpansion limits how many times longer than its gzip form a body may be, once it
	// is longer than 10 MiB. If zero, it is 200; if negative, there is no limit.
	MaxExpansion int64

	// MaxRedirects limits the redirects of one request. If zero, it is 10; if negative,
	// no redirect is followed.
	MaxRedirects int

	// Inactivity ends an attempt in which no byte comes for so long, connecting included.
	// If zero, it is 30 seconds; if negative, there is no limit.
	Inactivity time.Duration

	// MinSpeed is the number of bytes of a body that must come in a minute, or the
	// attempt ends: a host must not keep a transfer open with a byte now and then. Only
	// the time spent waiting for bytes counts. If zero, it is 8 KiB; if negative, there
	// is no limit.
	MinSpeed int64

	// Timeout limits the time from the start of a request to the end of its body. Waits
	// for the host, and before a body is resumed, do not count. If zero, it is 30
	// minutes; if negative, there is no limit.
	Timeout time.Duration

	// MaxWait limits how long one Fetch waits in all: for its turn at a host, and between
	// attempts, those for the rest of a body included. A Fetch that would wait longer
	// returns an error that states when to come back. If zero, it is 5 minutes; if
	// negative, there is no limit.
	MaxWait time.Duration

	// MaxRetryAfter limits a Retry-After: a longer one counts as this. If zero, it is 24
	// hours; if negative, it is 100 years.
	MaxRetryAfter time.Duration

	// MaxRefusals limits how many requests in a row a host may answer with 429 or 503,
	// whatever they ask for, retries included. Then the run leaves the host alone: its
	// requests to it fail at once with a [harvest.LeftAloneError]. The next run begins
	// with one request, and goes on if that is not refused. Lists and bodies are counted
	// apart. Only requests of the engine count, see [harvest.Request] Began. If zero, it
	// is 5; if negative, there is no limit.
	MaxRefusals int

	// AllowPrivate allows addresses that are not public for all hosts. Otherwise only the
	// host of the source may have one, see Trust in the documentation of the package.
	AllowPrivate bool

	// Entrust, if set, decides whether requests to an origin carry its credentials if they
	// are for a source with its root at another origin: whoever writes the documents of
	// that chooses what is requested. If nil, they do. It is called from several
	// goroutines.
	Entrust func(root, origin string) bool

	// IgnoreRobots makes the Client neither read nor obey robots.txt, for hosts whose
	// owner agrees.
	IgnoreRobots bool

	// Proxy, if set, returns the proxy for a URL, or nil for none. The Client connects to
	// that, wherever it is, and cannot check the addresses to which the proxy connects,
	// except those in URLs. Transport has a proxy of its own.
	Proxy func(*url.URL) (*url.URL, error)

	// Transport, if set, makes the requests: for client certificates or other trusted
	// roots. The Client still follows redirects, limits times, decodes and waits
	// for its turn, but it checks addresses only where a URL has one instead of a name:
	// put [Guard.Control] into the dialer of the Transport.
	Transport http.RoundTripper

	// OnWait is called when a Fetch, or the reader of a body that is resumed, begins to
	// wait for its turn at a host or for its next attempt. It waits until the given time.
	OnWait func(host string, until time.Time)

	// OnAttempt is called once for every request when its transfer has ended, also for
	// those of redirects and robots.txt, with the context of the Fetch that made it. It
	// may be called from several goroutines.
	OnAttempt func(context.Context, harvest.AttemptInfo)

	// Log receives every request (debug) and every host that is closed for a while
	// (info). If nil, nothing is logged.
	Log *slog.Logger

	state    websync.State
	once     sync.Once
	set      settings
	hosts    hosts
	saved    saved
	signers  sync.Map // of requests, by origin: see Authorize
	waits    sync.Map // by *call
	networks sync.Map // by name: see sourceNetworks
	proxies  sync.Map // by address: those that Proxy has returned
	root     atomic.Pointer[root]

	jitter   func(time.Duration) time.Duration // for tests
	resolver *net.Resolver                     // for tests; nil: the default
}

var _ harvest.Fetcher = (*Client)(nil)

// New returns a Client with the recommended settings. It keeps the gates of hosts and
// robots.txt in state, under keys that begin with "fetch/", or, if state is nil, in
// memory. New does no I/O, and a Client has no goroutines of its own.
func New(state websync.State) *Client { return &Client{state: state} }

// Fetch gets one representation, as [harvest.Fetcher] requires. The transfer counts
// against PerHost and Concurrency until the body is closed or read to its end.
//
// Request.Header must not contain credentials or a header that the Client sets itself. If
// it contains Accept-Encoding, the body is delivered in the coding in which it came,
// which Response.Header states.
func (c *Client) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	k, err := c.newCall(req)
	if err != nil {
		return nil, err
	}
	return k.repeat(ctx, k.spool)
}

// CloseIdleConnections closes the connections that no request uses, and ends the
// reservations of hosts, so that another process with the same State need not wait for
// their end. The Client can still be used.
func (c *Client) CloseIdleConnections() {
	c.start()
	c.release()
	for _, t := range []http.RoundTripper{c.set.transport, c.set.sourceTransport} {
		if t, ok := t.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// settings are values that the Client computes once from its fields.
type settings struct {
	agent           []string // the User-Agent header
	from            []string // the From header
	token           string   // for robots.txt
	interval        time.Duration
	perHost         int
	slots           chan struct{} // of all hosts; nil: any number
	inactivity      time.Duration
	minSpeed        int64
	timeout         time.Duration
	maxRetryAfter   time.Duration
	maxRefusals     int // 0: no limit
	transport       http.RoundTripper
	sourceTransport http.RoundTripper // for the hosts of sources; nil: transport
	log             *slog.Logger
}

const forever = time.Duration(math.MaxInt64)

func (c *Client) start() {
	c.once.Do(func() {
		s := &c.set
		s.agent, s.from = agentHeaders(c.UserAgent, c.Contact)
		s.token = agentToken(s.agent[0])
		if rate := limit(c.Rate, 5, math.Inf(1)); !math.IsInf(rate, 1) {
			s.interval = time.Duration(math.Min(float64(time.Second)/rate, float64(forever/2)))
		}
		s.perHost = limit(c.PerHost, 4, 0)
		concurrency := limit(c.Concurrency, 32, 0)
		if concurrency > 0 {
			s.slots = make(chan struct{}, concurrency)
		}
		s.inactivity = limit(c.Inactivity, 30*time.Second, forever)
		s.minSpeed = limit(c.MinSpeed, 8<<10, 0)
		s.timeout = limit(c.Timeout, 30*time.Minute, forever)
		s.maxRetryAfter = limit(c.MaxRetryAfter, 24*time.Hour, 100*365*24*time.Hour)
		s.maxRefusals = limit(c.MaxRefusals, 5, 0)
		s.log = c.Log
		if s.log == nil {
			s.log = slog.New(slog.DiscardHandler)
		}
		switch {
		case c.Transport != nil:
			s.transport = c.Transport
		case c.AllowPrivate:
			s.transport = c.newTransport(c.dialer(nil).DialContext, concurrency)
		default:
			s.transport = c.newTransport(c.dialer(new(Guard)).DialContext, concurrency)
			s.sourceTransport = c.newTransport(c.dialSource, concurrency)
		}
	})
}

// limit returns the value of a field: std if v is zero, none if it is negative.
func limit[T int | int64 | float64 | time.Duration](v, std, none T) T {
	switch {
	case v == 0:
		return std
	case v < 0:
		return none
	}
	return v
}
