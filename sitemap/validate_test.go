package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	open     = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1" xmlns:v="http://www.google.com/schemas/sitemap-video/1.1" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" xmlns:x="http://www.w3.org/1999/xhtml">` + "\n"
	openList = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">` + "\n"
	page1    = "<loc>https://www.example.com/maps/1</loc>"
)

// inEntry is a document whose only entry, in line 2, has a loc and then the given
// children.
func inEntry(children string) string { return open + "<url>" + page1 + children + "</url></urlset>" }

func inLoc(loc string) string { return open + "<url><loc>" + loc + "</loc></url></urlset>" }

func inVideo(children string) string {
	return inEntry("<v:video>" + children + "</v:video>")
}

const video = "<v:thumbnail_loc>https://www.example.com/t.png</v:thumbnail_loc><v:title>T</v:title>" +
	"<v:description>D</v:description><v:content_loc>https://cdn.example.org/v.mp4</v:content_loc>"

const news = "<n:news><n:publication><n:name>The Times</n:name><n:language>en</n:language></n:publication>" +
	"<n:publication_date>2025-12-31</n:publication_date><n:title>T</n:title></n:news>"

func alternates(links ...string) string {
	var b strings.Builder
	for _, l := range links {
		lang, href, _ := strings.Cut(l, " ")
		fmt.Fprintf(&b, `<x:link rel="alternate" hreflang="%s" href="%s"/>`, lang, href)
	}
	return inEntry(b.String())
}

// validate returns the findings as "severity rule line:column [element] value".
func validate(t testing.TB, doc string, change func(*sitemap.ValidateOptions)) (found []string, sum sitemap.Summary, err error) {
	o := sitemap.ValidateOptions{Extensions: google.Extensions(), Document: documentURL, Now: now}
	if change != nil {
		change(&o)
	}
	o.Report = func(f websync.Finding) {
		if f.Document != o.Document {
			t.Errorf("the document of a finding is %s", f.Document)
		}
		found = append(found, fmt.Sprintf("%v %s %d:%d [%s]", f.Severity, strings.TrimPrefix(f.Rule, "sitemap-"), f.Line, f.Column, f.Element))
	}
	sum, err = sitemap.Validate(strings.NewReader(doc), o)
	return found, sum, err
}

// TestValidateRules has at least one document for every rule.
func TestValidateRules(t *testing.T) {
	const long = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	tests := map[string]struct {
		doc    string
		change func(*sitemap.ValidateOptions)
		want   []string
		fails  bool
	}{
		"valid": {doc: inEntry("<lastmod>2025-12-31</lastmod><changefreq>daily</changefreq><priority>0.5</priority>")},
		"all extensions valid": {doc: inEntry("<i:image><i:loc>https://cdn.example.org/1.png</i:loc></i:image><v:video>" + video + "</v:video>" + news +
			`<x:link rel="alternate" hreflang="de" href="https://www.example.com/maps/1"/><x:link rel="alternate" hreflang="x-default" href="https://www.example.org/"/>` +
			`<x:link rel="alternate" media="handheld" href="https://m.example.com/"/>`)},
		"valid with a schema location": {doc: strings.Replace(inEntry(""), ">", ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">`, 1)},

		// XML and bytes.
		"a raw ampersand":           {doc: inLoc("https://www.example.com/maps/?a&b"), want: []string{"error xml 2:42 []", "error loc-syntax 2:6 [loc]"}},
		"mismatched tags":           {doc: open + "<url>" + page1 + "</urlset>", want: []string{"error xml 2:47 []"}, fails: true},
		"cut short":                 {doc: open + "<url>" + page1 + "</url>", want: []string{"error truncated 2:53 []"}, fails: true},
		"an RSS feed":               {doc: "<rss version='2.0'/>", want: []string{"error document 1:1 [rss]"}, fails: true},
		"nothing":                   {doc: "", want: []string{"error document 1:1 []"}, fails: true},
		"an HTML page":              {doc: "<!DOCTYPE html><html>", want: []string{"error document 1:16 [html]"}, fails: true},
		"bad gzip":                  {doc: "\x1f\x8b bad", want: []string{"error truncated 0:0 []"}, fails: true},
		"over MaxBytes":             {doc: inEntry(""), change: func(o *sitemap.ValidateOptions) { o.MaxBytes = 300 }, want: []string{"error document 2:6 []"}, fails: true},
		"a line before":             {doc: "Warning\n<?xml version='1.0'?>" + inEntry(""), want: []string{"error prologue 1:1 []"}},
		"declared otherwise":        {doc: "<?xml version='1.0' encoding='ISO-8859-1'?>" + inEntry(""), want: []string{"error encoding 1:1 []"}},
		"declared as ASCII":         {doc: "<?xml version='1.0' encoding = \"us-ascii\"?>" + inEntry(""), want: []string{"error encoding 1:1 []"}},
		"declared in small letters": {doc: "<?xml version='1.0' encoding='utf-8'?>" + inEntry("")},
		"UTF-16":                    {doc: utf16(inEntry("")), want: []string{"error encoding 1:1 []"}},
		"a DOCTYPE":                 {doc: "<?xml version='1.0'?>\n<!-- <!DOCTYPE x> -->\n <!DOCTYPE urlset>" + inEntry(""), want: []string{"error doctype 3:2 []"}},
		"a DOCTYPE in a comment":    {doc: "<!-- <!DOCTYPE x> --><?pi <!DOCTYPE x> ?>" + inEntry("")},
		"compressed twice":          {doc: string(gzipOf(gzipOf([]byte(inEntry(""))))), want: []string{"warning gzip 0:0 []"}},
		"bytes after the gzip":      {doc: string(gzipOf([]byte(inEntry("")))) + "more", want: []string{"warning gzip 0:0 []"}},
		"entity declarations":       {doc: "<!DOCTYPE urlset [<!ENTITY a 'b'>]>" + inEntry(""), want: []string{"error doctype 1:1 []", "error xml 1:19 []"}, fails: true},
		"an encoding nobody knows":  {doc: "<?xml version='1.0' encoding='x-klingon'?>" + inEntry(""), want: []string{"error encoding 1:1 []", "error xml 1:1 []"}, fails: true},
		"bytes that are not UTF-8":  {doc: inEntry("<priority>0.5\xff</priority>"), want: []string{"error xml 2:60 []", "error priority 2:47 [priority]"}},

		// Elements.
		"no namespace":               {doc: "<urlset><url>" + page1 + "</url></urlset>", want: []string{"error namespace 1:1 [urlset]"}},
		"https in the namespace":     {doc: strings.Replace(inEntry(""), "http:", "https:", 1), want: []string{"error namespace 1:1 [urlset]"}},
		"an entry's namespace":       {doc: open + "<url xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'>" + page1 + "</url></urlset>", want: []string{"error namespace 2:1 [url]"}},
		"children without namespace": {doc: inEntry("<lastmod xmlns=''>2025-01-01</lastmod><priority xmlns=''>0.5</priority>"), want: []string{"error namespace 2:47 [lastmod]", "error namespace 2:85 [priority]"}},
		"an index was meant":         {doc: open + "<sitemap>" + page1 + "</sitemap></urlset>", want: []string{"error root 2:1 [urlset]"}},
		"a sitemap among urls":       {doc: inLoc("https://www.example.com/maps/2")[:len(open)+46] + "</url><sitemap>" + page1 + "</sitemap></urlset>", want: []string{"error entry 2:53 [sitemap]"}},
		"empty":                      {doc: open + "</urlset>", want: []string{"warning empty 0:0 []"}},
		"an unknown element":         {doc: inEntry("<title>x</title>"), want: []string{"error unknown-element 2:47 [title]"}},
		"an unknown element outside": {doc: open + "<title>x</title><url>" + page1 + "</url></urlset>", want: []string{"error unknown-element 2:1 [title]"}},
		"capitals":                   {doc: inEntry("<LastMod>2025-01-01</LastMod>"), want: []string{"error element-name 2:47 [LastMod]"}},
		"a second loc":               {doc: inEntry(strings.Replace(page1, "/1", "/2", 1)), want: []string{"error duplicate-element 2:47 [loc]"}},
		"an entry inside of another": {doc: inEntry("<url>" + strings.Replace(page1, "/1", "/2", 1) + "</url>"), want: []string{"error nesting 2:47 [url]"}},
		"twice":                      {doc: inEntry("<priority>0.1</priority><priority>0.1</priority>"), want: []string{"error duplicate-element 2:71 [priority]"}},
		"wrong order":                {doc: inEntry("<priority>0.1</priority><changefreq>daily</changefreq>"), want: []string{"error element-order 2:71 [changefreq]"}},
		"an extension before":        {doc: inEntry("<y xmlns='urn:y'/><lastmod>2025-01-01</lastmod>"), want: []string{"error element-order 2:65 [lastmod]"}},
		"an extension of the whole":  {doc: open + "<url>" + page1 + "</url><y xmlns='urn:y'/></urlset>", want: []string{"error element-order 2:53 [y]"}},
		"too much of an extension":   {doc: inEntry(strings.Repeat("<y xmlns='urn:y'>"+strings.Repeat(long, 20<<10)+"</y>", 3)), want: []string{"error element-size 2:1310809 [y]"}},
		"text":                       {doc: open + "text\n <url>\n  more" + page1 + "</url></urlset>", want: []string{"error text 2:1 []", "error text 4:3 []"}},
		"an attribute":               {doc: open + "<url id='1'><loc lang='en'>https://www.example.com/maps/1</loc></url></urlset>", want: []string{"error attribute 2:1 [url]", "error attribute 2:13 [loc]"}},
		"foreign attributes":         {doc: strings.Replace(inEntry(""), ">\n<url>", " xmlns:dct='http://purl.org/dc/terms/' dct:relation='https://www.example.com/feed'>\n<url dct:type='Text'>", 1), want: []string{"info foreign-attribute 2:1 [url]"}},
		"of the protocol itself":     {doc: strings.Replace(inEntry(""), ">", " xmlns:s='"+sitemap.Namespace+"' s:x='1'>", 1), want: []string{"info foreign-attribute 1:1 [urlset]"}},
		"a language of the whole":    {doc: strings.Replace(inEntry(""), ">", " xml:lang='en'>", 1), want: []string{"error attribute 1:1 [urlset]"}},
		"priority in an index":       {doc: openList + "<sitemap>" + page1 + "<priority>0.5</priority></sitemap></sitemapindex>", want: []string{"error index-element 2:51 [priority]"}},
		"an image in an index":       {doc: openList + "<sitemap>" + page1 + "<i:image><i:loc>https://www.example.com/i.png</i:loc></i:image></sitemap></sitemapindex>", want: []string{"error index-element 2:51 [image]"}},

		// loc.
		"no loc":                {doc: open + "<url><lastmod>2025-01-01</lastmod></url></urlset>", want: []string{"error loc-missing 2:1 [url]"}},
		"an empty loc":          {doc: inLoc(" "), want: []string{"error loc-missing 2:6 [loc]"}},
		"white space":           {doc: inLoc(" https://www.example.com/maps/1\n"), want: []string{"info loc-space 2:6 [loc]"}},
		"a no-break space":      {doc: inLoc("\u00a0https://www.example.com/maps/1\u00a0"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"relative":              {doc: inLoc("/maps/1"), want: []string{"error loc-relative 2:6 [loc]"}},
		"2,047 characters":      {doc: inLoc("https://www.example.com/maps/" + strings.Repeat("x", 2047-29))},
		"2,048 characters":      {doc: inLoc("https://www.example.com/maps/" + strings.Repeat("x", 2048-29)), want: []string{"error loc-length 2:6 [loc]"}},
		"2,048 with references": {doc: inLoc("https://www.example.com/maps/" + strings.Repeat("&amp;", 2047-29))},
		"short": {doc: inLoc("http://t.co"), change: func(o *sitemap.ValidateOptions) { o.Document = "file.xml" },
			want: []string{"warning loc-short 2:6 [loc]"}},
		"a space":              {doc: inLoc("https://www.example.com/maps/a b"), want: []string{"error loc-escape 2:6 [loc]"}},
		"spaces in the query":  {doc: inLoc("https://www.example.com/maps/a?b  c"), want: []string{"error loc-escape 2:6 [loc]"}},
		"a space in a path":    {doc: inLoc("/maps/a b"), want: []string{"error loc-escape 2:6 [loc]", "error loc-relative 2:6 [loc]"}},
		"a space in the host":  {doc: inLoc("https://www example.com/maps/"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"a space, then a URL":  {doc: inLoc("https://www.example.com/maps/a https://www.example.com/maps/b"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"a tab and a space":    {doc: inLoc("https://www.example.com/maps/a\tb c"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"one slash":            {doc: inLoc("https:/www.example.com/maps/"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"another scheme":       {doc: inLoc("ftp://www.example.com/maps/"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"no host":              {doc: inLoc("https://"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"a bad percent sign":   {doc: inLoc("https://www.example.com/maps/100%"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"a bad triplet":        {doc: inLoc("https://www.example.com/maps/%zz"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"brackets":             {doc: inLoc("https://www.example.com/maps/?a[]=1"), want: []string{"error loc-syntax 2:6 [loc]"}},
		"a bad port":           {doc: inLoc("https://www.example.com:x/maps/"), want: []string{"error loc-syntax 2:6 [loc]", "error host 2:6 [loc]"}},
		"outside ASCII":        {doc: inLoc("https://www.example.com/maps/ü"), want: []string{"error loc-escape 2:6 [loc]"}},
		"a fragment":           {doc: inLoc("https://www.example.com/maps/#a"), want: []string{"warning loc-fragment 2:6 [loc]"}},
		"two fragments":        {doc: inLoc("https://www.example.com/maps/#a#b"), want: []string{"error loc-syntax 2:6 [loc]", "warning loc-fragment 2:6 [loc]"}},
		"a password":           {doc: inLoc("https://me:pw@www.example.com/maps/"), want: []string{"warning loc-user 2:6 [loc]"}},
		"listed twice":         {doc: open + "<url>" + page1 + "</url>\n<url>" + page1 + "</url></urlset>", want: []string{"warning loc-duplicate 3:6 [loc]"}},
		"listed twice as text": {doc: "https://www.example.com/maps/1\nhttps://www.example.com/maps/1\n", want: []string{"warning loc-duplicate 2:1 []"}},

		// Other values.
		"not a date":          {doc: inEntry("<lastmod>yesterday</lastmod>"), want: []string{"error lastmod 2:47 [lastmod]"}},
		"no zone":             {doc: inEntry("<lastmod>2025-01-01T10:00:00</lastmod>"), want: []string{"error lastmod 2:47 [lastmod]"}},
		"no such date":        {doc: inEntry("<lastmod>2025-02-30</lastmod>"), want: []string{"error lastmod 2:47 [lastmod]"}},
		"the future":          {doc: inEntry("<lastmod>2026-01-03</lastmod>"), want: []string{"warning lastmod-future 2:47 [lastmod]"}},
		"tomorrow":            {doc: inEntry("<lastmod>2026-01-01T23:00:00Z</lastmod>")},
		"a month":             {doc: inEntry("<lastmod>2025-02</lastmod>"), want: []string{"info lastmod-schema 2:47 [lastmod]"}},
		"a minute":            {doc: inEntry("<lastmod>2025-02-03T04:05Z</lastmod>"), want: []string{"info lastmod-schema 2:47 [lastmod]"}},
		"small t and z":       {doc: open + strings.Repeat("<url>"+page1+"<lastmod>2025-02-03t04:05:06z</lastmod></url>\n", 2) + "</urlset>", want: []string{"error lastmod 2:47 [lastmod]", "error lastmod 3:47 [lastmod]", "warning loc-duplicate 3:6 [loc]"}},
		"space in changefreq": {doc: inEntry("<changefreq> daily\n</changefreq>"), want: []string{"error changefreq 2:47 [changefreq]"}},
		"a changefreq":        {doc: inEntry("<changefreq>sometimes</changefreq>"), want: []string{"error changefreq 2:47 [changefreq]"}},
		"priority above":      {doc: inEntry("<priority>1.1</priority>"), want: []string{"error priority 2:47 [priority]"}},
		"priority below":      {doc: inEntry("<priority>-0.1</priority>"), want: []string{"error priority 2:47 [priority]"}},
		"a line that is none": {doc: "https://www.example.com/maps/1\nhello\n", want: []string{"error text-line 2:1 []"}},
		"a line with a space": {doc: "https://www.example.com/maps/1\nhttps://www.example.com/maps/2 and more\n", want: []string{"error text-line 2:1 []"}},

		// Locations.
		"another directory":        {doc: inLoc("https://www.example.com/images/1"), want: []string{"error location 2:6 [loc]"}},
		"the directory's sibling":  {doc: inLoc("https://www.example.com/maps2/1"), want: []string{"error location 2:6 [loc]"}},
		"dots":                     {doc: inLoc("https://www.example.com/maps/../images/1"), want: []string{"error location 2:6 [loc]"}},
		"escaped dots":             {doc: inLoc("https://www.example.com/maps/%2E%2e/images/1"), want: []string{"error location 2:6 [loc]"}},
		"dots that stay":           {doc: inLoc("https://www.example.com/maps/a/../b/")},
		"a port that goes unsaid":  {doc: inLoc("HTTPS://WWW.example.com:443/maps/1")},
		"another host":             {doc: inLoc("https://example.com/maps/1"), want: []string{"error host 2:6 [loc]"}},
		"http for https":           {doc: inLoc("http://www.example.com/maps/1"), want: []string{"error host 2:6 [loc]"}},
		"another port":             {doc: inLoc("https://www.example.com:8443/maps/1"), want: []string{"error host 2:6 [loc]"}},
		"two hosts in a file":      {doc: open + "<url>" + page1 + "</url><url><loc>https://example.com/2</loc></url></urlset>", change: func(o *sitemap.ValidateOptions) { o.Document = "file.xml" }, want: []string{"error host 2:58 [loc]"}},
		"an index of another site": {doc: openList + "<sitemap><loc>https://example.com/maps/1</loc></sitemap></sitemapindex>", want: []string{"error index-site 2:10 [loc]"}},
		"an index that lists itself": {doc: openList + "<sitemap><loc>" + documentURL + "</loc></sitemap></sitemapindex>",
			want: []string{"error repeated 2:10 [loc]"}},
		"an index that lists itself by another name": {doc: openList + "<sitemap>" + page1 + "</sitemap></sitemapindex>",
			change: func(o *sitemap.ValidateOptions) { o.Aliases = []string{"https://www.example.com/maps/1"} },
			want:   []string{"error repeated 2:10 [loc]"}},
		"an index anywhere on its site": {doc: openList + "<sitemap><loc>https://www.example.com/a.xml</loc></sitemap></sitemapindex>"},
		"an index in an index": {doc: openList + "<sitemap>" + page1 + "</sitemap></sitemapindex>",
			change: func(o *sitemap.ValidateOptions) { o.Child = func(string) sitemap.Kind { return sitemap.Index } },
			want:   []string{"error index-nested 2:10 [loc]"}},
		"a sitemap in an index": {doc: openList + "<sitemap>" + page1 + "</sitemap></sitemapindex>",
			change: func(o *sitemap.ValidateOptions) { o.Child = func(string) sitemap.Kind { return sitemap.URLSet } }},

		// Extensions.
		"almost a namespace": {doc: inEntry("<i:image xmlns:i='https://www.google.com/schemas/sitemap-image/1.1'/>"), want: []string{"error extension-namespace 2:47 [image]"}},
		"another version":    {doc: inEntry("<i:image xmlns:i='http://www.google.com/schemas/sitemap-image/1.0'/>"), want: []string{"error extension-namespace 2:47 [image]"}},
		"almost XHTML":       {doc: inEntry("<x:link xmlns:x='http://www.w3.org/1999/xhtml/'/>"), want: []string{"error extension-namespace 2:47 [link]"}},
		"an image outside":   {doc: open + "<i:image><i:loc>https://www.example.com/i.png</i:loc></i:image><url>" + page1 + "</url></urlset>", want: []string{"error extension-place 2:1 [image]"}},
		"an unknown child":   {doc: inEntry("<i:image><i:loc>https://www.example.com/i.png</i:loc><i:size/></i:image>"), want: []string{"warning extension-element 2:47 [size]"}},
		"an unknown image":   {doc: inEntry("<i:loc>https://www.example.com/i.png</i:loc>"), want: []string{"warning extension-element 2:47 [loc]"}},
		"what Google's schemas allow": {doc: inEntry("<i:image><i:loc>https://www.example.com/i.png</i:loc><i:caption/><i:geo_location></i:geo_location><i:title/></i:image>" +
			"<v:video>" + video + "<v:tag/><v:family_friendly>Yes</v:family_friendly><v:restriction relationship='deny'/><v:price type='rent'/><v:price currency='EUR' type='PURCHASE' resolution='HD'>1.99</v:price>" +
			"<v:requires_subscription>NO</v:requires_subscription><v:tvshow><v:show_title>S</v:show_title><v:video_type>full</v:video_type><v:episode_title/><v:season_number>1</v:season_number>" +
			"<v:episode_number>2</v:episode_number><v:premier_date>2025-01-01</v:premier_date></v:tvshow><v:live>YES</v:live></v:video>" +
			strings.Replace(news, "</n:news>", "<n:access>Registration</n:access><n:genres>Blog, OpEd</n:genres><n:geo_locations/><n:keywords/><n:stock_tickers/></n:news>", 1)), want: []string{
			"info extension-deprecated 2:47 [caption]", "info extension-deprecated 2:47 [geo_location]", "info extension-deprecated 2:47 [title]",
			"info extension-deprecated 2:165 [price]", "info extension-deprecated 2:165 [price]", "info extension-deprecated 2:165 [tvshow]",
			"info extension-deprecated 2:830 [access]", "info extension-deprecated 2:830 [genres]", "info extension-deprecated 2:830 [geo_locations]",
			"info extension-deprecated 2:830 [keywords]", "info extension-deprecated 2:830 [stock_tickers]"}},
		"a price":                    {doc: inVideo(video + "<v:price currency='euro'>1</v:price><v:price>-1</v:price>"), want: []string{"info extension-deprecated 2:47 [price]", "error video-value 2:47 [price]", "info extension-deprecated 2:47 [price]", "error video-value 2:47 [price]"}},
		"a TV show":                  {doc: inVideo(video + "<v:tvshow><v:video_type>long</v:video_type></v:tvshow>"), want: []string{"info extension-deprecated 2:47 [tvshow]", "error video-value 2:47 [video_type]", "error video-child 2:47 [tvshow]"}},
		"an answer in mixed case":    {doc: inVideo(video + "<v:live>yES</v:live>"), want: []string{"error video-value 2:47 [live]"}},
		"a country in small letters": {doc: inVideo(video + "<v:restriction relationship='allow'>de</v:restriction>"), want: []string{"error video-value 2:47 [restriction]"}},
		"the access of news":         {doc: inEntry(strings.Replace(news, "</n:news>", "<n:access>free</n:access></n:news>", 1)), want: []string{"info extension-deprecated 2:47 [access]", "error news-value 2:47 [access]"}},
		"the genres of news":         {doc: inEntry(strings.Replace(news, "</n:news>", "<n:genres>Blog Satire</n:genres></n:news>", 1)), want: []string{"info extension-deprecated 2:47 [genres]", "error news-value 2:47 [genres]"}},
		"the month of news":          {doc: inEntry(strings.Replace(news, "2025-12-31", "2025-12", 1)), want: []string{"error news-value 2:47 [publication_date]"}},
		"the small z of news":        {doc: inEntry(strings.Replace(news, "2025-12-31", "2025-12-31T10:00:00z", 1)), want: []string{"error news-value 2:47 [publication_date]"}},
		"a language in capitals":     {doc: inEntry(strings.Replace(news, ">en<", ">EN<", 1)), want: []string{"error news-value 2:47 [language]"}},
		"an old child":               {doc: inEntry("<i:image><i:loc>https://www.example.com/i.png</i:loc><i:title>t</i:title></i:image>"), want: []string{"info extension-deprecated 2:47 [title]"}},
		"an image without loc":       {doc: inEntry("<i:image/>"), want: []string{"error image-child 2:47 [image]"}},
		"an image with two locs":     {doc: inEntry("<i:image><i:loc>https://www.example.com/i.png</i:loc><i:loc>https://www.example.com/i.png</i:loc></i:image>"), want: []string{"error image-child 2:47 [loc]"}},
		"a relative image":           {doc: inEntry("<i:image><i:loc>/i.png</i:loc></i:image>"), want: []string{"error image-value 2:47 [loc]"}},
		"1,001 images":               {doc: inEntry(strings.Repeat("<i:image><i:loc>https://www.example.com/i.png</i:loc></i:image>", 1001)), want: []string{"error image-count 2:63047 [image]"}},
		"an empty video":             {doc: inVideo(""), want: []string{"error video-child 2:47 [video]", "error video-child 2:47 [video]", "error video-child 2:47 [video]", "error video-child 2:47 [video]"}},
		"a long title":               {doc: inVideo(strings.Replace(video, ">T<", ">"+strings.Repeat("ü", 101)+"<", 1)), want: []string{"error video-length 2:47 [title]"}},
		"a title of the longest":     {doc: inVideo(strings.Replace(video, ">T<", ">"+strings.Repeat("ü", 100)+"<", 1))},
		"a long description":         {doc: inVideo(strings.Replace(video, ">D<", ">"+strings.Repeat("x", 2049)+"<", 1)), want: []string{"error video-length 2:47 [description]"}},
		"a duration":                 {doc: inVideo(video + "<v:duration>28801</v:duration>"), want: []string{"error video-value 2:47 [duration]"}},
		"no duration":                {doc: inVideo(video + "<v:duration>0</v:duration>"), want: []string{"error video-value 2:47 [duration]"}},
		"a rating":                   {doc: inVideo(video + "<v:rating>5.1</v:rating>"), want: []string{"error video-value 2:47 [rating]"}},
		"a count":                    {doc: inVideo(video + "<v:view_count>-1</v:view_count>"), want: []string{"error video-value 2:47 [view_count]"}},
		"an answer":                  {doc: inVideo(video + "<v:live>maybe</v:live>"), want: []string{"error video-value 2:47 [live]"}},
		"a restriction":              {doc: inVideo(video + "<v:restriction relationship='allow'>DE FRA</v:restriction>"), want: []string{"error video-value 2:47 [restriction]"}},
		"a restriction's kind":       {doc: inVideo(video + "<v:restriction>DE FR</v:restriction>"), want: []string{"error video-value 2:47 [restriction]"}},
		"a platform":                 {doc: inVideo(video + "<v:platform relationship='deny'>fridge</v:platform>"), want: []string{"error video-value 2:47 [platform]"}},
		"an uploader":                {doc: inVideo(video + "<v:uploader info='me'>Me</v:uploader>"), want: []string{"error video-value 2:47 [uploader]"}},
		"33 tags":                    {doc: inVideo(video + strings.Repeat("<v:tag>t</v:tag>", 33)), want: []string{"error video-child 2:47 [tag]"}},
		"an expiration date":         {doc: inVideo(video + "<v:expiration_date>soon</v:expiration_date>"), want: []string{"error video-value 2:47 [expiration_date]"}},
		"news without a title":       {doc: inEntry(strings.Replace(news, "<n:title>T</n:title>", "", 1)), want: []string{"error news-child 2:47 [news]"}},
		"news without a name":        {doc: inEntry(strings.Replace(news, "<n:name>The Times</n:name>", "", 1)), want: []string{"error news-child 2:47 [publication]"}},
		"news without newspaper":     {doc: inEntry("<n:news><n:publication_date>2025-12-31</n:publication_date><n:title>T</n:title></n:news>"), want: []string{"error news-child 2:47 [news]"}},
		"the language of news":       {doc: inEntry(strings.Replace(news, ">en<", ">english<", 1)), want: []string{"error news-value 2:47 [language]"}},
		"the date of news":           {doc: inEntry(strings.Replace(news, "2025-12-31", "31.12.2025", 1)), want: []string{"error news-value 2:47 [publication_date]"}},
		"old news":                   {doc: inEntry(strings.Replace(news, "2025-12-31", "2025-12-28", 1)), want: []string{"warning news-age 2:47 [publication_date]"}},
		"two news of one page":       {doc: inEntry(news + news), want: []string{"error news-repeated 2:219 [news]"}},
		"1,001 news":                 {doc: open + newsPages(1001) + "</urlset>", want: []string{"error news-count 1002:53 [news]"}},
		"an alternate":               {doc: alternates("de-DE https://www.example.com/maps/1", "english https://www.example.com/maps/2"), want: []string{"error hreflang-value 2:127 [link]"}},
		"scripts":                    {doc: alternates("zh-Hant https://www.example.com/maps/1", "zh-Hans-TW https://www.example.com/maps/2", "X-Default https://www.example.com/maps/3")},
		"a region first":             {doc: alternates("de-1996 https://www.example.com/maps/1"), want: []string{"error hreflang-value 2:47 [link]"}},
		"a relative alternate":       {doc: alternates("de https://www.example.com/maps/1", "en /en"), want: []string{"error hreflang-value 2:124 [link]"}},
		"a region that is another":   {doc: alternates("es-LA https://www.example.com/maps/1"), want: []string{"warning hreflang-region 2:47 [link]"}},
		"no return link":             {doc: strings.Replace(alternates("de https://www.example.com/maps/1", "en https://www.example.com/maps/2"), "</urlset>", "<url><loc>https://www.example.com/maps/2</loc></url></urlset>", 1), want: []string{"error hreflang-return 2:124 [link]"}},
		"no language":                {doc: alternates(" https://www.example.com/maps/1"), want: []string{"error hreflang-value 2:47 [link]"}},
		"two for a language":         {doc: alternates("de https://www.example.com/maps/1", "DE https://www.example.com/maps/2"), want: []string{"error hreflang-repeated 2:124 [link]"}},
		"not the page itself":        {doc: alternates("de https://www.example.com/de"), want: []string{"error hreflang-self 2:47 [link]"}},
		"another relation":           {doc: inEntry(`<x:link rel="stylesheet" href="a"/>`)},
		"elements that are known":    {doc: inEntry("<y xmlns='urn:y'>anything</y>")},
	}
	// other tests
	covered := map[string]bool{"sitemap-entries": true, "sitemap-size": true, "sitemap-cross-submit": true}
	// of a Source
	covered["sitemap-robots"], covered["sitemap-cut"], covered["sitemap-profile"] = true, true, true
	covered["sitemap-index-lastmod"], covered["sitemap-doubt"] = true, true
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, sum, err := validate(t, test.doc, test.change)
			assert.Equal(t, test.fails, err != nil, "%v", err)
			assert.Equal(t, test.want, found)
			count := map[string]int{}
			for _, f := range found {
				severity, rest, _ := strings.Cut(f, " ")
				count[severity]++
				rule, _, _ := strings.Cut(rest, " ")
				covered["sitemap-"+rule] = true
			}
			assert.Equal(t, []int{count["error"], count["warning"], count["info"]}, []int{sum.Errors, sum.Warnings, sum.Infos})
		})
	}
	for _, r := range append(sitemap.Rules(), google.Rules()...) {
		assert.True(t, covered[r.Name], "no case for %s", r.Name)
	}
}

func newsPages(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<url><loc>https://www.example.com/maps/%04d</loc>   %s</url>\n", i, news)
	}
	return b.String()
}

func utf16(s string) string {
	b := []byte{0xff, 0xfe}
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return string(b)
}

func TestValidateCrossSubmits(t *testing.T) {
	doc := open + "<url><loc>https://example.org/1</loc></url><url><loc>https://example.org/2</loc></url>" +
		"<url><loc>https://example.net/</loc></url><url><loc>https://example.com/</loc></url></urlset>"
	var asked []string
	robots := func(named map[string][]string) func(*sitemap.ValidateOptions) {
		return func(o *sitemap.ValidateOptions) {
			o.Aliases = []string{"https://www.example.com/index.xml"}
			o.Robots = func(origin string) ([]string, error) {
				asked = append(asked, origin)
				if named[origin] == nil {
					return nil, errors.New("no answer")
				}
				return named[origin], nil
			}
		}
	}
	found, _, err := validate(t, doc, robots(map[string][]string{
		"https://example.org": {"https://example.org/own.xml", "HTTPS://www.Example.com:443/x/../m%61ps/sitemap.xml"},
		"https://example.net": {"https://www.example.com/index.xml"},
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"error cross-submit 2:134 [loc]"}, found)
	assert.Equal(t, []string{"https://example.org", "https://example.net", "https://example.com"}, asked, "each once")

	found, _, err = validate(t, doc, robots(map[string][]string{"https://example.org": {"https://example.org/own.xml"}}))
	require.NoError(t, err)
	assert.Len(t, found, 4)

	t.Run("many hosts", func(t *testing.T) {
		asked = nil
		var b strings.Builder
		for i := range 150 {
			fmt.Fprintf(&b, "<url><loc>https://h%d.example.org/</loc></url>", i)
		}
		found, _, err := validate(t, open+b.String()+"</urlset>", robots(nil))
		require.NoError(t, err)
		assert.Len(t, found, 150)
		assert.Len(t, asked, 100)
	})
}

// TestValidateLimits: what is at the protocol's limits is valid, what is above is an
// error.
func TestValidateLimits(t *testing.T) {
	racing.Skip(t)
	many := func(n int) string {
		locs := make([]string, n)
		for i := range locs {
			locs[i] = fmt.Sprintf("https://www.example.com/maps/%d", i)
		}
		return string(urlset(locs...))
	}
	found, sum, err := validate(t, many(50_000), nil)
	require.NoError(t, err)
	assert.Empty(t, found)
	assert.Equal(t, 50_000, sum.Entries)
	found, _, err = validate(t, many(50_001), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"error entries 50002:1 []"}, found)

	for _, over := range []int{0, 1} {
		doc := inEntry("")
		doc += strings.Repeat(" ", 52_428_800-len(doc)+over)
		found, sum, err := validate(t, string(gzipOf([]byte(doc))), nil)
		require.NoError(t, err)
		assert.EqualValues(t, len(doc), sum.Bytes)
		if over == 0 {
			assert.Empty(t, found)
		} else {
			assert.Equal(t, []string{"error size 0:0 []"}, found)
		}
	}
}

// TestValidateLenient: a departure that the Reader reads over is a warning, one that
// costs an item is an error.
func TestValidateLenient(t *testing.T) {
	doc := open + "<url><loc>/relative</loc><priority>high</priority></url>\n" + // kept
		"<url><loc/></url>\n<url/>\n<url><loc>https://</loc></url>\n" + // lost
		"<url><loc>https://example.org/</loc><i:image/></url></urlset>" // kept
	lenient := func(o *sitemap.ValidateOptions) { o.Lenient = true }
	found, sum, err := validate(t, doc, lenient)
	require.NoError(t, err)
	assert.Equal(t, 2, sum.Entries)
	assert.Equal(t, 3, sum.Skipped)
	assert.Equal(t, []string{
		"warning loc-relative 2:6 [loc]", "warning priority 2:26 [priority]", "warning location 2:6 [loc]",
		"error loc-missing 3:6 [loc]", "error loc-missing 4:1 [url]", "error loc-syntax 5:6 [loc]",
		"warning host 6:6 [loc]", "warning image-child 6:37 [image]",
	}, found)
	found, _, err = validate(t, "https://www.example.com/maps/1\n# comment\nhello\n", lenient)
	require.NoError(t, err)
	assert.Equal(t, []string{"warning text-line 2:1 []", "error text-line 3:1 []"}, found)
	found, _, err = validate(t, open+"<url>", lenient)
	require.Error(t, err)
	assert.Equal(t, []string{"error truncated 2:6 []"}, found)
}

// TestValidateReadError: an error of the io.Reader gives no findings about the document.
func TestValidateReadError(t *testing.T) {
	broken := errors.New("connection reset")
	sum, err := sitemap.Validate(io.MultiReader(strings.NewReader(open), &failing{broken}), sitemap.ValidateOptions{})
	require.ErrorIs(t, err, broken)
	assert.Zero(t, sum.Errors)
}

// damages are the ways in which an entry can be damaged without losing its neighbours:
// %[1]s is its URL, %[2]d its number.
var damages = []string{
	"<url><loc>%[1]s</loc><priority>high-%[2]d</priority></url>",
	"<url><loc>%[1]s</loc><priority>%[2]d,5</priority></url>",
	"<url><loc>%[1]s</loc><priority>1.%[2]d1</priority></url>",
	"<url><loc>%[1]s</loc><priority>-0.%[2]d1</priority></url>",
	"<url><loc>%[1]s</loc><priority/><!-- %[2]d --></url>",
	"<url><loc>%[1]s</loc><lastmod>day %[2]d</lastmod></url>",
	"<url><loc>%[1]s</loc><lastmod>2020-%[2]d-99</lastmod></url>",
	"<url><loc>%[1]s</loc><lastmod>2020-03-18 01:20:%[2]d</lastmod></url>",
	"<url><loc>%[1]s</loc><lastmod>2020-03-18T01:20:10.%[2]d</lastmod></url>",
	"<url><loc>%[1]s</loc><lastmod>9%03[2]d-03-18</lastmod></url>",
	"<url><loc>%[1]s</loc><changefreq>every %[2]d days</changefreq></url>",
	"<url><loc>%[1]s</loc><changefreq>Daily</changefreq><!-- %[2]d --></url>",
	"<url><loc>%[1]s</loc><unknown-%[2]d/></url>",
	"<url><loc>%[1]s</loc><LASTMOD>2020-01-01</LASTMOD><!-- %[2]d --></url>",
	"<url><loc>%[1]s?a&b=%[2]d</loc></url>",
	"<url><loc>%[1]s?a&unknown;b=%[2]d</loc></url>",
	"<url><loc>%[1]s/\x01%[2]d</loc></url>",
	"<url><loc>%[1]s/&#1;%[2]d</loc></url>",
	"<url><loc>%[1]s?a=%[2]d]]></loc></url>",
	"<url><loc>%[1]s/a b %[2]d</loc></url>",
	"<url><loc>%[1]s/%[2]d%%zz</loc></url>",
	"<url><loc>%[1]s/ü%[2]d</loc></url>",
	"<url><loc>%[1]s/{%[2]d}</loc></url>",
	"<url><loc>%[1]s#%[2]d</loc></url>",
	"<url><loc>%[1]s<b>%[2]d</b></loc></url>",
	"<url><loc>%[1]s</loc><loc>https://www.example.com/second/%[2]d</loc></url>",
	"<url><loc>/maps/relative/%[2]d</loc><!-- %[1]s --></url>",
	"<url><loc>www.example.com/maps/%[2]d</loc><!-- %[1]s --></url>",
	"<url><loc>https:/www.example.com/maps/%[2]d</loc><!-- %[1]s --></url>",
	"<url><loc>https://www.example.org/maps/%[2]d</loc><!-- %[1]s --></url>",
	"<url><loc>https://www.example.com/other/%[2]d</loc><!-- %[1]s --></url>",
	"<url><loc>https://www.example.com/maps/0</loc><!-- %[1]s %[2]d --></url>",
	"<url><!-- %[1]s --><priority>0.%[2]d</priority></url>",
	"<url><!-- %[1]s --><loc> </loc><priority>0.%[2]d</priority></url>",
	"<url><!-- %[1]s --><loc>https://</loc><priority>0.%[2]d</priority></url>",
	"<url id='%[2]d'><loc>%[1]s</loc></url>",
	"<url><loc id='%[2]d'>%[1]s</loc></url>",
	"<url>%[2]d<loc>%[1]s</loc></url>",
	"%[2]d<url><loc>%[1]s</loc></url>",
	"<URL><loc>%[1]s</loc><!-- %[2]d --></URL>",
	"<sitemap><loc>%[1]s</loc><!-- %[2]d --></sitemap>",
	"<url xmlns=''><loc>%[1]s</loc><!-- %[2]d --></url>",
	"<url xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'><loc>%[1]s</loc><!-- %[2]d --></url>",
	"<url><loc>%[1]s</loc><i:image><i:loc/><!-- %[2]d --></i:image></url>",
	"<url><loc>%[1]s</loc><i:image><i:loc>%[2]d.png</i:loc></i:image></url>",
	"<url><loc>%[1]s</loc><v:video><v:title>%[2]d</v:title></v:video></url>",
	"<url><loc>%[1]s</loc><n:news><n:title>%[2]d</n:title></n:news></url>",
	"<url><loc>%[1]s</loc><x:link rel='alternate' hreflang='lang-%[2]d' href='%[1]s'/></url>",
	"<url><loc>%[1]s</loc><y:link rel='alternate' hreflang='de' href='%[1]s'/><!-- %[2]d --></url>",
	"<url><i:image><i:loc>https://www.example.com/%[2]d.png</i:loc></i:image><loc>%[1]s</loc></url>",
}

// TestOneBadEntryIsFound: of 45,000 entries 900 are damaged, each in another way. Each
// has a finding at its position, and the others have none.
func TestOneBadEntryIsFound(t *testing.T) {
	const entries, bad = 45_000, 900
	lost, second, doubtful := 0, 0, 0
	unusable := regexp.MustCompile(`<url><!--|]]>|<b>|\x01|&#1;`)
	var doc bytes.Buffer
	doc.WriteString(open)
	for i := range entries {
		loc := fmt.Sprintf("https://www.example.com/maps/%d", i)
		if i%(entries/bad) != 7 {
			doc.WriteString("<url><loc>" + loc + "</loc><lastmod>2025-01-01</lastmod></url>\n")
			continue
		}
		n := i / (entries / bad)
		damage := damages[n%len(damages)]
		fmt.Fprintf(&doc, damage+"\n", loc, n)
		switch {
		case strings.Contains(damage, "second"):
			second++
		case strings.Contains(damage, "?a&"), strings.HasPrefix(damage, "%[2]d<url>"): // text among the entries
			doubtful++
		case unusable.MatchString(damage):
			lost++
		}
	}
	doc.WriteString("</urlset>\n")

	findings := 0
	lines := make(map[int]bool)
	sum, err := sitemap.Validate(&doc, sitemap.ValidateOptions{Extensions: google.Extensions(), Document: documentURL, Now: now, Report: func(f websync.Finding) {
		findings++
		assert.Positive(t, f.Column, f)
		lines[f.Line] = true
	}})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, findings, bad)
	for i := range entries {
		if damaged := i%(entries/bad) == 7; lines[i+2] != damaged {
			t.Errorf("line %d: a finding: %v, damaged: %v", i+2, lines[i+2], damaged)
		}
	}
	assert.Len(t, lines, bad, "44,100 good entries have no finding")
	assert.Equal(t, lost+second+doubtful, sum.Skipped)
	assert.Equal(t, entries-lost+second, sum.Entries)
	assert.Equal(t, 7*18, lost)
	assert.Equal(t, 18, second)
	assert.Equal(t, 3*18, doubtful)
}

// million returns a sitemap of n entries.
func million(n int) io.Reader {
	return testkit.Lines(open, n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, "<url><loc>https://www.example.com/maps/%d</loc><lastmod>2025-01-01</lastmod></url>\n", i)
	}, "</urlset>")
}

// TestMillion: reading a document of 1,000,000 entries needs no more memory at its end
// than at its start. Validating it needs what the documentation states.
func TestMillion(t *testing.T) {
	racing.Long(t)
	const n = 1_000_000
	t.Run("Reader", func(t *testing.T) {
		var rules []string
		r := sitemap.NewReader(million(n))
		r.Report = func(f websync.Finding) { rules = append(rules, f.Rule) }
		entries := 0
		var start, most int64
		for {
			_, err := r.NextView()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if entries++; entries == 1000 {
				start = testkit.Heap()
			} else if entries%(n/10) == 0 {
				most = max(most, testkit.Heap())
			}
		}
		assert.Equal(t, n, entries)
		assert.Less(t, most-start, int64(256<<10))
		assert.Equal(t, []string{"sitemap-entries", "sitemap-size"}, rules)
	})
	t.Run("Validate", func(t *testing.T) {
		before := testkit.Heap()
		var most int64
		sum, err := sitemap.Validate(testkit.AtEnd(million(n), func() { most = testkit.Heap() }), sitemap.ValidateOptions{Document: documentURL})
		require.NoError(t, err)
		assert.Equal(t, n, sum.Entries)
		assert.Equal(t, 2, sum.Errors)
		assert.Less(t, (most-before)/int64(n), int64(44), "bytes an entry")
	})
}

// TestValidateBomb: a document that decompresses to far more than its size ends at the
// limit, with a finding and its position.
func TestValidateBomb(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, open+"<url>"+page1+"</url>")
	for range 8 {
		z.Write(bytes.Repeat([]byte("<!---->"), 1<<20/7))
	}
	z.Close()
	found, sum, err := validate(t, b.String(), func(o *sitemap.ValidateOptions) { o.MaxBytes = 4 << 20 })
	require.ErrorIs(t, err, websync.ErrLimit)
	assert.Equal(t, 1, sum.Entries, "what came before is not lost")
	require.Len(t, found, 1)
	assert.True(t, strings.HasPrefix(found[0], "error document 2:"), found[0])
}
