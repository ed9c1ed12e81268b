package fetch

import (
	"crypto/md5"
	"crypto/sha512"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestStatedForm harvests from a server that sends gzip, whatever is asked for: what is
// stated may be that of the bytes sent, or that of the decoded ones.
func TestStatedForm(t *testing.T) {
	text := strings.Repeat("hello, hello, hello\n", 5000)
	zipped := zip(t, text)
	sums := map[string]func(string) websync.Link{
		"length":  func(s string) websync.Link { return websync.Link{Length: int64(len(s))} },
		"md5":     func(s string) websync.Link { d := md5.Sum([]byte(s)); return stating("md5", d[:]) },
		"sha-256": func(s string) websync.Link { return websync.Link{Digests: websync.Digests{websync.SHA256([]byte(s))}} },
		"sha-512": func(s string) websync.Link { d := sha512.Sum512([]byte(s)); return stating("sha-512", d[:]) },
		"length and digest": func(s string) websync.Link {
			return websync.Link{Length: int64(len(s)), Digests: websync.Digests{websync.SHA256([]byte(s))}}
		},
	}
	for form, bytes := range map[string]string{"as sent": zipped, "decoded": text, "other": "other bytes"} {
		for what, stated := range sums {
			for _, encoding := range []string{"", "gzip"} {
				t.Run(form+" "+what+" "+encoding, func(t *testing.T) {
					const url = "http://example.org/a"
					link := stated(bytes)
					link.Href, link.Encoding = url, encoding
					w := newWeb()
					w.answers[url] = func(r *http.Request) (*http.Response, error) {
						if r.Header.Get("If-None-Match") != "" {
							return reply(304, "")(r)
						}
						return reply(200, zipped, "Content-Encoding: gzip", `ETag: "1"`, "Content-Type: text/plain")(r)
					}
					store := harvest.NewCatalog(memstore.New())
					var found []string
					run := func(day int) *harvest.Report {
						ev := testkit.Put("a", testkit.Day(day))
						ev.Resource.ID, ev.Resource.Content = url, link
						hooks := testkit.OnFinding(func(f websync.Finding) { found = append(found, f.Rule) })
						h := &harvest.Harvester{Catalog: store, Fetcher: w.client(), Sample: -1, Hooks: hooks}
						report, err := h.Run(t.Context(), harvest.Of(testkit.Src, ev))
						require.NoError(t, err)
						return report
					}
					report := run(1)
					if form == "other" {
						assert.False(t, report.InStep())
						return
					}
					assert.True(t, report.InStep(), report.Failures)
					record := testkit.RecordOf(t, store, testkit.Src, url)
					body, _ := record.Body(websync.ContentName)
					assert.Equal(t, text, testkit.Read(t, store, body))
					assert.Empty(t, body.Link.Encoding)
					assert.Equal(t, int64(len(text)), body.Link.Length)
					assert.Equal(t, link.Digests, record.Resource.Content.Digests, "the description stays")
					assert.Equal(t, form == "as sent", len(found) > 0, found)
					for _, d := range body.Link.Digests {
						if d.Algorithm == "sha-256" {
							assert.Equal(t, websync.SHA256([]byte(text)), d)
						} else {
							assert.Equal(t, "decoded", form, "%s is that of other bytes", d.Algorithm)
						}
					}
					asked := map[string]string{"": "identity", "gzip": "gzip"}[encoding]
					assert.Equal(t, asked, w.seen[len(w.seen)-1].Header.Get("Accept-Encoding"))
					assert.True(t, run(2).InStep())
					for _, r := range w.seen[1:] {
						assert.Equal(t, `"1"`, r.Header.Get("If-None-Match"), "what is held is not sent again")
					}
				})
			}
		}
	}
}

func stating(algorithm string, sum []byte) websync.Link {
	return websync.Link{Digests: websync.Digests{{Algorithm: algorithm, Sum: string(sum)}}}
}
