package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// statuses returns the ids of the rules with a status.
func statuses(r *conformance.Result, want ...conformance.Status) (ids []string) {
	for _, row := range r.Rules {
		if slices.Contains(want, row.Status) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// TestSpecification checks the examples of the specification. They break one rule of its
// own annex: the dates of two acts differ between the sitemap and the feed.
func TestSpecification(t *testing.T) {
	c := &conformance.Checker{Sitemap: file("testdata/specification/sitemap.xml"), Feed: file("testdata/specification/feed.atom"), Now: now}
	r, err := c.Check(t.Context())
	require.NoError(t, err)
	assert.Empty(t, statuses(r, fail))
	assert.Equal(t, []string{"P4-069"}, statuses(r, warn))
	assert.Equal(t, conformance.Document{
		Name: "testdata/specification/sitemap.xml", Kind: "urlset", Entries: 4, Newest: testkit.Date(t, "2016-09-05"),
	}, r.Sitemap)
	assert.Equal(t, conformance.Document{
		Name: "testdata/specification/feed.atom", Kind: "feed", Entries: 4, Newest: testkit.Date(t, "2016-03-08T16:20:00Z"), Warnings: 2,
	}, r.Feed)
	assert.Zero(t, r.Pages)
	require.NotNil(t, r.Profile)

	// As published where they say, the sitemap is half a year newer than the feed.
	w := newWorld(t)
	w.Now = time.Date(2016, 9, 6, 0, 0, 0, 0, time.UTC)
	for url, in := range map[string]conformance.Input{"http://country.xy/eli/sitemap.xml": c.Sitemap, "http://country.xy/eli/eli-update-feed.atom": c.Feed} {
		src, err := in.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(src)
		require.NoError(t, err)
		require.NoError(t, src.Close())
		w.set(url, "application/xml", string(data))
	}
	w.Sitemap.Name, w.Feed.Name, w.Sample, w.Human = "http://country.xy/eli/sitemap.xml", "http://country.xy/eli/eli-update-feed.atom", -1, false
	w.Registry = nil
	r = w.check()
	assert.Empty(t, statuses(r, fail))
	assert.Equal(t, []string{"P4-065", "P4-069"}, statuses(r, warn))
}

// TestField checks publishers as they were seen: which rules they break.
func TestField(t *testing.T) {
	for name, test := range map[string]struct {
		make       func(w *world)
		fail, warn []string
	}{
		"Denmark: a feed that is declared as UTF-16, dates without times, elements in Atom's namespace; ELIs on www": {
			make: func(w *world) {
				w.edit(feedURL, "UTF-8", "utf-16")
				for range 2 {
					w.edit(feedURL, "2026-03-08T16:20:00Z", "2026-03-08")
				}
				w.edit(feedURL, "2026-03-06T09:00:00+01:00", "2026-03-06")
				w.edit(feedURL, "<content>", "<version>1</version><content>")
				for _, act := range []string{act1, act2, decree} {
					www := strings.Replace(act, "http://", "http://www.", 1)
					w.answers[www] = w.answers[act]
					w.answers[www] = answer{kind: "text/html", body: pageOf(www)}
					w.answers[www+"/eng/pdf"] = w.answers[act+"/eng/pdf"]
					w.answers[sitemapURL] = answer{body: strings.ReplaceAll(w.answers[sitemapURL].body, "<loc>"+act, "<loc>"+www)}
					w.answers[feedURL] = answer{body: strings.ReplaceAll(w.answers[feedURL].body, act, www)}
				}
			},
			fail: []string{"P4-022", "P4-024", "P4-050", "P4-063"},
		},
		"Portugal: sitemap and feed on another host, which robots.txt allows": {
			make: func(w *world) {
				w.elsewhere("User-agent: *\n\nSitemap: http://maps.example/eli/sitemap.xml\n")
				w.Registry = nil
			},
			warn: []string{"P4-064"},
		},
		"a file of an index on another host, which robots.txt allows": {
			make: func(w *world) {
				w.index("http://maps.example/eli/1.xml")
				w.elsewhere("Sitemap: http://maps.example/eli/1.xml\n")
				w.Registry = nil
			},
			warn: []string{"P4-064"},
		},
		"Portugal: sitemap and feed on another host": {
			make: func(w *world) { w.elsewhere("User-agent: *\n"); w.Registry = nil },
			fail: []string{"P4-022", "P4-024"}, warn: []string{"P4-064"},
		},
		"Croatia: sitemaps elsewhere, pages that are no ELIs": {
			make: func(w *world) {
				w.index(host + "/sitemaps/1.xml")
				moved(host + "/sitemaps/index.xml")(w)
				w.add(host+"/sitemaps/1.xml", urlOf(host+"/about", "2026-03-08"))
				w.set(host+"/about", "text/html", "<!DOCTYPE html><p>About us")
			},
			fail: []string{"P4-002", "P4-022", "P4-026", "P4-036", "P4-041"}, warn: []string{"P4-021"},
		},
		"malformed URLs and synonyms": {
			make: func(w *world) {
				w.add(sitemapURL, "<url><loc>https:/law.example/eli/act/2026/3</loc><lastmod>2026-03-08</lastmod></url>")
				w.add(sitemapURL, urlOf(host+"/eli/loi/2026/1", "2026-03-08"))
				w.set(host+"/eli/loi/2026/1", "text/html", pageOf(act1))
			},
			fail: []string{"P4-002", "P4-012", "P4-027", "P4-029", "P4-042"},
		},
		"an app shell, filled by scripts": {
			make: func(w *world) {
				for _, act := range []string{act1, act2, decree} {
					w.crawler[act] = w.answers[act]
					w.set(act, "text/html", `<!DOCTYPE html><div id="root"></div><script src="/app.js"></script>`)
				}
			},
			fail: []string{"P4-002", "P4-041"},
		},
		"media types as literals, a comma in the namespace": {
			make: func(w *world) {
				w.edit(act1, `<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf">PDF</a>`, `<span property="eli:media_type">application/pdf</span>`)
				w.edit(act2, "ontology#", "ontology#,")
			},
			fail: []string{"P4-045"}, warn: []string{"P4-046", "P4-082"},
		},
		"a sitemap of plain text": {
			make: func(w *world) { w.set(sitemapURL, "text/plain", act1+"\n"+act2+"\n"+decree+"\n") },
			fail: []string{"P4-011", "P4-030"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.make(w)
			r := w.check()
			assert.Equal(t, test.fail, statuses(r, fail), w.found)
			assert.Equal(t, test.warn, statuses(r, warn), w.found)
		})
	}
}

// TestReasons checks why rules are not checked.
func TestReasons(t *testing.T) {
	const permissions = "P4-028 P4-037 P4-057 P4-083"
	for name, test := range map[string]struct {
		make func(w *world)
		want map[conformance.Reason]string
	}{
		"a first visit": {make: func(*world) {}, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032",
		}},
		"files": {make: func(w *world) { w.files() }, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032", conformance.NeedsHuman: "P4-027",
			conformance.NeedsHTTP: "P4-002 P4-021 P4-024 P4-029 P4-036 P4-038 P4-039 P4-040 P4-041 P4-042 P4-043 P4-044 P4-045 P4-046 P4-064 P4-065 P4-068 P4-080 P4-081 P4-082",
		}},
		"files whose URLs are known": {make: func(w *world) {
			w.files()
			w.Sitemap.URL, w.Feed.URL, w.Registry = sitemapURL, feedURL, nil
		}, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032", conformance.NeedsHuman: "P4-027",
			conformance.NeedsHTTP:     "P4-002 P4-029 P4-038 P4-040 P4-041 P4-042 P4-043 P4-044 P4-045 P4-046 P4-065 P4-080 P4-081 P4-082",
			conformance.NeedsRegistry: "P4-039 P4-068",
		}},
		"no sample, not for people": {make: func(w *world) { w.Sample, w.Human = -1, false }, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032", conformance.NeedsHuman: "P4-027 P4-071",
			conformance.NeedsPages: "P4-002 P4-029 P4-040 P4-041 P4-042 P4-043 P4-044 P4-045 P4-046 P4-080 P4-081 P4-082",
		}},
		"no page is there": {make: func(w *world) {
			for _, act := range []string{act1, act2, decree} {
				delete(w.answers, act)
			}
		}, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032", conformance.NeedsHuman: "P4-027",
			conformance.NeedsPages: "P4-029 P4-041 P4-042 P4-043 P4-044 P4-045 P4-046 P4-080 P4-081 P4-082",
		}},
		"no format without is_exemplified_by": {make: func(w *world) {
			for _, act := range []string{act1, act2, decree} {
				w.edit(act, `<a rel="eli:media_type"`, `<a rel="eli:is_exemplified_by" href="`+act+`.pdf"></a><a rel="eli:media_type"`)
				w.set(act+".pdf", "application/pdf", "%PDF-1.7")
			}
		}, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003 P4-032", conformance.NeedsPages: "P4-081",
		}},
		"an index whose files were not given": {make: func(w *world) {
			w.files()
			w.index(part1)
		}, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions, conformance.NeedsVisit: "P4-003",
			conformance.NeedsHTTP:     "P4-002 P4-021 P4-029 P4-036 P4-038 P4-039 P4-040 P4-041 P4-042 P4-043 P4-044 P4-045 P4-046 P4-064 P4-065 P4-068 P4-080 P4-081 P4-082",
			conformance.NeedsDocument: "P4-018 P4-020 P4-022 P4-023 P4-024 P4-025 P4-026 P4-030 P4-032 P4-066 P4-067 P4-069 P4-070",
			conformance.NeedsHuman:    "P4-027",
		}},
		"no sitemap": {make: func(w *world) { w.Sitemap = conformance.Input{} }, want: map[conformance.Reason]string{
			conformance.CannotFail: permissions,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.make(w)
			got := make(map[conformance.Reason][]string)
			for _, row := range w.check().Rules {
				if row.Status == conformance.NotChecked {
					assert.NotEmpty(t, row.Reason, row.ID)
					assert.NotEmpty(t, row.Why, row.ID)
					got[row.Reason] = append(got[row.Reason], row.ID)
				}
			}
			for reason, ids := range test.want {
				assert.Equal(t, ids, strings.Join(got[reason], " "), reason)
			}
			if name != "no sitemap" {
				assert.ElementsMatch(t, slices.Collect(maps.Keys(test.want)), slices.Collect(maps.Keys(got)))
			}
		})
	}
}

// TestIndexOfFiles checks an index with files that are given, missing and damaged.
func TestIndexOfFiles(t *testing.T) {
	w := newWorld(t)
	w.files()
	w.index(part1, host+"/eli/sitemap2.xml", host+"/eli/sitemap3.xml", host+"/eli/sitemap4.xml")
	open := func(body string) (conformance.Input, error) {
		return conformance.Input{Name: "part.xml", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }}, nil
	}
	w.Part = func(loc string) (conformance.Input, error) {
		switch loc {
		case part1:
			return open(w.answers[part1].body)
		case host + "/eli/sitemap2.xml":
			return open(sitemapHead + urlOf(host+"/eli/act/2026/7", "2026-03-01"))
		case host + "/eli/sitemap3.xml":
			return conformance.Input{}, errors.New("permission denied")
		}
		return conformance.Input{}, websync.ErrNotFound
	}
	r := w.check()
	require.Len(t, r.Parts, 2)
	assert.Equal(t, 3, r.Parts[0].Entries)
	assert.Equal(t, part1, r.Parts[0].URL)
	assert.NotEmpty(t, r.Parts[1].Error)
	assert.Equal(t, []string{"P4-010", "P4-015"}, statuses(r, fail), w.found)
	got := row(t, r, "P4-018")
	assert.Contains(t, got.Note, "part.xml could not be read to the end.")
	assert.Contains(t, got.Note, "sitemap4.xml was not given.")
	assert.Contains(t, fmt.Sprint(row(t, r, "P4-015").Examples), "permission denied")
}

func TestMaxFindings(t *testing.T) {
	for limit, want := range map[int]int{0: 100, 7: 7, -1: 240} {
		w := newWorld(t)
		w.Sample, w.MaxFindings = -1, limit
		for i := range 240 {
			w.add(sitemapURL, urlOf(fmt.Sprintf("%s/eli/a/%d", host, i), "yesterday"))
		}
		r := w.check()
		n := 0
		for _, f := range w.found {
			if f.Rule == "P4-031" {
				n++
			}
		}
		assert.Equal(t, want, n)
		assert.Equal(t, 240, row(t, r, "P4-031").Errors)
	}
}

func TestWrongChecker(t *testing.T) {
	for _, c := range []conformance.Checker{
		{Sitemap: conformance.Input{Name: "sitemap.xml"}},
		{Sitemap: conformance.Input{Name: sitemapURL}},
		{Feed: conformance.Input{Name: "feed.atom"}, Fetcher: newWorld(t).fetcher(nil)},
	} {
		_, err := c.Check(t.Context())
		require.ErrorContains(t, err, "needs Input.Open, or a URL and Checker.Fetcher")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newWorld(t).Check(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestVisits checks one publisher three times, with the profile of each visit stored.
func TestVisits(t *testing.T) {
	w := newWorld(t)
	w.Now = now.AddDate(0, 0, -3)
	w.set(sitemapURL, "", sitemapHead+urlOf(decree, "2026-01-05")+urlOf(act2, "2026-03-06")+"</urlset>")
	w.set(feedURL, "", strings.Replace(feedHead, "2026-03-08T16:20:00Z", "2026-03-06T09:00:00Z", 1)+
		entryOf(act2, "Second act", "2026-03-06T09:00:00Z")+entryOf(decree, "Decree", "2026-01-05T09:00:00Z")+"</feed>")
	first := w.check()
	assert.Empty(t, statuses(first, fail, warn), w.found)

	var stored bytes.Buffer
	require.NoError(t, first.Profile.Write(&stored))
	testkit.Golden(t, "testdata/profile.json", stored.Bytes())
	last, err := conformance.ReadProfile(&stored)
	require.NoError(t, err)
	assert.Equal(t, first.Profile, last)

	next := newWorld(t)
	next.Last = last
	second := next.check()
	assert.Empty(t, statuses(second, fail, warn), next.found)
	assert.Equal(t, []string{"P4-028", "P4-037", "P4-057", "P4-083"}, statuses(second, conformance.NotChecked))
	assert.Contains(t, second.Sample[:2], decree, "pages of the last visit are visited again")

	next.Last = second.Profile
	next.edit(decree, "The act of", "The amended act of")
	third := next.check()
	assert.Equal(t, []string{"P4-032"}, statuses(third, fail))
}

// TestLeft: a page of the last visit is visited again only while the sitemap lists it.
func TestLeft(t *testing.T) {
	w := newWorld(t)
	w.visited(1)
	w.edit(sitemapURL, urlOf(decree, "2026-01-05"), "")
	delete(w.answers, decree)
	r := w.check()
	assert.ElementsMatch(t, []string{act1, act2}, r.Sample)
	assert.Equal(t, conformance.Pass, row(t, r, "P4-040").Status)
}

func TestReadProfile(t *testing.T) {
	for text, want := range map[string]error{
		"": websync.ErrNotDocument, "{}": websync.ErrNotDocument, `{"version":2}`: websync.ErrNotDocument, "<html>": websync.ErrNotDocument,
		`{"version":1,"visited":"soon"}`: websync.ErrNotDocument, strings.Repeat(" ", 5<<20): websync.ErrLimit,
		`{"version":1}`: nil,
	} {
		_, err := conformance.ReadProfile(strings.NewReader(text))
		if want == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, want)
		}
	}
	_, err := conformance.ReadProfile(testkit.ReadFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.ErrorIs(t, new(conformance.Profile).Write(failing{}), io.ErrClosedPipe)
}

func TestReadRegistry(t *testing.T) {
	pairs, err := conformance.ReadRegistry(strings.NewReader("\ufeffSitemap;Feed\r\n# a comment\n\n" +
		"http://a.example/eli/sitemap.xml http://a.example/eli/eli-update-feed.atom\r\n" +
		`"http://b.example/s.xml";"http://b.example/f.atom"` + "\nhttp://c.example/s.xml,\thttp://c.example/f.atom"))
	require.NoError(t, err)
	assert.Equal(t, []conformance.Pair{
		{Sitemap: "http://a.example/eli/sitemap.xml", Feed: "http://a.example/eli/eli-update-feed.atom"},
		{Sitemap: "http://b.example/s.xml", Feed: "http://b.example/f.atom"},
		{Sitemap: "http://c.example/s.xml", Feed: "http://c.example/f.atom"},
	}, pairs)
	for _, text := range []string{"a\nb", "http://a.example/\n\nhttp://a.example/", "x\nhttp://a/ http://b/ http://c/"} {
		_, err := conformance.ReadRegistry(strings.NewReader(text))
		require.ErrorContains(t, err, "must be the URLs of a sitemap and of its feed")
	}
	pairs, err = conformance.ReadRegistry(strings.NewReader(""))
	require.NoError(t, err)
	assert.NotNil(t, pairs, "an empty registry is one")
	_, err = conformance.ReadRegistry(strings.NewReader(strings.Repeat("x", 1<<20)))
	require.Error(t, err)
	w := newWorld(t)
	w.Registry = pairs
	assert.Equal(t, []string{"P4-039", "P4-068"}, statuses(w.check(), fail))
}

// TestURN checks ids of feeds (P4-056).
func TestURN(t *testing.T) {
	for id, want := range map[string]conformance.Status{
		"urn:law-example:eli:eli-update-feed":     conformance.Pass,
		"urn:law-exampleeli:eli-update-feed":      conformance.Pass, // as the prose has it
		"urn:law-example:oj:eli:eli-update-feed":  conformance.Pass, // of one of several feeds
		"urn:LAW-example:eli:eli-update-feed":     conformance.Pass,
		"urn:law.example:eli:eli-update-feed":     warn,
		"urn:www-law-example:eli:eli-update-feed": warn,
		"urn:eli:eli-update-feed":                 warn,
		"tag:law.example,2026:eli-update-feed":    warn,
	} {
		w := newWorld(t)
		w.edit(feedURL, "urn:law-example:eli:eli-update-feed", id)
		r := w.check()
		assert.Equal(t, want, row(t, r, "P4-056").Status, id)
		assert.Equal(t, conformance.Pass, row(t, r, "P4-055").Status, id)
	}
}

// TestJSON checks the form of a Result, which is stable.
func TestJSON(t *testing.T) {
	got, err := json.MarshalIndent(faulty(t).check(), "", "  ")
	require.NoError(t, err)
	testkit.Golden(t, "testdata/report/faulty.json", append(got, '\n'))
	assert.False(t, bytes.Contains(got, []byte("hunter2")), "no secrets")
}

// The findings that are made at the end count for the file in which the entry is, too.
func TestPartCounts(t *testing.T) {
	w := newWorld(t)
	w.index(part1)
	w.edit(part1, act1, "http://www.law.example/eli/act/2026/1")
	w.Sample = -1
	r := w.check()
	require.Len(t, r.Parts, 1)
	assert.Equal(t, 3, r.Parts[0].Errors, "P4-022, P4-023, P4-024")
}
