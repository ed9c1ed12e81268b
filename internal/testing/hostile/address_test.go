package hostile

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/sitemap"
)

// A zone answers for names: each question with the next set of addresses, the last one
// again and again.
type zone map[string][][]string

// resolver returns a Resolver that asks the zone and nobody else.
func (z zone) resolver() *net.Resolver {
	var asked atomic.Int64
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go z.answer(ours, &asked)
		return theirs, nil
	}}
}

// answer reads questions as they are sent over TCP.
func (z zone) answer(conn net.Conn, asked *atomic.Int64) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(question) != nil || len(m.Questions) != 1 {
			return
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		q := m.Questions[0]
		sets, ok := z[strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")]
		if !ok {
			m.RCode = dnsmessage.RCodeNameError
		} else {
			// A and AAAA are asked for at the same time
			set := sets[min(int(asked.Add(1)-1)/2, len(sets)-1)]
			for _, s := range set {
				addr := netip.MustParseAddr(s)
				head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
				switch {
				case addr.Is4() && q.Type == dnsmessage.TypeA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
				case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
				}
			}
		}
		packed, err := m.Pack()
		if err != nil {
			return
		}
		conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
	}
}

// resolve makes the zone answer all questions of this process until the test ends.
func resolve(t *testing.T, z zone) {
	before := net.DefaultResolver
	net.DefaultResolver = z.resolver()
	t.Cleanup(func() { net.DefaultResolver = before })
}

// private has hosts that lead inside; P is the port of a service there.
var private = []string{
	"127.0.0.1:P", "127.0.0.1.:P", "127.1:P", "127.255.255.254:P", "2130706433:P", "0x7f000001:P", "0x7f.0.0.1:P", "0177.0.0.1:P",
	"0:P", "0.0.0.0:P", "[::]:P", "[::1]:P", "[::ffff:127.0.0.1]:P", "[::ffff:7f00:1]:P", "[::127.0.0.1]:P", "[::ffff:0:127.0.0.1]:P",
	"[64:ff9b::127.0.0.1]:P", "[64:ff9b:1::7f00:1]:P", "[2002:7f00:1::]:P", "[fe80::1%25lo]:P", "[fe80::1]:P", "[fc00::1]:P", "[ff02::1]:P",
	"localhost:P", "LOCALHOST:P", "localhost.:P", "a.localhost:P", "１２７.0.0.1:P", "127。0。0。1:P", "%31%32%37.0.0.1:P",
	"10.0.0.1", "10.255.255.255:22", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "198.18.0.1", "192.0.0.8", "192.88.99.1",
	"224.0.0.1", "240.0.0.1", "255.255.255.255", "0.1.2.3",
	"example.org@127.0.0.1:P", "127.0.0.1:P\\@example.org", "example.org:80@127.0.0.1:P", "127.0.0.1:P#@example.org", "127.0.0.1:P?@example.org",
	"loop.test:P", "ten.test:P", "metadata.test", "six.test:P", "mapped.test:P", "both.test:P", "rebinding.test:P", "any.test:P", "alias.test:P",
}

var names4 = zone{
	"loop.test":      {{"127.0.0.1"}},
	"ten.test":       {{"10.0.0.1"}},
	"metadata.test":  {{"169.254.169.254"}},
	"six.test":       {{"::1", "fe80::1", "fc00::1"}},
	"mapped.test":    {{"::ffff:127.0.0.1", "64:ff9b::7f00:1"}},
	"both.test":      {{"127.0.0.1", "::1", "10.0.0.1", "0.0.0.0"}},
	"rebinding.test": {{"192.0.2.1"}, {"127.0.0.1"}, {"127.0.0.1"}},
	"any.test":       {{"0.0.0.0", "::"}},
	"alias.test":     {{"127.0.0.2"}},
}

// No list, no redirect and no name leads to an address that is not public, whoever wrote
// it how.
func TestPrivateAddresses(t *testing.T) {
	s := shapeOf("sitemap")
	hidden := func(w *world, url string) document {
		return document{id: text(strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(url))}
	}
	ways := []struct {
		name string
		lead func(w *world, url string)
	}{
		{"entry", func(w *world, url string) {
			w.serveText(s.path, s.write(w.url, 4, hidden(w, url)))
		}},
		{"redirect of a body", func(w *world, url string) { w.serve("/doc/5", redirect(url)("")) }},
		{"redirect of the list", func(w *world, url string) { w.serve(s.path, redirect(url)("")) }},
		{"part of an index", func(w *world, url string) {
			index := shapeOf("sitemap index")
			w.serveText(index.path, index.write(w.url, 4, hidden(w, url)))
		}},
	}
	for i, host := range private {
		for k, way := range ways {
			if !*everything && (i+k)%4 != 0 && (!*full || (i+k)%4 != 1) {
				continue
			}
			t.Run(way.name+" "+host, func(t *testing.T) {
				resolve(t, names4)
				w := newWorld(t)
				held := w.prepare(s)
				w.publish(s, 4, document{})
				w.renew(func(c *fetch.Client) { c.Inactivity = 500 * time.Millisecond })
				way.lead(w, "http://"+strings.ReplaceAll(host, ":P", ":"+inside.port())+"/secret")
				o := w.run(s.source(w.url), requestLimit)
				w.expect(refused, o)
				delete(held, w.url+"/doc/hostile")
				now := w.live(s.source(w.url))
				for id := range held {
					if k != 3 { // the index has none of them
						assert.Contains(t, now, id)
					}
				}
			})
		}
	}
}

// A source whose own name changes its address does not become a way inside.
func TestRebinding(t *testing.T) {
	for name, later := range map[string]string{"loopback": "127.0.0.2", "metadata": "169.254.169.254", "IPv6": "::1", "any": "0.0.0.0", "private": "10.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, port, _ := net.SplitHostPort(w.server.Listener.Addr().String())
			var reached atomic.Int64
			if other, err := net.Listen("tcp", "127.0.0.2:"+port); err == nil {
				defer other.Close()
				go func() {
					for {
						conn, err := other.Accept()
						if err != nil {
							return
						}
						reached.Add(1)
						conn.Close()
					}
				}()
			}
			z := zone{"source.test": {{"127.0.0.1"}, {"127.0.0.1"}, {later}}}
			resolve(t, z)
			s := shapeOf("sitemap")
			w.publish(s, 3, document{})
			w.client.Inactivity = 500 * time.Millisecond
			src := &sitemap.Source{URL: "http://source.test:" + port + s.path, Complete: true}
			o := w.run(src, requestLimit)
			require.NoError(t, o.err)
			w.client.CloseIdleConnections()
			w.server.CloseClientConnections()
			o = w.run(src, requestLimit)
			assert.False(t, o.err == nil && o.InStep())
			assert.Contains(t, strings.Join(o.messages, " "), "source.test")
			assert.Zero(t, reached.Load())
		})
	}
}

func echo(rw http.ResponseWriter, r *http.Request) {
	http.Error(rw, r.Header.Get("Authorization"), http.StatusBadRequest)
}

// Credentials stay where they belong, whatever the server does.
func TestCredentials(t *testing.T) {
	for name, lead := range map[string]func(w *world, other string){
		"redirect": func(w *world, other string) { w.serve("/doc/5", redirect(other+"/doc/5")("")) },
		"redirect with a password": func(w *world, other string) {
			w.serve("/doc/5", redirect(strings.Replace(other, "://", "://me:"+password+"@", 1)+"/doc/5")(""))
		},
		"entry": func(w *world, other string) {
			s := shapeOf("sitemap")
			w.serveText(s.path, s.write(w.url, 4, document{id: text(other + "/doc/x")}))
		},
		"part": func(w *world, other string) {
			s := shapeOf("sitemap index")
			w.serveText(s.path, s.write(w.url, 4, document{id: text(other + "/part.xml")}))
		},
		"refusal": func(w *world, _ string) {
			w.serve("/doc/5", status(401, "WWW-Authenticate", `Basic realm="again"`)(""))
		},
		"echo": func(w *world, _ string) {
			w.serve("/doc/5", echo)
		},
		"echo in list": func(w *world, _ string) {
			w.serve("/sitemap.xml", echo)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, other := newWorld(t), newWorld(t)
			inputs.Add(-1)
			var leaked atomic.Int64
			other.serve("", func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Referer() != "" {
					leaked.Add(1)
				}
				io.WriteString(rw, "other")
			})
			s := shapeOf("sitemap")
			w.client.AllowPrivate = true
			require.NoError(t, w.client.Authorize(w.url, fetch.Bearer(secret)))
			w.publish(s, 4, document{})
			lead(w, other.url)
			w.run(s.source(w.url), requestLimit)
			assert.Zero(t, leaked.Load())
			w.mu.Lock()
			w.dials = nil // to the other one, which is allowed here
			w.mu.Unlock()
		})
	}
	t.Run("URL of the source", func(t *testing.T) {
		w := newWorld(t)
		s := shapeOf("sitemap")
		w.publish(s, 4, document{})
		src := s.source(strings.Replace(w.url, "://", "://me:"+secret+"@", 1))
		ctx, cancel := w.context()
		defer cancel()
		report, err := (&harvest.Harvester{Catalog: w.store, Fetcher: w.client}).Run(ctx, src)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
		for _, f := range report.Problems {
			assert.NotContains(t, f.URL+f.Error, secret)
		}
	})
}
