package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// pointing returns a source that is a page of a host, which names a document as its own.
// HOST in its settings is that host.
func pointing(t *testing.T, to, name, settings string) (url, source string) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="alternate" type="application/atom+xml" href="%s">`, to)
	}))
	t.Cleanup(page.Close)
	host := strings.Replace(page.URL, "127.0.0.1", name, 1)
	return host + "/page", fmt.Sprintf(`{"url": "%s/page", "every": "never"%s}`, host, strings.ReplaceAll(settings, "HOST", host))
}

// scoped are settings that leave a source the ids on its own host.
const scoped = `, "scope": ["HOST/"]`

// TestOthersSource: a source that leads to the document of another source takes nothing
// of that, wherever it stands in the configuration, and does not lift its quarantine.
func TestOthersSource(t *testing.T) {
	for name, sources := range map[string]string{
		"before the other": `%[2]s, {"url": %[1]q, "protocol": "atom", "every": "10ms", "interval": "0s"}`,
		"after it":         `{"url": %[1]q, "protocol": "atom", "every": "10ms", "interval": "0s"}, %[2]s`,
		"on its host":      `%[2]s, {"url": %[1]q, "protocol": "atom", "every": "10ms", "interval": "0s"}`,
		"quarantined":      `{"url": %[1]q, "protocol": "atom", "quarantined": true}, %[2]s`,
	} {
		t.Run(name, func(t *testing.T) {
			u, own := newUpstream(t, "atom"), newUpstream(t, "atom")
			u.put("a.txt", "a")
			own.put("own.txt", "own")
			host := "localhost"
			if name == "on its host" {
				host = "127.0.0.1"
			}
			url, other := pointing(t, u.entry, host, scoped)
			all := fmt.Sprintf(`{"url": %q, "protocol": "atom", "every": "10ms", "interval": "0s"}, `, own.entry) + fmt.Sprintf(sources, u.entry, other)
			r := startRelay(t, 1, "-store=mem", "-as=atom", "-allow-private", configured(t, `{"sources": [%s]}`, all))
			said := fmt.Sprintf("relay: %s leads to %s, which is and remains a source of %s\n", url, u.entry, u.entry)
			eventually(t, func() bool { return strings.Contains(r.stderr.String(), said) }, r.stderr)
			published := []*upstream{own, u}
			if name == "quarantined" {
				published = []*upstream{own}
			}
			reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
			reader.harvester.MaxDelete = -1
			reader.follows(t, published...)
			u.put("b.txt", "b")
			own.put("own.txt", "changed")
			reader.follows(t, published...)
		})
	}
}

// TestOthersSourceTaken: what another host has led to becomes a source of its own host's
// URL as soon as that is in the configuration, and stays that after a restart.
func TestOthersSourceTaken(t *testing.T) {
	u := newUpstream(t, "atom")
	u.put("a.txt", "a")
	url, other := pointing(t, u.entry, "localhost", scoped)
	r := newReloading(t, other)
	eventually(t, func() bool { return strings.Contains(r.stderr.String(), "relay: "+u.entry+": 1 created") }, r.stderr)
	r.reader.follows(t)

	own := fmt.Sprintf(`{"url": %q, "every": "10ms", "interval": "0s"}`, u.url)
	r.write(other, own)
	r.hangUp("1 source came, 0 went")
	r.reader.follows(t, u)
	u.put("b.txt", "b")
	r.reader.follows(t, u)
	_, stdout, _ := quarantineNow(t, "-store=sqlite:"+r.file, u.entry)
	assert.Equal(t, u.url+"\n", stdout, "the quarantine is of its own URL")
	r.reader.follows(t)
	quarantineNow(t, "-store=sqlite:"+r.file, "-lift", u.entry)
	r.reader.follows(t, u)
	assert.NotContains(t, r.stderr.String(), "remains")

	r.write(own)
	r.hangUp("0 sources came, 1 went")
	u.put("c.txt", "c")
	r.reader.follows(t, u)
	r.write(other, own)
	r.stop()
	r.start()
	eventually(t, func() bool {
		return strings.Contains(r.stderr.String(), url+" leads to "+u.entry+", which is and remains a source of "+u.url+"\n")
	}, r.stderr)
	u.put("d.txt", "d")
	r.reader.follows(t, u)
}

// TestOthersHost: a page that leads through another host to a feed has no more right to
// ids on that host than anybody else has.
func TestOthersHost(t *testing.T) {
	first, second := newUpstream(t, "atom"), newUpstream(t, "atom")
	host := httptest.NewServer(http.RedirectHandler(second.entry, http.StatusFound))
	defer host.Close()
	state := func(u *upstream, text string) {
		e := u.putting("a.txt", text)
		e.Resource.ID = host.URL + "/a"
		u.commit(e)
	}
	state(first, "first")
	state(second, "second")
	second.put("b.txt", "b")
	_, source := pointing(t, host.URL+"/feed", "localhost", "")
	r := newReloading(t, fmt.Sprintf(`{"url": %q, "protocol": "atom"}`, first.entry))
	r.reader.follows(t, first)
	r.write(fmt.Sprintf(`{"url": %q, "protocol": "atom"}`, first.entry), source)
	r.hangUp("1 source came, 0 went")
	eventually(t, func() bool {
		all := texts(t, r.reader.store)
		return r.reader.run(t) && all[second.url+"b.txt"] == "b" && all[host.URL+"/a"] == "first"
	}, r.stderr)
}

// TestSharedQuota: the sets to which one URL leads fill no more of the store than one
// may.
func TestSharedQuota(t *testing.T) {
	var sets strings.Builder
	var ups []*upstream
	for i := range 3 {
		u := newUpstream(t, "resourcesync")
		for n := range 2 {
			u.put(fmt.Sprint(i, n, ".txt"), "text")
		}
		fmt.Fprintf(&sets, `<url><loc>%s</loc><rs:md capability="capabilitylist"/></url>`, u.entry)
		ups = append(ups, u)
	}
	description := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != resourcesync.WellKnown {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
			<rs:md capability="description"/>%s</urlset>`, &sets)
	}))
	defer description.Close()
	r := startRelay(t, 1, "-allow-private", configured(t, `{"store": "mem", "publish": [{"protocol": "atom"}],
		"sources": [{"url": %q, "protocol": "resourcesync", "every": "10ms", "interval": "0s", "quota": {"records": 3}}]}`,
		description.URL+resourcesync.WellKnown))
	for _, u := range ups {
		eventually(t, func() bool { return strings.Contains(r.stderr.String(), "relay: "+u.entry+": ") }, r.stderr)
	}
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	eventually(t, func() bool { return reader.run(t) && len(texts(t, reader.store)) >= 3 }, r.stderr)
	assert.Len(t, texts(t, reader.store), 3)
	assert.Contains(t, r.stderr.String(), "3 of at most 3 records are taken")
}
