package sitemap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// An invented profile of sitemaps: each document states when it was made, and each page
// its number. A page without one must not be listed, and page 3 is a draft.
const profileSpace = "https://profile.example.org/ns"

func profileElement(local, text string) websync.Element {
	return websync.Element{Space: profileSpace, Local: local, XML: fmt.Sprintf("<%s xmlns=%q>%s</%[1]s>", local, profileSpace, text)}
}

func elementOf(elements []websync.Element, local string) string {
	for _, x := range elements {
		if x.Space == profileSpace && x.Local == local {
			_, text, _ := strings.Cut(x.XML, ">")
			text, _, _ = strings.Cut(text, "<")
			return text
		}
	}
	return ""
}

func profilePublisher(c websync.Catalog) *sitemap.Publisher {
	return &sitemap.Publisher{
		Place: websync.Place{Catalog: c, Base: site + "/"}, PartSize: 3, Profile: "numbered 1",
		Head: func(h *sitemap.Head) {
			h.Elements = append(h.Elements, profileElement("made", h.At.String()), profileElement("kind", h.Kind.String()+" in "+h.Index))
			h.Attrs = append(h.Attrs, websync.Attr{Space: profileSpace, Local: "at", Value: h.URL})
			h.Namespaces = map[string]string{"p": profileSpace}
		},
		Item: func(item *websync.Item, e *sitemap.Entry) error {
			switch number := strings.TrimPrefix(e.Loc, site+"/"); number {
			case "2":
				return errors.New("a page has a number")
			case "3":
				e.Loc = ""
			default:
				e.Elements = append(e.Elements, profileElement("number", number))
			}
			return nil
		},
	}
}

func TestPublisherProfile(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 2)...)
	p := profilePublisher(s)
	var reported []string
	p.Report = func(f websync.Finding) { reported = append(reported, f.Rule+" "+f.Message) }
	plain, err := (&sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}).Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	doc, body := render(t, p, "/sitemap.xml")
	assert.NotEqual(t, plain.ETag, doc.ETag)
	assert.Equal(t, []string{"sitemap-profile not listed: a page has a number"}, reported)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	r := sitemap.NewReader(bytes.NewReader(body))
	entries, err := readAll(r)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "1", elementOf(entries[0].Elements, "number"))
	assert.Equal(t, websync.NewDatetime(head.LastTime).String(), elementOf(r.Elements(), "made"))
	assert.Equal(t, "urlset in ", elementOf(r.Elements(), "kind"))

	s.Put("a", numbered(3, 5)...)
	all := paths(t, p)
	require.Len(t, all, 4) // two parts, the index, robots.txt
	for _, path := range all[:3] {
		_, body := render(t, p, path)
		assert.Contains(t, string(body), ` xmlns:p="`+profileSpace+`" p:at="`+site+path+`">`)
	}
	for path, want := range map[string]string{all[0]: "urlset in " + site + "/sitemap.xml", all[1]: "urlset in " + site + "/sitemap.xml", all[2]: "sitemapindex in "} {
		_, body := render(t, p, path)
		r := sitemap.NewReader(bytes.NewReader(body))
		_, err := readAll(r)
		require.NoError(t, err)
		assert.Equal(t, want, elementOf(r.Elements(), "kind"))
	}
	first, _ := render(t, p, all[0])
	s.Put("a", numbered(5, 5)...)
	second, _ := render(t, p, all[0])
	assert.NotEqual(t, first.ETag, second.ETag, "it states when it was made")
	other := profilePublisher(s)
	other.Profile = "numbered 2"
	assert.NotEqual(t, all[0], paths(t, other)[0])
}

func TestPublisherProfileCheck(t *testing.T) {
	require.NoError(t, profilePublisher(new(websync.Log)).Check())
	for name, change := range map[string]func(p *sitemap.Publisher){
		"no Profile, Item": func(p *sitemap.Publisher) { p.Profile, p.Head = "", nil },
		"no Profile, Prepare": func(p *sitemap.Publisher) {
			p.Profile, p.Head, p.Item = "", nil, nil
			p.Prepare = func(context.Context, uint64, []*websync.Item) error { return nil }
		},
		"no valid attribute": func(p *sitemap.Publisher) {
			p.Head = func(h *sitemap.Head) { h.Attrs = []websync.Attr{{Local: "x"}} }
		},
		"no Profile, Head": func(p *sitemap.Publisher) { p.Profile, p.Item = "", nil },
		"no valid document": func(p *sitemap.Publisher) {
			p.Head = func(h *sitemap.Head) { h.Elements = []websync.Element{{Space: profileSpace, Local: "x", XML: "<y/>"}} }
		},
	} {
		p := profilePublisher(new(websync.Log))
		change(p)
		assert.Error(t, p.Check(), name)
	}
}

// Prepare gets all items of a part in their order, some hundreds at a time, and decides
// what their entries state.
func TestPublisherPrepare(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 1300)...)
	calls, broken := 0, error(nil)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, PartSize: 1200, Profile: "dated 1"}
	p.Prepare = func(_ context.Context, generation uint64, items []*websync.Item) error {
		assert.EqualValues(t, 1+calls/5, generation)
		assert.LessOrEqual(t, len(items), 500)
		for _, item := range items {
			item.Resource.Modified = websync.DateOf(time.Unix(int64(item.Born)*86400, 0).UTC())
		}
		calls++
		return broken
	}
	check := func() {
		t.Helper()
		n := 0
		for _, path := range paths(t, p)[:2] {
			_, body := render(t, p, path)
			for _, e := range read(t, body) {
				n++
				require.Equal(t, fmt.Sprintf("%s/%d", site, n), e.Loc)
				require.Equal(t, time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly), e.LastMod.String())
			}
		}
		assert.Equal(t, 1300, n)
	}
	check()
	assert.Equal(t, 4, calls)
	_, err := s.Compact(t.Context())
	require.NoError(t, err)
	calls = 5
	check()
	broken = errors.New("broken")
	doc, err := p.Document(t.Context(), paths(t, p)[0])
	require.NoError(t, err)
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), broken)
}

// A profile's elements count when the length of a part is found out.
func TestPublisherProfileMaxBytes(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 60)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, Profile: "long", Item: func(item *websync.Item, e *sitemap.Entry) error {
		e.Elements = append(e.Elements, profileElement("long", strings.Repeat("x", 1_000_000)))
		return nil
	}}
	doc, err := p.Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, doc.Write(t.Context(), &b))
	assert.Contains(t, b.String(), "<sitemapindex")
}

// An extension reads elements of its own, makes its own events of the entries, and
// refuses documents.
func TestSourceExtend(t *testing.T) {
	page := func(loc, number string) string {
		return "<url><loc>" + site + "/" + loc + `</loc><n:number xmlns:n="` + profileSpace + `" is="` + number + `"/></url>`
	}
	set := func(root string, pages ...string) string {
		return `<urlset xmlns="` + sitemap.Namespace + `">` + root + strings.Join(pages, "") + "</urlset>"
	}
	source := func() *sitemap.Source {
		return &sitemap.Source{
			URL: site + "/sitemap.xml", Profile: "numbered 1",
			Extend: func(r *sitemap.Reader) sitemap.Extended {
				made, number := false, ""
				r.Take = func(tag *sitemap.Tag) bool {
					if tag.Space != profileSpace {
						return false
					}
					if made = made || tag.Entry == nil; tag.Entry != nil {
						_, _, value := tag.Attr(0)
						number = string(value)
					}
					return true
				}
				return sitemap.Extended{
					Entry: func(_ *sitemap.View, ev *harvest.Event) { ev.Tag = number },
					End: func() error {
						if !made {
							return errors.New("a document states when it was made")
						}
						if r.Report != nil {
							r.Report(websync.Finding{Document: r.Document, Rule: "end"})
						}
						return nil
					},
				}
			},
		}
	}
	harvestOnce := func(s *sitemap.Source, doc string, from harvest.Checkpoint) (events []string, ended int, resume harvest.Checkpoint) {
		run := &harvest.Run{From: from, Report: func(f websync.Finding) {
			if f.Rule == "end" {
				ended++
			}
		}}
		run.Fetcher = &sourcetest.Fetcher{Site: sourcetest.Site{s.URL: {Body: doc, ETag: `"1"`}}}
		for ev, err := range s.Events(t.Context(), run) {
			if err != nil {
				events = append(events, err.Error())
				break
			}
			events = append(events, fmt.Sprint(ev.Kind, " ", ev.Resource.ID, " ", ev.Tag, len(ev.Resource.Elements)))
			resume = ev.Resume
		}
		return events, ended, resume
	}
	made := profileElement("made", "now").XML
	doc := set(made, page("a", "1"), page("b", "2"))
	events, ended, resume := harvestOnce(source(), doc, harvest.Checkpoint{})
	assert.Equal(t, []string{
		fmt.Sprint(harvest.SnapshotStart, "  0"), fmt.Sprint(harvest.Put, " "+site+"/a 10"), fmt.Sprint(harvest.Put, " "+site+"/b 20"), fmt.Sprint(harvest.SnapshotEnd, "  0"),
	}, events)
	assert.Equal(t, 1, ended, "once with a Report")
	events, _, _ = harvestOnce(source(), set("", page("a", "1")), harvest.Checkpoint{})
	assert.Equal(t, []string{"sitemap: " + site + "/sitemap.xml: a document states when it was made"}, events)

	events, _, _ = harvestOnce(source(), doc, resume)
	assert.Len(t, events, 1, "not modified")
	other := source()
	other.Profile = "numbered 2"
	events, _, _ = harvestOnce(other, doc, resume)
	assert.Len(t, events, 4, "another profile reads everything anew")
}
