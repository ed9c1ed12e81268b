package hostile

import (
	"encoding/xml"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// foreign are ids and texts that a stranger chose for what is published again.
var foreign = []string{
	"../../secret.txt", "/etc/passwd", `..\..\secret.txt`, `C:\x`, "http://x.example/../../../secret.txt", "http://x.example/%2e%2e/%2e%2e/secret.txt",
	"CON", "NUL", "aux.txt", "http://x.example/com1", "http://x.example/a.", "http://x.example/a ", "http://x.example/a::$DATA", ".htaccess", ".git/config",
	"https://own.example/robots.txt", "https://own.example/.well-known/acme-challenge/x", "https://own.example/sitemap.xml", "https://own.example/",
	"a\r\nX-Evil: 1", "a\x00b", "a\x1b[2Jb", "\xff\xfe\xed\xa0\x80", "]]>", "<script>alert(1)</script>", `"><x a="`, "&e10;", "\ufffe\uffff", "\ufeff",
	"http://me:" + password + "@x.example/", strings.Repeat("a", 4000), strings.Repeat("../", 1000), strings.Repeat("a/", 2000), "http://x.example/" + strings.Repeat("é", 1500),
	"javascript:alert(1)", "data:text/html,x", "http://x.example/a~content", "r/", "~", "index.html", "http://x.example/index.html/index.html", "http://x.example/\u202egnp.exe",
}

// What a stranger wrote is published again: below the directory of an export, as sound
// XML, and in no header as it is.
func TestPublished(t *testing.T) {
	const base = "https://own.example/"
	for _, text := range foreign {
		name := text[:min(len(text), 40)]
		t.Run(strings.ToValidUTF8(name, "?"), func(t *testing.T) {
			w := newWorld(t)
			link := websync.Link{Href: text, Type: text, Lang: text, Title: text, Encoding: text}
			src := harvest.Of("stranger", harvest.Event{Open: harvest.OpenBytes([]byte("<b>")), Resource: websync.Resource{
				ID: text, Title: text, Summary: text, Lang: text, Content: websync.Link{Type: text, Lang: text},
				Links:   []websync.Link{{Rel: "alternate", Href: text}, {Rel: text, Href: text, Type: text}, link},
				Authors: []websync.Person{{Name: text, Email: text, URI: text}},
			}})
			h := &harvest.Harvester{Catalog: w.store}
			_, err := h.Run(t.Context(), src)
			require.NoError(t, err)

			locator := websync.PathLocator{Base: base}
			all := publish.Join(
				&sitemap.Publisher{Place: websync.Place{Catalog: w.store, Base: base, Locator: locator}},
				&atom.Publisher{Place: websync.Place{Catalog: w.store, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}},
				&resourcesync.Publisher{Place: websync.Place{Catalog: w.store, Base: base, Locator: locator}},
				publish.Bodies(w.store, locator))
			_, err = publish.WriteDir(t.Context(), filepath.Join(w.dir, "site"), all)
			if err != nil {
				t.Log(err)
			}
			assert.Equal(t, []string{"site", "temp"}, names(t, w.dir))

			handler := &publish.Handler{Publishers: []websync.Publisher{all}}
			defer handler.Close()
			documents := 0
			for path, err := range all.Documents(t.Context()) {
				require.NoError(t, err)
				documents++
				rec := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "/", nil)
				r.URL.Path, r.RequestURI = path, path
				handler.ServeHTTP(rec, r)
				for name, values := range rec.Header() {
					assert.NotContains(t, strings.Join(append(values, name), ""), "\n", path)
					assert.NotContains(t, strings.Join(values, ""), "\x00", path)
				}
				if strings.HasPrefix(path, "/r/") {
					assert.NotEmpty(t, rec.Header().Get("Content-Security-Policy"), path)
					continue
				}
				if rec.Code == 200 && strings.HasPrefix(rec.Body.String(), "<?xml") {
					d := xml.NewDecoder(rec.Body)
					for {
						if _, err = d.Token(); err != nil {
							break
						}
					}
					assert.Equal(t, io.EOF, err, path)
				}
			}
			assert.GreaterOrEqual(t, documents, 4)
			for _, path := range []string{"/" + text, "/r/" + text, "/" + text + "~content"} {
				rec := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "/", nil)
				r.URL.Path, r.RequestURI = path, path
				handler.ServeHTTP(rec, r)
				assert.NotContains(t, rec.Body.String(), secret)
				assert.Less(t, rec.Code, 500, path)
			}
		})
	}
}
