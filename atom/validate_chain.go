package atom

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

const defaultDocuments = 100_000 // of a ChainValidator

// A ChainValidator checks an archived feed (RFC 5005 §4): each of its documents, as
// [Validate] does, and whether they fit together. Add the subscription document, and then
// each document that [ChainValidator.Next] names. [ChainValidator.Walk] does both.
//
//	c := &atom.ChainValidator{Report: report}
//	for url := subscription; url != ""; url = c.Next() {
//		body, err := get(url)
//		if err != nil {
//			c.Missing(url, err)
//			break
//		}
//		c.Add(url, body)
//		body.Close()
//	}
//
// It needs memory as Validate does, for the entries and tombstones of all documents
// together, and for the URLs of the documents.
//
// Set the fields before the first call. A ChainValidator is not safe for concurrent use.
type ChainValidator struct {
	// Report receives every finding of the documents and of the chain. Finding.Document
	// is the URL of the document at fault.
	Report func(websync.Finding)

	// Now, Lenient, MaxBytes, Item and Feed are as in [ValidateOptions], for each
	// document.
	Now      time.Time
	Lenient  bool
	MaxBytes int64
	Item     func(item *Item, report ReportFunc)
	Feed     func(feed *Feed, report ReportFunc)

	// MaxDocuments limits the documents. If zero, it is 100,000; if negative, there is no
	// limit.
	MaxDocuments int

	// Archived holds the digests of archive documents, by URL, that ArchiveDigests
	// returned for an earlier walk. An archive document whose entries have changed since
	// then is a finding. If nil, documents are not compared.
	Archived map[string]websync.Digest

	sum     ChainSummary
	urls    []string       // of the documents, in their order
	numbers map[string]int // of URLs, from 1
	digests map[string]websync.Digest
	ids     idTable
	first   Summary // of the subscription document
	last    Summary // of the previous document
	latest  websync.Datetime
	next    string
}

// A ChainSummary sums up the documents of an archived feed.
type ChainSummary struct {
	Documents int // that could be read
	websync.Counts
	Tombstones int

	// Whole reports whether the chain was read to its end: to a document without
	// prev-archive.
	Whole bool
}

// Summary returns what was found so far.
func (c *ChainValidator) Summary() ChainSummary { return c.sum }

// Next returns the URL of the next document to add, which is older than the last one. It
// is empty if there is none, or if prev-archive of the last document can't be followed.
func (c *ChainValidator) Next() string { return c.next }

// ArchiveDigests returns the digests of the archive documents that were read, by URL. A
// digest covers the entries and tombstones but not the metadata, to which a publisher may
// add a link later.
func (c *ChainValidator) ArchiveDigests() map[string]websync.Digest { return maps.Clone(c.digests) }

// Walk reads the whole chain from its subscription document on. It closes what open
// returns. If a document can't be opened or read, Walk reports it and stops.
func (c *ChainValidator) Walk(url string, open func(url string) (io.ReadCloser, error)) ChainSummary {
	for ; url != ""; url = c.Next() {
		body, err := open(url)
		if err != nil {
			c.Missing(url, err)
			break
		}
		c.Add(url, body)
		body.Close()
	}
	return c.Summary()
}

// Missing reports that a document of the chain can't be read.
func (c *ChainValidator) Missing(url string, cause error) {
	c.next, c.sum.Whole = "", false
	c.report(ruleChainMissing, url, "", nil, cause.Error())
}

// Add validates a document. Its error is that of [Validate].
func (c *ChainValidator) Add(url string, src io.Reader) (Summary, error) {
	c.next, c.sum.Whole = "", false
	c.urls = append(c.urls, url)
	if c.numbers == nil {
		c.numbers, c.digests = make(map[string]int), make(map[string]websync.Digest)
	}
	c.numbers[url] = len(c.urls)
	check := newChecker(src, ValidateOptions{
		Document: url, URL: url, Report: c.Report, Now: c.Now, Lenient: c.Lenient, MaxBytes: c.MaxBytes,
		Item: c.Item, Feed: c.Feed,
	})
	content := sha256.New()
	check.each = func(v *View) {
		appendDigest(content, v)
		c.item(check, v)
	}
	sum, err := check.run()
	c.sum.Add(sum.Counts)
	c.sum.Tombstones += sum.Tombstones
	switch {
	case err != nil:
		c.report(ruleChainMissing, url, "", nil, err.Error())
	case sum.Kind != FeedDocument:
		c.report(ruleChainKind, url, sum.Kind.String(), nil, "the root element is "+sum.Kind.String())
	default:
		c.sum.Documents++
		c.compare(url, sum, websync.Digest{Algorithm: "sha-256", Sum: string(content.Sum(nil))})
		c.follow(url, sum)
	}
	return sum, err
}

// item looks for an entry or tombstone in the documents added before.
func (c *ChainValidator) item(check *checker, v *View) {
	document := uint32(len(c.urls))
	reported := false
	c.ids.add(v.ID, v.Updated, v.Deleted, len(c.urls), func(now, before idSlot) {
		if !reported && before.where != document && now.same(before) {
			reported = true
			check.r.report(ruleChainTwice, position{v.Line, v.Column}, "", v.ID, "it is also in "+c.urls[before.where-1])
		}
	})
}

// appendDigest adds an item to a digest. The digest does not depend on prefixes, white
// space between elements, or positions.
func appendDigest(h hash.Hash, v *View) {
	item := v.Clone()
	if item.Entry != nil {
		item.Entry.Line, item.Entry.Column = 0, 0
	} else {
		item.Tombstone.Line, item.Tombstone.Column = 0, 0
	}
	json.NewEncoder(h).Encode(item) // neither can fail
}

// compare checks a document against the documents added before.
func (c *ChainValidator) compare(url string, sum Summary, digest websync.Digest) {
	report := func(rule Rule, element, value, message string) { c.report(rule, url, element, []byte(value), message) }
	defer func() {
		c.last = sum
		if !sum.Latest.IsZero() {
			c.latest = sum.Latest
		}
	}()
	if c.sum.Documents == 1 {
		c.first = sum
		if sum.Archive {
			report(ruleChainSubscription, "archive", "", "the first document is an archive document")
		}
	}
	if sum.Current != "" && !isAt(sum.Current, c.urls[0], c.first.Self) {
		report(ruleChainCurrent, "link", sum.Current, "current is not "+c.urls[0])
	}
	if c.sum.Documents == 1 {
		return
	}
	if !sum.Archive {
		report(ruleChainMark, "feed", "", "no fh:archive")
	}
	if before := c.urls[len(c.urls)-2]; sum.NextArchive != "" && !isAt(sum.NextArchive, before, c.last.Self) {
		report(ruleChainNext, "link", sum.NextArchive, "next-archive is not "+before)
	}
	if sum.ID != c.first.ID {
		report(ruleChainID, "id", sum.ID, "the subscription document has the id "+c.first.ID)
	}
	if !c.latest.IsZero() && sum.Latest.Time().After(c.latest.Time()) {
		report(ruleChainOrder, "feed", sum.Latest.String(), "the document after it ends at "+c.latest.String())
	}
	if seen, ok := c.Archived[url]; ok && seen != digest {
		report(ruleChainChanged, "feed", "",
			"the entries of an archive document must not change, but its digest was "+seen.String())
	}
	c.digests[url] = digest
}

// follow sets c.next if the chain continues.
func (c *ChainValidator) follow(url string, sum Summary) {
	limit := c.MaxDocuments
	if limit == 0 {
		limit = defaultDocuments
	}
	switch n := c.numbers[sum.PrevArchive]; {
	case sum.PrevArchive == "":
		c.sum.Whole = true
	case n > 0:
		c.report(ruleChainLoop, url, "link", []byte(sum.PrevArchive), fmt.Sprintf("prev-archive is document %d of the chain", n))
	case limit > 0 && len(c.urls) >= limit:
		c.report(ruleChainLong, url, "link", []byte(sum.PrevArchive), fmt.Sprintf("more than %d documents", limit))
	default:
		c.next = sum.PrevArchive
	}
}

// isAt reports whether a link leads to a document.
func isAt(link, url, self string) bool {
	link, _, _ = strings.Cut(link, "#")
	return link == url || link == self
}

func (c *ChainValidator) report(rule Rule, url, element string, value []byte, message string) {
	document.Counting(&c.sum.Counts, c.Report)(rule.Finding(url, 0, 0, element, value, message))
}
