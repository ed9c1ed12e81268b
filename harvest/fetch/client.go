package fetch

import (
	"context"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Client gets representations over HTTP. Make it with [New], set its fields before the
// first Fetch, and leave them alone afterwards. It is used by any number of goroutines.
//
// A limit that is zero has its default; one that is negative does not limit.
type Client struct {
	// UserAgent names the program. Its first word, up to a slash, is what robots.txt
	// knows it by; with "Mozilla/5.0 (compatible; Name/1.0 …" it is that name. Empty
	// means "websync/" and the version, with the address of the project.
	UserAgent string

	// Contact is where the operator of a host can complain: a URL or a mail address. It
	// becomes part of the User-Agent. A mail address is also sent in From.
	Contact string

	// Rate limits the requests to a host in a second; 0.2 is one in five seconds. If
	// zero, it is 5; if negative, there is no limit.
	Rate float64

	// PerHost limits the transfers from one host at the same time. If zero, it is 4; if
	// negative, there is no limit.
	PerHost int

	// Concurrency limits all transfers at the same time. If zero, it is 32; if negative,
	// there is no limit.
	Concurrency int

	// Attempts is how often a request is made before its failure is final; requests for
	// the rest of a body that broke off count. If zero, it is 4; if negative, it is 1.
	Attempts int

	// MaxBytes limits a body after decompression where the Request does not. If zero, it
	// is 1 GiB; if negative, there is no limit. The transfer may have an eighth and 1 KiB
	// more.
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

	// MinSpeed ends an attempt whose body brings fewer bytes in a minute: a host must not
	// keep a transfer open with a byte now and then. Only the time spent waiting for
	// bytes counts. If zero, it is 8 KiB; if negative, there is no limit.
	MinSpeed int64

	// Timeout ends a request that takes so long from its start to the end of its body.
	// Waiting for the host's turn, and before a body is resumed, does not count. If zero,
	// it is 30 minutes; if negative, there is no limit.
	Timeout time.Duration

	// MaxWait limits how long one Fetch waits in all: for its turn at a host, and between
	// attempts, those for the rest of a body included. A Fetch that would wait longer
	// fails with an error that states when to come back. If zero, it is 5 minutes; if
	// negative, there is no limit.
	MaxWait time.Duration

	// MaxRetryAfter limits a Retry-After: a longer one counts as this. If zero, it is 24
	// hours; if negative, it is 100 years.
	MaxRetryAfter time.Duration

	// AllowPrivate allows addresses that are not public for all hosts and at any time,
	// not only for that of the source and as it had them first.
	AllowPrivate bool

	// IgnoreRobots makes the Client neither read nor obey robots.txt. For hosts whose
	// owner agrees.
	IgnoreRobots bool

	// Transport, if set, makes the requests: for a proxy, client certificates, other
	// roots of trust. Redirects, time-outs, compression and politeness stay the Client's.
	// Addresses are then checked only where a URL gives one as digits: put
	// [Guard.Control] into its dialer.
	Transport http.RoundTripper

	// OnWait is called when a Fetch, or the reader of a body that is resumed, begins to
	// wait until the given moment for its turn at a host or for its next attempt.
	OnWait func(host string, until time.Time)

	// OnAttempt is called once for every request that was made, those for redirects and
	// robots.txt included, when its transfer has ended. It may be called from several
	// goroutines.
	OnAttempt func(Attempt)

	// Log receives every request (debug) and every host that is closed for a while
	// (info). If nil, nothing is logged.
	Log *slog.Logger

	state   websync.State
	once    sync.Once
	set     settings
	hosts   hosts
	grants  grants
	waits   waits
	unsaved unsaved
	homes   homes
	kept    kept

	jitter   func(time.Duration) time.Duration // for tests
	resolver *net.Resolver                     // for tests; nil: the default
}

var (
	_ harvest.Fetcher = (*Client)(nil)
)

// An Attempt is one request that was made.
type Attempt struct {
	Host     string // scheme, name and port
	URL      string // without secrets
	Attempt  int    // 1 for the first
	Status   int    // 0: no answer
	Bytes    int64  // of the body, as they came
	Duration time.Duration
	// why the answer or the body did not come, nil if they did whatever the status
	Err error
}

// New returns a Client with the recommended settings. The gates of hosts and robots.txt
// are kept in state, under keys that begin with "fetch/"; if it is nil, in memory only.
// New does no I/O, and a Client has no goroutines of its own.
func New(state websync.State) *Client { return &Client{state: state} }

// Fetch gets one representation, as [harvest.Fetcher] says. The transfer counts against
// the limits of concurrency until the body is closed or read to its end.
//
// Request.Header must not hold credentials or what the Client sets itself. If it holds
// Accept-Encoding, the body is delivered in the coding in which it came, which
// Response.Header names.
func (c *Client) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	k, err := c.newCall(req)
	if err != nil {
		return nil, err
	}
	return k.run(ctx)
}

// CloseIdleConnections closes connections that wait for another request. The Client stays
// usable.
func (c *Client) CloseIdleConnections() {
	c.start()
	for _, t := range []http.RoundTripper{c.set.transport, c.set.home} {
		if t, ok := t.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// settings are the Client's fields with the defaults filled in, and what is made of them.
type settings struct {
	agent         []string // the User-Agent header
	from          []string // the From header
	token         string   // for robots.txt
	interval      time.Duration
	perHost       int
	slots         chan struct{} // over all hosts; nil: any number
	attempts      int
	redirects     int
	maxBytes      int64
	maxExpansion  int64
	inactivity    time.Duration
	minSpeed      int64
	timeout       time.Duration
	maxWait       time.Duration
	maxRetryAfter time.Duration
	transport     http.RoundTripper
	// for the hosts of sources, where they may have addresses that others may not; else
	// nil
	home http.RoundTripper
	log  *slog.Logger
}

func (c *Client) start() {
	c.once.Do(func() {
		const forever = time.Duration(math.MaxInt64)
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
		s.attempts = limit(c.Attempts, 4, 1)
		s.redirects = limit(c.MaxRedirects, 10, 0)
		s.maxBytes = limit(c.MaxBytes, 1<<30, math.MaxInt64)
		s.maxExpansion = limit(c.MaxExpansion, 200, math.MaxInt64)
		s.inactivity = limit(c.Inactivity, 30*time.Second, forever)
		s.minSpeed = limit(c.MinSpeed, 8<<10, 0)
		s.timeout = limit(c.Timeout, 30*time.Minute, forever)
		s.maxWait = limit(c.MaxWait, 5*time.Minute, forever)
		s.maxRetryAfter = limit(c.MaxRetryAfter, 24*time.Hour, 100*365*24*time.Hour)
		s.log = c.Log
		if s.log == nil {
			s.log = slog.New(slog.DiscardHandler)
		}
		switch {
		case c.Transport != nil:
			s.transport = c.Transport
		case c.AllowPrivate:
			s.transport = newTransport(c.dialer(nil).DialContext, s, concurrency)
		default:
			s.transport = newTransport(c.dialer(new(Guard)).DialContext, s, concurrency)
			s.home = newTransport(c.dialHome, s, concurrency)
		}
	})
}

// limit returns the value of a field: zero means std, negative means none.
func limit[T int | int64 | float64 | time.Duration](v, std, none T) T {
	switch {
	case v == 0:
		return std
	case v < 0:
		return none
	}
	return v
}
