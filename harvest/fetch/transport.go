package fetch

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/outgoing"
)

// A dialFunc makes connections.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport returns a Transport with bounded buffers that keeps as many connections as
// may be in use. It leaves compression and all limits but those of a handshake to the
// Client.
func (c *Client) newTransport(dial dialFunc, concurrency int) *http.Transport {
	s := &c.set
	idle := s.perHost
	if idle == 0 {
		idle = max(concurrency, 64)
	}
	const window = 256 << 10
	t := &http.Transport{
		DialContext:        dial,
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
		// Dialling continues when its request has ended.
		TLSHandshakeTimeout:    s.inactivity,
		MaxIdleConns:           concurrency,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: window,
			// Enough for all streams, so that none waits for the reader of another.
			MaxReceiveBufferPerConnection: min(idle+1, 15) * window,
			SendPingTimeout:               15 * time.Second,
		},
	}
	if c.Proxy != nil {
		t.Proxy = c.proxyOf
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, ok := c.proxies.Load(address); ok {
				return c.dialer(nil).DialContext(ctx, network, address)
			}
			return dial(ctx, network, address)
		}
	}
	return t
}

// proxyOf returns the proxy for a request, and notes its address.
func (c *Client) proxyOf(r *http.Request) (*url.URL, error) {
	u, err := c.Proxy(r.URL)
	if u != nil {
		ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
		c.proxies.Store(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme])), true)
	}
	return u, err
}

// agentHeaders returns the values of User-Agent and From.
func agentHeaders(agent, contact string) (userAgent, from []string) {
	switch {
	case agent == "" && contact == "":
		agent = outgoing.UserAgent
	case agent == "":
		agent = "websync/" + websync.Version + " (" + contact + "; +" + outgoing.Homepage + ")"
	case contact != "":
		agent += " (" + contact + ")"
	}
	if strings.Contains(contact, "@") && !strings.ContainsAny(contact, "/: ") {
		from = []string{contact}
	}
	return []string{agent}, from
}
