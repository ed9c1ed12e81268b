package notify

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// atATime is how many requests may go to a host at the same time.
const atATime = 2

// A perHost makes few requests to a host at a time, redirected ones too: any number of
// documents may name any server as their hub.
type perHost struct {
	http.RoundTripper
	mu    sync.Mutex
	hosts map[string]*hostSlots
}

type hostSlots struct {
	slots chan struct{}
	users int // requests that have or want a slot
}

// RoundTrip implements [http.RoundTripper].
func (p *perHost) RoundTrip(r *http.Request) (*http.Response, error) {
	host := strings.ToLower(r.URL.Host)
	h := p.enter(host)
	defer p.leave(host, h)
	select {
	case h.slots <- struct{}{}:
	case <-r.Context().Done():
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, context.Cause(r.Context())
	}
	defer func() { <-h.slots }()
	return p.RoundTripper.RoundTrip(r)
}

func (p *perHost) enter(host string) *hostSlots {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[host]
	if h == nil {
		h = &hostSlots{slots: make(chan struct{}, atATime)}
		p.hosts[host] = h
	}
	h.users++
	return h
}

func (p *perHost) leave(host string, h *hostSlots) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(p.hosts, host)
	}
}

// CloseIdleConnections does so if the Transport can.
func (p *perHost) CloseIdleConnections() {
	(&http.Client{Transport: p.RoundTripper}).CloseIdleConnections()
}
