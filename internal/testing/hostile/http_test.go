package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest/fetch"
)

func shapeOf(name string) *shape {
	for i := range shapes {
		if shapes[i].name == name {
			return &shapes[i]
		}
	}
	panic(name)
}

// An answer is what a server sends in place of a document or of a body. Good is what an
// honest one sends.
type answer struct {
	name string
	// for a list and for a body
	list, body verdict
	send       func(good string) http.HandlerFunc
	client     func(c *fetch.Client)
}

// raw sends bytes as the whole answer, and closes the connection.
func raw(f flow) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		conn, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		f.send(conn)
	}
}

// rawly sends a status line, headers and a body, each as it is.
func rawly(head string) func(good string) http.HandlerFunc {
	return func(good string) http.HandlerFunc {
		return raw(text("HTTP/1.1 " + strings.ReplaceAll(head, "LENGTH", fmt.Sprint(len(good))) + "\r\n\r\n" + good))
	}
}

// with sends the honest document with a header.
func with(name string, value flow) func(good string) http.HandlerFunc {
	return func(good string) http.HandlerFunc {
		return raw(join(text(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s: ", len(good), name)), value, text("\r\n\r\n"+good)))
	}
}

// status answers with a status and headers.
func status(code int, headers ...string) func(string) http.HandlerFunc {
	return func(string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				rw.Header().Set(headers[i], headers[i+1])
			}
			rw.WriteHeader(code)
		}
	}
}

// coded sends the honest document in a content coding.
func coded(coding string, code func(good string) flow) func(string) http.HandlerFunc {
	return func(good string) http.HandlerFunc {
		return raw(join(text("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: "+coding+"\r\n\r\n"), code(good)))
	}
}

func zipped(f flow) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	f.send(z)
	z.Close()
	return b.String()
}

// A bomb is the gzip form of a text that repeats itself: one member for each 16 MiB.
func bomb(size int) flow { return many(size>>24, zipped(many(1<<24, " "))) }

func redirect(to string) func(string) http.HandlerFunc {
	return status(http.StatusFound, "Location", to)
}

var answers = []answer{
	// compression
	{name: "gzip bomb", list: refused, body: refused, send: coded("gzip", func(string) flow { return bomb(2 << 30) })},
	{name: "gzip bomb after the document", list: refused, body: refused, send: coded("gzip", func(good string) flow {
		return join(text(zipped(text(good))), bomb(2<<30))
	})},
	{name: "gzip bomb in a file", list: refused, body: anything, send: func(string) http.HandlerFunc { return as("application/gzip", bomb(256<<20)) }},
	{name: "gzip twice", list: anything, body: anything, send: coded("gzip", func(good string) flow { return text(zipped(text(zipped(text(good))))) })},
	{name: "gzip twice, as stated", list: anything, body: anything, send: coded("gzip, gzip", func(good string) flow { return text(zipped(text(zipped(text(good))))) })},
	{name: "a hundred codings", list: refused, body: refused, send: coded(strings.TrimSuffix(strings.Repeat("gzip, ", 100), ", "), text)},
	{name: "gzip that is plain", list: harmless, body: harmless, send: coded("gzip", text)},
	{name: "gzip cut", list: refused, body: refused, send: coded("gzip", func(good string) flow {
		z := zipped(text(good))
		return text(z[:len(z)-9])
	})},
	{name: "gzip with another checksum", list: refused, body: refused, send: coded("gzip", func(good string) flow {
		z := []byte(zipped(text(good)))
		z[len(z)-6]++
		return text(string(z))
	})},
	{name: "gzip with a long name", list: refused, body: refused, send: coded("gzip", func(string) flow {
		return join(text("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff"), many(80<<20, "n"))
	})},
	{name: "gzip of a million nothings", list: refused, body: anything, send: coded("gzip", func(string) flow { return many(1_000_000, zipped(nil)) })},
	{name: "unknown coding", list: refused, body: refused, send: coded("br", text)},
	{name: "coding that is none", list: harmless, body: harmless, send: coded("x-"+strings.Repeat("y", 20_000), text)},

	// lengths
	{name: "length too large", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: 99999999")},
	{name: "length too small", list: refused, body: anything, send: rawly("200 OK\r\nContent-Length: 5")},
	{name: "length negative", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: -1")},
	{name: "length beyond all numbers", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: 9223372036854775808")},
	{name: "length of the largest number", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: 9223372036854775807")},
	{name: "two lengths", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: LENGTH\r\nContent-Length: 3")},
	{name: "length and chunks", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: LENGTH\r\nTransfer-Encoding: chunked")},
	{name: "length with a sign", list: refused, body: refused, send: rawly("200 OK\r\nContent-Length: +LENGTH")},
	{name: "chunk beyond all numbers", list: refused, body: refused, send: rawly("200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff")},
	{name: "chunk negative", list: refused, body: refused, send: rawly("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5")},
	{name: "chunks without an end", list: refused, body: refused, send: func(good string) http.HandlerFunc {
		return raw(text(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(good), good)))
	}},
	{name: "unknown transfer coding", list: refused, body: refused, send: rawly("200 OK\r\nTransfer-Encoding: gzip")},
	{name: "body without an end", list: refused, body: refused, client: func(c *fetch.Client) { c.MaxBytes = 24 << 20 }, send: func(string) http.HandlerFunc {
		return as("text/plain", endless("<url><loc>http://x.example/</loc></url>\n"))
	}},
	{name: "body of silence", list: refused, body: refused, client: func(c *fetch.Client) { c.Inactivity = 100 * time.Millisecond }, send: func(string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}},
	{name: "body that drips", list: refused, body: refused, client: func(c *fetch.Client) { c.Timeout = 300 * time.Millisecond }, send: func(string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(rw, " ")
				rw.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
	}},

	// what is hardly HTTP
	{name: "no answer", list: refused, body: refused, send: func(string) http.HandlerFunc { return raw(nil) }},
	{name: "HTTP 0.9", list: refused, body: refused, send: func(good string) http.HandlerFunc { return raw(text(good)) }},
	{name: "HTTP 9.9", list: anything, body: anything, send: func(good string) http.HandlerFunc { return raw(text("HTTP/9.9 200 OK\r\n\r\n" + good)) }},
	{name: "another protocol", list: refused, body: refused, send: func(string) http.HandlerFunc { return raw(text("SSH-2.0-OpenSSH_9.9\r\n")) }},
	{name: "NUL bytes", list: refused, body: refused, send: func(string) http.HandlerFunc { return raw(many(1<<20, "\x00")) }},
	{name: "status line without an end", list: refused, body: refused, send: func(string) http.HandlerFunc { return raw(join(text("HTTP/1.1 200 "), many(64<<20, "O"))) }},
	{name: "headers without an end", list: refused, body: refused, send: func(string) http.HandlerFunc {
		return raw(join(text("HTTP/1.1 200 OK\r\n"), many(4<<20, "A: b\r\n")))
	}},
	{name: "interim answers without an end", list: refused, body: refused, send: func(string) http.HandlerFunc { return raw(many(1<<20, "HTTP/1.1 103 E\r\nA: b\r\n\r\n")) }},
	{name: "trailers without an end", list: refused, body: refused, send: func(string) http.HandlerFunc {
		return raw(join(text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"), many(4<<20, "A: b\r\n")))
	}},
	{name: "switch of protocols", list: refused, body: refused, send: rawly("101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade")},

	// statuses
	{name: "no content", list: refused, body: anything, send: status(204)},
	{name: "part of the content", list: refused, body: refused, send: rawly("206 Partial Content\r\nContent-Length: LENGTH\r\nContent-Range: bytes 0-9/99999")},
	{name: "not modified since never", list: refused, body: refused, send: status(304)},
	{name: "multiple choices", list: refused, body: refused, send: status(300)},
	{name: "status 999", list: refused, body: refused, send: rawly("999 Denied\r\nContent-Length: LENGTH")},
	{name: "status 099", list: refused, body: refused, send: rawly("099 Less\r\nContent-Length: LENGTH")},
	{name: "login needed", list: refused, body: refused, send: status(401, "WWW-Authenticate", `Basic realm="`+strings.Repeat("x", 5000)+`"`)},
	{name: "proxy login needed", list: refused, body: refused, send: status(407, "Proxy-Authenticate", "Basic")},
	{name: "gone", list: refused, body: refused, send: status(410)},

	// waiting
	{name: "Retry-After beyond all numbers", list: refused, body: refused, send: status(503, "Retry-After", "99999999999999999999999")},
	{name: "Retry-After of the largest number", list: refused, body: refused, send: status(429, "Retry-After", "9223372036854775807")},
	{name: "Retry-After negative", list: refused, body: refused, send: status(429, "Retry-After", "-1")},
	{name: "Retry-After zero", list: refused, body: refused, send: status(503, "Retry-After", "0")},
	{name: "Retry-After of a fraction", list: refused, body: refused, send: status(503, "Retry-After", "1e9")},
	{name: "Retry-After in the year 9999", list: refused, body: refused, send: status(503, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")},
	{name: "Retry-After in the year 1", list: refused, body: refused, send: status(503, "Retry-After", "Mon, 01 Jan 0001 00:00:00 GMT")},
	{name: "Retry-After soon", list: refused, body: refused, send: status(429, "Retry-After", strings.Repeat("soon ", 4000))},
	{name: "Retry-After with a success", list: anything, body: anything, send: with("Retry-After", text("99999999999"))},

	// headers
	{name: "long ETag", list: harmless, body: harmless, send: with("ETag", text(`"`+strings.Repeat("e", 100_000)+`"`))},
	{name: "ETag with control characters", list: anything, body: anything, send: with("ETag", text("\"a\x01\x7f\xff\tb\""))},
	{name: "ETag of an injection", list: anything, body: anything, send: with("ETag", text("\"a\rX-Evil: 1\""))},
	{name: "many ETags", list: anything, body: anything, send: with("ETag", many(3000, "\"a\"\r\nETag: "))},
	{name: "Last-Modified in the year 9999", list: harmless, body: harmless, send: with("Last-Modified", text("Fri, 31 Dec 9999 23:59:59 GMT"))},
	{name: "Last-Modified of nonsense", list: harmless, body: harmless, send: with("Last-Modified", text("yesterday\x80"))},
	{name: "Date in the year 9999", list: anything, body: harmless, send: with("Date", text("Fri, 31 Dec 9999 23:59:59 GMT"))},
	{name: "Date in the year 0", list: anything, body: harmless, send: with("Date", text("Sat, 01 Jan 0000 00:00:00 GMT"))},
	{name: "Date of nonsense", list: anything, body: harmless, send: with("Date", text("now"))},
	{name: "long media type", list: harmless, body: harmless, send: with("Content-Type", text("text/plain; "+strings.Repeat("a=b; ", 20_000)))},
	{name: "media type with control characters", list: anything, body: anything, send: with("Content-Type", text("text/\x00html\xff; charset=\x01"))},
	{name: "media type of an injection", list: anything, body: anything, send: with("Content-Type", text("text/html\"><script>alert(1)</script>"))},
	{name: "language of nonsense", list: harmless, body: harmless, send: with("Content-Language", many(50_000, "x,"))},
	{name: "many links", list: harmless, body: harmless, send: with("Link", many(5000, `<http://x.example/>; rel="next", `))},
	{name: "many cookies", list: harmless, body: harmless, send: with("Set-Cookie", many(2000, "a=b\r\nSet-Cookie: "))},
	{name: "location inside", list: harmless, body: harmless, send: with("Content-Location", text(""+"http://169.254.169.254/"))},
	{name: "alternative service", list: harmless, body: harmless, send: with("Alt-Svc", text(`h3="127.0.0.1:1"; persist=1, h2="169.254.169.254:80"`))},
	{name: "refresh", list: harmless, body: harmless, send: with("Refresh", text("0; url=http://169.254.169.254/"))},

	// redirects
	{name: "redirect to itself", list: refused, body: refused, send: redirect("")},
	{name: "redirect without a target", list: refused, body: refused, send: status(302)},
	{name: "redirect in a circle", list: refused, body: refused, send: redirect("/circle/a")},
	{name: "redirect without an end", list: refused, body: refused, send: redirect("/endless/0")},
	{name: "redirect to a file", list: refused, body: refused, send: redirect("file:///etc/passwd")},
	{name: "redirect to FTP", list: refused, body: refused, send: redirect("ftp://127.0.0.1/x")},
	{name: "redirect to gopher", list: refused, body: refused, send: redirect("gopher://127.0.0.1:6379/_FLUSHALL")},
	{name: "redirect to a script", list: refused, body: refused, send: redirect("javascript:alert(1)")},
	{name: "redirect to data", list: refused, body: refused, send: redirect("data:text/xml,<urlset/>")},
	{name: "redirect to no host", list: refused, body: refused, send: redirect("http:///")},
	{name: "redirect to no URL", list: refused, body: refused, send: redirect("http://[::1")},
	{name: "redirect to port 0", list: refused, body: refused, send: redirect("http://127.0.0.1:0/")},
	{name: "redirect to lines", list: refused, body: refused, send: redirect("/%0d%0aX-Evil:%201")},
	{name: "redirect to a line", list: refused, body: refused, send: rawly("302 Found\r\nLocation: /a\x0bb\r\nContent-Length: 0")},
	{name: "redirect of a megabyte", list: refused, body: refused, send: func(string) http.HandlerFunc {
		return raw(join(text("HTTP/1.1 302 Found\r\nLocation: /"), many(1<<20, "a"), text("\r\n\r\n")))
	}},
	{name: "redirect of 200 kB", list: refused, body: refused, send: redirect("/" + strings.Repeat("a", 200_000))},
	{name: "two redirects", list: refused, body: refused, send: rawly("302 Found\r\nLocation: /nowhere\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0")},
}

// Answers of servers: to the request for a list, and to the request for a body.
func TestAnswers(t *testing.T) {
	for k, a := range answers {
		for i, name := range []string{"sitemap", "atom archive", "resource list", "eli feed", "sitemap part", "rinfo"} {
			if !*everything && ((i+k)%6 != 0 || !*full && k%4 != 1) {
				continue
			}
			t.Run(a.name+", "+name, func(t *testing.T) {
				s := shapeOf(name)
				attack(t, s, a.list, func(w *world) {
					a.prepare(w)
					w.serve(s.path, a.send(s.write(w.url, 4, document{}).String()))
				})
			})
		}
		for i, name := range []string{"sitemap", "atom", "change list", "eli sitemap", "atompmh"} {
			if !*everything && ((i+k)%5 != 0 || !*full && k%4 == 1) {
				continue
			}
			t.Run(a.name+", body, "+name, func(t *testing.T) {
				s := shapeOf(name)
				attack(t, s, a.body, func(w *world) {
					a.prepare(w)
					path, good := "/doc/7", plain("", "/doc/7", 4)
					if s.page != nil {
						path, good = "/eli/7", act(w.url, "/eli/7", 4)
					}
					w.serve(path, a.send(good))
				})
			})
		}
	}
}

func (a *answer) prepare(w *world) {
	w.serve("/circle/a", redirect("/circle/b")(""))
	w.serve("/circle/b", redirect("/circle/a")(""))
	n := 0
	for i := range 40 {
		w.serve(fmt.Sprintf("/endless/%d", i), func(rw http.ResponseWriter, r *http.Request) {
			n++
			http.Redirect(rw, r, fmt.Sprintf("/endless/%d", i+1), http.StatusMovedPermanently)
		})
	}
	if a.client != nil {
		w.renew(a.client)
	}
}
