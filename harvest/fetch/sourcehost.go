package fetch

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"strings"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// sourceHost is the key under which the context of a connection holds its *host.
type sourceHost struct{}

// dialSource connects to the host of a source.
func (c *Client) dialSource(ctx context.Context, network, addr string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	h, _ := ctx.Value(sourceHost{}).(*host)
	allow, err := c.sourceNetworks(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return c.dialer(&Guard{Allow: allow}).DialContext(ctx, network, addr)
}

// dialer returns a dialer for the addresses that g allows, or for all if g is nil.
func (c *Client) dialer(g *Guard) *net.Dialer {
	d := &net.Dialer{Timeout: c.set.inactivity, KeepAlive: 30 * time.Second, Resolver: c.resolver}
	if g != nil {
		d.Control = g.Control
	}
	return d
}

// sourceNetworks returns the networks that the host of a source may be in, besides the
// public ones: its address, if name is one; loopback for localhost; for another name all
// addresses that it has at first, if none of them is public.
//
// The user has named these hosts, and may mean one in his own network. But the owner of a
// name decides what it resolves to, and can change that between two connections. So the
// first answer is kept: in c.networks, or if it was public, in the host. There is an
// entry for each name of a source, and none for the names that sources list.
func (c *Client) sourceNetworks(ctx context.Context, h *host, name string) ([]netip.Prefix, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return []netip.Prefix{single(addr)}, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761 §6.3
		return loopback, nil
	}
	if known, ok := c.networks.Load(name); ok {
		return known.([]netip.Prefix), nil
	}
	h.mu.Lock()
	wasPublic := h.public
	h.mu.Unlock()
	var allow []netip.Prefix
	if !wasPublic {
		resolver := cmp.Or(c.resolver, net.DefaultResolver)
		looking, cancel := context.WithTimeout(ctx, c.set.inactivity)
		defer cancel()
		addrs, err := resolver.LookupNetIP(looking, "ip", name)
		if err != nil {
			return nil, err
		}
		allow = privateOnly(addrs)
	}
	first, known := c.networks.LoadOrStore(name, allow)
	if !known && allow == nil && !wasPublic {
		h.mu.Lock()
		h.public = true
		h.mu.Unlock()
		h.save(ctx)
	}
	return first.([]netip.Prefix), nil
}

// privateOnly returns the addresses as networks, or nil if one of them is public. It
// leaves out link-local addresses: services there give a machine its secrets, and no name
// has a reason to lead to them.
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
