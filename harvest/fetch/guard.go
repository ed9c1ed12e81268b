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
// IPv6, also behind the prefixes that map one into the other. It does not restrict ports.
// The zero Guard is ready for use. A [Client] without a Transport of its own uses one.
type Guard struct {
	// Allow lists networks that are allowed nevertheless, in any zone.
	Allow []netip.Prefix
}

// public has the special addresses of the IANA registries for IPv4 and IPv6.
var public = ssrf.New(ssrf.WithAnyPort())

// Control is for the Control field of a [net.Dialer]. It checks the address to which a
// name was resolved, so that no answer of a name server circumvents it. Its errors match
// [harvest.ErrForbidden].
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
