package anyfeed_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

// validRSS is a feed of RSS 2.0 without findings, an element a line.
const validRSS = `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:x="https://example.org/x">
<channel xml:lang="en">
<title>Notes &amp; news</title>
<link>https://example.org/</link>
<description>What is new</description>
<atom:link rel="self" href="` + testURL + `" type="application/rss+xml" hreflang="en" length="1000" title="RSS"/>
<atom:link rel="next" href="https://example.org/feed?page=2"/>
<language>en-GB</language>
<copyright>2024 Example</copyright>
<managingEditor>nora@example.org (Nora)</managingEditor>
<webMaster>web@example.org (Web)</webMaster>
<pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>
<lastBuildDate>1 May 2024 10:00 +0200</lastBuildDate>
<category domain="https://example.org/c">News</category>
<generator>Press 1</generator>
<docs>https://www.rssboard.org/rss-specification</docs>
<cloud domain="rpc.example.org" port="80" path="/RPC2" registerProcedure="ping" protocol="soap"/>
<ttl>60</ttl>
<rating>(PICS-1.1)</rating>
<skipHours><hour>0</hour><hour>23</hour></skipHours>
<skipDays><day>Monday</day><day>Sunday</day></skipDays>
<sy:updatePeriod>daily</sy:updatePeriod>
<sy:updateFrequency>2</sy:updateFrequency>
<sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>
<fh:archive/>
<x:own a="1">free <b>text</b></x:own>
<itunes:author>Nora</itunes:author>
<itunes:type>serial</itunes:type>
<itunes:image href="https://example.org/i.png"/>
<itunes:category text="Society &amp; Culture"><itunes:category text="Documentary"/></itunes:category>
<itunes:category text="History"/>
<itunes:explicit>false</itunes:explicit>
<itunes:new-feed-url>https://example.org/new</itunes:new-feed-url>
<itunes:block>Yes</itunes:block>
<itunes:owner><itunes:name>Nora</itunes:name><itunes:email>nora@example.org</itunes:email></itunes:owner>
<image>
<url>https://example.org/i.png</url>
<title>Notes &amp; news</title>
<link>https://example.org/</link>
<width>144</width>
<height>400</height>
</image>
<textInput><title>Find</title><description>Find a note</description><name>q</name><link>https://example.org/q</link></textInput>
<item>
<title>One</title>
<link>https://example.org/1</link>
<description>&lt;p&gt;See &lt;a href="https://example.org/2"&gt;two&lt;/a&gt;&lt;/p&gt;</description>
<content:encoded><![CDATA[<p>One</p>]]></content:encoded>
<guid>https://example.org/1</guid>
<pubDate>Wed, 01 May 2024 10:00:00 EST</pubDate>
<author>nora@example.org (Nora)</author>
<comments>https://example.org/1#c</comments>
<slash:comments>0</slash:comments>
<source url="https://example.net/feed">Other</source>
<enclosure url="https://example.org/1.mp3" length="12" type="audio/mpeg"/>
<itunes:duration>1:02:03</itunes:duration>
<itunes:episode>1</itunes:episode>
<itunes:season>2</itunes:season>
<itunes:episodeType>full</itunes:episodeType>
<media:group>
<media:content url="https://example.org/1.mp4" fileSize="12" type="video/mp4" medium="video" isDefault="true" expression="full" bitrate="128" framerate="25" samplingrate="44.1" channels="2" duration="185" height="200" width="300" lang="en"/>
<media:content><media:player url="https://example.org/p" height="1" width="2"/></media:content>
<media:rating scheme="urn:simple">nonadult</media:rating>
<media:title type="plain">One</media:title>
<media:thumbnail url="https://example.org/1.png" width="75" height="50" time="12:05:01.123"/>
<media:category scheme="https://example.org/c" label="C">music</media:category>
<media:hash algo="md5">dfdec888b72151965a34b4b59031290a</media:hash>
<media:credit role="producer" scheme="urn:ebu">Nora</media:credit>
<media:restriction relationship="allow" type="country">au us</media:restriction>
<media:community><media:starRating average="3.5" count="20" min="1" max="10"/><media:statistics views="5" favorites="2"/></media:community>
<media:price type="rent" price="19.99" currency="EUR" info="https://example.org/price"/>
<media:status state="active"/>
<media:scenes><media:scene><sceneTitle>S</sceneTitle><sceneStartTime>00:15</sceneStartTime></media:scene></media:scenes>
</media:group>
</item>
<item>
<title>Two</title>
<guid isPermaLink="false">two</guid>
<dc:creator>Nora</dc:creator>
<dc:date>2024-05-01</dc:date>
<enclosure url="https://example.org/2.mp3" length="0" type="audio/mpeg"/>
<itunes:episode>2</itunes:episode>
</item>
</channel>
</rss>
`

// validRDF is a feed of RSS 1.0 without findings, an element a line.
const validRDF = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://example.org/rdf">
<title>News</title>
<link>https://example.org/</link>
<description>What is new</description>
<image rdf:resource="https://example.org/i.png"/>
<items><rdf:Seq>
<rdf:li rdf:resource="https://example.org/1"/>
<rdf:li resource="https://example.org/2"/>
</rdf:Seq></items>
<textinput rdf:resource="https://example.org/q"/>
</channel>
<image rdf:about="https://example.org/i.png"><title>News</title><url>https://example.org/i.png</url><link>https://example.org/</link></image>
<item rdf:about="https://example.org/1">
<title>One</title>
<link>https://example.org/1</link>
<description>The first</description>
</item>
<item rdf:about="https://example.org/2">
<title>Two</title>
<link>https://example.org/2</link>
<dc:date>2024-05-01T10:00:00Z</dc:date>
</item>
<textinput rdf:about="https://example.org/q"><title>Find</title><description>Find</description><name>q</name><link>https://example.org/q</link></textinput>
</rdf:RDF>
`

// valid091 is a feed of RSS 0.91 without findings.
const valid091 = `<rss version="0.91">
<channel>
<title>Old</title>
<link>https://example.org/</link>
<description>News</description>
<language>en</language>
<skipHours><hour>24</hour></skipHours>
<item><title>One</title><link>https://example.org/1</link></item>
</channel>
</rss>
`

// valid090 is a feed of RSS 0.90 without findings.
const valid090 = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
<channel><title>Old</title><link>https://example.org/</link><description>News</description></channel>
<item><title>One</title><link>https://example.org/1</link></item>
</rdf:RDF>
`

// validateRSS returns the findings as rules, without the prefix, with their positions.
func validateRSS(t *testing.T, doc string, o atom.ValidateOptions) (found []string, sum atom.Summary, err error) {
	t.Helper()
	listed := map[string]websync.Rule{}
	for _, r := range anyfeed.RSSRules() {
		listed[r.Name] = r
	}
	o.Document = cmp.Or(o.Document, testURL)
	o.Report = func(f websync.Finding) {
		r, ok := listed[f.Rule]
		require.True(t, ok, f.Rule)
		assert.Equal(t, r.Section, f.Section)
		assert.Equal(t, o.Document, f.Document)
		found = append(found, fmt.Sprintf("%s %d:%d", strings.TrimPrefix(f.Rule, "rss-"), f.Line, f.Column))
	}
	sum, err = anyfeed.ValidateRSS(strings.NewReader(doc), o)
	assert.Equal(t, len(found), sum.Errors+sum.Warnings+sum.Infos)
	return found, sum, err
}

var rssNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rssCases are faults: the text of a valid document that is replaced, and what is found.
var rssCases = []struct{ name, doc, old, new, want string }{
	{"no version", validRSS, ` version="2.0"`, "", "version 2:1"},
	{"an unknown version", validRSS, ` version="2.0"`, ` version="3"`, "version 2:1"},
	{"no channel", "<rss version='2.0'>\n</rss>", "\n", "", "root 1:1"},
	{"a second channel", validRSS, "</channel>", "</channel><channel><title>T</title><link>https://example.org/</link><description>D</description></channel>", "element-twice 85:11, itunes-missing 85:11, itunes-missing 85:11, itunes-missing 85:11, itunes-missing 85:11, itunes-recommended 85:11"},
	{"an item outside", validRSS, "</channel>\n", "</channel><item><title>T</title></item>\n", "unknown-element 85:11"},
	{"a namespace of RSS", validRSS, ` version="2.0"`, ` version="2.0" xmlns="http://backend.userland.com/rss2"`, "namespace 2:1"},
	{"no title", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<desc", "<link>https://example.org/</link>\n<desc", "channel-child 3:1"},
	{"an empty title", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<desc", "<title> </title>\n<link>https://example.org/</link>\n<desc", "channel-child 3:1"},
	{"no description", validRSS, "<description>What is new</description>\n", "", "channel-child 3:1"},
	{"an empty link of the channel", validRSS, "<link>https://example.org/</link>\n<description>", "<link/>\n<description>", "channel-child 3:1"},
	{"a second title that is empty", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<desc", "<title>Notes &amp; news</title><title/>\n<link>https://example.org/</link>\n<desc", "element-twice 4:32"},
	{"two descriptions", validRSS, "<description>What is new</description>\n", "<description>What is new</description> <description>Again</description>\n", "element-twice 6:40"},
	{"an unknown element", validRSS, "<ttl>60</ttl>", "<ttl>60</ttl><logo/>", "unknown-element 19:14"},
	{"an element in other letters", validRSS, "<lastBuildDate>1 May 2024 10:00 +0200</lastBuildDate>", "<lastbuilddate>1 May 2024 10:00 +0200</lastbuilddate>", "unknown-element 14:1"},
	{"an unknown attribute", validRSS, "<ttl>", `<ttl unit="min">`, "unknown-attribute 19:1"},
	{"text between", validRSS, "<ttl>", "ttl <ttl>", "text-between 19:1"},
	{"an element in a value", validRSS, "<title>Two</title>", "<title>Two <b>or</b> more</title>", "value-element 78:12"},
	{"HTML in a title", validRSS, "<title>Two</title>", "<title>Two &lt;b&gt;or&lt;/b&gt; more</title>", "markup 78:1"},
	{"an entity in a title", validRSS, "<title>Two</title>", "<title>Two &amp;amp; more</title>", "markup 78:1"},
	{"less than in a title", validRSS, "<title>Two</title>", "<title>2 &lt; 3 &amp; 4</title>", ""},
	{"a relative link", validRSS, "<link>https://example.org/1</link>", "<link>/1</link>", "url 47:1"},
	{"an empty link", validRSS, "<link>https://example.org/1</link>", "<link/>", "url 47:1"},
	{"a link with spaces around", validRSS, "<link>https://example.org/1</link>", "<link>\nhttps://example.org/1 </link>", ""},
	{"a scheme that is not registered", validRSS, "<link>https://example.org/1</link>", "<link>htttp://example.org/1</link>", "url-scheme 47:1"},
	{"a date of RFC 3339", validRSS, "Wed, 01 May 2024 10:00:00 EST", "2024-05-01T10:00:00Z", "date 51:1"},
	{"a zone that is none", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 CEST", "date 51:1"},
	{"no zone", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00", "date 51:1"},
	{"a day that is none", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Fri, 31 Nov 2024 10:00:00 EST", "date 51:1"},
	{"a month in full", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Tue, 01 October 2024 10:00:00 EST", "date 51:1"},
	{"an empty date", validRSS, "Wed, 01 May 2024 10:00:00 EST", "", "date 51:1"},
	{"a year of two digits", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 24 10:00:00 EST", "date-form 51:1"},
	{"a military zone", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 A", "date-form 51:1"},
	{"Z", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 Z", ""},
	{"a comment", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 +0000 (UTC)", "date-form 51:1"},
	{"another weekday", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Thu, 01 May 2024 10:00:00 EST", "date-form 51:1"},
	{"the weekday of another zone", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 23:00:00 EST", ""},
	{"a date to come", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Mon, 01 May 2034 10:00:00 EST", "date-future 51:1"},
	{"a language", validRSS, "en-GB", "English, British", "language 9:1"},
	{"an xml:lang", validRSS, `xml:lang="en"`, `xml:lang="English, British"`, "language 3:1"},
	{"an xml:lang that is not known", validRSS, `xml:lang="en"`, `xml:lang=""`, ""},
	{"a name for an address", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>Web", "person 12:1"},
	{"an address without a name", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>web@example.org", "person-form 12:1"},
	{"an address in brackets", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>Web &lt;web@example.org&gt;", "person-form 12:1"},
	{"a cloud without a port", validRSS, ` port="80"`, "", "cloud 18:1"},
	{"a cloud of HTTP", validRSS, `registerProcedure="ping" protocol="soap"`, `registerProcedure="" protocol="http-post"`, ""},
	{"a port", validRSS, ` port="80"`, ` port="99999"`, "cloud 18:1"},
	{"a protocol", validRSS, `protocol="soap"`, `protocol="rest"`, "cloud 18:1"},
	{"a ttl of nothing", validRSS, "<ttl>60", "<ttl>0", "ttl 19:1"},
	{"a ttl with a unit", validRSS, "<ttl>60", "<ttl>60 min", "ttl 19:1"},
	{"an image without url", validRSS, "<url>https://example.org/i.png</url>\n", "", "image 37:1"},
	{"an image that is wide", validRSS, "<width>144", "<width>145", "image-size 41:1"},
	{"an image that is high", validRSS, "<height>400", "<height>401", "image-size 42:1"},
	{"another title of the image", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<width>", "<title>Logo</title>\n<link>https://example.org/i</link>\n<width>", "image-same 39:1, image-same 40:1"},
	{"a textInput without name", validRSS, "<name>q</name>", "", "text-input 44:1"},
	{"hour 24", validRSS, "<hour>23", "<hour>24", "skip-hours 21:26"},
	{"an hour twice", validRSS, "<hour>23", "<hour>0", "skip-hours 21:26"},
	{"a day in German", validRSS, "<day>Sunday", "<day>Sonntag", "skip-days 22:28"},
	{"a day twice", validRSS, "<day>Sunday", "<day>Monday", "skip-days 22:28"},
	{"no link to itself", validRSS, `rel="self"`, `rel="alternate"`, "self 3:1"},
	{"a link to itself in an item", `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>https://example.org/</link><description>D</description>
<item><title>T</title><guid>https://example.org/1</guid><atom:link rel="self" href="https://example.org/1"/></item></channel></rss>`, "T", "T", "self 1:61"},
	{"another URL of its own", validRSS, `feed" type`, `feed2" type`, "self 7:1"},
	{"a type of XML", validRSS, "application/rss+xml", "text/xml", "self-type 7:1"},
	{"a link without href", validRSS, `href="https://example.org/feed?page=2"`, "", "atom-link 8:1"},
	{"a relation", validRSS, `rel="next"`, `rel="ne xt"`, "atom-link 8:1"},
	{"a length of a link", validRSS, `length="1000"`, `length="1 KB"`, "atom-link 7:1"},
	{"text in a mark", validRSS, "<fh:archive/>", "<fh:archive>yes</fh:archive>", "history 26:1"},
	{"an item without title and description", validRSS, "<title>Two</title>\n", "", "item-child 77:1, itunes-missing 77:1"},
	{"a second title", validRSS, "<title>Two</title>", "<title>Two</title><title>Three</title>", "element-twice 78:19"},
	{"an empty guid", validRSS, ">two<", "><", "guid 79:1"},
	{"a guid that is no link", validRSS, `<guid isPermaLink="false">`, "<guid>", "guid 79:1"},
	{"isPermaLink", validRSS, `isPermaLink="false"`, `isPermaLink="no"`, "guid 79:1, guid 79:1"},
	{"no guid", validRSS, "<guid isPermaLink=\"false\">two</guid>\n", "", "guid-missing 77:1"},
	{"a guid twice", validRSS, ">two<", ">https://example.org/1<", "guid-duplicate 79:1"},
	{"an enclosure without length", validRSS, `length="12" type="audio/mpeg"`, `type="audio/mpeg"`, "enclosure 56:1"},
	{"an enclosure of FTP", validRSS, `<enclosure url="https://example.org/1.mp3"`, `<enclosure url="ftp://example.org/1.mp3"`, "enclosure-value 56:1"},
	{"a length of an enclosure", validRSS, `length="12" type="audio/mpeg"`, `length="0:12" type="audio/mpeg"`, "enclosure-value 56:1"},
	{"a type of an enclosure", validRSS, `length="12" type="audio/mpeg"`, `length="12" type="mp3"`, "enclosure-value 56:1"},
	{"two enclosures", validRSS, `length="0" type="audio/mpeg"/>`, "length=\"0\" type=\"audio/mpeg\"/>\n<enclosure url=\"https://example.org/2.ogg\" length=\"0\" type=\"audio/ogg\"/>", "enclosures 83:1"},
	{"a source without url", validRSS, ` url="https://example.net/feed"`, "", "source 55:1"},
	{"a relative URL in HTML", validRSS, `href="https://example.org/2"`, `href="2"`, "relative 48:1"},
	{"a relative URL after others", validRSS, "<p>One</p>", "<a href='https://a/'>a</a> <a href=//b>b</a> <a HREF = 'c'>c</a>", "relative 49:1"},
	{"what is no URL", validRSS, "<p>One</p>", "<p data-href='a'>href=b</p> <a href='mailto:a@b.c' name=src>", ""},
	{"a relative picture", validRSS, "<p>One</p>", `<p>One <img alt="" src=one.png></p>`, "relative 49:1"},
	{"content without a description", validRSS, "<description>&lt;p&gt;See &lt;a href=\"https://example.org/2\"&gt;two&lt;/a&gt;&lt;/p&gt;</description>\n", "", "content 48:1"},
	{"content before the description", validRSS, "<description>&lt;p&gt;See &lt;a href=\"https://example.org/2\"&gt;two&lt;/a&gt;&lt;/p&gt;</description>\n<content:encoded><![CDATA[<p>One</p>]]></content:encoded>", "<content:encoded><![CDATA[<p>One</p>]]></content:encoded><description>One</description>", "content 48:1"},
	{"content twice", validRSS, "</content:encoded>", "</content:encoded><content:encoded/>", "element-twice 49:58"},
	{"two authors", validRSS, "<author>", "<dc:creator>Nora</dc:creator><author>", "same-meaning 52:1"},
	{"two dates", validRSS, "<dc:date>2024-05-01</dc:date>", "<dc:date>2024-05-01</dc:date><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>", "same-meaning 81:1"},
	{"a number of comments", validRSS, "<slash:comments>0", "<slash:comments>none", "slash-comments 54:1"},
	{"a date of Dublin Core", validRSS, "<dc:date>2024-05-01", "<dc:date>1 May 2024", "dublin-core 81:1"},
	{"a date of Dublin Core to come", validRSS, "<dc:date>2024-05-01", "<dc:date>2034-05-01", "date-future 81:1"},
	{"a period", validRSS, ">daily<", ">fortnightly<", "syndication 23:1"},
	{"a frequency", validRSS, "<sy:updateFrequency>2", "<sy:updateFrequency>0", "syndication 24:1"},
	{"a namespace without its slash", validRSS, "http://search.yahoo.com/mrss/", "http://search.yahoo.com/mrss", "namespace 61:1"},
	{"a namespace with https", validRSS, "http://purl.org/dc/elements/1.1/", "https://purl.org/dc/elements/1.1/", "namespace 80:1"},
	{"a namespace in other letters", validRSS, "http://www.itunes.com/dtds/podcast-1.0.dtd", "https://www.iTunes.com/DTDs/PodCast-1.0.dtd", "namespace 28:1"},
	{"no language in RSS 0.91", valid091, "<language>en</language>\n", "", "version-091 2:1"},
	{"no link in RSS 0.91", valid091, "<link>https://example.org/1</link>", "", "version-091 8:1"},
	{"nothing in RSS 0.92", `<rss version="0.92"><channel><title>T</title><link>https://example.org/</link><description>D</description><item/></channel></rss>`, "<item/>", "<item/>", ""},
	{"no link in RSS 0.90", valid090, "<link>https://example.org/1</link>", "", "version-091 3:1"},
	{"a link next in an item", validRSS, "<guid>", `<atom:link rel="next" href="https://example.org/2"/><guid>`, ""},
	{"hour 24 in RSS 0.91", valid091, "<hour>24", "<hour>25", "skip-hours 7:12"},
	{"a long title in RSS 0.91", valid091, "<title>One</title>", "<title>" + strings.Repeat("ä", 101) + "</title>", "version-091 8:7"},
	{"RSS 1.0 without description", validRDF, "<description>What is new</description>\n", "", "rdf-child 2:1"},
	{"an item of RSS 1.0 without link", validRDF, "<link>https://example.org/2</link>\n", "", "rdf-child 19:1"},
	{"an image of RSS 1.0 without url", validRDF, "<url>https://example.org/i.png</url>", "", "rdf-child 13:1"},
	{"no rdf:about", validRDF, `<channel rdf:about="https://example.org/rdf">`, "<channel>", "rdf-child 2:1"},
	{"a relative rdf:about", validRDF, `<channel rdf:about="https://example.org/rdf">`, `<channel rdf:about="rdf">`, "rdf-about 2:1"},
	{"an rdf:about twice", validRDF, `<channel rdf:about="https://example.org/rdf">`, `<channel rdf:about="https://example.org/i.png">`, "rdf-about-duplicate 13:1"},
	{"no items", validRDF, "<rdf:Seq>\n<rdf:li rdf:resource=\"https://example.org/1\"/>\n<rdf:li resource=\"https://example.org/2\"/>\n</rdf:Seq>", "", "rdf-items 7:1, rdf-items 11:1, rdf-items 16:1"},
	{"an item that is not listed", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "", "rdf-items 18:1"},
	{"an item that is not there", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li resource=\"https://example.org/3\"/>\n", "rdf-items 10:1"},
	{"an item that is listed twice", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li resource=\"https://example.org/2\"/>\n", "rdf-items 10:1"},
	{"an item without resource", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li/>\n", "rdf-items 10:1"},
	{"another image", validRDF, `<image rdf:resource="https://example.org/i.png"/>`, `<image rdf:resource="https://example.org/j.png"/>`, "rdf-resource 6:1"},
	{"a textinput without reference", validRDF, "<textinput rdf:resource=\"https://example.org/q\"/>\n", "", "rdf-resource 23:1"},
	{"another link", validRDF, "<link>https://example.org/2</link>", "<link>https://example.org/2?a</link>", "rdf-link 21:1"},
	{"a long title", validRDF, "<title>News</title>\n<link>", "<title>" + strings.Repeat("n", 41) + "</title>\n<link>", "rdf-length 3:1"},
	{"a title of an item", validRDF, "<title>Two</title>", "<title>" + strings.Repeat("n", 100) + "</title>", ""},
	{"a long title of an item", validRDF, "<title>Two</title>", "<title>" + strings.Repeat("n", 101) + "</title>", "rdf-length 20:1"},
	{"a long title in other letters", validRDF, "<title>Two</title>", "<title>" + strings.Repeat("ä", 100) + "</title>", ""},
	{"RSS 2.0 in RSS 1.0", validRDF, "<title>Two</title>", "<title>Two</title><guid>2</guid>", "unknown-element 20:19"},
	{"no namespace in RSS 1.0", validRDF, "<title>Two</title>", `<title xmlns="">Two</title>`, "namespace 20:1"},
	{"content without url", validRSS, `<media:player url="https://example.org/p" height="1" width="2"/>`, "", "media-content 63:1"},
	{"content with the player of its group", validRSS, `<media:content><media:player url="https://example.org/p" height="1" width="2"/></media:content>`, `<media:player url="https://example.org/p"/><media:content/>`, ""},
	{"two defaults without a group", validRSS, `<guid>`, `<media:content url="https://example.org/a" isDefault="true"/><media:content url="https://example.org/b" isDefault="true"/><guid>`, ""},
	{"a thumbnail without url", validRSS, `<media:thumbnail url="https://example.org/1.png"`, "<media:thumbnail", "media-required 66:1"},
	{"a medium", validRSS, `medium="video"`, `medium="film"`, "media-value 62:1"},
	{"a duration of media", validRSS, `duration="185"`, `duration="3:05"`, "media-value 62:1"},
	{"a time of media", validRSS, "12:05:01.123", "12h", "media-value 66:1"},
	{"a rating", validRSS, "nonadult", "PG", "media-value 64:1"},
	{"a scheme", validRSS, `scheme="urn:ebu"`, `scheme="ebu"`, "media-value 69:1"},
	{"a rating of another scheme", validRSS, `<media:rating scheme="urn:simple">nonadult`, `<media:rating scheme="urn:mpaa">PG`, ""},
	{"a hash", validRSS, "dfdec888b72151965a34b4b59031290a", "dfdec888", "media-value 68:1"},
	{"a hash of SHA-1", validRSS, `algo="md5"`, `algo="sha-1"`, "media-value 68:1"},
	{"a role", validRSS, `role="producer"`, `role="Producer"`, "media-value 69:1"},
	{"a restriction without relationship", validRSS, ` relationship="allow"`, "", "media-required 70:1"},
	{"countries", validRSS, ">au us<", ">Australia<", "media-value 70:1"},
	{"all, but no type", validRSS, ` type="country">au us<`, ">some<", "media-value 70:1"},
	{"a currency", validRSS, "EUR", "Euro", "media-value 72:1"},
	{"two defaults", validRSS, "<media:content><media:player", `<media:content isDefault="true"><media:player`, "media-default 63:1"},
	{"an element of no media", validRSS, `<media:status state="active"/>`, "<media:state/>", "media-unknown 73:1"},
	{"an attribute of no media", validRSS, `<media:status state="active"/>`, `<media:status state="active" why="so"/>`, "media-unknown 73:1"},
	{"adult", validRSS, `<media:status state="active"/>`, "<media:adult>true</media:adult>", "media-adult 73:1"},
	{"a podcast without a picture", validRSS, "<itunes:image href=\"https://example.org/i.png\"/>\n", "", "itunes-missing 3:1"},
	{"a podcast without an author", validRSS, "<itunes:author>Nora</itunes:author>\n", "", "itunes-recommended 3:1"},
	{"an episode without a file", validRSS, "<enclosure url=\"https://example.org/2.mp3\" length=\"0\" type=\"audio/mpeg\"/>\n", "", "itunes-missing 77:1"},
	{"an episode without a number", validRSS, "<itunes:episode>2</itunes:episode>\n", "", "itunes-missing 77:1"},
	{"a trailer without a number", validRSS, "<itunes:episode>2</itunes:episode>", "<itunes:episodeType>trailer</itunes:episodeType>", ""},
	{"a picture without href", validRSS, `<itunes:image href="https://example.org/i.png"/>`, "<itunes:image/>", "itunes-missing 30:1"},
	{"explicit", validRSS, "<itunes:explicit>false", "<itunes:explicit>perhaps", "itunes-explicit 33:1"},
	{"clean", validRSS, "<itunes:explicit>false", "<itunes:explicit>clean", "itunes-old 33:1"},
	{"a category", validRSS, `text="History"`, `text="Histories"`, "itunes-category 32:1"},
	{"an empty category", validRSS, `text="History"`, `text=""`, "itunes-category 32:1"},
	{"an empty subcategory", validRSS, `text="History"/>`, `text="History"><itunes:category text=""/></itunes:category>`, "itunes-category 32:33"},
	{"a subcategory", validRSS, `text="Documentary"`, `text="Comedy"`, "itunes-category 31:47"},
	{"a category without text", validRSS, ` text="History"`, "", "itunes-missing 32:1"},
	{"a duration", validRSS, "<itunes:duration>1:02:03", "<itunes:duration>1 h", "itunes-duration 57:1"},
	{"a duration of 90 minutes", validRSS, "<itunes:duration>1:02:03", "<itunes:duration>90:00", ""},
	{"an episode", validRSS, "<itunes:episode>1<", "<itunes:episode>1a<", "itunes-number 58:1"},
	{"a season", validRSS, "<itunes:season>2", "<itunes:season>0", "itunes-number 59:1"},
	{"a type of an episode", validRSS, ">full<", ">Full<", "itunes-type 60:1"},
	{"a type of a podcast", validRSS, ">serial<", ">weekly<", "itunes-type 29:1"},
	{"block", validRSS, "<itunes:block>Yes", "<itunes:block>no", "itunes-flag 35:1"},
	{"an owner without an address", validRSS, "<itunes:email>nora@example.org</itunes:email>", "", "itunes-email 36:1"},
	{"an address of an owner", validRSS, "<itunes:email>nora@example.org", "<itunes:email>nora", "itunes-email 36:46"},
	{"an old element", validRSS, "<itunes:block>Yes</itunes:block>\n", "<itunes:block>Yes</itunes:block>\n<itunes:subtitle>S</itunes:subtitle><itunes:subtitle/>\n", "itunes-old 36:1, element-twice 36:37"},
	{"an unknown tag", validRSS, "<itunes:block>Yes</itunes:block>\n", "<itunes:block>Yes</itunes:block>\n<itunes:color>S</itunes:color>\n", "itunes-unknown 36:1"},
	{"an entity of HTML", validRSS, "<title>Two</title>", "<title>Two&nbsp;more</title>", "xml 78:11"},
	{"a prefix that is not declared", validRSS, "<title>Two</title>", "<title>Two</title><y:z/>", "xml 78:19"},
	{"a line before", validRSS, "<?xml version", "Warning\n<?xml version", "prologue 1:1"},
	{"Latin 1", validRSS, `encoding="utf-8"`, `encoding="iso-8859-1"`, "encoding 1:1"},
	{"a DOCTYPE", validRSS, "<rss version", "<!DOCTYPE rss>\n<rss version", "doctype 2:1"},
}

func TestValidateRSS(t *testing.T) {
	for name, doc := range map[string]string{"2.0": validRSS, "1.0": validRDF, "0.91": valid091, "0.90": valid090} {
		t.Run(name, func(t *testing.T) {
			found, sum, err := validateRSS(t, doc, atom.ValidateOptions{Now: rssNow})
			require.NoError(t, err)
			assert.Empty(t, found)
			want := atom.Summary{Kind: atom.FeedDocument, Counts: websync.Counts{Entries: strings.Count(doc, "<item"), Bytes: int64(len(doc))}}
			if want.Entries -= strings.Count(doc, "<items"); doc == validRSS {
				want.Self, want.Next = testURL, "https://example.org/feed?page=2"
			}
			assert.Equal(t, want, sum)
		})
	}
}

func TestValidateRSSFaults(t *testing.T) {
	reported := map[string]bool{}
	for _, tt := range rssCases {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, tt.doc, tt.old)
			found, _, err := validateRSS(t, strings.Replace(tt.doc, tt.old, tt.new, 1), atom.ValidateOptions{Now: rssNow})
			require.NoError(t, err)
			for _, f := range found {
				name, _, _ := strings.Cut(f, " ")
				reported[name] = true
			}
			assert.Equal(t, tt.want, strings.Join(found, ", "))
		})
	}
	for _, r := range anyfeed.RSSRules() {
		switch name := strings.TrimPrefix(r.Name, "rss-"); name {
		case "truncated", "document", "gzip": // TestValidateRSSErrors
		default:
			assert.True(t, reported[name], "no test breaks %s", name)
		}
	}
}

// A finding names the element as it is usually written, and what is wrong with which part
// of it.
func TestValidateRSSMessages(t *testing.T) {
	var got []string
	_, err := anyfeed.ValidateRSS(strings.NewReader(`<rss version="2" xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel unit="1"> 1
<title>T</title><ttl>0</ttl><cloud port="0"/><i:block>no</i:block><logo/></channel></rss>`), atom.ValidateOptions{Report: func(f websync.Finding) {
		got = append(got, fmt.Sprintf("%d:%d %s: %s %q", f.Line, f.Column, f.Element, f.Message, f.Value))
	}})
	require.NoError(t, err)
	assert.Equal(t, `1:1 rss: version: not one of 0.91, 0.92, 0.93, 0.94, 2.0 "2"
1:71 channel: channel has no attribute unit ""
1:90 channel: text between the elements "1"
2:17 ttl: not a whole number from 1 "0"
2:29 cloud: port: not a whole number from 1 to 65535 "0"
2:29 cloud: no domain ""
2:29 cloud: no path ""
2:29 cloud: no registerProcedure ""
2:29 cloud: no protocol ""
2:46 itunes:block: not Yes, which has no effect "no"
2:67 channel: channel has no element logo ""`, strings.Join(got[:11], "\n"))
}

// A channel of RSS 1.0 lists each of its items, of which there should be 15.
func TestValidateRSSItems(t *testing.T) {
	var list, items strings.Builder
	for i := range 16 {
		fmt.Fprintf(&list, "<rdf:li rdf:resource=\"https://example.org/n/%d\"/>\n", i)
		fmt.Fprintf(&items, "<item rdf:about=\"https://example.org/n/%d\"><title>T</title><link>https://example.org/n/%[1]d</link></item>\n", i)
	}
	doc := strings.Replace(validRDF, "</rdf:Seq>", list.String()+"</rdf:Seq>", 1)
	found, sum, err := validateRSS(t, strings.Replace(doc, "<channel ", items.String()+"<channel ", 1), atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 18, sum.Entries)
	assert.Equal(t, []string{"rdf-length 1:1"}, found, "items may come first")

	found, _, err = validateRSS(t, strings.Replace(doc, "</rdf:RDF>", strings.ReplaceAll(items.String(), "/n/", "/m/")+"</rdf:RDF>", 1), atom.ValidateOptions{})
	require.NoError(t, err)
	require.Len(t, found, 33)
	assert.Equal(t, []string{"rdf-length 1:1", "rdf-items 10:1"}, found[:2], "in the order of the document")
	assert.Equal(t, "rdf-items 56:1", found[32])
}

func TestValidateRSSErrors(t *testing.T) {
	tests := map[string]struct {
		doc, found string
		want       error
	}{
		"cut":             {validRSS[:len(validRSS)-8], "truncated 85:11", websync.ErrTruncated},
		"no end tag":      {strings.Replace(validRSS, "</guid>", "", 1), "xml 76:1", nil},
		"Atom":            {"<feed xmlns='http://www.w3.org/2005/Atom'/>", "document 1:1", websync.ErrNotDocument},
		"RDF":             {`<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description/></r:RDF>`, "document 1:1", websync.ErrNotDocument},
		"another RDF":     {"<RDF/>", "document 1:1", websync.ErrNotDocument},
		"HTML":            {"<!DOCTYPE html><html><body>Sign in</body></html>", "document 1:16", websync.ErrNotDocument},
		"JSON":            {validJSON, "document 1:1", websync.ErrNotDocument},
		"nothing":         {"", "document 1:1", websync.ErrNotDocument},
		"too long":        {validRSS, "document 1:1", websync.ErrLimit},
		"something after": {validRSS + "<rss/>", "xml 87:1", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := atom.ValidateOptions{}
			if name == "too long" {
				o.MaxBytes = 2
			}
			found, _, err := validateRSS(t, tt.doc, o)
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
			}
			require.NotEmpty(t, found)
			assert.Equal(t, tt.found, found[len(found)-1])
		})
	}
	_, err := anyfeed.ValidateRSS(iotest.ErrReader(errors.ErrUnsupported), atom.ValidateOptions{Report: func(f websync.Finding) { t.Error(f) }})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestValidateRSSGzip(t *testing.T) {
	found, sum, err := validateRSS(t, gzipped(t, validRSS)+"more", atom.ValidateOptions{Now: rssNow})
	require.NoError(t, err)
	assert.Equal(t, []string{"gzip 0:0"}, found)
	assert.Equal(t, 2, sum.Entries)
}

// What a reader reads over is a warning if that is asked for.
func TestValidateRSSLenient(t *testing.T) {
	_, sum, err := validateRSS(t, "<rss><channel><item><link>x</link></item><item/></channel></rss>", atom.ValidateOptions{Lenient: true})
	require.NoError(t, err)
	assert.Zero(t, sum.Errors)
	assert.Positive(t, sum.Warnings)
	assert.Equal(t, websync.Counts{Entries: 2, Skipped: 1, Bytes: 64, Warnings: sum.Warnings}, sum.Counts, "an item without guid and link has no id")
	_, sum, err = validateRSS(t, strings.Replace(validRDF, "</rdf:RDF>", "<item/></rdf:RDF>", 1), atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Skipped)
}

var (
	leaf      = regexp.MustCompile(`<([a-zA-Z:]+)[^<>]*>([^<>]+)</`)
	attribute = regexp.MustCompile(`<([a-zA-Z:]+)(?: [a-zA-Z:]+="[^"]*")*? ([a-zA-Z:]+)="([^"]*)"`)
	// what may have any value
	freeText = strings.Fields("title description copyright generator category rating name content:encoded source dc:creator x:own b p guid" +
		" itunes:author itunes:name media:title media:category media:credit media:player sceneTitle sceneStartTime")
	freeAttrs = strings.Fields("category/domain cloud/domain cloud/path cloud/registerProcedure atom:link/title x:own/a media:category/label" +
		" media:credit/role")
)

// TestValidateRSSValues replaces each value of the valid documents by one that is of no
// form, and removes each line: all that may not be any text is found, at a position in
// the document, and the same each time.
func TestValidateRSSValues(t *testing.T) {
	replaced := map[string]bool{}
	for _, doc := range []string{validRSS, validRDF, valid091} {
		validate := func(name, changed string) []string {
			found, _, err := validateRSS(t, changed, atom.ValidateOptions{Now: rssNow})
			require.NoError(t, err, name)
			again, _, _ := validateRSS(t, changed, atom.ValidateOptions{Now: rssNow})
			assert.Equal(t, found, again, name)
			for _, f := range found {
				var rule string
				var line, column int
				_, err := fmt.Sscanf(f, "%s %d:%d", &rule, &line, &column)
				require.NoError(t, err)
				lines := strings.Split(changed, "\n")
				require.True(t, line > 0 && line <= len(lines) && column > 0 && column <= len(lines[line-1])+1, f)
			}
			return found
		}
		replace := func(name string, from, to int, free []string) {
			replaced[name] = true
			found := validate(name, doc[:from]+"!|~"+doc[to:])
			assert.True(t, len(found) > 0 || slices.Contains(free, name), name)
		}
		for _, m := range leaf.FindAllStringSubmatchIndex(doc, -1) {
			replace(doc[m[2]:m[3]], m[4], m[5], freeText)
		}
		for from := 0; ; {
			m := attribute.FindStringSubmatchIndex(doc[from:])
			if m == nil {
				break
			}
			name := doc[from+m[2]:from+m[3]] + "/" + doc[from+m[4]:from+m[5]]
			if !strings.Contains(name, "/xmlns") {
				replace(name, from+m[6], from+m[7], freeAttrs)
			}
			from += m[7]
		}
		lines := strings.SplitAfter(doc, "\n")
		for i, line := range lines {
			if open := strings.Count(line, "<") - 2*strings.Count(line, "</") - strings.Count(line, "/>"); open == 0 {
				validate(line, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""))
				validate(line, strings.Join(slices.Insert(slices.Clone(lines), i, line), ""))
			}
		}
	}
	assert.Greater(t, len(replaced), 60)
}

// FuzzValidateRSS: for all bytes, findings have positions and are counted, and the size of
// the reads makes no difference.
func FuzzValidateRSS(f *testing.F) {
	files, err := filepath.Glob("testdata/*.xml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, doc := range []string{validRSS, validRDF, valid091, valid090} {
		f.Add([]byte(doc))
	}
	for _, c := range rssCases {
		f.Add([]byte(strings.Replace(c.doc, c.old, c.new, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		validate := func(src io.Reader) (found []websync.Finding, sum atom.Summary, err error) {
			sum, err = anyfeed.ValidateRSS(src, atom.ValidateOptions{
				Document: testURL, Now: rssNow, MaxBytes: 1 << 20,
				Report: func(f websync.Finding) { found = append(found, f) },
			})
			return found, sum, err
		}
		found, sum, err := validate(bytes.NewReader(data))
		require.Len(t, found, sum.Errors+sum.Warnings+sum.Infos)
		for _, f := range found {
			require.Equal(t, f.Line > 0, f.Column > 0, f)
			require.True(t, f.Line > 0 || f.Rule == "rss-gzip" || err != nil, f)
		}
		require.False(t, err != nil && sum.Errors == 0)
		require.False(t, err == nil && sum.Kind != atom.FeedDocument)
		slowly, slowSum, slowErr := validate(iotest.OneByteReader(bytes.NewReader(data)))
		require.Equal(t, found, slowly)
		if slowSum.Bytes = sum.Bytes; err == nil {
			require.Equal(t, sum, slowSum)
		}
		require.Equal(t, err == nil, slowErr == nil)
	})
}
