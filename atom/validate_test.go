package atom_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	validateURL  = "https://example.org/feed"
	validateRoot = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:le="http://purl.org/atompub/link-extensions/1.0" xmlns:h="http://www.w3.org/1999/xhtml">` + "\n"
	validateMeta = `<id>urn:ex:feed</id><title>T</title><updated>2025-06-01T00:00:00Z</updated><link rel="self" href="https://example.org/feed"/>`
	validateBy   = `<author><name>A</name></author>`
	validateItem = `<id>urn:ex:1</id><title>E</title><updated>2025-05-01T00:00:00Z</updated>`
	validateLink = `<link href="https://example.org/1"/>`
)

var validateNow = time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)

// vFeed is a feed with the children, from line 3, after its valid metadata.
func vFeed(children string) string {
	return validateRoot + validateMeta + validateBy + "\n" + children + "</feed>"
}

// vEntry is a feed whose only entry, in line 3, has the children, in line 4, after its
// required elements.
func vEntry(children string) string {
	return vFeed("<entry>" + validateItem + validateLink + "\n" + children + "</entry>")
}

// vContent is vEntry without an alternate link.
func vContent(children string) string {
	return vFeed("<entry>" + validateItem + "\n" + children + "</entry>")
}

// vDead is a feed with a tombstone in line 3.
func vDead(attributes, children string) string {
	return vFeed("<at:deleted-entry " + attributes + ">" + children + "</at:deleted-entry>")
}

// vItem is an entry of an id and a time.
func vItem(id, updated string) string {
	return "\n<entry><id>" + id + "</id><title>E</title><updated>" + updated + "</updated>" + validateLink + "</entry>"
}

// vTomb is a tombstone of an id and a time.
func vTomb(id, when string) string {
	return "\n<at:deleted-entry ref='" + id + "' when='" + when + "'/>"
}

func vGzip(doc string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, doc)
	z.Close()
	return b.String()
}

// vValidate returns the findings as "severity rule line [element]".
func vValidate(t testing.TB, doc string, change func(*atom.ValidateOptions)) (found []string, sum atom.Summary, err error) {
	o := atom.ValidateOptions{Document: validateURL, Now: validateNow}
	if change != nil {
		change(&o)
	}
	counts := map[websync.Severity]int{}
	o.Report = func(f websync.Finding) {
		counts[f.Severity]++
		assert.Equal(t, o.Document, f.Document)
		assert.NotEmpty(t, f.Message)
		assert.NotEmpty(t, f.Section)
		assert.Equal(t, f.Line > 0, f.Column > 0, f)
		found = append(found, fmt.Sprintf("%v %s %d [%s]", f.Severity, strings.TrimPrefix(f.Rule, "atom-"), f.Line, f.Element))
	}
	sum, err = atom.Validate(strings.NewReader(doc), o)
	assert.Equal(t, []int{counts[websync.SeverityError], counts[websync.SeverityWarning], counts[websync.SeverityInfo]}, []int{sum.Errors, sum.Warnings, sum.Infos})
	return found, sum, err
}

type validateCase struct {
	doc    string
	change func(*atom.ValidateOptions)
	want   []string
	fails  bool
}

// wants returns a case with its expected findings.
func wants(doc string, want ...string) validateCase { return validateCase{doc: doc, want: want} }

const atSource = "<source><id>urn:ex:s</id><title>S</title><updated>2025-01-01T00:00:00Z</updated>"

// validateCases has at least one document for every rule that Validate itself finds.
var validateCases = map[string]validateCase{
	"valid": wants(vEntry("")),

	// XML and bytes.
	"a raw ampersand":       wants(vEntry("<rights>a & b</rights>"), "error xml 4 []"),
	"mismatched tags":       {doc: vFeed("<entry>"), want: []string{"error xml 3 []"}, fails: true},
	"cut short":             {doc: validateRoot + validateMeta, want: []string{"error truncated 2 []"}, fails: true},
	"cut short in a person": {doc: validateRoot + "<author>", want: []string{"error truncated 2 []"}, fails: true},
	"two roots":             {doc: vEntry("") + "<x/>", want: []string{"error xml 4 []"}, fails: true},
	"an RSS feed":           {doc: "<rss version='2.0'/>", want: []string{"error document 1 [rss]"}, fails: true},
	"Atom 0.3":              {doc: "<feed xmlns='http://purl.org/atom/ns#'/>", want: []string{"error document 1 [feed]"}, fails: true},
	"an element of a feed":  {doc: "<title xmlns='http://www.w3.org/2005/Atom'/>", want: []string{"error document 1 [title]"}, fails: true},
	"nothing":               {doc: "", want: []string{"error document 1 []"}, fails: true},
	"an HTML page":          {doc: "<!DOCTYPE html><html>", want: []string{"error document 1 [html]"}, fails: true},
	"over MaxBytes":         {doc: vEntry(""), change: func(o *atom.ValidateOptions) { o.MaxBytes = 300 }, want: []string{"error document 2 []"}, fails: true},
	"a line before":         wants("Warning\n<?xml version='1.0'?>"+vEntry("<x/>"), "error prologue 1 []", "error unknown-element 5 [x]"),
	"declared otherwise":    wants("<?xml version='1.0' encoding='us-ascii'?>"+vEntry(""), "info encoding 1 []"),
	"a DOCTYPE":             wants("<!DOCTYPE feed>"+vEntry(""), "info doctype 1 []"),
	"compressed":            wants(vGzip(vEntry(""))),
	"compressed twice":      wants(vGzip(vGzip(vEntry(""))), "warning gzip 0 []"),
	"no namespace": wants("<entry>"+validateItem+validateBy+"<content>x</content></entry>",
		"error namespace 1 [entry]"),
	"https in the namespace": wants(strings.Replace(vEntry(""), "http://www.w3", "https://www.w3", 1), "error namespace 1 [feed]"),

	// Feeds.
	"an empty feed": wants("<feed xmlns='http://www.w3.org/2005/Atom'/>",
		"error feed-child 1 [feed]", "error feed-child 1 [feed]", "error feed-child 1 [feed]", "warning feed-self 1 [feed]"),
	"two of all": wants(vFeed("<id>urn:ex:2</id>\n<title/>\n<updated>2025-01-01T00:00:00Z</updated>\n<subtitle/><subtitle/>\n<rights/><rights/>\n"+
		"<icon/><icon/>\n<logo/><logo/>\n<generator>G</generator><generator>G</generator>"),
		"error feed-child 3 [id]", "error feed-child 4 [title]", "error feed-child 5 [updated]", "error feed-child 6 [subtitle]",
		"error feed-child 7 [rights]", "error feed-child 8 [icon]", "error feed-child 9 [logo]", "error feed-child 10 [generator]"),
	"three ids":    wants(vFeed("<id>urn:ex:2</id><id>urn:ex:3</id>"), "error feed-child 3 [id]"),
	"many authors": wants(vFeed(validateBy + validateBy + "<contributor><name>C</name></contributor><contributor><name>C</name></contributor>")),
	"no author": wants(validateRoot+validateMeta+vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:2", "2025-01-01T00:00:00Z")+"</feed>",
		"error feed-author 1 [feed]"),
	"no author of one entry": wants(validateRoot+validateMeta+vItem("urn:ex:1", "2025-01-01T00:00:00Z")+
		"\n<entry>"+validateBy+"<id>urn:ex:2</id><title>E</title><updated>2025-05-01T00:00:00Z</updated>"+validateLink+"</entry></feed>",
		"error entry-author 3 [entry]"),
	"an author of the source only": wants(validateRoot+validateMeta+"<entry>"+validateItem+validateLink+atSource+validateBy+"</source></entry></feed>",
		"error feed-author 1 [feed]"),
	"an author after the entries": wants(validateRoot+validateMeta+vItem("urn:ex:1", "2025-01-01T00:00:00Z")+validateBy+"</feed>", "warning feed-order 3 [author]"),
	"no author and no entries":    wants(validateRoot + validateMeta + "</feed>"),
	"no self":                     wants(strings.Replace(vEntry(""), `rel="self"`, `rel="via"`, 1), "warning feed-self 1 [feed]"),
	"older than its entry":        wants(vFeed(vItem("urn:ex:1", "2025-06-01T00:00:00.1Z")), "warning feed-updated 2 [updated]"),
	"as old as its entry":         wants(vFeed(vItem("urn:ex:1", "2025-06-01T02:00:00+02:00"))),
	"a tombstone after an entry":  wants(vFeed(vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vTomb("urn:ex:2", "2025-01-01T00:00:00Z")), "warning feed-order 5 [deleted-entry]"),
	"text between":                wants(vFeed("\n a <entry>b"+validateItem+validateLink+"</entry><author>c<name>A</name></author>"), "error text-between 4 []", "error text-between 4 []", "warning feed-order 4 [author]", "error text-between 4 []"),
	"unknown elements": wants(vFeed("<tagline/>\n<entry>"+validateItem+validateLink+"<modified/></entry>"),
		"error unknown-element 3 [tagline]", "error unknown-element 4 [modified]"),
	"an element in the wrong place": wants(vEntry("<subtitle/>"), "error unknown-element 4 [subtitle]"),
	"unknown attributes": wants(vFeed("<link rel='via' href='' hash-2='x'/>\n<entry version='1'>"+validateItem+validateLink+"</entry>"),
		"error unknown-attribute 3 [link]", "error unknown-attribute 4 [entry]"),
	"attributes of Atom's namespace": wants(strings.Replace(vFeed("<a:link href='' a:rel='via'/>"), "<feed", "<feed xmlns:a='http://www.w3.org/2005/Atom'", 1), "error unknown-attribute 3 [link]"),
	"attributes of others":           wants(vFeed("<link rel='via' href='' h:x='1' xml:id='a' xml:space='preserve'/>")),
	"no element's namespace":         wants(vEntry("<price xmlns=''>1</price>"), "warning no-namespace 4 [price]"),
	"a signature of a person":        wants(vFeed("<author><name>A</name><Signature xmlns='http://www.w3.org/2000/09/xmldsig#'/></author>"), "warning signature 3 [Signature]"),
	"a signature of an entry":        wants(vEntry("<Signature xmlns='http://www.w3.org/2000/09/xmldsig#'/>")),

	// Sources.
	"a source that lacks all": wants(vEntry("<source/>"), "warning source-lacks 4 [source]", "warning source-lacks 4 [source]", "warning source-lacks 4 [source]"),
	"a source with two ids":   wants(vEntry(atSource+"<id>urn:ex:t</id></source>"), "error source-child 4 [id]"),
	"an entry in a source": wants(vEntry(atSource+"<entry/></source>"), "error nesting 4 [entry]",
		"error entry-child 4 [entry]", "error entry-child 4 [entry]", "error entry-child 4 [entry]", "error entry-alternate 4 [entry]"),
	"an archive in a source": wants(vEntry(atSource + "<fh:archive/></source>")),
	"two sources":            wants(vEntry(atSource+"</source>"+atSource+"</source>"), "error entry-child 4 [source]"),

	// Entries.
	"an entry without all": wants(vFeed("<entry/>"), "error entry-child 3 [entry]", "error entry-child 3 [entry]", "error entry-child 3 [entry]", "error entry-alternate 3 [entry]"),
	"two of an entry": wants(vEntry("<id>urn:ex:1</id>\n<title/>\n<updated>2025-01-01T00:00:00Z</updated>\n<summary>S</summary><summary>S</summary>\n"+
		"<rights/><rights/>\n<content>C</content><content>C</content>\n<published>2025-01-01T00:00:00Z</published><published>2025-01-01T00:00:00Z</published>"),
		"error entry-child 4 [id]", "error entry-child 5 [title]", "info entry-text 5 [title]", "error entry-child 6 [updated]",
		"error entry-child 7 [summary]", "error entry-child 8 [rights]", "error entry-child 9 [content]", "error entry-child 10 [published]"),
	"an entry document": wants("<entry xmlns='http://www.w3.org/2005/Atom'>"+validateItem+validateLink+"</entry>", "error entry-author 1 [entry]"),
	"no alternate":      wants(vContent("<link rel='related' href=''/>"), "error entry-alternate 3 [entry]"),
	"content instead":   wants(vContent("<content>x</content>")),
	"no summary":        wants(vContent("<content type='image/png' src='x'/>"), "error entry-summary 4 [content]"),
	"no summary for Base64": wants(vContent("<content type='image/png'>AAAA</content>"),
		"error entry-summary 4 [content]"),
	"empty texts":       wants(vContent("<summary type='html'> </summary><content type='xhtml'><h:div/></content>"), "info entry-text 4 [summary]", "info entry-text 4 [content]"),
	"an image in XHTML": wants(vContent("<content type='xhtml'><h:div><h:img src=''/></h:div></content>")),
	"an entry twice":    wants(vFeed(vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-01T01:00:00+01:00")), "warning entry-twice 5 [entry]"),
	"two versions":      wants(vFeed(vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-02T00:00:00Z")), "info entry-versions 5 [entry]"),
	"two versions, and one twice": wants(vFeed(vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-02T00:00:00Z")+vItem("urn:ex:1", "2025-01-01T00:00:00Z")),
		"info entry-versions 5 [entry]", "warning entry-twice 6 [entry]"),
	"updated, then published": wants(vEntry("<published>2025-05-02T00:00:00Z</published>"), "info published 4 [published]"),

	// Dates and IRIs.
	"a date": wants(vFeed("<entry><id>urn:ex:1</id><title>E</title><updated>2025-05-01</updated>"+validateLink+"</entry>"),
		"error date 3 [updated]"),
	"no seconds":          wants(vEntry("<published>2025-04-01T00:00Z</published>"), "error date 4 [published]"),
	"small letters":       wants(vEntry("<published>2025-04-01t00:00:00z</published>"), "error date 4 [published]"),
	"no zone":             wants(vEntry("<published>2025-04-01T00:00:00</published>"), "error date 4 [published]"),
	"no such day":         wants(vEntry("<published>2025-02-29T00:00:00Z</published>"), "error date 4 [published]"),
	"no date":             wants(vEntry("<published/>"), "error date 4 [published]"),
	"a leap second":       wants(vEntry("<published>1990-12-31T23:59:60Z</published>")),
	"the future":          wants(vFeed("<updated>2025-07-02T00:00:01Z</updated>"), "error feed-child 3 [updated]", "warning date-future 3 [updated]"),
	"the near future":     wants(strings.Replace(vFeed(""), "2025-06-01", "2025-07-02", 1)),
	"space in a date":     wants(vEntry("<published> 2025-04-01T00:00:00Z </published>"), "error space 4 [published]"),
	"space in an id":      wants(vFeed("<entry><id>\nurn:ex:1\n</id><title>E</title><updated>2025-05-01T00:00:00Z</updated>"+validateLink+"</entry>"), "error space 3 [id]"),
	"ids of a scheme":     wants(vFeed(vTomb("urn:1", "2025-05-01T00:00:00Z")+vItem("tag:example.org,2024", "2025-05-01T00:00:00Z")+vItem("urn:uuid:1", "2025-05-01T00:00:00Z")), "warning id-scheme 4 [deleted-entry]", "warning id-scheme 5 [id]", "warning id-scheme 6 [id]"),
	"an entry in another": wants(vFeed("<entry>"+validateItem+validateLink+vItem("urn:ex:2", "2025-05-01T00:00:00Z")+"</entry>"), "error nesting 4 [entry]"),
	"space in a link":     wants(vFeed("<link rel='via' href=' x '/>"), "error space 3 [link]"),
	"a language":          wants(vEntry("<rights xml:lang='en_GB'>x</rights>"), "error lang 4 [rights]"),
	"no language":         wants(vEntry("<rights xml:lang=''>x</rights>")),
	"a base":              wants(vEntry("<rights xml:base='a b'>x</rights>"), "error base 4 [rights]"),
	"an icon":             wants(vFeed("<icon>a b</icon><logo>http://</logo>"), "error iri 3 [icon]", "error iri 3 [logo]"),
	"a generator":         wants(vFeed("<generator uri='a b'/>"), "error iri 3 [generator]", "info generator 3 [generator]"),
	"a relative id":       wants(vFeed(vItem("1", "2025-01-01T00:00:00Z")), "error id 4 [id]"),
	"an empty id":         wants(vFeed(vItem("", "2025-01-01T00:00:00Z")), "error id 4 [id]"),
	"an id of two words":  wants(vFeed(vItem("urn:ex:a b", "2025-01-01T00:00:00Z")), "error id 4 [id]"),
	"an id in capitals":   wants(vFeed(vItem("HTTP://example.org/", "2025-01-01T00:00:00Z")), "warning id-normal 4 [id]"),
	"elements in values":  wants(vEntry("<published><b/>2025-04-01T00:00:00Z</published>\n<category term='x'><title/><x xmlns='urn:ex:y'/></category><link rel='via' href=''><link/>x</link>"), "error value-element 4 [published]", "error value-element 5 [category]", "error value-element 5 [link]"),
	"a category":          wants(vEntry("<category/><category term='x' scheme='y'/><category term='x' scheme='urn:ex:y'/>"), "error category 4 [category]", "error category 4 [category]"),
	"an empty term":       wants(vEntry("<category term=' '/>"), "info category-term 4 [category]"),
	"a person":            wants(vEntry("<author/><author><name/><uri>x y</uri></author><author><name>A</name><name>B</name><email>x</email></author>"), "error person-child 4 [author]", "warning person-name 4 [name]", "error iri 4 [uri]", "error person-child 4 [name]", "error email 4 [email]"),
	"a person's elements": wants(vEntry("<author><name>A</name><url/><url xmlns='urn:ex:x'/></author>"), "error unknown-element 4 [url]"),

	// Texts.
	"a type of text":            wants(vEntry("<rights type='text/plain'>x</rights><rights type=''/>"), "error text-type 4 [rights]", "error entry-child 4 [rights]", "error text-type 4 [rights]"),
	"elements in text":          wants(vEntry("<rights>a<b/>c<d/></rights><summary type='html'>a<h:b/></summary>"), "error text-element 4 [rights]", "error text-element 4 [summary]"),
	"bad HTML":                  wants(vEntry("<summary type='html'>&lt;b>x</summary>"), "warning html 4 [summary]"),
	"a page in HTML":            wants(vEntry("<summary type='html'>&lt;body>x&lt;/body></summary>"), "warning html 4 [summary]"),
	"no div":                    wants(vEntry("<summary type='xhtml'/>"), "error xhtml 4 [summary]", "info entry-text 4 [summary]"),
	"a div without a namespace": wants(vEntry("<summary type='xhtml'><div>x</div></summary>"), "error xhtml 4 [summary]"),
	"two divs":                  wants(vEntry("<summary type='xhtml'><h:div>x</h:div>\n<h:div/></summary>"), "error xhtml 5 [summary]"),
	"text beside the div":       wants(vEntry("<summary type='xhtml'><h:div>x</h:div>y</summary>"), "error xhtml 4 [summary]"),
	"bad XHTML":                 wants(vEntry("<summary type='xhtml'><h:div><h:body/><p/></h:div></summary>"), "warning xhtml-markup 4 [summary]"),
	"Atom in XHTML":             wants(vEntry("<summary type='xhtml'><h:div><p/></h:div></summary>"), "warning xhtml-markup 4 [summary]"),

	// Content.
	"a type of content":     wants(vEntry("<content type='HTML'>x</content>"), "error content-type 4 [content]"),
	"a composite type":      wants(vEntry("<content type='multipart/mixed'>x</content>"), "error content-type 4 [content]"),
	"a composite type, src": wants(vEntry("<summary>S</summary><content src='x' type='Message/rfc822'/>"), "error content-type 4 [content]"),
	"src":                   wants(vEntry("<summary>S</summary><content src='a b' type='html'>x<y xmlns='urn:ex:y'/></content>"), "error content-src 4 [content]", "error content-src 4 [content]", "error content-src 4 [content]", "error content-src 4 [content]"),
	"src without a type":    wants(vEntry("<summary>S</summary><content src='x'> </content>"), "warning content-src-type 4 [content]"),
	"elements in content":   wants(vEntry("<summary>S</summary><content><b/>x</content>"), "error content-element 4 [content]"),
	"elements in text/plain": wants(vEntry("<content type='text/plain'><b/>x</content>"),
		"error content-element 4 [content]"),
	"elements in Base64":   wants(vEntry("<summary>S</summary><content type='image/png'><b/>AAAA</content>"), "error content-element 4 [content]"),
	"two XML elements":     wants(vEntry("<content type='application/xml'><b/><b/></content>"), "warning content-xml 4 [content]"),
	"XML as text":          wants(vEntry("<content type='image/svg+xml'>&lt;svg/></content>"), "warning content-xml 4 [content]"),
	"one XML element":      wants(vEntry("<content type='text/xml; charset=utf-8'> <b/> </content>")),
	"no XML element":       wants(vEntry("<content type='text/xml'/>"), "warning content-xml 4 [content]", "info entry-text 4 [content]"),
	"no Base64":            wants(vEntry("<summary>S</summary><content type='image/png'>AAA</content>"), "error content-base64 4 [content]"),
	"lines of Base64":      wants(vEntry("<summary>S</summary><content type='image/png'>\n AAAA\nAAA=\n</content>")),
	"content's attributes": wants(vEntry("<summary>S</summary><content src='x' type='a/b' length='-1' href='x'/>"), "error unknown-attribute 4 [content]", "error unknown-attribute 4 [content]"),
	"a length of content":  wants(vEntry("<summary>S</summary><content src='x' type='a/b' length='1'/>"), "error unknown-attribute 4 [content]"),
	"content with a hash":  wants(vEntry("<content hash='x'>x</content>"), "error hash 4 [content]"),

	// Links.
	"no href":                   wants(vEntry("<link rel='via'/>"), "error link-href 4 [link]"),
	"href":                      wants(vEntry("<link rel='via' href='https:/example.org'/><link rel='via' href='a:b:c'/><link rel='via' href='1:2'/>"), "error link-href 4 [link]", "error link-href 4 [link]"),
	"rel":                       wants(vEntry("<link rel='' href='x'/><link rel='a b' href='x'/><link rel='a/b' href='x'/>"), "error link-rel 4 [link]", "error link-rel 4 [link]", "error link-rel 4 [link]"),
	"a relation":                wants(vEntry("<link rel='friend' href=''/><link rel='urn:ex:friend' href=''/><link rel='http://www.iana.org/assignments/relation/next' href=''/>"), "warning link-relation 4 [link]"),
	"an enclosure":              wants(vEntry("<link rel='enclosure' href='x'/>"), "warning link-enclosure 4 [link]"),
	"a link to the feed":        wants(vEntry("<link type='a/b' href=''/><link rel='enclosure' length='1' href=''/><link rel='related' href=''/>"), "warning link-itself 4 [link]", "warning link-itself 4 [link]"),
	"content that is the feed":  wants(vEntry("<summary>S</summary><content type='a/b' src=''/>"), "warning link-itself 4 [content]"),
	"xml:base is not the feed":  wants(vEntry("<link type='a/b' href='' xml:base='x'/>")),
	"a type of a link":          wants(vEntry("<link rel='via' href='' type='html'/>"), "error link-type 4 [link]"),
	"hreflang":                  wants(vEntry("<link rel='via' href='' hreflang=''/>"), "error link-hreflang 4 [link]"),
	"length":                    wants(vEntry("<link rel='via' href='' length='-1'/><link rel='via' href='' length='1 kB'/><link rel='via' href='' length=''/>"), "error link-length 4 [link]", "error link-length 4 [link]", "error link-length 4 [link]"),
	"two alternates":            wants(vEntry("<link href='x'/>"), "error alternate 4 [link]"),
	"alternates by type":        wants(vEntry("<link href='x' type='text/html'/><link href='x' hreflang='de'/><link href='x' type='text/html' hreflang='de'/><link href='x' rel='alternate' type='TEXT/html'/>"), "error alternate 4 [link]"),
	"a feed's alternates, late": wants(vFeed("<link href='1'/>"+vItem("urn:ex:1", "2025-01-01T00:00:00Z")+"<link href='2'/>"), "warning feed-order 4 [link]", "error alternate 4 [link]"),
	"a tombstone's alternates":  wants(vDead("ref='urn:ex:1' when='2025-01-01T00:00:00Z'", "<link href='1'/><link href='2'/>")),
	"a feed's alternates":       wants(vFeed("<link href=''/><link href=''/>"), "error alternate 3 [link]"),
	"hash":                      wants(vEntry("<link rel='via' href='' hash=''/><link rel='via' href='' hash='md5:12'/><link rel='via' href='' hash='abc'/>"), "error hash 4 [link]", "error hash 4 [link]", "error hash 4 [link]"),
	"a hash in another form": wants(vEntry("<link rel='via' href='' hash='MD5:900150983CD24FB0D6963F7D28E17F72'/><link rel='via' href='' hash='md5:kAFQmDzST7DWlj99KOF/cg=='/>"+
		"<link rel='via' href='' hash='sha1:a9993e364706816aba3e25717850c26c9cd0d89d crc:1'/>"), "error hash 4 [link]", "info hash-form 4 [link]", "info hash-form 4 [link]"),
	"hashes that the draft names": wants(vEntry("<link rel='via' href='' hash='md2:8350e5a3e24c153df2275c9f80692773\n sha-224:" + strings.Repeat("0a", 28) +
		"&#10;sha-384:" + strings.Repeat("Fe", 48) + "'/>")),
	"hashes of no length": wants(vEntry("<link rel='via' href='' hash='sha-224:12 md2:12 sha-384: sha3-256: sha3:zz'/>"),
		"error hash 4 [link]", "error hash 4 [link]", "error hash 4 [link]", "error hash 4 [link]", "error hash 4 [link]"),
	"etag": wants(vEntry("<link rel='via' href='' etag='xyzzy'/><link rel='via' href='' etag='&quot;xyzzy&quot;'/><link rel='via' href='' etag='W/\"\"' le:etag='W/x'/>"+
		"<link rel='via' href='' etag='w/\"x\"'/><link rel='via' href='' etag='\"x\" \"y\"'/><link rel='via' href='' etag='W/'/><link rel='via' href='' etag=''/>"),
		"error link-etag 4 [link]", "error link-etag 4 [link]", "error link-etag 4 [link]", "error link-etag 4 [link]", "error link-etag 4 [link]", "error link-etag 4 [link]"),
	"media":              wants(vEntry("<link rel='via' href='' media='print'/><category term='x' media='print'/>"), "warning link-extension 4 [link]", "error unknown-attribute 4 [category]"),
	"hashes that differ": wants(vEntry("<link rel='via' href='' hash='md5:900150983cd24fb0d6963f7d28e17f72 md5:900150983cd24fb0d6963f7d28e17f73'/><link rel='via' href='' le:md5='900150983cd24fb0d6963f7d28e17f72' hash='md5:900150983cd24fb0d6963f7d28e17f73'/>"), "warning hash-conflict 4 [link]", "warning hash-conflict 4 [link]"),
	"le:md5":             wants(vEntry("<link rel='via' href='' le:md5='x'/>"), "error md5 4 [link]"),
	"modified":           wants(vEntry("<link rel='via' href='' modified='2025-01-01' accessed='2025-01-01t00:00:00Z'/>"), "error link-modified 4 [link]", "error link-modified 4 [link]"),
	"a link extension":   wants(vEntry("<link rel='via' href='' le:sha='x'/><category term='x' le:md5='x'/>"), "warning link-extension 4 [link]", "warning link-extension 4 [category]"),

	// Complete, paged and archived feeds.
	"complete and paged":          wants(vFeed("<fh:complete/><link rel='next' href='2'/>"), "warning complete-paged 3 [complete]"),
	"complete, first elsewhere":   wants(vFeed("<fh:complete/><link rel='first' href='c'/>"), "warning complete-paged 3 [complete]"),
	"complete, last elsewhere":    wants(vFeed("<fh:complete/><link rel='last' href='c'/>"), "warning complete-paged 3 [complete]"),
	"complete, current elsewhere": wants(vFeed("<fh:complete/><link rel='current' href='c'/>"), "warning complete-paged 3 [complete]"),
	"complete and archived":       wants(vFeed("<fh:complete/><fh:archive/><link rel='current' href='c'/>"), "warning complete-paged 3 [complete]"),
	"two next":                    wants(vFeed("<link rel='next' href='2'/><link rel='next' href='3'/><link rel='next' href='/2'/>"), "error paging-twice 3 [link]"),
	"two prev-archive":            wants(vFeed("<link rel='prev-archive' href='2'/><link rel='prev-archive' href='3'/>"), "error paging-twice 3 [link]"),
	"next to itself":              wants(vFeed("<link rel='next' href='feed#2'/><link rel='prev-archive' href='/feed'/>"), "error paging-self 3 [link]", "error paging-self 3 [link]"),
	"a mark in an entry":          wants(vEntry("<fh:archive/>"), "error history-element 4 [archive]"),
	"a mark twice":                wants(vFeed("<fh:complete/><fh:complete>x<y/></fh:complete>"), "error history-element 3 [complete]", "error history-element 3 [complete]", "error history-element 3 [complete]"),
	"an unknown mark":             wants(vFeed("<fh:incremental>true</fh:incremental>"), "warning history-unknown 3 [incremental]"),
	"no current":                  wants(vFeed("<fh:archive/>"), "warning archive-current 3 [archive]"),
	"an archive of itself":        wants(vFeed("<fh:archive/><link rel='current' href='feed'/>"), "error archive-self 3 [archive]"),
	"no mark":                     wants(vFeed("<link rel='next-archive' href='2'/>"), "warning archive-mark 3 [link]"),
	"no mark either":              wants(vFeed("<link rel='prev-archive' href='2'/><link rel='current' href='3'/>"), "warning archive-mark 3 [link]"),

	"nobody knows where": {doc: strings.Replace(vFeed("<link rel='prev-archive' href='2'/><link rel='current' href='3'/>"), `rel="self"`, `rel="via"`, 1),
		change: func(o *atom.ValidateOptions) { o.Document = "feed.xml" }, want: []string{"warning feed-self 1 [feed]"}},

	// Tombstones.
	"no ref":                  wants(vDead("when='2025-01-01T00:00:00Z'", ""), "error tombstone-ref 3 [deleted-entry]"),
	"a relative ref":          wants(vDead("ref='1' when='2025-01-01T00:00:00Z'", ""), "error tombstone-ref 3 [deleted-entry]"),
	"no when":                 wants(vDead("ref='urn:ex:1'", ""), "error tombstone-when 3 [deleted-entry]"),
	"when":                    wants(vDead("ref='urn:ex:1' when='2010-03-08T15:55:34+0100'", ""), "error tombstone-when 3 [deleted-entry]"),
	"when in the future":      wants(vDead("ref='urn:ex:1' when='2030-03-08T15:55:34Z'", ""), "warning date-future 3 [deleted-entry]"),
	"two of a tombstone":      wants(vDead("ref='urn:ex:1' when='2025-01-01T00:00:00Z'", "<at:by><name>A</name></at:by><at:by/><at:comment/><at:comment/>"), "error tombstone-child 3 [by]", "error person-child 3 [by]", "error tombstone-child 3 [comment]"),
	"unknown of a tombstone":  wants(vDead("ref='urn:ex:1' when='2025-01-01T00:00:00Z'", "<at:who/><title/><x xmlns='urn:ex:x'/>"), "info tombstone-element 3 [who]", "info tombstone-element 3 [title]"),
	"a tombstone in an entry": wants(vEntry("<at:deleted-entry/>"), "warning tombstone-place 4 [deleted-entry]", "error nesting 4 [deleted-entry]"),
	"a tombstone twice":       wants(vFeed(vTomb("urn:ex:1", "2025-01-01T00:00:00Z")+vTomb("urn:ex:1", "2025-01-01T00:00:00.0Z")), "error tombstone-twice 5 [deleted-entry]"),
	"two tombstones":          wants(vFeed(vTomb("urn:ex:1", "2025-01-01T00:00:00Z")+vTomb("urn:ex:1", "2025-01-02T00:00:00Z")), "info tombstone-versions 5 [deleted-entry]"),
	"dead and alive":          wants(vFeed(vTomb("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-01T00:00:00Z")), "info tombstone-live 5 [entry]"),
	"dead, alive and older": wants(vFeed(vItem("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-03T00:00:00Z")+vTomb("urn:ex:1", "2025-01-02T00:00:00Z")),
		"info entry-versions 5 [entry]", "warning feed-order 6 [deleted-entry]", "info tombstone-live 6 [deleted-entry]"),
	"dead twice, alive between": wants(vFeed(vTomb("urn:ex:1", "2025-01-01T00:00:00Z")+vTomb("urn:ex:1", "2025-01-03T00:00:00Z")+vItem("urn:ex:1", "2025-01-02T00:00:00Z")),
		"info tombstone-versions 5 [deleted-entry]", "info tombstone-live 6 [entry]"),
	"revived":                    wants(vFeed(vTomb("urn:ex:1", "2025-01-01T00:00:00Z")+vItem("urn:ex:1", "2025-01-01T00:00:00.000000001Z")), "info tombstone-revived 5 [entry]"),
	"revived, then its death":    wants(vFeed(vItem("urn:ex:1", "2025-01-02T00:00:00Z")+vTomb("urn:ex:1", "2025-01-01T00:00:00Z")), "warning feed-order 5 [deleted-entry]", "info tombstone-revived 5 [deleted-entry]"),
	"another form of a deletion": wants(vEntry("<gd:deleted xmlns:gd='http://schemas.google.com/g/2005'/>"), "info deleted-form 4 [deleted]"),
}

// readerOnly are the rules about what a Reader does with a document. They are not about
// errors in it.
var readerOnly = []string{"atom-element-size", "atom-relative", "atom-person-extension"}

// notOfDocuments are the rules of a Source, which no single document breaks.
var notOfDocuments = []string{"atom-window-gap", "atom-archive-gap", "atom-pages-changed", "atom-pages-unread", "atom-tombstone-via", "atom-profile", "atom-entry-other"}

func TestValidateRules(t *testing.T) {
	for name, c := range validateCases {
		t.Run(name, func(t *testing.T) {
			found, _, err := vValidate(t, c.doc, c.change)
			assert.Equal(t, c.want, found)
			assert.Equal(t, c.fails, err != nil, err)
			var parse *websync.ParseError
			if err != nil {
				require.ErrorAs(t, err, &parse)
				assert.Equal(t, "atom", parse.Format)
			}
		})
	}
}

// TestValidateEveryRule: every rule has a document that breaks it, and the same severity
// everywhere.
func TestValidateEveryRule(t *testing.T) {
	broken := make(map[string]bool)
	for _, c := range validateCases {
		for _, f := range c.want {
			severity, rest, _ := strings.Cut(f, " ")
			rule, _, _ := strings.Cut(rest, " ")
			broken[severity+" atom-"+rule] = true
		}
	}
	for _, c := range chainCases {
		for _, f := range c.want {
			severity, rest, _ := strings.Cut(f, " ")
			rule, _, _ := strings.Cut(rest, " ")
			broken[severity+" atom-"+rule] = true
		}
	}
	for _, r := range atom.Rules() {
		if slices.Contains(notOfDocuments, r.Name) || slices.Contains(readerOnly, r.Name) {
			continue // of a Source, a Reader
		}
		assert.True(t, broken[r.Severity.String()+" "+r.Name], r.Name)
		delete(broken, r.Severity.String()+" "+r.Name)
	}
	assert.Empty(t, broken, "findings of unknown rules")
}

// TestValidateValid: valid documents have no finding.
func TestValidateValid(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			found, sum, err := vValidate(t, string(data), func(o *atom.ValidateOptions) { o.Document = file })
			require.NoError(t, err)
			assert.Empty(t, found)
			assert.EqualValues(t, len(data), sum.Bytes)
			assert.NotEmpty(t, sum.ID)
			assert.False(t, sum.Updated.IsZero())
		})
	}
}

func TestValidateSummary(t *testing.T) {
	data, err := os.ReadFile("testdata/valid/archive.xml")
	require.NoError(t, err)
	_, sum, err := vValidate(t, string(data), func(o *atom.ValidateOptions) { o.URL = "https://example.org/archive/2" })
	require.NoError(t, err)
	date := func(s string) websync.Datetime {
		d, err := websync.ParseDatetime(s)
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, atom.Summary{
		Kind: atom.FeedDocument, Counts: websync.Counts{Entries: 1, Bytes: int64(len(data))},
		ID: "tag:example.org,2024:laws", Updated: date("2025-05-01T00:00:00Z"),
		Self: "https://example.org/archive/2", Current: "https://example.org/feed",
		PrevArchive: "https://example.org/archive/1", NextArchive: "https://example.org/feed", Archive: true,
		Earliest: date("2025-05-01T00:00:00Z"), Latest: date("2025-05-01T00:00:00Z"),
	}, sum)

	_, sum, err = vValidate(t, strings.Replace(vFeed("<link rel='next' href='?page=2' xml:base='b/'/>"+
		vTomb("", "2025-01-01T00:00:00Z")+vTomb("urn:ex:1", "2025-01-02T00:00:00Z")+vItem("urn:ex:2", "2025-01-01T00:00:00Z")+vItem("", "2025-05-01T00:00:00Z")),
		"<feed", "<feed xml:base='/a/x'", 1), nil)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1, 2}, []int{sum.Entries, sum.Tombstones, sum.Skipped})
	assert.Equal(t, "https://example.org/a/b/?page=2", sum.Next)
	assert.Equal(t, []websync.Datetime{date("2025-01-01T00:00:00Z"), date("2025-05-01T00:00:00Z")}, []websync.Datetime{sum.Earliest, sum.Latest})
}

// TestValidateLenient: a departure that the Reader reads over is a warning, one that
// costs an item is an error.
func TestValidateLenient(t *testing.T) {
	lenient := func(o *atom.ValidateOptions) { o.Lenient = true }
	found, _, err := vValidate(t, vFeed("<entry/>\n<entry>"+validateItem+"</entry>"), lenient)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"error entry-child 3 [entry]", "warning entry-child 3 [entry]", "warning entry-child 3 [entry]", "warning entry-alternate 3 [entry]",
		"warning entry-alternate 4 [entry]",
	}, found)
	found, _, err = vValidate(t, vFeed(vItem(" ", "2025-01-01T00:00:00Z")), lenient)
	require.NoError(t, err)
	assert.Equal(t, []string{"warning space 4 [id]", "error id 4 [id]"}, found)
	found, _, err = vValidate(t, vDead("when='x'", ""), lenient)
	require.NoError(t, err)
	assert.Equal(t, []string{"error tombstone-ref 3 [deleted-entry]", "warning tombstone-when 3 [deleted-entry]"}, found)
	found, _, err = vValidate(t, validateRoot, lenient)
	require.Error(t, err)
	assert.Equal(t, []string{"error truncated 2 []"}, found)
}

// TestValidateReadError: an error of the io.Reader gives no findings about the document.
func TestValidateReadError(t *testing.T) {
	broken := errors.New("connection reset")
	sum, err := atom.Validate(io.MultiReader(strings.NewReader(validateRoot), iotest.ErrReader(broken)), atom.ValidateOptions{})
	require.ErrorIs(t, err, broken)
	assert.Zero(t, sum.Errors)
}

// TestValidateMissingAuthors: of many entries without an author, the first are reported,
// and then their number.
func TestValidateMissingAuthors(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(validateRoot + validateMeta + "\n<entry>" + validateBy + validateItem + validateLink + "</entry>")
	for i := range 150 {
		doc.WriteString(vItem(fmt.Sprintf("urn:why:%d", i), "2025-01-01T00:00:00Z"))
	}
	doc.WriteString("</feed>")
	var last string
	n := 0
	_, err := atom.Validate(strings.NewReader(doc.String()), atom.ValidateOptions{Report: func(f websync.Finding) { last, n = f.Message, n+1 }})
	require.NoError(t, err)
	assert.Equal(t, 100, n)
	assert.Contains(t, last, "; 50 more entries")
}

// validateDamages are the ways in which one entry can be damaged without its neighbours:
// %[1]s is its id, %[2]d its number.
var validateDamages = []string{
	"<entry><id>%[1]s</id><title>E</title><updated>day %[2]d</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:%[2]d</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><!-- %[2]d --></entry>",
	"<entry><id>urn:why:0</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id> %[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[2]d</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>URN:why:%[2]d</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link rel='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d' length='-%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d' hash='md5:%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d' type='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d' hreflang='de_%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title type='%[2]d'>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E<b/></title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title type='html'>&lt;b&gt;E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title type='xhtml'>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><content type='image/png'>%[2]d!</content><summary>S</summary></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><content type='image/png' src='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><content type='application/xml'>%[2]d</content></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><content type='x%[2]d'>x</content></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/><unknown-%[2]d/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/>%[2]d</entry>",
	"<entry n='%[2]d'><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/><author/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/><category n='%[2]d' term='x'/></entry>",
	"<entry><id>%[1]s</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/><published>2026-01-01T00:00:00Z</published></entry>",
	"<entry><id>%[1]s</id><title>E & %[2]d</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
	"<entry><id>%[1]s</id><title>E\x01%[2]d</title><updated>2025-05-01T00:00:00Z</updated><link href='%[2]d'/></entry>",
}

// TestValidateBadEntries: of 10,000 entries 1,000 are damaged, each in another way. Each
// has a finding on its line, and the others have none.
func TestValidateBadEntries(t *testing.T) {
	const entries, every = 10_000, 10
	var doc strings.Builder
	doc.WriteString(validateRoot + validateMeta + validateBy + "\n" + strings.TrimPrefix(vItem("urn:why:0", "2025-05-01T00:00:00Z"), "\n") + "\n")
	for i := range entries {
		id := fmt.Sprintf("urn:ex:%d", i)
		if i%every != 7 {
			doc.WriteString(strings.TrimPrefix(vItem(id, "2025-05-01T00:00:00Z"), "\n") + "\n")
			continue
		}
		fmt.Fprintf(&doc, validateDamages[i/every%len(validateDamages)]+"\n", id, i)
	}
	doc.WriteString("</feed>")
	lines := make(map[int]bool)
	_, err := atom.Validate(strings.NewReader(doc.String()), atom.ValidateOptions{Document: validateURL, Report: func(f websync.Finding) { lines[f.Line] = true }})
	require.NoError(t, err)
	for i := range entries {
		if damaged := i%every == 7; lines[i+4] != damaged {
			t.Errorf("line %d: a finding: %v, damaged: %v", i+4, lines[i+4], damaged)
		}
	}
	assert.Len(t, lines, entries/every)
}

// vMillion returns a feed of n entries. If again is true, every second entry has one of
// the first hundred ids.
func vMillion(n int, again bool) io.Reader {
	return testkit.Lines(validateRoot+validateMeta+validateBy, n, func(b []byte, i int) []byte {
		if again && i%2 == 0 {
			i %= 100
		}
		return fmt.Appendf(b, "<entry><id>urn:ex:%d</id><title>E</title><updated>2025-05-01T00:00:00Z</updated><link href='https://example.org/%d'/></entry>\n", i, i)
	}, "</feed>")
}

// TestValidateMemory: Validate needs the memory that the documentation states, and an id
// that comes thousands of times needs no more.
func TestValidateMemory(t *testing.T) {
	if racing.Enabled {
		t.Skip("the memory of the race detector is no figure")
	}
	const n = 100_000
	before, most := testkit.Heap(), int64(0)
	sum, err := atom.Validate(testkit.AtEnd(vMillion(n, false), func() { most = testkit.Heap() }), atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Equal(t, n, sum.Entries)
	assert.Zero(t, sum.Errors+sum.Warnings+sum.Infos)
	assert.Less(t, (most-before)/n, int64(66), "bytes an entry")

	sum, err = atom.Validate(vMillion(n, true), atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Greater(t, sum.Warnings, n/3)
}

// TestValidateManyAlternates: of the alternates of one element as many are compared as
// the documentation states, however many types there are.
func TestValidateManyAlternates(t *testing.T) {
	const n = 1 << 16
	var links strings.Builder
	for i := range n + 1 {
		fmt.Fprintf(&links, "<link href='x' type='a/%d'/>\n", i)
	}
	found, _, err := vValidate(t, vContent(links.String()+"<link href='x' type='a/0'/>\n<link href='x' type='a/"+fmt.Sprint(n)+"'/>"), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{fmt.Sprintf("error alternate %d [link]", 4+n+1)}, found)
}

func BenchmarkValidate(b *testing.B) {
	doc, err := io.ReadAll(vMillion(10_000, false))
	require.NoError(b, err)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestValidateProfile: the hooks of a profile get each readable item and, at the end, the
// feed. Their findings have the position of the item, and count.
func TestValidateProfile(t *testing.T) {
	rule := websync.Rule{Name: "profile-rule", Section: "Profile §1", Severity: websync.SeverityError}
	doc := vFeed(vTomb("urn:ex:1", "2025-05-01T00:00:00Z")+"\n<entry/>"+vItem("urn:ex:2", "2025-05-01T00:00:00Z")) + "\n"
	for _, lenient := range []bool{false, true} {
		var asked []string
		found, sum, err := vValidate(t, doc, func(o *atom.ValidateOptions) {
			o.Lenient = lenient
			o.Item = func(item *atom.Item, report atom.ReportFunc) {
				asked = append(asked, item.ID())
				report(rule, "", item.ID(), "an item")
			}
			o.Feed = func(f *atom.Feed, report atom.ReportFunc) {
				asked = append(asked, f.ID)
				report(rule, "link", "", "the feed")
			}
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"urn:ex:1", "urn:ex:2", "urn:ex:feed"}, asked)
		severity := "error"
		if lenient {
			severity = "warning"
		}
		found = slices.DeleteFunc(found, func(f string) bool { return !strings.Contains(f, "profile") })
		assert.Equal(t, []string{severity + " profile-rule 4 [deleted-entry]", severity + " profile-rule 6 [entry]", severity + " profile-rule 1 [link]"}, found)
		assert.Equal(t, []int{1, 1, 1}, []int{sum.Entries, sum.Tombstones, sum.Skipped})
	}

	var chain atom.ChainValidator
	items, feeds := 0, 0
	chain.Item = func(*atom.Item, atom.ReportFunc) { items++ }
	chain.Feed = func(_ *atom.Feed, report atom.ReportFunc) { feeds++; report(rule, "", "", "the feed") }
	assert.Equal(t, 3, chain.Walk(chainHost+"/feed", chainOpen(chainSite())).Errors)
	assert.Equal(t, []int{7, 3}, []int{items, feeds})
}

// A profile of Atom has rules of its own, which are checked beside those of Atom.
func ExampleValidate_profile() {
	const section = "Acts in Atom 1.0 §2"
	scheme := websync.Rule{Name: "acts-feed-id", Section: section, Severity: websync.SeverityError}
	act := websync.Rule{Name: "acts-entry-act", Section: section, Severity: websync.SeverityError}

	o := atom.ValidateOptions{
		Document: "acts.xml",
		Report:   func(f websync.Finding) { fmt.Println(f) },
		Feed: func(feed *atom.Feed, report atom.ReportFunc) {
			if !strings.HasPrefix(feed.ID, "tag:") {
				report(scheme, "id", feed.ID, "the id of a feed must be a tag URI")
			}
		},
		Item: func(item *atom.Item, report atom.ReportFunc) {
			if item.Entry == nil {
				return // a tombstone
			}
			if l, _ := item.Entry.Link("alternate"); l.Type != "application/rdf+xml" {
				report(act, "link", l.Type, "an entry must have an alternate link to RDF")
			}
		},
	}
	feed := `<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:example:acts</id>
  <title>Acts</title>
  <updated>2025-06-01T00:00:00Z</updated>
  <author><name>Parliament</name></author>
  <link rel="self" href="https://example.org/acts"/>
  <entry>
    <id>https://example.org/acts/1</id>
    <title>Act 1</title>
    <updated>2025-06-01T00:00:00Z</updated>
    <link href="https://example.org/acts/1.html" type="text/html"/>
  </entry>
</feed>`
	sum, err := atom.Validate(strings.NewReader(feed), o)
	fmt.Println(sum.Errors, err)
	// Output:
	// acts.xml:7:3: error: an entry must have an alternate link to RDF: "text/html" (acts-entry-act, Acts in Atom 1.0 §2)
	// acts.xml:1:1: error: the id of a feed must be a tag URI: "urn:example:acts" (acts-feed-id, Acts in Atom 1.0 §2)
	// 2 <nil>
}

// Validate reports all departures of a document, with their lines and rules.
func ExampleValidate() {
	feed := `<feed xmlns="http://www.w3.org/2005/Atom">
  <id>tag:example.org,2024:laws</id>
  <title>Laws</title>
  <updated>2025-06-01</updated>
  <link rel="self" href="https://example.org/feed"/>
  <entry>
    <id>tag:example.org,2024:laws/1</id>
    <title>Act 1</title>
    <updated>2025-06-01T00:00:00Z</updated>
  </entry>
</feed>`
	sum, err := atom.Validate(strings.NewReader(feed), atom.ValidateOptions{
		Document: "feed.xml",
		Report:   func(f websync.Finding) { fmt.Println(f) },
	})
	fmt.Println(sum.Kind, sum.Entries, sum.Errors, err)
	// Output:
	// feed.xml:4:3: error: a date without a time: "2025-06-01" (atom-date, RFC 4287 §3.3)
	// feed.xml:6:3: error: an entry without content must have an alternate link (atom-entry-alternate, RFC 4287 §4.1.2)
	// feed.xml:1:1: error: a feed must have an author, or each of its entries: 1 of 1 entries have none (atom-feed-author, RFC 4287 §4.1.1)
	// feed 1 3 <nil>
}
