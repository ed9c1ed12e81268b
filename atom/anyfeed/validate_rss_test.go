package anyfeed_test

import (
	"bytes"
	"cmp"
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
	{"no version", validRSS, ` version="2.0"`, "", ""},
	{"an unknown version", validRSS, ` version="2.0"`, ` version="3"`, ""},
	{"no channel", `<rss version="2.0"></rss>`, "", "", ""},
	{"a second channel", validRSS, "</channel>", "</channel><channel><title>T</title><link>https://example.org/</link><description>D</description></channel>", ""},
	{"an item outside", validRSS, "</channel>\n", "</channel><item><title>T</title></item>\n", ""},
	{"a namespace of RSS", validRSS, ` version="2.0"`, ` version="2.0" xmlns="http://backend.userland.com/rss2"`, ""},
	{"no title", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<desc", "<link>https://example.org/</link>\n<desc", ""},
	{"an empty title", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<desc", "<title> </title>\n<link>https://example.org/</link>\n<desc", ""},
	{"no description", validRSS, "<description>What is new</description>\n", "", ""},
	{"two descriptions", validRSS, "<description>What is new</description>\n", "<description>What is new</description> <description>Again</description>\n", ""},
	{"an unknown element", validRSS, "<ttl>60</ttl>", "<ttl>60</ttl><logo/>", ""},
	{"an element in other letters", validRSS, "<lastBuildDate>1 May 2024 10:00 +0200</lastBuildDate>", "<lastbuilddate>1 May 2024 10:00 +0200</lastbuilddate>", ""},
	{"an unknown attribute", validRSS, "<ttl>", `<ttl unit="min">`, ""},
	{"text between", validRSS, "<ttl>", "ttl <ttl>", ""},
	{"an element in a value", validRSS, "<title>Two</title>", "<title>Two <b>or</b> more</title>", ""},
	{"HTML in a title", validRSS, "<title>Two</title>", "<title>Two &lt;b&gt;or&lt;/b&gt; more</title>", ""},
	{"an entity in a title", validRSS, "<title>Two</title>", "<title>Two &amp;amp; more</title>", ""},
	{"less than in a title", validRSS, "<title>Two</title>", "<title>2 &lt; 3 &amp; 4</title>", ""},
	{"a relative link", validRSS, "<link>https://example.org/1</link>", "<link>/1</link>", ""},
	{"an empty link", validRSS, "<link>https://example.org/1</link>", "<link/>", ""},
	{"a link with spaces around", validRSS, "<link>https://example.org/1</link>", "<link>\nhttps://example.org/1 </link>", ""},
	{"a scheme that is not registered", validRSS, "<link>https://example.org/1</link>", "<link>htttp://example.org/1</link>", ""},
	{"a date of RFC 3339", validRSS, "Wed, 01 May 2024 10:00:00 EST", "2024-05-01T10:00:00Z", ""},
	{"a zone that is none", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 CEST", ""},
	{"no zone", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00", ""},
	{"a day that is none", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Fri, 31 Nov 2024 10:00:00 EST", ""},
	{"a month in full", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Tue, 01 October 2024 10:00:00 EST", ""},
	{"an empty date", validRSS, "Wed, 01 May 2024 10:00:00 EST", "", ""},
	{"a year of two digits", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 24 10:00:00 EST", ""},
	{"a military zone", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 A", ""},
	{"Z", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 Z", ""},
	{"a comment", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Wed, 01 May 2024 10:00:00 +0000 (UTC)", ""},
	{"another weekday", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Thu, 01 May 2024 10:00:00 EST", ""},
	{"a date to come", validRSS, "Wed, 01 May 2024 10:00:00 EST", "Mon, 01 May 2034 10:00:00 EST", ""},
	{"a language", validRSS, "en-GB", "English, British", ""},
	{"an xml:lang", validRSS, `xml:lang="en"`, `xml:lang="English, British"`, ""},
	{"a name for an address", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>Web", ""},
	{"an address without a name", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>web@example.org", ""},
	{"an address in brackets", validRSS, "<webMaster>web@example.org (Web)", "<webMaster>Web &lt;web@example.org&gt;", ""},
	{"a cloud without a port", validRSS, ` port="80"`, "", ""},
	{"a port", validRSS, ` port="80"`, ` port="99999"`, ""},
	{"a protocol", validRSS, `protocol="soap"`, `protocol="rest"`, ""},
	{"a ttl of nothing", validRSS, "<ttl>60", "<ttl>0", ""},
	{"a ttl with a unit", validRSS, "<ttl>60", "<ttl>60 min", ""},
	{"an image without url", validRSS, "<url>https://example.org/i.png</url>\n", "", ""},
	{"an image that is wide", validRSS, "<width>144", "<width>145", ""},
	{"an image that is high", validRSS, "<height>400", "<height>401", ""},
	{"another title of the image", validRSS, "<title>Notes &amp; news</title>\n<link>https://example.org/</link>\n<width>", "<title>Logo</title>\n<link>https://example.org/i</link>\n<width>", ""},
	{"a textInput without name", validRSS, "<name>q</name>", "", ""},
	{"hour 24", validRSS, "<hour>23", "<hour>24", ""},
	{"an hour twice", validRSS, "<hour>23", "<hour>0", ""},
	{"a day in German", validRSS, "<day>Sunday", "<day>Sonntag", ""},
	{"a day twice", validRSS, "<day>Sunday", "<day>Monday", ""},
	{"no link to itself", validRSS, `rel="self"`, `rel="alternate"`, ""},
	{"another URL of its own", validRSS, `feed" type`, `feed2" type`, ""},
	{"a type of XML", validRSS, "application/rss+xml", "text/xml", ""},
	{"a link without href", validRSS, `href="https://example.org/feed?page=2"`, "", ""},
	{"a relation", validRSS, `rel="next"`, `rel="ne xt"`, ""},
	{"a length of a link", validRSS, `length="1000"`, `length="1 KB"`, ""},
	{"text in a mark", validRSS, "<fh:archive/>", "<fh:archive>yes</fh:archive>", ""},
	{"an item without title and description", validRSS, "<title>Two</title>\n", "", ""},
	{"a second title", validRSS, "<title>Two</title>", "<title>Two</title><title>Three</title>", ""},
	{"an empty guid", validRSS, ">two<", "><", ""},
	{"a guid that is no link", validRSS, `<guid isPermaLink="false">`, "<guid>", ""},
	{"isPermaLink", validRSS, `isPermaLink="false"`, `isPermaLink="no"`, ""},
	{"no guid", validRSS, "<guid isPermaLink=\"false\">two</guid>\n", "", ""},
	{"a guid twice", validRSS, ">two<", ">https://example.org/1<", ""},
	{"an enclosure without length", validRSS, `length="12" type="audio/mpeg"`, `type="audio/mpeg"`, ""},
	{"an enclosure of FTP", validRSS, `<enclosure url="https://example.org/1.mp3"`, `<enclosure url="ftp://example.org/1.mp3"`, ""},
	{"a length of an enclosure", validRSS, `length="12" type="audio/mpeg"`, `length="0:12" type="audio/mpeg"`, ""},
	{"a type of an enclosure", validRSS, `length="12" type="audio/mpeg"`, `length="12" type="mp3"`, ""},
	{"two enclosures", validRSS, `length="0" type="audio/mpeg"/>`, "length=\"0\" type=\"audio/mpeg\"/>\n<enclosure url=\"https://example.org/2.ogg\" length=\"0\" type=\"audio/ogg\"/>", ""},
	{"a source without url", validRSS, ` url="https://example.net/feed"`, "", ""},
	{"a relative URL in HTML", validRSS, `href="https://example.org/2"`, `href="2"`, ""},
	{"a relative picture", validRSS, "<p>One</p>", `<p>One <img alt="" src=one.png></p>`, ""},
	{"content without a description", validRSS, "<description>&lt;p&gt;See &lt;a href=\"https://example.org/2\"&gt;two&lt;/a&gt;&lt;/p&gt;</description>\n", "", ""},
	{"content before the description", validRSS, "<description>&lt;p&gt;See &lt;a href=\"https://example.org/2\"&gt;two&lt;/a&gt;&lt;/p&gt;</description>\n<content:encoded><![CDATA[<p>One</p>]]></content:encoded>", "<content:encoded><![CDATA[<p>One</p>]]></content:encoded><description>One</description>", ""},
	{"content twice", validRSS, "</content:encoded>", "</content:encoded><content:encoded/>", ""},
	{"two authors", validRSS, "<author>", "<dc:creator>Nora</dc:creator><author>", ""},
	{"two dates", validRSS, "<dc:date>2024-05-01</dc:date>", "<dc:date>2024-05-01</dc:date><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>", ""},
	{"a number of comments", validRSS, "<slash:comments>0", "<slash:comments>none", ""},
	{"a date of Dublin Core", validRSS, "<dc:date>2024-05-01", "<dc:date>1 May 2024", ""},
	{"a date of Dublin Core to come", validRSS, "<dc:date>2024-05-01", "<dc:date>2034-05-01", ""},
	{"a period", validRSS, ">daily<", ">fortnightly<", ""},
	{"a frequency", validRSS, "<sy:updateFrequency>2", "<sy:updateFrequency>0", ""},
	{"a namespace without its slash", validRSS, "http://search.yahoo.com/mrss/", "http://search.yahoo.com/mrss", ""},
	{"a namespace with https", validRSS, "http://purl.org/dc/elements/1.1/", "https://purl.org/dc/elements/1.1/", ""},
	{"no language in RSS 0.91", valid091, "<language>en</language>\n", "", ""},
	{"no link in RSS 0.91", valid091, "<link>https://example.org/1</link>", "", ""},
	{"a long title in RSS 0.91", valid091, "<title>One</title>", "<title>" + strings.Repeat("ä", 101) + "</title>", ""},
	{"RSS 1.0 without description", validRDF, "<description>What is new</description>\n", "", ""},
	{"an item of RSS 1.0 without link", validRDF, "<link>https://example.org/2</link>\n", "", ""},
	{"an image of RSS 1.0 without url", validRDF, "<url>https://example.org/i.png</url>", "", ""},
	{"no rdf:about", validRDF, `<channel rdf:about="https://example.org/rdf">`, "<channel>", ""},
	{"a relative rdf:about", validRDF, `<channel rdf:about="https://example.org/rdf">`, `<channel rdf:about="rdf">`, ""},
	{"an rdf:about twice", validRDF, `<channel rdf:about="https://example.org/rdf">`, `<channel rdf:about="https://example.org/i.png">`, ""},
	{"no items", validRDF, "<rdf:Seq>\n<rdf:li rdf:resource=\"https://example.org/1\"/>\n<rdf:li resource=\"https://example.org/2\"/>\n</rdf:Seq>", "", ""},
	{"an item that is not listed", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "", ""},
	{"an item that is not there", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li resource=\"https://example.org/3\"/>\n", ""},
	{"an item that is listed twice", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li resource=\"https://example.org/2\"/>\n", ""},
	{"an item without resource", validRDF, "<rdf:li resource=\"https://example.org/2\"/>\n", "<rdf:li resource=\"https://example.org/2\"/>\n<rdf:li/>\n", ""},
	{"another image", validRDF, `<image rdf:resource="https://example.org/i.png"/>`, `<image rdf:resource="https://example.org/j.png"/>`, ""},
	{"a textinput without reference", validRDF, "<textinput rdf:resource=\"https://example.org/q\"/>\n", "", ""},
	{"another link", validRDF, "<link>https://example.org/2</link>", "<link>https://example.org/2?a</link>", ""},
	{"a long title", validRDF, "<title>News</title>\n<link>", "<title>" + strings.Repeat("n", 41) + "</title>\n<link>", ""},
	{"sixteen items", validRDF, "</rdf:RDF>", strings.Repeat("<item><title>T</title><link>https://example.org/3</link></item>", 0) + "</rdf:RDF>", ""},
	{"RSS 2.0 in RSS 1.0", validRDF, "<title>Two</title>", "<title>Two</title><guid>2</guid>", ""},
	{"no namespace in RSS 1.0", validRDF, "<title>Two</title>", `<title xmlns="">Two</title>`, ""},
	{"content without url", validRSS, `<media:player url="https://example.org/p" height="1" width="2"/>`, "", ""},
	{"a thumbnail without url", validRSS, `<media:thumbnail url="https://example.org/1.png"`, "<media:thumbnail", ""},
	{"a medium", validRSS, `medium="video"`, `medium="film"`, ""},
	{"a duration of media", validRSS, `duration="185"`, `duration="3:05"`, ""},
	{"a time of media", validRSS, "12:05:01.123", "12h", ""},
	{"a rating", validRSS, "nonadult", "PG", ""},
	{"a scheme", validRSS, `scheme="urn:ebu"`, `scheme="ebu"`, ""},
	{"a rating of another scheme", validRSS, `<media:rating scheme="urn:simple">nonadult`, `<media:rating scheme="urn:mpaa">PG`, ""},
	{"a hash", validRSS, "dfdec888b72151965a34b4b59031290a", "dfdec888", ""},
	{"a hash of SHA-1", validRSS, `algo="md5"`, `algo="sha-1"`, ""},
	{"a role", validRSS, `role="producer"`, `role="Producer"`, ""},
	{"a restriction without relationship", validRSS, ` relationship="allow"`, "", ""},
	{"countries", validRSS, ">au us<", ">Australia<", ""},
	{"all, but no type", validRSS, ` type="country">au us<`, ">some<", ""},
	{"a currency", validRSS, "EUR", "Euro", ""},
	{"two defaults", validRSS, "<media:content><media:player", `<media:content isDefault="true"><media:player`, ""},
	{"an element of no media", validRSS, `<media:status state="active"/>`, "<media:state/>", ""},
	{"an attribute of no media", validRSS, `<media:status state="active"/>`, `<media:status state="active" why="so"/>`, ""},
	{"adult", validRSS, `<media:status state="active"/>`, "<media:adult>true</media:adult>", ""},
	{"a podcast without a picture", validRSS, "<itunes:image href=\"https://example.org/i.png\"/>\n", "", ""},
	{"a podcast without an author", validRSS, "<itunes:author>Nora</itunes:author>\n", "", ""},
	{"an episode without a file", validRSS, "<enclosure url=\"https://example.org/2.mp3\" length=\"0\" type=\"audio/mpeg\"/>\n", "", ""},
	{"an episode without a number", validRSS, "<itunes:episode>2</itunes:episode>\n", "", ""},
	{"a trailer without a number", validRSS, "<itunes:episode>2</itunes:episode>", "<itunes:episodeType>trailer</itunes:episodeType>", ""},
	{"a picture without href", validRSS, `<itunes:image href="https://example.org/i.png"/>`, "<itunes:image/>", ""},
	{"explicit", validRSS, "<itunes:explicit>false", "<itunes:explicit>perhaps", ""},
	{"clean", validRSS, "<itunes:explicit>false", "<itunes:explicit>clean", ""},
	{"a category", validRSS, `text="History"`, `text="Histories"`, ""},
	{"a subcategory", validRSS, `text="Documentary"`, `text="Comedy"`, ""},
	{"a category without text", validRSS, ` text="History"`, "", ""},
	{"a duration", validRSS, "<itunes:duration>1:02:03", "<itunes:duration>1 h", ""},
	{"a duration of 90 minutes", validRSS, "<itunes:duration>1:02:03", "<itunes:duration>90:00", ""},
	{"an episode", validRSS, "<itunes:episode>1<", "<itunes:episode>1a<", ""},
	{"a season", validRSS, "<itunes:season>2", "<itunes:season>0", ""},
	{"a type of an episode", validRSS, ">full<", ">Full<", ""},
	{"a type of a podcast", validRSS, ">serial<", ">weekly<", ""},
	{"block", validRSS, "<itunes:block>Yes", "<itunes:block>no", ""},
	{"an owner without an address", validRSS, "<itunes:email>nora@example.org</itunes:email>", "", ""},
	{"an address of an owner", validRSS, "<itunes:email>nora@example.org", "<itunes:email>nora", ""},
	{"an old element", validRSS, "<itunes:block>Yes</itunes:block>\n", "<itunes:block>Yes</itunes:block>\n<itunes:subtitle>S</itunes:subtitle>\n", ""},
	{"an unknown tag", validRSS, "<itunes:block>Yes</itunes:block>\n", "<itunes:block>Yes</itunes:block>\n<itunes:color>S</itunes:color>\n", ""},
	{"an entity of HTML", validRSS, "<title>Two</title>", "<title>Two&nbsp;more</title>", ""},
	{"a prefix that is not declared", validRSS, "<title>Two</title>", "<title>Two</title><y:z/>", ""},
	{"a line before", validRSS, "<?xml version", "Warning\n<?xml version", ""},
	{"Latin 1", validRSS, `encoding="utf-8"`, `encoding="iso-8859-1"`, ""},
	{"a DOCTYPE", validRSS, "<rss version", "<!DOCTYPE rss>\n<rss version", ""},
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

var _ = []any{bytes.NewReader, errors.New, io.EOF, os.Open, filepath.Glob, slices.Contains[[]int], iotest.ErrReader}
