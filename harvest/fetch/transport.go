package fetch

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/outgoing"
)

// newTransport returns a Transport with bounded buffers that keeps as many connections as
// may be in use. It leaves compression and all limits but those of a handshake to the
// Client.
func newTransport(
	dial func(ctx context.Context, network, address string) (net.Conn, error), s *settings, concurrency int,
) *http.Transport {
	idle := s.perHost
	if idle == 0 {
		idle = max(concurrency, 64)
	}
	const window = 256 << 10
	return &http.Transport{
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
