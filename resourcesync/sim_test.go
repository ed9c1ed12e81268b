package resourcesync_test

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	www       = testkit.Base
	sourceURL = www + "capabilitylist.xml"
)

// A publisher is a simulated Source: what it has, and what it says of it.
type publisher struct {
	begin     time.Time // of the log
	now       time.Time
	latest    time.Time // that now was
	resources map[string]resource
	log       []event

	listed map[string]resource // as the Resource List has them
	at     time.Time           // of the Resource List
	logged int                 // changes before it

	perList  int  // changes in a list; the log is an index then. If zero, one list
	perPart  int  // resources in a part of the Resource List. If zero, it is one document
	dropped  int  // changes that no list has any more
	silent   bool // lists do not say so: their from stays
	rotates  bool // a single list is closed and replaced by another
	noTimes  bool // entries have none
	noFrom   bool // lists do not say from when on they are
	noChange bool // there is no Change List
	noList   bool // there is no Resource List
	dump     int  // resources in a package of the Resource Dump. If zero, there is none
	contents bool // dumps link to the manifests
	perPack  int  // changes in a package of the Change Dump. If zero, there is none
	noLog    bool // there is no Change List, only a Change Dump
}

type resource struct {
	text string
	time time.Time
}

type event struct {
	name, change string
	time         time.Time
	resource
}

func newPublisher() *publisher {
	begin := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	return &publisher{begin: begin, now: begin.Add(12 * time.Hour), resources: make(map[string]resource)}
}

// put creates or updates a resource; an empty text deletes it.
func (p *publisher) put(name, text string) {
	p.now = p.now.Add(time.Second)
	_, known := p.resources[name]
	e := event{name: name, change: "updated", time: p.now, resource: resource{text, p.now}}
	switch {
	case text == "":
		e.change = "deleted"
		delete(p.resources, name)
	case !known:
		e.change = "created"
	}
	if text != "" {
		p.resources[name] = e.resource
	}
	p.log = append(p.log, e)
}

// list makes a new Resource List.
func (p *publisher) list() {
	p.now = p.now.Add(time.Second)
	p.listed, p.at, p.logged = maps.Clone(p.resources), p.now, len(p.log)
}

// live lets a publisher change at random.
func (p *publisher) live(random *rand.Rand, first bool) {
	for range random.IntN(8) {
		text := fmt.Sprint("text ", random.IntN(1000))
		if random.IntN(4) == 0 {
			text = ""
		}
		p.put(fmt.Sprint("r", random.IntN(12)), text)
	}
	if first || p.noChange || random.IntN(4) == 0 {
		p.list()
	}
}

// mutate creates, updates or deletes one resource of about size.
func (p *publisher) mutate(random *rand.Rand, size int) {
	name, text := fmt.Sprint("r", random.IntN(size+size/4)), fmt.Sprint("text ", len(p.log), " at ", stamp(p.now))
	if _, known := p.resources[name]; known && random.IntN(3) == 0 {
		text = ""
	}
	p.put(name, text)
}

// jump sets the clock forward by up to a day, or back by up to half an hour from the
// latest time that it had, but not to before the log begins.
func (p *publisher) jump(random *rand.Rand) {
	if p.now.After(p.latest) {
		p.latest = p.now
	}
	if random.IntN(2) == 0 {
		p.now = p.now.Add(time.Duration(random.IntN(24*3600)) * time.Second)
		return
	}
	back := p.latest.Add(-time.Duration(random.IntN(1800)) * time.Second)
	if back.Before(p.now) && back.After(p.begin) {
		p.now = back
	}
}

// truncate drops some of the oldest changes: those that a new Resource List has or, if
// lists state when they begin, perhaps others.
func (p *publisher) truncate(random *rand.Rand) {
	p.dropped += random.IntN(len(p.log) - p.dropped)
	if p.silent || random.IntN(6) > 0 {
		p.list()
	}
}

// texts returns what a Store that is in step holds.
func (p *publisher) texts() map[string]string {
	texts := make(map[string]string)
	for name, r := range p.resources {
		texts[name] = r.text
	}
	return texts
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

const prologue = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func document(root, md, up string, entries ...string) string {
	if up != "" {
		up = `<rs:ln rel="up" href="` + www + up + `"/>`
	}
	return prologue + "<" + root + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">` +
		up + "<rs:md " + md + "/>" + strings.Join(entries, "\n") + "</" + root + ">\n"
}

func named(kind, path, md string) string {
	return "<" + kind + "><loc>" + www + path + "</loc><rs:md " + md + "/></" + kind + ">"
}

func (p *publisher) entry(name string, r resource) string {
	lastMod := ""
	if !p.noTimes {
		lastMod = "<lastmod>" + stamp(r.time) + "</lastmod>"
	}
	return fmt.Sprintf(`<url><loc>%s%s</loc>%s<rs:md hash="md5:%x" length="%d" type="text/plain"/></url>`, www, name, lastMod, md5.Sum([]byte(r.text)), len(r.text))
}

func (p *publisher) change(e event) string {
	md := fmt.Sprintf(`change=%q`, e.change)
	if !p.noTimes {
		md += fmt.Sprintf(` datetime=%q`, stamp(e.time))
	}
	if e.change != "deleted" {
		md += fmt.Sprintf(` hash="md5:%x" length="%d" type="text/plain"`, md5.Sum([]byte(e.text)), len(e.text))
	}
	return "<url><loc>" + www + e.name + "</loc><rs:md " + md + "/></url>"
}

// site returns what the publisher serves now.
func (p *publisher) site() sourcetest.Site {
	docs := make(map[string]string)
	for name, r := range p.resources {
		docs[name] = r.text
	}
	log := p.changeList(docs)
	if n := len(p.log); p.rotates && p.logged < n/p.perList*p.perList {
		p.list() // it must not be older than the one Change List that is named
	}
	p.resourceList(docs)
	capabilities := []string{named("url", "resourcelist.xml", `capability="resourcelist"`), named("url", log, `capability="changelist"`)}
	if p.noChange || p.noLog {
		capabilities = capabilities[:1]
	}
	if p.noList {
		capabilities = capabilities[1:]
	}
	if p.dump > 0 {
		p.resourceDump(docs)
		capabilities = append(capabilities, named("url", "resourcedump.xml", `capability="resourcedump"`))
	}
	if p.perPack > 0 {
		p.changeDump(docs)
		capabilities = append(capabilities, named("url", "changedump.xml", `capability="changedump"`))
	}
	docs["capabilitylist.xml"] = document("urlset", `capability="capabilitylist"`, "description.xml", capabilities...)
	site := make(sourcetest.Site)
	for path, text := range docs {
		site[www+path] = sourcetest.Document{
			Body: text, ETag: fmt.Sprintf(`"%x"`, md5.Sum([]byte(text))),
			Header: map[string][]string{"Date": {p.now.Format("Mon, 02 Jan 2006 15:04:05 GMT")}},
		}
	}
	return site
}

func (p *publisher) resourceList(docs map[string]string) {
	if p.noList {
		return
	}
	md := fmt.Sprintf(`capability="resourcelist" at=%q`, stamp(p.at))
	names := slices.Sorted(maps.Keys(p.listed))
	var entries []string
	for _, name := range names {
		entries = append(entries, p.entry(name, p.listed[name]))
	}
	if p.perPart == 0 {
		docs["resourcelist.xml"] = document("urlset", md, "capabilitylist.xml", entries...)
		return
	}
	var parts []string
	for part := range slices.Chunk(entries, p.perPart) {
		path := fmt.Sprintf("resourcelist-%d.xml", len(parts)+1)
		docs[path] = document("urlset", md, "capabilitylist.xml", part...)
		parts = append(parts, named("sitemap", path, fmt.Sprintf(`at=%q`, stamp(p.at))))
	}
	docs["resourcelist.xml"] = document("sitemapindex", md, "capabilitylist.xml", parts...)
}

func (p *publisher) resourceDump(docs map[string]string) {
	var packages []string
	at := fmt.Sprintf(` at=%q`, stamp(p.at))
	for names := range slices.Chunk(slices.Sorted(maps.Keys(p.listed)), p.dump) {
		var entries []string
		files := make(map[string]string)
		for _, name := range names {
			entry := p.entry(name, p.listed[name])
			entries = append(entries, strings.Replace(entry, "<rs:md ", `<rs:md path="/res/`+name+`" `, 1))
			files["res/"+name] = p.listed[name].text
		}
		files["manifest.xml"] = document("urlset", `capability="resourcedump-manifest"`+at, "capabilitylist.xml", entries...)
		packages = append(packages, p.pack(docs, fmt.Sprintf("dump-%d", len(packages)), "", files))
	}
	docs["resourcedump.xml"] = document("urlset", `capability="resourcedump"`+at, "capabilitylist.xml", packages...)
}

// pack adds a package, and returns its entry in a dump.
func (p *publisher) pack(docs map[string]string, path, interval string, files map[string]string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	docs[path+".zip"] = b.String()
	links := ""
	if p.contents {
		docs[path+".xml"] = files["manifest.xml"]
		links = `<rs:ln rel="contents" href="` + www + path + `.xml" type="application/xml"/>`
	}
	return fmt.Sprintf(`<url><loc>%s%s.zip</loc><rs:md type="application/zip" length="%d"%s/>%s</url>`, www, path, b.Len(), interval, links)
}

// changeDump adds the Change Dump, with all changes: the last package grows.
func (p *publisher) changeDump(docs map[string]string) {
	var packages []string
	first := p.dropped / p.perPack * p.perPack
	for from := first; from < len(p.log); from += p.perPack {
		until, closed := min(from+p.perPack, len(p.log)), from+p.perPack
		if closed > len(p.log) {
			closed = -1
		}
		var entries []string
		files := make(map[string]string)
		for i, e := range p.log[from:until] {
			entry := p.change(e)
			if e.change != "deleted" {
				path := fmt.Sprintf("changes/%d-%s", from+i, e.name)
				entry = strings.Replace(entry, "<rs:md ", `<rs:md path="/`+path+`" `, 1)
				files[path] = e.text
			}
			entries = append(entries, entry)
		}
		files["manifest.xml"] = document("urlset", `capability="changedump-manifest"`+p.interval(from, closed), "capabilitylist.xml", entries...)
		packages = append(packages, p.pack(docs, fmt.Sprintf("changes-%d", from/p.perPack), p.interval(from, closed), files))
	}
	docs["changedump.xml"] = document("urlset", `capability="changedump"`+p.interval(first, -1), "capabilitylist.xml", packages...)
}

// interval returns from and until of the changes in a list. If until is negative, it is
// open.
func (p *publisher) interval(from, until int) (md string) {
	if !p.noFrom {
		begin := p.begin
		if from > 0 && !(p.silent && from == p.dropped) {
			begin = p.log[from-1].time
		}
		md += fmt.Sprintf(` from=%q`, stamp(begin))
	}
	if until >= 0 {
		md += fmt.Sprintf(` until=%q`, stamp(p.log[until-1].time))
	}
	return md
}

// changeList adds the lists of the log, and returns the path that the Capability List
// names.
func (p *publisher) changeList(docs map[string]string) (path string) {
	const path1 = "changelist.xml"
	interval := func(from, until int) string { return `capability="changelist"` + p.interval(from, until) }
	entries := func(from, until int) (all []string) {
		for _, e := range p.log[from:until] {
			all = append(all, p.change(e))
		}
		return all
	}
	if p.perList == 0 {
		docs[path1] = document("urlset", interval(p.dropped, -1), "capabilitylist.xml", entries(p.dropped, len(p.log))...)
		return path1
	}
	var lists []string
	for from := p.dropped / p.perList * p.perList; from <= len(p.log); from += p.perList {
		path = fmt.Sprintf("changelist-%d.xml", from/p.perList)
		until, closed := len(p.log), -1
		if from+p.perList <= len(p.log) {
			until, closed = from+p.perList, from+p.perList
		}
		docs[path] = document("urlset", interval(from, closed), "capabilitylist.xml", entries(from, until)...)
		lists = append(lists, named("sitemap", path, p.interval(from, closed)))
	}
	if p.rotates { // the Resource List must not be older than the list that is left
		return path
	}
	docs[path1] = document("sitemapindex", interval(p.dropped/p.perList*p.perList, -1), "capabilitylist.xml", lists...)
	return path1
}
