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

const homepage = "https://github.com/websync-go/websync"

// A Client gets representations over HTTP. Make it with [New], set its fields before the
// first Fetch, and leave them alone afterwards. It is used by any number of goroutines.
//
// In the limits, zero means the default and a negative value means no limit.
type Client struct {
	// UserAgent names the program. Its first word, up to a slash, is what robots.txt
	// knows it by; with "Mozilla/5.0 (compatible; Name/1.0 …" it is that name. Empty
	// means "websync/" and the version, with the address of the project.
	UserAgent string

	// Contact is where the operator of a host can complain: a URL or a mail address. It
	// becomes part of the User-Agent; a mail address is also sent in From.
	Contact string

	// Rate is how many requests a host gets in a second; 0.2 means one in five seconds.
	// Default 5.
	Rate float64

	// PerHost is how many transfers from one host run at the same time. Default 4.
	PerHost int

	// Concurrency is how many transfers run at the same time in all. Default 32.
	Concurrency int

	// Attempts is how often a request is made before its failure is final; requests for
	// the rest of a body that broke off count. Default 4. A negative value means once.
	Attempts int

	// MaxBytes limits a body after decompression where the Request does not. Default 1
	// GiB. What comes over the wire for it may be longer by an eighth and 1 KiB.
	MaxBytes int64

	// MaxExpansion limits how many times longer than its gzip form a body may be, once it
	// is longer than 10 MiB. Default 200.
	MaxExpansion int64

	// MaxRedirects is how many redirects are followed for one request. Default 10. A
	// negative value means none.
	MaxRedirects int

	// Inactivity ends an attempt in which no byte comes for so long. It covers
	// connecting, too. Default 30 seconds.
	Inactivity time.Duration

	// MinSpeed ends an attempt whose body brings fewer bytes in a minute: a host must not
	// hold a place, which there is a limited number of, with a byte now and then. Only
	// the time counts in which bytes are waited for. Default 8 KiB.
	MinSpeed int64

	// Timeout ends a request that takes so long from its start to the end of its body.
	// Waiting for the host's turn, and before a body is resumed, does not count. Default
	// 30 minutes.
	Timeout time.Duration

	// MaxWait is how long one Fetch waits in all: for its turn at a host, and between
	// attempts, those for the rest of a body included. What would have to wait longer is
	// an error that says when to come back. Default 5 minutes.
	MaxWait time.Duration

	// MaxRetryAfter is the longest Retry-After that is obeyed; what is longer is taken as
	// this. Default 24 hours.
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

	// Log gets every request (debug) and every host that is closed for a while (info).
	// Nil: silent.
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
	Err      error // why the answer or the body did not come, nil if they did whatever the status
}

// New returns a Client with the recommended settings. The gates of hosts and robots.txt
// are kept in state, under keys that begin with "fetch/"; if it is nil, in memory only. New
// does no I/O, and a Client has no goroutines of its own.
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
	home          http.RoundTripper // for the hosts of sources, where they may have addresses that others may not; else nil
	log           *slog.Logger
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
