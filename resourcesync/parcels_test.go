package resourcesync_test

import (
	"fmt"
	"strconv"
	"strings"
)

// A parcel is a package of a Change Dump.
type parcel struct {
	path        string
	from, until int
	changes     string   // as edits takes them
	entries     []string // of its manifest, besides those of changes
	files       []member // besides those of changes
	manifest    string   // if set, instead of one of the entries
	beside      string   // if set, the manifest beside it
	md          string   // more of its entry in the dump
	zip         string   // if set, instead of a package
}

// An edit is one change, an empty text a deletion.
type edit struct {
	n          int
	name, text string
	hashed     bool
}

// edits parses "a=2@1 -b@2 c=3@3? d=1": a is changed to "2" in the minute 1, b deleted in
// the minute 2; that of c states no digest, and that of d no time.
func edits(text string) (all []edit) {
	for f := range strings.FieldsSeq(text) {
		e := edit{n: never, hashed: !strings.HasSuffix(f, "?")}
		f, at, ok := strings.Cut(strings.TrimSuffix(f, "?"), "@")
		if ok {
			n, err := strconv.Atoi(at)
			if err != nil {
				panic(err)
			}
			e.n = n
		}
		if name, ok := strings.CutPrefix(f, "-"); ok {
			e.name = name
		} else {
			e.name, e.text, _ = strings.Cut(f, "=")
		}
		all = append(all, e)
	}
	return all
}

// entry returns the entry of a Change List or, with a path, of a manifest.
func (e edit) entry(path string) string {
	if e.text == "" {
		return lost(e.n, e.name)
	}
	md := `change="updated"` + timed("datetime", e.n)
	if e.hashed {
		md += " " + hashOf(e.text)
	}
	if path != "" {
		md += fmt.Sprintf(" path=%q", path)
	}
	return entryWith(e.name, md, "")
}

// entriesOf returns the entries of a Change List.
func entriesOf(changes string) (all []string) {
	for _, e := range edits(changes) {
		all = append(all, e.entry(""))
	}
	return all
}

func changeManifest(from, until int, entries ...string) string {
	return document("urlset", `capability="changedump-manifest"`+timed("from", from)+timed("until", until), "capabilitylist.xml", entries...)
}

// packedIn returns the entries and the files of changes.
func packedIn(changes string) (entries []string, files []member) {
	for i, e := range edits(changes) {
		path := fmt.Sprintf("c/%d-%s", i, e.name)
		entries = append(entries, e.entry("/"+path))
		if e.text != "" {
			files = append(files, member{name: path, text: e.text})
		}
	}
	return entries, files
}

// A dumper writes Change Dumps.
type dumper struct {
	beside bool // the manifests are also beside the packages
	length bool // the dump states the lengths of the packages
}

// dump returns a Change Dump at a path, and its packages.
func (d dumper) dump(path string, from, until int, parcels ...parcel) pages {
	docs := make(pages)
	var packages []string
	for _, p := range parcels {
		entries, files := packedIn(p.changes)
		inside := p.manifest
		if inside == "" {
			inside = changeManifest(p.from, p.until, append(entries, p.entries...)...)
		}
		text, md, links := p.zip, p.md+timed("from", p.from)+timed("until", p.until), ""
		if text == "" {
			text = zipped(append(append(files, p.files...), member{name: "manifest.xml", text: inside})...)
		}
		if d.length && !strings.Contains(md, "length=") {
			md += fmt.Sprintf(` length="%d"`, len(text))
		}
		if d.beside {
			links = linkTo("contents", www+p.path+".xml", "")
			docs[p.path+".xml"] = inside
			if p.beside != "" {
				docs[p.path+".xml"] = p.beside
			}
		}
		if text != gone {
			docs[p.path] = text
		}
		packages = append(packages, packageAt(p.path, md, links))
	}
	docs[path] = document("urlset", `capability="changedump"`+timed("from", from)+timed("until", until), "capabilitylist.xml", packages...)
	return docs
}

const gone = "gone" // a package that is not there

func dumpIndex(from int, dumps ...string) string {
	return document("sitemapindex", `capability="changedump"`+timed("from", from), "capabilitylist.xml", dumps...)
}
