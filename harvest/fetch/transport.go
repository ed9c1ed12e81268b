package fetch

import (
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// newTransport returns a Transport with bounded buffers that keeps as many connections as may be in use. Redirects,
// time-outs and compression are not its business.
func newTransport(control func(string, string, syscall.RawConn) error, s *settings, concurrency int) *http.Transport {
	idle := s.perHost
	if idle == 0 {
		idle = max(concurrency, 64)
	}
	const window = 256 << 10
	dialer := &net.Dialer{Timeout: s.inactivity, KeepAlive: 30 * time.Second, Control: control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           concurrency,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     window,
			MaxReceiveBufferPerConnection: min(idle+1, 15) * window, // room for all, so that none waits for a reader of another
			SendPingTimeout:               15 * time.Second,
		},
	}
}

// agentHeaders returns the values of User-Agent and From.
func agentHeaders(agent, contact string) (userAgent, from []string) {
	switch {
	case agent == "" && contact == "":
		agent = "websync/" + version + " (+" + homepage + ")"
	case agent == "":
		agent = "websync/" + version + " (" + contact + "; +" + homepage + ")"
	case contact != "":
		agent += " (" + contact + ")"
	}
	if strings.Contains(contact, "@") && !strings.ContainsAny(contact, "/: ") {
		from = []string{contact}
	}
	return []string{agent}, from
}
