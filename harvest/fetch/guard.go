package fetch

import (
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/websync-go/websync/harvest"
)

// A Guard refuses connections to addresses that are not public: private, shared,
// loopback, link-local, multicast, documentation and other special ones, in IPv4 and
// IPv6, also behind the prefixes that map one into the other. Ports are not restricted.
// The zero Guard is ready; a [Client] without Transport of its own has one.
type Guard struct {
	// Allow lists networks that are allowed all the same, in any zone.
	Allow []netip.Prefix
}

// public knows the special addresses of both registries of IANA.
var public = ssrf.New(ssrf.WithAnyPort())

// Control is meant for the field of this name of a [net.Dialer]. There it sees the
// address after the name was resolved, so that no answer of a name server gets around it.
// Its errors match [harvest.ErrForbidden].
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: connection to %s over %s", harvest.ErrForbidden, address, network)
	}
	return g.Check(at.Addr())
}

// Check returns an error that matches [harvest.ErrForbidden] unless addr is public or
// allowed.
func (g *Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap()
	for _, p := range g.Allow {
		if p.Contains(addr.WithZone("")) {
			return nil
		}
	}
	if public.SafeAddr(addr) != nil {
		return fmt.Errorf("%w: %s is not a public address", harvest.ErrForbidden, addr)
	}
	return nil
}
