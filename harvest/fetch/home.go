package fetch

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// homes are the addresses that the hosts of sources may have though they are not public.
// The user has named these hosts, and may mean one of his own network; but who owns a
// name decides what it resolves to, and can change that between two connections. So what
// a name may be is decided once: nothing but public, or the addresses that it has then.
// There is an entry for each name of a source, and none for what sources list.
type homes struct {
	mu sync.Mutex
	m  map[string][]netip.Prefix // by name; empty: public addresses only
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// originHost is the key of the *host that a connection is for in the context of its
// dialling.
type originHost struct{}

// dialHome connects to the host of a source.
func (c *Client) dialHome(ctx context.Context, network, addr string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	h, _ := ctx.Value(originHost{}).(*host)
	allow, err := c.home(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return c.dialer(&Guard{Allow: allow}).DialContext(ctx, network, addr)
}

// dialer returns what connects to the addresses that g lets pass; nil: to all.
func (c *Client) dialer(g *Guard) *net.Dialer {
	d := &net.Dialer{Timeout: c.set.inactivity, KeepAlive: 30 * time.Second, Resolver: c.resolver}
	if g != nil {
		d.Control = g.Control
	}
	return d
}

// home returns the networks that the host of a source may be in, besides the public ones:
// the address, if it is named by one; loopback for localhost; for another name all its
// addresses of the first time, if none of them was public.
func (c *Client) home(ctx context.Context, h *host, name string) ([]netip.Prefix, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return []netip.Prefix{single(addr)}, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761 §6.3
		return loopback, nil
	}
	c.homes.mu.Lock()
	allow, known := c.homes.m[name]
	c.homes.mu.Unlock()
	if known {
		return allow, nil
	}
	if !h.wasPublic() {
		addrs, err := c.lookup(ctx, name)
		if err != nil {
			return nil, err
		}
		allow = privateOnly(addrs)
	}
	c.homes.mu.Lock()
	defer c.homes.mu.Unlock()
	if first, known := c.homes.m[name]; known { // another call was faster
		return first, nil
	}
	if c.homes.m == nil {
		c.homes.m = map[string][]netip.Prefix{}
	}
	c.homes.m[name] = allow
	if allow == nil {
		h.setPublic(ctx)
	}
	return allow, nil
}

func (c *Client) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, c.set.inactivity)
	defer cancel()
	resolver := c.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	return resolver.LookupNetIP(ctx, "ip", name)
}

// privateOnly returns the addresses as networks, or nil if one of them is public. One
// that is link-local is not returned: services there give a machine its secrets, and no
// name leads to them by right.
func privateOnly(addrs []netip.Addr) (private []netip.Prefix) {
	for _, addr := range addrs {
		if public.SafeAddr(addr.Unmap()) == nil {
			return nil
		}
		if !addr.Unmap().IsLinkLocalUnicast() {
			private = append(private, single(addr))
		}
	}
	return private
}

// single returns the network of one address.
func single(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	return netip.PrefixFrom(addr, addr.BitLen())
}

// wasPublic reports whether the host had a public address when it was first asked as that
// of a source.
func (h *host) wasPublic() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.public
}

// setPublic notes that the host has a public address, for the runs to come, too.
func (h *host) setPublic(ctx context.Context) {
	h.mu.Lock()
	known := h.public
	h.public = true
	h.mu.Unlock()
	if !known {
		h.save(ctx)
	}
}
