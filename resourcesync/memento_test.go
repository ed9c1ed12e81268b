package resourcesync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
)

// The names of Example 29 of the specification.
const (
	version  = www + "20130103180000/res1"
	timeGate = www + "timegate/" + www + "res1"
	timeMap  = www + "timemap/" + www + "res1"
)

// changedAt is the lastmod of Example 29, and changedHTTP the same in a header.
const (
	changedAt   = "2013-01-03T18:00:00Z"
	changedHTTP = "Thu, 03 Jan 2013 18:00:00 GMT"
)

// versioned returns the entry of res1 with links to its versions.
func versioned(md string, links ...string) string {
	return "<url><loc>" + www + "res1</loc><lastmod>" + changedAt + "</lastmod><rs:md " + md + "/>" + strings.Join(links, "") + "</url>"
}

func toVersion(more string) string { return linkTo("memento", version, more) }

var (
	toGate = linkTo("timegate", timeGate, "")
	toMap  = linkTo("timemap", timeMap, `type="application/link-format"`)
)

// gateOf is a hook: a TimeGate that redirects to versions by their times.
func gateOf(t *testing.T, at string, answer sourcetest.Document) func(*harvest.Request, sourcetest.Document) sourcetest.Document {
	return func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
		if req.URL != timeGate {
			assert.Empty(t, req.Header, req.URL)
			return doc
		}
		assert.Equal(t, map[string][]string{"Accept-Datetime": {at}}, req.Header)
		assert.Zero(t, req.Validator, "a version of another time may have it")
		return answer
	}
}

func dated(text, at string) sourcetest.Document {
	return sourcetest.Document{Body: text, ETag: `"v"`, Header: map[string][]string{"Memento-Datetime": {at}}}
}

// TestVersions follows Example 29 of the specification.
func TestVersions(t *testing.T) {
	stated := hashOf("announced")
	for _, test := range []struct {
		name     string
		versions resourcesync.Versions
		entry    string
		docs     map[string]string
		gate     sourcetest.Document
		text     string // empty: the attempt fails
		asked    []string
	}{
		{"the latest", resourcesync.LatestVersion, versioned(stated, toVersion(""), toGate), map[string]string{"res1": "announced", version: "announced"}, dated("", ""), "announced", []string{"200 res1"}},
		{"it has changed again: the memento", resourcesync.LatestVersion, versioned(stated, toVersion(""), toGate), map[string]string{"res1": "later", version: "announced"}, dated("", ""), "announced", []string{"200 res1", "200 " + version}},
		{"it has changed again, and the memento is another one: the TimeGate", resourcesync.LatestVersion, versioned(stated, toVersion(""), toGate), map[string]string{"res1": "later", version: "other"}, dated("announced", changedHTTP), "announced", []string{"200 res1", "200 " + version, "200 " + timeGate}},
		{"it has changed again: no versions", resourcesync.LatestVersion, versioned(stated), map[string]string{"res1": "later"}, dated("", ""), "", []string{"200 res1"}},
		{"it has changed again: the TimeGate has another version", resourcesync.LatestVersion, versioned(stated, toGate), map[string]string{"res1": "later"}, dated("other", changedHTTP), "", []string{"200 res1", "200 " + timeGate}},
		{"without a digest there is nothing to compare", resourcesync.LatestVersion, versioned("", toVersion(""), toGate), map[string]string{"res1": "later", version: "announced"}, dated("", ""), "later", []string{"200 res1"}},
		{"the memento", resourcesync.AnnouncedVersion, versioned(stated, toVersion(""), toGate), map[string]string{"res1": "later", version: "announced"}, dated("", ""), "announced", []string{"200 " + version}},
		{"the memento states the digest", resourcesync.AnnouncedVersion, versioned("", toVersion(stated), toGate), map[string]string{"res1": "later", version: "other"}, dated("", ""), "later", []string{"200 " + version, "200 " + timeGate, "200 res1"}},
		{"the memento is gone: the TimeGate", resourcesync.AnnouncedVersion, versioned(stated, toVersion(""), toGate), map[string]string{"res1": "later"}, dated("announced", changedHTTP), "announced", []string{"404 " + version, "200 " + timeGate}},
		{"the TimeGate redirects", resourcesync.AnnouncedVersion, versioned(stated, toGate), map[string]string{"res1": "later"}, sourcetest.Document{Location: www + "v/announced"}, "announced", []string{"200 " + timeGate}},
		{"the TimeGate redirects in circles", resourcesync.AnnouncedVersion, versioned(stated, toGate), map[string]string{"res1": "announced"}, sourcetest.Document{Location: timeGate + "#"}, "announced", []string{"404 " + timeGate, "200 res1"}},
		{"the TimeGate does not negotiate", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, sourcetest.Document{Body: "<html>"}, "now", []string{"200 " + timeGate, "200 res1"}},
		{"the TimeGate has an unreadable time", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, dated("x", "2013-01-03"), "now", []string{"200 " + timeGate, "200 res1"}},
		{"the TimeGate has an older version", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, dated("x", "Thu, 03 Jan 2013 17:59:59 GMT"), "now", []string{"200 " + timeGate, "200 res1"}},
		{"the TimeGate has the same bytes under an older time", resourcesync.AnnouncedVersion, versioned(stated, toGate), map[string]string{"res1": "now"}, dated("announced", "Thu, 03 Jan 2013 17:59:59 GMT"), "announced", []string{"200 " + timeGate}},
		{"the TimeGate answers 406", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, sourcetest.Document{Status: 406}, "now", []string{"406 " + timeGate, "200 res1"}},
		{"the TimeGate answers 400", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, sourcetest.Document{Status: 400}, "now", []string{"400 " + timeGate, "200 res1"}},
		{"the TimeGate is busy", resourcesync.AnnouncedVersion, versioned("", toGate), map[string]string{"res1": "now"}, sourcetest.Document{Status: 503}, "", []string{"503 " + timeGate}},
		{"no versions", resourcesync.AnnouncedVersion, versioned(""), map[string]string{"res1": "now"}, dated("", ""), "now", []string{"200 res1"}},
		{"not on the web", resourcesync.AnnouncedVersion, versioned("", linkTo("memento", "ftp://x.example/1", "")), map[string]string{"res1": "now"}, dated("", ""), "now", []string{"200 res1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLinked(t)
			l.source.Versions = test.versions
			l.set(listOf(test.entry))
			l.set(test.docs)
			l.site[www+"v/announced"] = dated("announced", changedHTTP)
			l.hook = gateOf(t, changedHTTP, test.gate)
			report := l.run()
			for i := range test.asked {
				test.asked[i] = strings.Replace(test.asked[i], " "+www, " ", 1)
			}
			assert.Equal(t, test.asked, l.asked)
			if test.text == "" {
				assert.False(t, report.InStep())
				assert.Empty(t, l.live())
				return
			}
			assert.True(t, report.InStep())
			assert.Equal(t, map[string]string{"res1": test.text}, l.live())
			l.run()
			assert.Empty(t, l.asked, "nothing is new")
		})
	}
}

// TestRefusedVersionLeavesNoValidator checks that the bytes of a later version, which
// were refused, do not pass for those that are held.
func TestRefusedVersionLeavesNoValidator(t *testing.T) {
	l := newLinked(t)
	l.set(listOf(versioned(hashOf("announced"), toGate)))
	l.site[www+"res1"] = sourcetest.Document{Body: "later", ETag: `"later"`}
	l.hook = gateOf(t, changedHTTP, dated("announced", changedHTTP))
	require.True(t, l.run().InStep())
	require.Equal(t, map[string]string{"res1": "announced"}, l.live())
	record := l.record("res1")
	assert.Equal(t, timeGate, record.Bodies[0].Link.Href, "where the bytes are from")
	l.changes(strings.Replace(versioned(`change="updated" datetime="2025-02-01T00:00:00Z"`), changedAt, "2025-02-01T00:00:00Z", 1))
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "later"}, l.live())
}

// TestAcceptDatetime checks which version of a resource a TimeGate is asked for.
func TestAcceptDatetime(t *testing.T) {
	for lastmod, want := range map[string]string{
		"2013-01-03T18:00:00+01:00":  "Thu, 03 Jan 2013 17:00:00 GMT",
		"2013-01-03T18:00:00.5Z":     "Thu, 03 Jan 2013 18:00:01 GMT",
		"2013-01-03T18:00:00.000Z":   "Thu, 03 Jan 2013 18:00:00 GMT",
		"2013-01-03T18:00Z":          "Thu, 03 Jan 2013 18:00:59 GMT",
		"2013-01-03":                 "Thu, 03 Jan 2013 23:59:59 GMT",
		"2013-12":                    "Tue, 31 Dec 2013 23:59:59 GMT",
		"2013-01-03T18:00:00.00001Z": "Thu, 03 Jan 2013 18:00:01 GMT",
	} {
		l := newLinked(t)
		l.source.Versions = resourcesync.AnnouncedVersion
		l.set(listOf(strings.Replace(versioned(hashOf("x"), toGate), changedAt, lastmod, 1)))
		l.hook = gateOf(t, want, dated("x", want))
		assert.True(t, l.run().InStep(), lastmod)
	}
}

// mementos returns the links of a TimeMap, by their times.
func mementos(links ...string) (text string) {
	for i, link := range links {
		text += fmt.Sprintf(",\n <%s>; rel=\"memento\"; datetime=\"Thu, 0%d Jan 2013 18:00:00 GMT\"", link, i%9+1)
	}
	return text
}

const mapHead = "<" + www + "res1>;rel=\"original\",\n<" + timeMap + ">; rel=\"self\"; type=\"application/link-format\",\n<" + timeGate + ">; rel=\"timegate\""

func toPage(n int) string {
	return fmt.Sprintf(",\n<%s%d>; rel=\"timemap\"; type=\"application/link-format\"; from=\"Thu, 01 Jan 2013 18:00:00 GMT\"", timeMap, n)
}

func newHistory(t *testing.T, entries ...string) *linked {
	l := newLinked(t)
	l.source.Versions = resourcesync.EveryVersion
	l.set(listOf(entries...))
	l.set(map[string]string{"res1": "now", "v1/res1": "1", "v2/res1": "2", "v3/res1": "3", "v4/res1": "4", "res2": "second"})
	return l
}

func TestEveryVersion(t *testing.T) {
	l := newHistory(t, versioned("", toMap))
	l.set(map[string]string{timeMap: mapHead + `, </v1/res1>; rel="first memento"; type="text/html"; datetime="Tue, 01 Jan 2013 18:00:00 GMT"` +
		`, <` + www + `v2/res1>; rel="last memento"; datetime="Wed, 02 Jan 2013 18:00:00 GMT"`})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "now", "v1/res1": "1", "v2/res1": "2"}, l.live())
	assert.Empty(t, l.findings)
	record := l.record("v1/res1")
	assert.Equal(t, "2013-01-01T18:00:00Z", record.Resource.Modified.String())
	assert.Equal(t, "text/html", record.Resource.Content.Type)
	original, _ := record.Resource.Link("original")
	assert.Equal(t, websync.Link{Rel: "original", Href: www + "res1"}, original)
	l.run()
	assert.Empty(t, l.asked, "without a change no TimeMap is read")

	l.set(map[string]string{timeMap: mapHead + mementos(www+"v1/res1", www+"v2/res1", www+"v3/res1"), "res1": "new"})
	change := strings.Replace(versioned(`change="updated" datetime="2025-02-01T00:00:00Z"`, toMap), changedAt, "2025-02-01T00:00:00Z", 1)
	l.changes(change, strings.ReplaceAll(change, "02-01", "02-02"))
	require.True(t, l.run().InStep())
	assert.ElementsMatch(t, []string{"200 timemap/" + www + "res1", "200 res1", "200 v3/res1"}, l.asked, "one TimeMap, and what is new")
	assert.Equal(t, map[string]string{"res1": "new", "v1/res1": "1", "v2/res1": "2", "v3/res1": "3"}, l.live())

	l.h.Full = true
	require.True(t, l.run().InStep())
	assert.Len(t, l.live(), 4, "a baseline does not delete mementos")
	l.set(map[string]string{timeMap: mapHead + mementos(www+"v2/res1", www+"v3/res1")})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "new", "v2/res1": "2", "v3/res1": "3"}, l.live(), "what the TimeMap no longer names is deleted")

	delete(l.site, timeMap)
	report := l.run()
	assert.False(t, report.InStep())
	require.NotEmpty(t, report.Problems)
	assert.Contains(t, report.Problems[0].Error, timeMap)
	assert.Len(t, l.live(), 3, "in doubt nothing is deleted")
}

// TestEveryVersionByLinks checks a publisher without TimeMaps, whose changes each have a
// link to their version.
func TestEveryVersionByLinks(t *testing.T) {
	entry := func(n int, links string) string {
		md := fmt.Sprintf(`change="updated" datetime="2025-02-0%dT00:00:00Z" %s`, n, hashOf(fmt.Sprint(n)))
		return strings.Replace(versioned(md, links), changedAt, fmt.Sprintf("2025-02-0%dT00:00:00Z", n), 1)
	}
	to := func(n int) string { return linkTo("memento", fmt.Sprintf("%sv%d/res1", www, n), "") }
	l := newHistory(t, versioned(hashOf("1"), to(1), linkTo("timemap", timeMap, `type="application/json"`)))
	l.changes(entry(2, to(2)), entry(3, to(3)))
	l.set(map[string]string{"res1": "3"})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "3", "v1/res1": "1", "v2/res1": "2", "v3/res1": "3"}, l.live(), "also of a change that another one follows")
	record := l.record("v2/res1")
	assert.Equal(t, "2025-02-02T00:00:00Z", record.Resource.Modified.String())
	assert.Len(t, record.Resource.Content.Digests, 1)
	l.changes(strings.Replace(entry(4, to(4)), "updated", "deleted", 1))
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"v1/res1": "1", "v2/res1": "2", "v3/res1": "3"}, l.live())
}

func TestTimeMapPages(t *testing.T) {
	l := newHistory(t, versioned("", toMap))
	l.set(map[string]string{
		timeMap:       mapHead + toPage(1) + toPage(2) + `,<x.json>;rel=timemap;type="application/json",<urn:x>;rel=timemap`,
		timeMap + "1": mapHead + toPage(2) + toPage(1) + mementos(www+"v1/res1"),
		timeMap + "2": mapHead + toPage(3) + mementos(www+"v2/res1"),
		timeMap + "3": mapHead + toPage(1) + mementos(www+"v3/res1", www+"v1/res1"),
	})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "now", "v1/res1": "1", "v2/res1": "2", "v3/res1": "3"}, l.live())
	maps := 0
	for _, asked := range l.asked {
		if strings.Contains(asked, "timemap") {
			maps++
		}
	}
	assert.Equal(t, 4, maps, "each page is read once")
}

// TestHostileTimeMaps checks what a TimeMap may not do. Nothing of v1/res1, which an
// earlier TimeMap named, may be deleted meanwhile.
func TestHostileTimeMaps(t *testing.T) {
	endless := func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
		if !strings.HasPrefix(req.URL, timeMap) {
			return doc
		}
		return sourcetest.Document{Body: mapHead + ", <" + req.URL + "x>; rel=timemap"}
	}
	for name, test := range map[string]struct {
		docs    map[string]string
		hook    func(*harvest.Request, sourcetest.Document) sourcetest.Document
		finding string
		problem bool
	}{
		"HTML":                {map[string]string{timeMap: "<!DOCTYPE html><html><p>Sign in</p></html>"}, nil, "link-format", true},
		"empty":               {map[string]string{timeMap: ""}, nil, "no link original", true},
		"of another resource": {map[string]string{timeMap: strings.Replace(mapHead, "res1", "res2", 1) + mementos(www+"v2/res1")}, nil, "which must be one of", true},
		"cut":                 {map[string]string{timeMap: mapHead + mementos(www+"v1/res1", www+"v2/res1")[:100]}, nil, "the document ends in a link", true},
		"a page is missing":   {map[string]string{timeMap: mapHead + toPage(1) + mementos(www+"v2/res1")}, nil, "status 404", true},
		"pages without end":   {nil, endless, "more than 1000 pages", false},
		"of another host":     {map[string]string{timeMap: mapHead + mementos("https://victim.example/", "urn:x", "ftp://example.org/x")}, nil, "3 mementos that are not on the host of the TimeMap", false},
		"an endless list":     {map[string]string{timeMap: mapHead + mementos(strings.Fields(strings.Repeat(www+"v2/res1 ", 40))...)}, nil, "more than 30 mementos", false},
		"a page that is known": {nil, func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
			switch req.URL {
			case timeMap:
				return sourcetest.Document{Body: mapHead + toPage(1) + toPage(2)}
			case timeMap + "1", timeMap + "2":
				return sourcetest.Document{Location: timeMap}
			}
			return doc
		}, "which is another document of the set", true},
		"an answer that may be cut": {nil, nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newHistory(t, versioned("", toMap))
			l.source.MaxMementos = 30
			l.set(map[string]string{timeMap: mapHead + mementos(www+"v1/res1")})
			require.True(t, l.run().InStep())
			l.set(test.docs)
			l.hook = test.hook
			l.cut = test.docs == nil && test.hook == nil
			l.h.Full = true
			report := l.run()
			assert.False(t, report.InStep())
			assert.Contains(t, l.live(), "v1/res1")
			text := strings.Join(l.findings, "\n")
			for _, p := range report.Problems {
				text += p.Error
			}
			assert.Contains(t, text, test.finding)
			assert.Equal(t, test.problem, len(report.Problems) > 0, report.Problems)
			assert.LessOrEqual(t, len(l.asked), 1010)

			l.h.Full = false
			l.changes(strings.Replace(versioned(`change="updated" datetime="2025-02-01T00:00:00Z"`, toMap), changedAt, "2025-02-01T00:00:00Z", 1))
			report = l.run()
			assert.False(t, report.InStep())
			assert.Equal(t, test.problem, len(report.Problems) > 0, report.Problems)
			assert.Equal(t, test.problem, report.Skipped == 0)

			l.hook, l.cut = nil, false
			l.set(map[string]string{timeMap: mapHead + mementos(www+"v1/res1", www+"v3/res1")})
			l.run()
			assert.Equal(t, test.problem, l.live()["v3/res1"] == "3", "a Problem is tried again in the next run")
		})
	}
}

// TestMementosTakeNoListedPlace checks that a memento is never taken for a resource that
// the set lists, whatever comes first.
func TestMementosTakeNoListedPlace(t *testing.T) {
	second := "<url><loc>" + www + "res2</loc><lastmod>2012-01-01T00:00:00Z</lastmod><rs:md " + hashOf("second") + "/></url>"
	for name, entries := range map[string][]string{"before": {second, versioned("", toMap)}, "after": {versioned("", toMap), second}} {
		t.Run(name, func(t *testing.T) {
			l := newHistory(t, append(entries, entryWith("v4/res1", hashOf("4"), ""))...)
			l.set(map[string]string{timeMap: mapHead + mementos(www+"v1/res1", www+"res1", www+"res2", www+"v4/res1") +
				",<http://example.org/res1>;rel=memento,<" + www + "res3>;rel=memento;datetime=\"Sat, 01 Mar 2025 18:00:00 GMT\"", "res3": "third"})
			l.changes(entryWith("res3", `change="created" datetime="2012-01-01T00:00:00Z"`, ""), // history, by its time
				entryWith("res3", `change="updated" datetime="2025-01-02T00:00:00Z" `+hashOf("third"), ""))
			require.True(t, l.run().InStep())
			assert.Equal(t, map[string]string{"res1": "now", "v1/res1": "1", "res2": "second", "res3": "third", "v4/res1": "4"}, l.live())
			check := func() {
				t.Helper()
				for _, name := range []string{"res1", "res2", "res3", "v4/res1"} {
					record := l.record(name)
					_, taken := record.Resource.Link("original")
					assert.False(t, taken, name)
				}
			}
			check()
			l.changes(strings.Replace(versioned(`change="updated" datetime="2025-02-01T00:00:00Z"`, toMap), changedAt, "2025-02-01T00:00:00Z", 1),
				entryWith("res2", `change="updated" datetime="2025-02-02T00:00:00Z" `+hashOf("second"), ""),
				entryWith("res3", `change="updated" datetime="2025-02-02T00:00:00Z" `+hashOf("third"), ""))
			require.True(t, l.run().InStep())
			check()
			before := l.record("v4/res1")
			l.changes(strings.Replace(versioned(`change="updated" datetime="2025-03-01T00:00:00Z"`, toMap), changedAt, "2025-03-01T00:00:00Z", 1))
			require.True(t, l.run().InStep())
			check()
			after := l.record("v4/res1")
			assert.Equal(t, before.Item, after.Item, "it is not in the log")
			l.h.Full = true
			require.True(t, l.run().InStep())
			check()
			assert.Equal(t, map[string]string{"res1": "now", "v1/res1": "1", "res2": "second", "res3": "third", "v4/res1": "4"}, l.live())
		})
	}
}

// TestEveryVersionOfMembers checks that only versions of what is yielded are yielded, and
// that they need not be included themselves.
func TestEveryVersionOfMembers(t *testing.T) {
	l := newHistory(t, versioned("", toMap), entryWith("res2", "", linkTo("memento", www+"v4/res1", "")))
	l.source.Include = func(uri string) bool { return uri == www+"res1" }
	l.set(map[string]string{timeMap: mapHead + mementos(www+"v1/res1")})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "now", "v1/res1": "1"}, l.live())
	l.source.Versions = resourcesync.AnnouncedVersion
	report := l.run()
	assert.NotNil(t, report.Guard, "another choice deletes nothing without approval")
}

func TestEveryVersionConformance(t *testing.T) {
	site := func(versions int, changes ...string) sourcetest.Site {
		l := newHistory(t, versioned("", toMap), entryWith("res2", "", linkTo("memento", www+"v4/res1", "")))
		l.changes(changes...)
		var links []string
		for i := range versions {
			links = append(links, fmt.Sprintf("%sv%d/res1", www, i+1))
		}
		l.set(map[string]string{timeMap: mapHead + toPage(1) + mementos(links[0]), timeMap + "1": mapHead + mementos(links[1:]...)})
		return l.site
	}
	changed := strings.Replace(versioned(`change="updated" datetime="2025-02-01T00:00:00Z"`, toMap), changedAt, "2025-02-01T00:00:00Z", 1)
	sourcetest.Run(t, sourcetest.Options{
		Bodies: harvest.SkipBodies,
		Source: func() harvest.Source {
			return &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}
		},
		Sites:     []sourcetest.Site{site(2), site(3, changed)},
		Store:     func(testing.TB) harvest.Store { return memstore.New() },
		Positions: 2,
		Tolerates: func(url string, f sourcetest.Failure) bool { return f == sourcetest.Mistaken },
	})
}
