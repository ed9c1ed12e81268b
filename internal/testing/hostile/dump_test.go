package hostile

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A member is a file of a package.
type member struct {
	name    string
	content flow
	change  func(h *zip.FileHeader)
}

// packed returns a ZIP file.
func packed(members ...member) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.change != nil {
			m.change(h)
		}
		create := z.CreateHeader
		if h.CompressedSize64 > 0 {
			create = z.CreateRaw
		}
		w, err := create(h)
		if err != nil {
			panic(err)
		}
		m.content.send(w)
	}
	z.Close()
	return b.String()
}

// manifest describes the members of the honest package, and more.
func manifest(base string, edition int, more string) member {
	all := "<urlset " + syncSpace + `><rs:md capability="resourcedump-manifest" at="` + monthOf(edition) + `"/>`
	for i := range seeds {
		all += fmt.Sprintf(`<url><loc>%s/doc/%d</loc><lastmod>%s</lastmod><rs:md path="/doc/%d.txt"/></url>`, base, i, monthOf(edition), i)
	}
	return member{name: "manifest.xml", content: text(all + more + "</urlset>")}
}

// one describes a further member.
func one(base, path, more string) string {
	return `<url><loc>` + base + `/doc/hostile</loc><lastmod>2026-04-01T00:00:00Z</lastmod><rs:md path="` + path + `" ` + more + `/></url>`
}

func bitstreams(edition int) (all []member) {
	for i := range seeds {
		all = append(all, member{name: fmt.Sprintf("doc/%d.txt", i), content: text(plain("", fmt.Sprintf("/doc/%d", i), edition))})
	}
	return all
}

var dump = shape{
	name: "dump", path: "/p.zip", root: "urlset",
	source: func(base string) harvest.Source { return &resourcesync.Source{URL: base + "/capabilitylist.xml"} },
	write: func(base string, edition int, _ document) flow {
		return text(packed(append(bitstreams(edition), manifest(base, edition, ""))...))
	},
	around: map[string]func(string, int) flow{
		"/capabilitylist.xml": func(base string, _ int) flow { return capabilities(base, "resourcedump") },
		"/resourcedump.xml": func(base string, edition int) flow {
			return text("<urlset " + syncSpace + `><rs:md capability="resourcedump" at="` + monthOf(edition) + `"/><url><loc>` + base + `/p.zip</loc><lastmod>` +
				monthOf(edition) + `</lastmod><rs:md type="application/zip"/></url></urlset>`)
		},
	},
}

func honest(w *world) string { return dump.write(w.url, 4, document{}).String() }

// named lists and packs a member with a hostile name.
func named(path, name string) func(w *world) flow {
	return func(w *world) flow {
		return text(packed(append(bitstreams(4), manifest(w.url, 4, one(w.url, path, "")), member{name: name, content: text("x")})...))
	}
}

// patched writes a number into the end of the central directory.
func patched(at int, size int, value uint64) func(w *world) flow {
	return func(w *world) flow {
		b := []byte(honest(w))
		end := bytes.LastIndex(b, []byte("PK\x05\x06"))
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], value)
		copy(b[end+at:end+at+size], n[:size])
		return text(string(b))
	}
}

// with a member whose header is changed.
func headed(change func(h *zip.FileHeader), content flow, md string) func(w *world) flow {
	return func(w *world) flow {
		return text(packed(append(bitstreams(4), manifest(w.url, 4, one(w.url, "/x.txt", md)), member{"x.txt", content, change})...))
	}
}

func without(w *world, more string, members ...member) flow {
	return text(packed(append(append(bitstreams(4), manifest(w.url, 4, more)), members...)...))
}

var dumps = []struct {
	name    string
	verdict verdict
	send    func(w *world) flow
}{
	{"bomb", refused, headed(nil, many(1<<11, strings.Repeat(" ", 1<<17)), `length="10"`)},
	{"bomb beside the list", anything, headed(nil, many(1<<4, strings.Repeat(" ", 1<<20)), ``)},
	{"manifest that is a bomb", refused, func(w *world) flow {
		return text(packed(append(bitstreams(4), member{name: "manifest.xml", content: join(text("<urlset "+syncSpace+">"), many(1<<11, strings.Repeat(" ", 1<<17)))})...))
	}},
	{"manifest of deep elements", refused, func(w *world) flow {
		return text(packed(append(bitstreams(4), member{name: "manifest.xml", content: join(text("<urlset "+syncSpace+">"), many(nested, "<url>"))})...))
	}},
	{"manifest with laughs", loud, func(w *world) flow {
		m := manifest(w.url, 4, "")
		m.content = join(text(laughs("x")), m.content)
		return text(packed(append(bitstreams(4), m)...))
	}},
	{"no manifest", refused, func(w *world) flow { return text(packed(bitstreams(4)...)) }},
	{"two manifests", loud, func(w *world) flow {
		return text(packed(append(bitstreams(4), manifest(w.url, 4, ""), member{name: "manifest.xml", content: text("<urlset " + syncSpace + `><rs:md capability="resourcedump-manifest"/></urlset>`)})...))
	}},
	{"manifest in another case", refused, func(w *world) flow {
		m := manifest(w.url, 4, "")
		m.name = "../Manifest.XML"
		return text(packed(append(bitstreams(4), m)...))
	}},
	{"manifest that is a login page", refused, func(w *world) flow {
		return text(packed(append(bitstreams(4), member{name: "manifest.xml", content: text("<html><body>Log in</body></html>")})...))
	}},
	{"manifest cut", refused, func(w *world) flow {
		m := manifest(w.url, 4, "")
		s := m.content.String()
		m.content = text(s[:len(s)/2])
		return text(packed(append(bitstreams(4), m)...))
	}},
	{"empty manifest", refused, func(w *world) flow {
		return text(packed(append(bitstreams(4), member{name: "manifest.xml"})...))
	}},
	{"manifest of another kind", loud, func(w *world) flow {
		m := manifest(w.url, 4, "")
		m.content = replaced(m.content, "resourcedump-manifest", "changelist")
		return text(packed(append(bitstreams(4), m)...))
	}},
	{"member that is not there", loud, func(w *world) flow { return without(w, one(w.url, "/nope.txt", "")) }},
	{"manifest that lists itself", anything, func(w *world) flow { return without(w, one(w.url, "/manifest.xml", "")) }},
	{"member without a path", anything, func(w *world) flow {
		return without(w, "<url><loc>"+w.url+"/doc/hostile</loc><lastmod>2026-04-01T00:00:00Z</lastmod></url>")
	}},
	{"path that leaves", anything, named("/../../secret.txt", "../../secret.txt")},
	{"path that leaves, and no such member", loud, func(w *world) flow { return without(w, one(w.url, "/../../secret.txt", "")) }},
	{"absolute path", anything, named("/etc/passwd", "/etc/passwd")},
	{"absolute path, and no such member", loud, func(w *world) flow { return without(w, one(w.url, "/etc/passwd", "")) }},
	{"path of Windows", anything, named(`..\..\secret.txt`, `..\..\secret.txt`)},
	{"path with a drive", anything, named(`C:\x`, `C:\x`)},
	{"path of a device", anything, named("/CON", "CON")},
	{"path of a device with an extension", anything, named("/aux.txt", "aux.txt")},
	{"path that ends in dots", anything, named("/x...", "x...")},
	{"path with a stream", anything, named("/x::$DATA", "x::$DATA")},
	{"path with NUL", loud, named("/a\x00b", "a\x00b")},
	{"path with lines", anything, named("/a&#10;b", "a\nb")},
	{"path of bytes", loud, named("/a\xff", "a\xff")},
	{"path of 60 kB", anything, named("/"+strings.Repeat("a/", 30_000), strings.Repeat("a/", 30_000))},
	{"path of a directory", loud, named("/dir/", "dir/")},
	{"path by URL", loud, func(w *world) flow { return without(w, one(w.url, inside.url()+"/x", "")) }},
	{"two members of one name", anything, func(w *world) flow {
		return without(w, one(w.url, "/x", ""), member{name: "x", content: text("a")}, member{name: "x", content: text("b")})
	}},
	{"symbolic link", anything, headed(func(h *zip.FileHeader) { h.SetMode(0o777 | fs.ModeSymlink) }, text("../../secret.txt"), "")},
	{"device", anything, headed(func(h *zip.FileHeader) { h.SetMode(0o666 | fs.ModeDevice) }, text("x"), "")},
	{"member with a password", loud, headed(func(h *zip.FileHeader) { h.Flags |= 1 }, text("secretly"), "")},
	{"member of another method", loud, headed(func(h *zip.FileHeader) {
		h.Method, h.CompressedSize64, h.UncompressedSize64 = 99, 4, 4
	}, text("abcd"), "")},
	{"member with another checksum", anything, headed(func(h *zip.FileHeader) {
		h.Method, h.CompressedSize64, h.UncompressedSize64, h.CRC32 = zip.Store, 4, 4, 1
	}, text("abcd"), "")},
	{"member shorter than stated", refused, headed(func(h *zip.FileHeader) {
		h.Method, h.CompressedSize64, h.UncompressedSize64 = zip.Store, 1<<40, 1<<40
	}, text("abcd"), "")},
	{"member longer than stated", anything, headed(func(h *zip.FileHeader) {
		h.Method, h.CompressedSize64, h.UncompressedSize64 = zip.Deflate, 6, 1
	}, text("\x4b\x4c\x4a\x4e\x01\x00"), "")},
	{"negative length", loud, headed(nil, text("x"), `length="-1"`)},
	{"length beyond all numbers", loud, headed(nil, text("x"), `length="99999999999999999999"`)},
	{"digest of nonsense", loud, headed(nil, text("x"), `hash="md5:zz sha-256:"`)},
	{"digest of a megabyte", loud, headed(nil, text("x"), `hash="md5:`+strings.Repeat("0", 1<<20)+`"`)},
	{"wrong digest", refused, headed(nil, text("x"), `hash="md5:d41d8cd98f00b204e9800998ecf8427e"`)},
	{"many members", anything, func(w *world) flow {
		all := append(bitstreams(4), manifest(w.url, 4, ""))
		for i := range 30_000 {
			all = append(all, member{name: fmt.Sprint("x/", i), change: func(h *zip.FileHeader) { h.Method = zip.Store }})
		}
		return text(packed(all...))
	}},
	{"number of members too large", refused, patched(10, 2, 60_000)},
	{"number of members too small", refused, patched(10, 2, 1)},
	{"directory too large", refused, patched(12, 4, 0xfffffff0)},
	{"directory elsewhere", refused, patched(16, 4, 0x7fffffff)},
	{"comment too long", loud, patched(20, 2, 0xffff)},
	{"package cut", refused, func(w *world) flow { s := honest(w); return text(s[:len(s)*2/3]) }},
	{"package with a head", anything, func(w *world) flow { return text("#!/bin/sh\n" + honest(w)) }},
	{"package with a tail", anything, func(w *world) flow { return text(honest(w) + strings.Repeat("x", 1000)) }},
	{"package without members", refused, func(*world) flow { return text(packed()) }},
	{"nothing", refused, func(*world) flow { return nil }},
	{"login page", refused, func(*world) flow { return text("<html><body>Log in</body></html>") }},
	{"another archive", refused, func(*world) flow { return text("\xfd7zXZ\x00\x00\x04" + strings.Repeat("\x00", 1000)) }},
	{"package in gzip", anything, func(w *world) flow { return text(zipped(text(honest(w)))) }},
	{"package without an end", refused, func(*world) flow { return many(80<<20, "P") }},
}

// Packages of a Resource Dump.
func TestDumps(t *testing.T) {
	t.Run("honest", func(t *testing.T) {
		inputs.Add(-1)
		attack(t, &dump, harmless, func(*world) {})
	})
	for _, d := range dumps {
		t.Run(d.name, func(t *testing.T) {
			attack(t, &dump, d.verdict, func(w *world) {
				w.leads = []string{inside.url()}
				w.serve("/p.zip", as("application/zip", d.send(w)))
			})
		})
	}
}

const held = `{"a":[1,2,3],"b":"x"}`

var patches = []struct {
	name, mediaType string
	text            flow
}{
	{"copies that double", "application/json-patch", text("[" + strings.TrimSuffix(strings.Repeat(`{"op":"copy","from":"/a","path":"/a/-"},`, 60), ",") + "]")},
	{"deep value", "application/json-patch", join(text(`[{"op":"add","path":"/c","value":`), many(nested, "["), many(nested, "]"), text("}]"))},
	{"deep patch", "application/json-patch", many(nested, "[")},
	{"deep path", "application/json-patch", join(text(`[{"op":"add","path":"`), many(nested, "/a"), text(`","value":1}]`))},
	{"index beyond all numbers", "application/json-patch", text(`[{"op":"add","path":"/a/99999999999999999999","value":1}]`)},
	{"large index", "application/json-patch", text(`[{"op":"add","path":"/a/2147483647","value":1}]`)},
	{"negative index", "application/json-patch", text(`[{"op":"remove","path":"/a/-1"}]`)},
	{"removal of all", "application/json-patch", text(`[{"op":"remove","path":""}]`)},
	{"move into itself", "application/json-patch", text(`[{"op":"move","from":"/a","path":"/a/0"}]`)},
	{"no operation", "application/json-patch", text(`[{"op":"exec","path":"/a"}]`)},
	{"not a list", "application/json-patch", text(`{"op":"add"}`)},
	{"null", "application/json-patch", text(`null`)},
	{"list of null", "application/json-patch", text(`[null]`)},
	{"million operations", "application/json-patch", join(text("["), many(300_000, `{"op":"add","path":"/a/0","value":1},`), text(`{"op":"test","path":"/b","value":"y"}]`))},
	{"long", "application/json-patch", many(72<<20, " ")},
	{"bytes", "application/json-patch", text("[{\"op\":\"add\",\"path\":\"/\xff\x00\",\"value\":\"\xed\xa0\x80\"}]")},
	{"login page", "application/json-patch", text("<html/>")},
	{"path that branches", "application/xml-patch+xml", text(`<diff><add sel="` + strings.Repeat("//*", 40) + `">x</add></diff>`)},
	{"deep predicates", "application/xml-patch+xml", join(text(`<diff><remove sel="`), many(100_000, "a["), text(`"/></diff>`))},
	{"deep document", "application/xml-patch+xml", join(text(`<diff>`), many(nested, "<add>"))},
	{"entities", "application/xml-patch+xml", text(laughs("x") + `<diff><add sel="/*">&e10;</add></diff>`)},
	{"removal of the root", "application/xml-patch+xml", text(`<diff><remove sel="/*"/></diff>`)},
	{"removal of everything", "application/xml-patch+xml", text(`<diff><remove sel="/"/></diff>`)},
	{"second root", "application/xml-patch+xml", text(`<diff><add sel="/*" pos="after"><b/></add></diff>`)},
}

// Patches: the bytes that are kept are those that the entry states.
func TestPatches(t *testing.T) {
	s := *shapeOf("change list")
	body := held
	s.page = func(_, path string, edition int) string {
		if path == "/doc/3" {
			return body
		}
		return plain("", path, edition)
	}
	for _, p := range patches {
		t.Run(p.mediaType+", "+p.name, func(t *testing.T) {
			w := newWorld(t)
			body = held
			if p.mediaType != "application/json-patch" {
				body = "<a><b/><b/></a>"
			}
			w.prepare(&s)
			before := body
			body = strings.Replace(body, "b", "c", 1)
			w.publish(&s, 4, document{})
			// Who already has the bytes that the entry states asks for no patch.
			w.serve("/doc/3", as("text/plain", text(before)))
			w.serve("/patch", func(rw http.ResponseWriter, r *http.Request) {
				w.serve("/doc/3", as("text/plain", text(body)))
				as(p.mediaType, p.text)(rw, r)
			})
			w.serveText(s.path, text("<urlset "+syncSpace+`><rs:md capability="changelist" from="2026-01-01T00:00:00Z"/><url><loc>`+w.url+`/doc/3</loc><lastmod>`+monthOf(4)+
				fmt.Sprintf(`</lastmod><rs:md change="updated" hash="sha-256:%x"/>`, sha256.Sum256([]byte(body)))+
				`<rs:ln rel="http://www.openarchives.org/rs/terms/patch" href="`+w.url+`/patch" type="`+p.mediaType+`"/></url></urlset>`))
			o := w.run(s.source(w.url), requestLimit)
			w.expect(harmless, o)
			record := recordOf(w, s.source(w.url), w.url+"/doc/3")
			content, ok := record.Body(websync.ContentName)
			assert.True(t, ok)
			got := testkit.Read(t, w.store, content)
			assert.Equal(t, body, got)
			assert.Contains(t, w.asked, "/patch", "the patch was not asked for")
		})
	}
}

func recordOf(w *world, src harvest.Source, id string) harvest.Record {
	return testkit.RecordOf(w.t, w.store, src.Key(), id)
}
