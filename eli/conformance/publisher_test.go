package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/conformance"
)

// TestPublisher checks what an eli.Publisher publishes, in one file and in several, while
// acts change: it breaks no rule.
func TestPublisher(t *testing.T) {
	for _, size := range []int{0, 7} {
		w := newWorld(t)
		acts := new(websync.Log)
		put := func(n, daysAgo int) {
			id := fmt.Sprintf("%s/eli/act/%d/%d", host, 2020+n%6, n)
			at := now.AddDate(0, 0, -daysAgo).Add(-3 * 3600e9)
			acts.Append(websync.Item{Source: "acts", Time: at, Resource: websync.Resource{
				ID: id, Title: fmt.Sprintf("Act %d & others", n), Modified: websync.DateOf(at),
			}})
			w.set(id, "text/html", pageOf(id))
			w.set(id+"/eng/pdf", "application/pdf", "%PDF-1.7")
		}
		for n := range 40 {
			put(n, 100-2*n)
		}
		p := &eli.Publisher{
			Place: websync.Place{Catalog: acts, Base: host + "/", Sources: []string{"acts"}, Report: func(f websync.Finding) { t.Error(f) }}, Author: websync.Person{Name: "Ministry of Justice"}, PartSize: size,
		}
		publish := func() {
			for path, err := range p.Documents(t.Context()) {
				require.NoError(t, err)
				doc, err := p.Document(t.Context(), path)
				require.NoError(t, err)
				var b bytes.Buffer
				require.NoError(t, doc.Write(context.Background(), &b))
				u, err := url.Parse(host + path)
				require.NoError(t, err)
				w.set(u.String(), doc.Type, b.String())
			}
		}
		w.Human = false
		for visit := range 3 {
			w.Now = now.AddDate(0, 0, visit)
			put(visit, -visit)
			publish()
			r := w.check()
			assert.Empty(t, statuses(r, fail, warn), "%v", w.found)
			assert.Equal(t, 40, r.Profile.Sitemap.Entries)
			assert.Equal(t, 30, r.Pages)
			w.Last = r.Profile
			if visit > 0 {
				assert.Equal(t, []string{"P4-028", "P4-037", "P4-057", "P4-071", "P4-083"}, statuses(r, conformance.NotChecked))
			}
			assert.Equal(t, size > 0, len(r.Parts) > 1)
		}
	}
}
