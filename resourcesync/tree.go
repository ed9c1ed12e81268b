package resourcesync

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
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

	// MaxDocuments limits the documents. If zero, it is 100,000; if negative, there is no
	// limit.
	MaxDocuments int
}

// A TreeSummary sums up the documents of a tree.
type TreeSummary struct {
	Documents int // that could be read
	Entries   int // of all documents
	Skipped   int
	Bytes     int64

	Errors, Warnings, Infos int // findings
}

// ValidateTree checks a document, as [Validate] does, with all documents below it, and
// whether they fit together: from a Source Description to its Capability Lists, from a
// Capability List to the lists and dumps, from an index to its parts, from a dump to the
// manifests that its links contents lead to, and from an archive to the past documents.
// It asks of each that it can be read, that its capability is the one that the document
// above states, that its links up and index lead back, and that its times are those that
// the document above states and lie within the times of its index.
//
// Open opens a document, and is called once for each URL, one at a time; ValidateTree
// closes what it returns. A document that can't be opened or read is a finding.
//
// ValidateTree needs memory as Validate does, and for the URLs of the documents.
func ValidateTree(url string, open func(url string) (io.ReadCloser, error), o TreeOptions) TreeSummary {
	t := &tree{o: o, open: open, seen: map[string]bool{url: true}, queue: []*node{{url: url}}}
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
		t.visit(n)
	}
	return t.sum
}

// A tree is one run of ValidateTree.
type tree struct {
	o     TreeOptions
	open  func(url string) (io.ReadCloser, error)
	sum   TreeSummary
	seen  map[string]bool
	queue []*node
}

// A node is a document of a tree.
type node struct {
	url   string
	above *node // that lists it; nil for the first one
	entry Metadata
	want  Capability // that the document above states or implies; may be empty
	head  Head
}

func (t *tree) report(rule Rule, url, element, value, message string) {
	t.count(rule.Finding(url, 0, 0, element, []byte(value), message))
}

func (t *tree) count(f websync.Finding) {
	switch f.Severity {
	case websync.SeverityError:
		t.sum.Errors++
	case websync.SeverityWarning:
		t.sum.Warnings++
	default:
		t.sum.Infos++
	}
	if t.o.Report != nil {
		t.o.Report(f)
	}
}

// visit checks one document.
func (t *tree) visit(n *node) {
	body, err := t.open(n.url)
	if err != nil {
		t.report(ruleTreeMissing, n.url, "", "", err.Error())
		return
	}
	defer body.Close()
	v := newValidator(ValidateOptions{
		Document: n.url, Report: t.count, Now: t.o.Now, Extensions: t.o.Extensions, Lenient: t.o.Lenient, MaxBytes: t.o.MaxBytes,
	})
	var below []*node
	v.each = func(e *Entry) { below = t.below(below, n, v.check.form, v.scan.head.Index, e) }
	sum, err := v.run(body)
	t.sum.Entries += sum.Entries
	t.sum.Skipped += sum.Skipped
	t.sum.Bytes += sum.Bytes
	if err != nil {
		t.report(ruleTreeMissing, n.url, "", "", err.Error())
		return
	}
	t.sum.Documents++
	n.head = v.scan.head
	if n.above != nil {
		t.compare(n)
	}
	for _, b := range below {
		if t.seen[b.url] {
			t.report(ruleTreeRepeated, n.url, "", b.url, "the document is listed already, or is above this one")
			continue
		}
		t.seen[b.url] = true
		t.queue = append(t.queue, b)
	}
}

// below adds the documents that an entry of n leads to.
func (t *tree) below(all []*node, n *node, f *form, index bool, e *Entry) []*node {
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
		i := slices.IndexFunc(e.Links, func(l Link) bool { return l.Rel == "contents" && l.Href != "" })
		if i < 0 {
			return all
		}
		b.url = e.Links[i].Href
	case isArchive(f.capability):
		b.want = Capability(strings.TrimSuffix(string(f.capability), archiveSuffix))
	default:
		return all
	}
	return append(all, b)
}

// compare checks that a document fits the one above it.
func (t *tree) compare(n *node) {
	above, is := n.above, &n.head.Metadata
	if n.want != "" && is.Capability != n.want {
		t.report(ruleTreeCapability, n.url, "md", string(is.Capability), "the capability should be "+string(n.want)+", as "+above.url+" states")
	}
	if above.head.Index && n.head.Index {
		t.report(ruleTreeNested, n.url, "", "", "the index "+above.url+" lists an index")
	}
	t.compareLinks(n)
	for _, pair := range [...]struct {
		attr          string
		here, outside websync.Datetime
	}{
		{"at", is.At, n.entry.At}, {"completed", is.Completed, n.entry.Completed}, {"from", is.From, n.entry.From}, {"until", is.Until, n.entry.Until},
	} {
		// An open document may have been closed since, but not the other way round.
		if !pair.outside.IsZero() && (pair.here.IsZero() || !pair.here.Overlaps(pair.outside)) {
			t.report(ruleTreeTimes, n.url, "md", pair.here.String(), pair.attr+" is "+pair.outside.String()+" in "+above.url)
		}
	}
	if h := &above.head.Metadata; above.head.Index {
		t.inside(n, "at", is.At, h.At, h.Completed)
		t.inside(n, "completed", is.Completed, h.At, h.Completed)
		t.inside(n, "from", is.From, h.From, h.Until)
		t.inside(n, "until", is.Until, h.From, h.Until)
	}
}

// inside checks that a time of a document lies within the interval of its index.
func (t *tree) inside(n *node, attr string, d, from, until websync.Datetime) {
	if d.Before(from) || d.After(until) {
		t.report(ruleTreeInterval, n.url, "md", d.String(), attr+" is not within the interval of the index "+n.above.url)
	}
}

// compareLinks checks the links of a document up and to its index.
func (t *tree) compareLinks(n *node) {
	above := n.above
	index := n.head.Href("index")
	switch {
	case !above.head.Index:
	case index == "":
		t.report(ruleTreeNoIndex, n.url, "ln", "", "a document of the index "+above.url+" should have a link index")
	case index != above.url:
		t.report(ruleTreeIndex, n.url, "ln", index, "the index is "+above.url)
	}
	// Parts of an index, and manifests, have the link up of the list itself.
	var right []string
	list := above
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
	up := n.head.Href("up")
	if n.head.Metadata.Capability == Description || up == "" || len(right) == 0 || slices.Contains(right, up) || slices.Contains(right, "") {
		return // Validate asks for a link that is missing
	}
	t.report(ruleTreeUp, n.url, "ln", up, "up should be "+right[0])
}
