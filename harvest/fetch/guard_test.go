package fetch

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

func TestGuard(t *testing.T) {
	for addr, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true,
		"0.0.0.0": false, "10.0.0.1": false, "100.64.0.1": false, "127.0.0.1": false, "127.8.9.10": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.2.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false,
		"2001::1": false, "2001:db8::1": false, "2002:7f00:1::": false, "fc00::1": false, "fd12::1": false, "fe80::1": false,
		"fe80::1%eth0": false, "2606:4700::1111%eth0": false, "ff02::1": false, "::ffff:8.8.8.8": true,
	} {
		at := netip.MustParseAddr(addr)
		for _, port := range []uint16{80, 443, 22, 8080} {
			network := "tcp4"
			if at.Is6() {
				network = "tcp6"
			}
			err := new(Guard).Control(network, netip.AddrPortFrom(at, port).String(), nil)
			if public {
				require.NoError(t, err, addr)
			} else {
				require.ErrorIs(t, err, harvest.ErrForbidden, addr)
			}
		}
	}
	home := &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}}
	require.NoError(t, home.Check(netip.MustParseAddr("192.168.1.7")))
	require.NoError(t, home.Check(netip.MustParseAddr("::ffff:192.168.1.7")))
	require.Error(t, home.Check(netip.MustParseAddr("192.168.2.7")))
	require.Error(t, home.Control("udp4", "8.8.8.8:53", nil))
	require.Error(t, home.Control("tcp4", "example.org:80", nil))
}

// A source may have a loopback address, but cannot lead to another private address, by
// any name.
func TestSourceCannotLeadInside(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			asked.Add(1)
		}
		http.NotFound(w, r)
	}))
	defer inside.Close()
	var target atomic.Pointer[string]
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, *target.Load(), http.StatusFound)
		case "/robots.txt":
			http.NotFound(w, r)
		default:
			w.Write([]byte("hello"))
		}
	}))
	defer source.Close()
	c := New(nil)
	c.Rate = -1
	defer c.CloseIdleConnections()
	port := inside.Listener.Addr().(*net.TCPAddr).Port
	own := source.Listener.Addr().(*net.TCPAddr).Port
	get := func(root, url string) error {
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Root: root})
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	require.NoError(t, get(source.URL+"/list", source.URL+"/a"))
	targets := []string{
		inside.URL + "/a", "http://localhost:P/a", "http://[::1]:P/a", "http://[::ffff:127.0.0.1]:P/a", "http://0.0.0.0:P/a", "http://[::]:P/a",
		"http://10.0.0.1/a", "http://169.254.169.254/latest/meta-data", "http://[64:ff9b::7f00:1]/a",
		"http://localhost:O/a", "http://[::ffff:127.0.0.1]:O/a", "https://127.0.0.1:O/a",
	}
	for _, to := range targets {
		to = strings.NewReplacer(":P/", ":"+strconv.Itoa(port)+"/", ":O/", ":"+strconv.Itoa(own)+"/").Replace(to)
		target.Store(&to)
		for name, url := range map[string]string{"redirect": source.URL + "/moved", "link": to} {
			err := get(source.URL+"/list", url)
			require.ErrorIs(t, err, harvest.ErrForbidden, "%s to %s", name, to)
			assert.NotErrorIs(t, err, harvest.ErrTemporary)
		}
	}
	assert.Zero(t, asked.Load())

	// A source cannot use a connection to a private address that another has opened.
	public := "http://example.org/list"
	require.ErrorIs(t, get(public, source.URL+"/a"), harvest.ErrForbidden)
	require.ErrorIs(t, get("", source.URL+"/a"), harvest.ErrForbidden)
	require.NoError(t, get(source.URL, source.URL+"/a"))
	byName := "http://localhost:" + strconv.Itoa(own)
	require.NoError(t, get(byName, byName+"/a"))
	require.ErrorIs(t, get(public, byName+"/a"), harvest.ErrForbidden, "the pooled connection to the same name")

	c2 := &Client{AllowPrivate: true, Rate: -1}
	defer c2.CloseIdleConnections()
	c = c2
	require.NoError(t, get("", source.URL+"/a"))
}

// With the user's Transport, addresses in URLs are still checked, and Control fits into
// the user's dialer.
func TestOwnTransport(t *testing.T) {
	w := newWeb()
	w.answers["http://10.0.0.1/"] = reply(200, "x")
	_, err := w.client().Fetch(t.Context(), &harvest.Request{URL: "http://10.0.0.1/"})
	require.ErrorIs(t, err, harvest.ErrForbidden)
	require.ErrorContains(t, err, "10.0.0.1 is not a public address")
	assert.Empty(t, w.seen)
	mustGet(t, w.client(), "http://10.0.0.1/")

	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	dialer := &net.Dialer{Control: new(Guard).Control}
	_, err = dialer.DialContext(context.Background(), "tcp", srv.Listener.Addr().String())
	require.ErrorIs(t, err, harvest.ErrForbidden)
	dialer.Control = (&Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).Control
	conn, err := dialer.DialContext(context.Background(), "tcp", srv.Listener.Addr().String())
	require.NoError(t, err)
	conn.Close()
}

// TestSameHost: with Request.SameHost nothing is asked of another host than that of Root,
// neither for the request itself nor after a redirect.
func TestSameHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		for _, url := range []string{"http://example.org/a", "https://EXAMPLE.org:8443/a", "http://other.example/a", "http://sub.example.org/a"} {
			w.answers[url] = reply(200, "x")
		}
		w.answers["https://example.org:8443/a"] = reply(200, "x")
		w.answers["http://example.org/near"] = reply(302, "", "Location: /a")
		w.answers["http://example.org/away"] = reply(302, "", "Location: http://other.example/a")
		c := w.client()
		for url, allowed := range map[string]bool{
			"http://example.org/a": true, "https://EXAMPLE.org:8443/a": true, "http://example.org/near": true,
			"http://other.example/a": false, "http://sub.example.org/a": false, "http://example.org/away": false,
		} {
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Root: "https://Example.org/list", SameHost: true})
			if allowed {
				require.NoError(t, err, url)
				resp.Body.Close()
				continue
			}
			require.ErrorIs(t, err, harvest.ErrForbidden, url)
			assert.ErrorContains(t, err, "not on the host of the source")
		}
		assert.Empty(t, w.times("http://other.example/a"))
		for _, root := range []string{"", "no URL", "file:///a"} {
			_, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/a", Root: root, SameHost: true})
			require.ErrorIs(t, err, harvest.ErrForbidden, root)
		}
	})
}
