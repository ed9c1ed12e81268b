package resourcesync

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/sitemap"
)

const defaultDocuments = 100_000 // of ValidateTree

// TreeOptions are the settings of [ValidateTree].
type TreeOptions struct {
	// Report receives every finding: those of the documents, and those of the tree, with
	// the URL of the document that is at fault.
	Report func(websync.Finding)

	// Now, Extensions, Lenient and MaxBytes are as in ValidateOptions, for each document.
	// Lenient does not change the findings of the tree.
	Now        time.Time
	Extensions []sitemap.Extension
	Lenient    bool
	MaxBytes   int64

	// MaxDocuments limits the documents, of which a package is one. If zero, it is
	// 100,000; if negative, there is no limit.
	MaxDocuments int

	// OpenPackage opens a package of a dump. It is called once for each URL, one at a
	// time, and ValidateTree closes what it returns. If nil, packages are not checked.
	OpenPackage func(url string) (io.ReadCloser, error)

	// MaxPackage limits each package, in bytes. If zero, it is 64 GiB; if negative, there
	// is no limit. A package is kept in a temporary file while it is checked.
	MaxPackage int64
}

// A TreeSummary sums up the documents of a tree.
type TreeSummary struct {
	Documents int // that could be read, those in packages included
	Packages  int // that could be opened
	websync.Counts
}

// ValidateTree checks a document, as [Validate] does, with all documents below it, and
// whether they fit together: from a Source Description to its Capability Lists, from a
// Capability List to the lists and dumps, from an index to its parts, from a dump to the
// manifests that its links contents lead to, and from an archive to the past documents.
// It asks of each that it can be read, that its capability is the one that the document
// above states, that its links up and index lead back, and that its times are those that
// the document above states and lie within the times of its index.
//
// Of a package it asks that it is a ZIP file, or a tar archive, which may be compressed
// with gzip or xz, of the stated length and hash, with a manifest that is the same as the
// one that the dump links to, that the files of the manifest are there with their stated
// lengths and hashes, and that there are no others.
// A package whose stated type is none of these is not opened.
//
// Of the documents of one Capability List it compares, as warnings, what it can without
// keeping their entries: a Resource List and a Resource Dump of the same at and completed
// must name the same resources, and a Change List and a Change Dump, or one package of
// it, of the same from and until the same changes. A resource that is named twice counts
// twice. A Change List or Change Dump must not begin after the at of a Resource List or
// Resource Dump. A dump is compared if every manifest of it could be read.
//
// Open opens a document, and is called once for each URL, one at a time; ValidateTree
// closes what it returns. A document that can't be opened or read is a finding.
//
// ValidateTree needs memory as Validate does, for the URLs of the documents, and for the
// directory of one package.
func ValidateTree(url string, open func(url string) (io.ReadCloser, error), o TreeOptions) TreeSummary {
	t := &tree{o: o, open: open, seed: maphash.MakeSeed(), seen: map[string]bool{url: true}, queue: []*node{{url: url}}}
	t.count = document.Counting(&t.sum.Counts, o.Report)
	limit := o.MaxDocuments
	if limit == 0 {
		limit = defaultDocuments
	}
	for visited := 0; len(t.queue) > 0; visited++ {
		n := t.queue[0]
		if t.queue = t.queue[1:]; limit > 0 && visited == limit {
			t.report(ruleTreeLong, n.above.url, "", n.url, fmt.Sprintf("more than %d documents", limit))
			break
		}
		if n.pack != "" {
			t.visitPackage(n)
		} else {
			t.visit(n)
		}
	}
	return t.sum
}

// A tree is one run of ValidateTree.
type tree struct {
	o     TreeOptions
	open  func(url string) (io.ReadCloser, error)
	sum   TreeSummary
	count func(websync.Finding)
	seed  maphash.Seed // of every tally
	seen  map[string]bool
	queue []*node
}

// A node is a document of a tree.
type node struct {
	url   string
	above *node      // that lists it; nil for the first one
	entry Metadata   // that the document above states
	want  Capability // that the document above states or implies; may be empty
	head  Head

	pack   string // URL of the package; then url is that of the manifest in it
	beside *node  // of a package: the manifest that the dump links to

	set     *set  // that it belongs to; may be nil
	pending int   // documents below it that have not been finished
	listed  tally // of its entries, and of those of the documents below it
	partial bool  // not everything could be read
	unread  bool  // of a dump: there is a package whose manifest is not read
	all     tally // of a manifest: with all that the entries state

	// Of a manifest beside a package that is opened, what listed and partial would be:
	// the package has them, so that nothing is counted twice.
	packed    bool
	copied    tally
	uncertain bool
}

func (t *tree) report(rule Rule, url, element, value, message string) {
	t.count(rule.Finding(url, 0, 0, element, []byte(value), message))
}

// visit checks one document.
func (t *tree) visit(n *node) {
	defer t.finish(n)
	defer func() {
		if n.packed {
			n.copied, n.uncertain, n.listed, n.partial, n.set = n.listed, n.partial, tally{}, false, nil
		}
	}()
	body, err := t.open(n.url)
	if err != nil {
		n.partial = true
		t.report(ruleTreeMissing, n.url, "", "", err.Error())
		return
	}
	defer body.Close()
	var below []*node
	read := t.read(n, body, func(c *checker, e *Entry) { below = t.below(below, n, c, e) })
	if !read {
		return
	}
	for _, b := range below {
		key := cmp.Or(b.pack, b.url)
		if t.seen[key] {
			n.partial = true
			t.report(ruleTreeRepeated, n.url, "", key, "the document is listed already, or is above this one")
			continue
		}
		t.seen[key] = true
		n.pending++
		t.queue = append(t.queue, b)
	}
}

// read checks the document of n. It reports whether the document could be read.
func (t *tree) read(n *node, body io.Reader, each func(*checker, *Entry)) bool {
	v := newValidator(ValidateOptions{
		Document: n.url, Report: t.count, Now: t.o.Now, Extensions: t.o.Extensions, Lenient: t.o.Lenient, MaxBytes: t.o.MaxBytes,
	})
	v.each = func(e *Entry) {
		t.tally(n, v.check.form, e)
		each(&v.check, e)
	}
	sum, err := v.run(body)
	t.sum.Entries += sum.Entries
	t.sum.Skipped += sum.Skipped
	t.sum.Bytes += sum.Bytes
	if err != nil {
		n.partial = true
		t.report(ruleTreeMissing, n.url, "", "", err.Error())
		return false
	}
	t.sum.Documents++
	n.head, n.partial = v.scan.head, sum.Skipped > 0 || n.unread
	if n.above != nil {
		n.set = n.above.set
		t.compare(n)
	}
	if n.head.Metadata.Capability == CapabilityList {
		n.set = &set{top: n}
	}
	return true
}

// below adds the documents that an entry of n leads to.
func (t *tree) below(all []*node, n *node, c *checker, e *Entry) []*node {
	f, index := c.form, c.head.Index
	b := &node{url: e.Loc, above: n, entry: e.Metadata, want: e.Metadata.Capability}
	switch {
	case index:
		b.want = f.capability
	case f.capability == Description:
		b.want = CapabilityList
	case f.capability == CapabilityList:
		if !b.want.Known() {
			return all // of another specification
		}
	case f.packages:
		b.want = ResourceDumpManifest
		if f.capability == ChangeDump {
			b.want = ChangeDumpManifest
		}
		return t.belowPackage(all, b, e)
	case isArchive(f.capability):
		b.want = Capability(strings.TrimSuffix(string(f.capability), archiveSuffix))
	default:
		return all
	}
	return append(all, b)
}

// belowPackage adds the manifest beside a package, and the package.
func (t *tree) belowPackage(all []*node, b *node, e *Entry) []*node {
	opens := t.o.OpenPackage != nil && isPackage(e.Metadata.Type)
	p := *b
	p.pack, p.url = e.Loc, e.Loc+"#"+manifestName
	if i := slices.IndexFunc(e.Links, func(l Link) bool { return l.Rel == "contents" && l.Href != "" }); i >= 0 {
		b.url, b.packed = e.Links[i].Href, opens
		p.beside = b
		all = append(all, b)
	} else if !opens {
		b.above.unread = true
	}
	if opens {
		all = append(all, &p)
	}
	return all
}

// compare checks that a document fits the one above it.
func (t *tree) compare(n *node) {
	above, is := n.above, &n.head.Metadata
	if n.want != "" && is.Capability != n.want {
		t.report(ruleTreeCapability, n.url, "md", string(is.Capability),
			"the capability should be "+string(n.want)+", as "+above.url+" states")
	}
	if above.head.Index && n.head.Index {
		t.report(ruleTreeNested, n.url, "", "", "the index "+above.url+" lists an index")
	}
	t.compareIndex(n)
	t.compareUp(n)
	for _, other := range is.otherTimes(&n.entry) {
		t.report(ruleTreeTimes, n.url, "md", other.has.String(), other.attr+" is "+other.stated.String()+" in "+above.url)
	}
	// A list that is open where it is listed may have been closed since, but not the
	// other way round.
	if !is.Until.IsZero() && n.entry.Until.IsZero() && !n.entry.From.IsZero() {
		t.report(ruleTreeUntil, n.url, "md", is.Until.String(),
			above.url+" does not state until, or has not since the document was closed")
	}
	if h := &above.head.Metadata; above.head.Index || h.Capability == ResourceDump || h.Capability == ChangeDump {
		t.inside(n, "at", is.At, h.At, h.Completed)
		t.inside(n, "completed", is.Completed, h.At, h.Completed)
		t.inside(n, "from", is.From, h.From, h.Until)
		t.inside(n, "until", is.Until, h.From, h.Until)
	}
}

// inside checks that a time of a document lies within the interval of its index or dump.
func (t *tree) inside(n *node, attr string, d, from, until websync.Datetime) {
	if d.Before(from) || d.After(until) {
		t.report(ruleTreeInterval, n.url, "md", d.String(), attr+" is not within the interval of "+n.above.url)
	}
}

// compareIndex checks the link of a document to its index.
func (t *tree) compareIndex(n *node) {
	above := n.above
	index := n.head.Href("index")
	switch {
	case !above.head.Index && index != "" && above.head.Metadata.Capability == CapabilityList:
		t.report(ruleTreeIndex, n.url, "ln", index, above.url+" lists the document itself, not an index")
	case !above.head.Index:
	case index == "":
		t.report(ruleTreeNoIndex, n.url, "ln", "", "a document of the index "+above.url+" should have a link index")
	case index != above.url:
		t.report(ruleTreeIndex, n.url, "ln", index, "the index is "+above.url)
	}
}

// compareUp checks the link of a document up. Parts of an index, and manifests, have that
// of the list itself.
func (t *tree) compareUp(n *node) {
	up := n.head.Href("up")
	if n.head.Metadata.Capability == Description || up == "" {
		return // Validate asks for a link that is missing
	}
	var right []string
	list := n.above
	for list != nil && list.head.Metadata.Capability != CapabilityList && list.head.Metadata.Capability != Description {
		right = append(right, list.head.Href("up"))
		list = list.above
	}
	if list != nil {
		right = append(right[:0], list.url)
		if is := list.above; is != nil && is.head.Index && list.head.Metadata.Capability == Description {
			right = append(right, is.url)
		}
	}
	if len(right) > 0 && !slices.Contains(right, up) && !slices.Contains(right, "") {
		t.report(ruleTreeUp, n.url, "ln", up, "up should be "+right[0])
	}
}
