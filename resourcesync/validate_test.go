package resourcesync_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
)

const (
	openSet   = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/" xmlns:x="urn:x">` + "\n"
	openIndex = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">` + "\n"
	up        = `<rs:ln rel="up" href="https://example.com/cap.xml"/>`
	about     = `<rs:ln rel="describedby" href="https://example.com/about.xml"/>`
	at        = ` at="2026-01-02T00:00:00Z"`
	from      = ` from="2026-01-02T00:00:00Z"`
	until     = ` until="2026-01-03T00:00:00Z"`
	page      = "<loc>https://example.com/a</loc>"
	other     = "<loc>https://example.com/b</loc>"
	noon      = `<lastmod>2026-01-02T12:00:00Z</lastmod>`
)

// set is a urlset: line 2 holds md with the given attributes and the link up, and each
// entry has a line of its own from 3.
func set(md string, entries ...string) string {
	return openSet + head(md, entries, "url") + "</urlset>"
}

// index is likewise a sitemapindex.
func index(md string, entries ...string) string {
	return openIndex + head(md, entries, "sitemap") + "</sitemapindex>"
}

func head(md string, entries []string, name string) string {
	text := "<rs:md " + md + "/>" + up + "\n"
	for _, e := range entries {
		text += "<" + name + ">" + e + "</" + name + ">\n"
	}
	return text
}

// Documents of each kind, with the given entries.
func resources(entries ...string) string { return set(`capability="resourcelist"`+at, entries...) }

func changes(entries ...string) string {
	return set(`capability="changelist"`+from+until, entries...)
}

func bitstreams(entries ...string) string {
	return set(`capability="resourcedump-manifest"`+at, entries...)
}

func changed(entries ...string) string {
	return set(`capability="changedump-manifest"`+from, entries...)
}

func packages(entries ...string) string { return set(`capability="changedump"`+from, entries...) }

func lists(entries ...string) string { return index(`capability="changelist"`+from, entries...) }

func capabilities(entries ...string) string {
	return strings.Replace(set(`capability="capabilitylist"`, entries...), up, up+about, 1)
}

func md(attrs string) string { return page + noon + "<rs:md " + attrs + "/>" }

func ln(attrs string) string { return page + noon + "<rs:ln " + attrs + "/>" }

const updated = `<rs:md change="updated"/>`

// A brokenDocument is a document with what Validate finds in it.
type brokenDocument struct {
	doc   string
	want  []string
	fails bool
}

// findings returns what Validate finds, each as severity, rule, position and element.
func findings(t *testing.T, doc string, fails bool) (all []string) {
	t.Helper()
	_, err := resourcesync.Validate(strings.NewReader(doc), resourcesync.ValidateOptions{
		Document: "https://example.com/doc.xml", Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		Report: func(f websync.Finding) {
			all = append(all, fmt.Sprintf("%v %s %d:%d %s", f.Severity, strings.TrimPrefix(f.Rule, "resourcesync-"), f.Line, f.Column, f.Element))
		},
	})
	assert.Equal(t, fails, err != nil, err)
	return all
}

var brokenDocuments = map[string]brokenDocument{
	// Elements and the syntax of values.
	"a text":                    {doc: "https://example.com/a\n", want: []string{"error document 0:0 "}, fails: true},
	"a sitemap":                 {doc: openSet + "<url>" + page + "</url></urlset>", want: []string{"error md 0:0 md"}},
	"an RSS feed":               {doc: "<rss/>", want: []string{"error sitemap-document 1:1 rss"}, fails: true},
	"cut short":                 {doc: openSet, want: []string{"error sitemap-truncated 2:1 "}, fails: true},
	"md twice":                  {doc: resources(md(`length="1"`) + `<rs:md length="2"/>`), want: []string{"error md-repeated 3:96 md"}},
	"md of the document twice":  {doc: strings.Replace(resources(), up, up+"<rs:md/>", 1), want: []string{"error md-repeated 2:113 md"}},
	"md after the entries":      {doc: openSet + up + "<url>" + page + `</url><rs:md capability="resourcelist"` + at + "/></urlset>", want: []string{"error sitemap-element-order 2:96 md"}},
	"another element":           {doc: resources(page + "<rs:meta/>"), want: []string{"error element 3:38 meta"}},
	"an element in capitals":    {doc: resources(page + `<rs:MD length="1"/>`), want: []string{"error element 3:38 md"}},
	"https in the namespace":    {doc: strings.Replace(resources(), "http://www.open", "https://www.open", 1), want: []string{"error namespace 2:1 md"}},
	"no declaration":            {doc: strings.Replace(resources(), ` xmlns:rs="http://www.openarchives.org/rs/terms/"`, "", 1), want: []string{"error sitemap-xml 2:1 ", "error namespace 2:1 md", "error sitemap-xml 2:61 "}},
	"an unknown attribute":      {doc: resources(md(`size="1"`)), want: []string{"error attribute 3:77 md"}},
	"an attribute of ln":        {doc: resources(md(`href="https://example.com/"`)), want: []string{"error attribute 3:77 md"}},
	"an attribute of md":        {doc: resources(ln(`rel="via" href="https://example.com/" change="updated"`)), want: []string{"error attribute 3:77 ln"}},
	"an attribute with prefix":  {doc: resources(md(`rs:length="1"`)), want: []string{"error attribute-prefix 3:77 md"}},
	"an attribute of others":    {doc: resources(md(`x:length="1"`))},
	"many links":                {doc: resources(page + noon + strings.Repeat(`<rs:ln rel="via" href="urn:a:b"/>`, 4097)), want: []string{"error size 3:135245 ln", "warning via-repeated 3:110 ln"}},
	"an unknown capability":     {doc: set(`capability="resourcelists"`), want: []string{"warning capability 2:1 md"}},
	"that of another standard":  {doc: set(`capability="oai-pmh"`), want: []string{"info capability-other 2:1 md"}},
	"a capability in capitals":  {doc: set(`capability="ResourceList"` + at), want: []string{"warning capability 2:1 md"}},
	"an unknown change":         {doc: changes(page + noon + `<rs:md change="moved"/>`), want: []string{"error change 3:77 md"}},
	"a change in capitals":      {doc: changes(page + noon + `<rs:md change="Updated"/>`), want: []string{"error change 3:77 md"}},
	"a time without zone":       {doc: set(`capability="resourcelist" at="2026-01-02T00:00:00"`), want: []string{"error time 2:1 md"}},
	"no time at all":            {doc: set(`capability="resourcelist" at="yesterday"`), want: []string{"error time 2:1 md"}},
	"a time in small letters":   {doc: set(`capability="resourcelist" at="2026-01-02t00:00:00z"`), want: []string{"error time 2:1 md"}},
	"a length in words":         {doc: resources(md(`length="ten"`)), want: []string{"error length 3:77 md"}},
	"a negative length":         {doc: resources(md(`length="-1"`)), want: []string{"error length 3:77 md"}},
	"a hash in base64":          {doc: resources(md(`hash="md5:1B2M2Y8AsgTpgAmY7PhCfg=="`)), want: []string{"error hash 3:77 md"}},
	"a hash in capitals":        {doc: resources(md(`hash="MD5:1584abdf8ebdc9802ac0c6a7402c03b6"`)), want: []string{"error hash 3:77 md"}},
	"a short hash":              {doc: resources(md(`hash="md5:1584"`)), want: []string{"error hash 3:77 md"}},
	"a hash in capital digits":  {doc: resources(md(`hash="md5:1584ABDF8EBDC9802AC0C6A7402C03B6"`))},
	"an empty hash":             {doc: resources(md(`hash=" "`)), want: []string{"error hash 3:77 md"}},
	"no slash":                  {doc: bitstreams(md(`path="res1" type="text/html"`)), want: []string{"error path 3:77 md"}},
	"two dots":                  {doc: bitstreams(md(`path="/a/../../b" type="text/html"`)), want: []string{"error path 3:77 md"}},
	"a drive letter":            {doc: bitstreams(md(`path="C:/b" type="text/html"`)), want: []string{"error path 3:77 md"}},
	"a backslash":               {doc: bitstreams(md(`path="/a\b" type="text/html"`)), want: []string{"error path 3:77 md"}},
	"a directory":               {doc: bitstreams(md(`path="/a/" type="text/html"`)), want: []string{"error path 3:77 md"}},
	"pri zero":                  {doc: resources(ln(`rel="duplicate" href="https://m.example.com/" pri="0"`)), want: []string{"error pri 3:77 ln"}},
	"pri of a million":          {doc: resources(ln(`rel="duplicate" href="https://m.example.com/" pri="1000000"`)), want: []string{"error pri 3:77 ln"}},
	"pri in words":              {doc: resources(ln(`rel="duplicate" href="https://m.example.com/" pri="1st"`)), want: []string{"error pri 3:77 ln"}},
	"the least pri":             {doc: resources(ln(`rel="duplicate" href="https://m.example.com/" pri="999999"`))},
	"no rel":                    {doc: resources(ln(`href="https://example.com/"`)), want: []string{"error rel-missing 3:77 ln"}},
	"an unknown rel":            {doc: resources(ln(`rel="sibling" href="https://example.com/"`)), want: []string{"error rel 3:77 ln"}},
	"a rel in capitals":         {doc: resources(ln(`rel="Via" href="https://example.com/"`)), want: []string{"error rel 3:77 ln"}},
	"a rel that is a URI":       {doc: resources(ln(`rel="https://example.com/rel" href="https://example.com/"`))},
	"a rel that is no URI":      {doc: resources(ln(`rel="https://example.com/ a" href="https://example.com/"`)), want: []string{"error rel 3:77 ln"}},
	"no href":                   {doc: resources(ln(`rel="via"`)), want: []string{"error href-missing 3:77 ln"}},
	"a relative href":           {doc: resources(ln(`rel="via" href="/a"`)), want: []string{"error href 3:77 ln"}},
	"an href with a space":      {doc: resources(ln(`rel="via" href="https://example.com/a b"`)), want: []string{"error href 3:77 ln"}},
	"another scheme":            {doc: resources(ln(`rel="duplicate" href="gsiftp://example.com/a"`))},
	"text inside":               {doc: resources(page + `<rs:md>text</rs:md>`), want: []string{"error sitemap-text 3:38 md"}},
	"a date for a time":         {doc: set(`capability="resourcelist" at="2026-01-02"`), want: []string{"warning time-form 2:1 md"}},
	"a time with an offset":     {doc: set(`capability="resourcelist" at="2026-01-02T00:00:00+01:00"`), want: []string{"warning time-form 2:1 md"}},
	"no media type":             {doc: resources(md(`type="html"`)), want: []string{"error type 3:77 md"}},
	"parameters of a type":      {doc: resources(md(`type="text/html; charset=utf-8"`))},
	"no content coding":         {doc: resources(md(`encoding="gzip;q=1"`)), want: []string{"error encoding 3:77 md"}},
	"two content codings":       {doc: resources(md(`encoding="gzip, br"`))},
	"an unknown algorithm":      {doc: resources(md(`hash="crc32:00000000"`)), want: []string{"warning hash-algorithm 3:77 md"}},
	"two digests that differ":   {doc: resources(md(`hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6 md5:1584abdf8ebdc9802ac0c6a7402c03b7"`)), want: []string{"error hash-repeated 3:77 md"}},
	"two algorithms":            {doc: resources(md(`hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6 sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567"`))},
	"white space around loc":    {doc: resources("<loc>\n https://example.com/a </loc>"), want: []string{"info sitemap-loc-space 3:6 loc"}},
	"a resource twice":          {doc: resources(page, page), want: []string{"warning sitemap-loc-duplicate 4:6 loc"}},
	"a resource changed twice":  {doc: changes(page+noon+updated, page+noon+updated)},
	"a resource of another URL": {doc: resources("<loc>http://other.example.org/a</loc>")},
	"an empty Resource List":    {doc: resources()},
	"a blank line before":       {doc: "\n<?xml version='1.0'?>" + resources(), want: []string{"error sitemap-xml 2:1 "}},
	"an index was meant":        {doc: openSet + head(`capability="changelist"`+from, []string{page + "<rs:md" + from + "/>"}, "sitemap") + "</urlset>", want: []string{"error sitemap-root 3:1 urlset"}},

	// Documents.
	"no capability":                    {doc: set(`at="2026-01-02T00:00:00Z"`), want: []string{"error capability-missing 2:1 md"}},
	"an index of Capability Lists":     {doc: index(`capability="capabilitylist"`), want: []string{"error index 2:1 md"}},
	"an index of manifests":            {doc: index(`capability="changedump-manifest"` + from), want: []string{"error index 2:1 md"}},
	"an index of archives":             {doc: index(`capability="changelist-archive"`)},
	"an attribute of entries":          {doc: set(`capability="resourcelist" length="3"` + at), want: []string{"error document-attribute 2:1 md"}},
	"no link up":                       {doc: strings.Replace(resources(), up, "", 1), want: []string{"error up 2:1 "}},
	"no description of a set":          {doc: set(`capability="capabilitylist"`), want: []string{"warning describedby 2:1 "}},
	"no description of an entry":       {doc: openSet + about + `<rs:md capability="description"/>` + "\n<url>" + page + `<rs:md capability="capabilitylist"/></url></urlset>`, want: []string{"warning describedby 3:1 url"}},
	"two links up":                     {doc: strings.Replace(resources(), up, up+strings.Replace(up, "cap", "other", 1), 1), want: []string{"error navigation-repeated 2:113 ln"}},
	"the same link twice":              {doc: strings.Replace(resources(), up, up+up, 1)},
	"attributes of a document's link":  {doc: strings.Replace(resources(), `rel="up"`, `rel="up" type="text/xml"`, 1), want: []string{"warning document-link 2:61 ln"}},
	"a Resource List without at":       {doc: set(`capability="resourcelist"`), want: []string{"error time-missing 2:1 md"}},
	"a Change List without from":       {doc: set(`capability="changelist"`), want: []string{"error time-missing 2:1 md"}},
	"an index without from":            {doc: index(`capability="changedump"`), want: []string{"error time-missing 2:1 md"}},
	"a Resource List with from":        {doc: set(`capability="resourcelist"` + at + from), want: []string{"error time-forbidden 2:1 md"}},
	"a Change List with completed":     {doc: set(`capability="changelist" completed="2026-01-02T00:00:00Z"` + from), want: []string{"error time-forbidden 2:1 md"}},
	"a resource with at":               {doc: resources(md(`at="2026-01-02T00:00:00Z"`)), want: []string{"error time-forbidden 3:77 md"}},
	"a Capability List with at":        {doc: strings.Replace(capabilities(), `list"`, `list"`+at, 1), want: []string{"error time-forbidden 2:1 md"}},
	"a list in an index without from":  {doc: lists(page), want: []string{"warning time-recommended 3:1 md"}},
	"until before from":                {doc: set(`capability="changelist" until="2026-01-01T00:00:00Z"` + from), want: []string{"error interval 2:1 md"}},
	"completed before at":              {doc: set(`capability="resourcelist" completed="2026-01-01T00:00:00Z"` + at), want: []string{"error interval 2:1 md"}},
	"from and until in one second":     {doc: set(`capability="changelist" until="2026-01-02T00:00:00Z"` + from)},
	"a list from before its index":     {doc: lists(md(`from="2026-01-01T00:00:00Z"`)), want: []string{"error interval-entry 3:81 md"}},
	"a part from before its index":     {doc: index(`capability="resourcelist" completed="2026-01-03T00:00:00Z"`+at, md(`at="2026-01-01T00:00:00Z" completed="2026-01-04T00:00:00Z"`)), want: []string{"error interval-entry 3:81 md", "error interval-entry 3:81 md"}},
	"a package until after the dump's": {doc: set(`capability="changedump"`+from+until, md(`type="application/zip" length="1" until="2026-01-04T00:00:00Z"`+from)), want: []string{"error interval-entry 3:77 md"}},
	"two open lists":                   {doc: lists(md(from[1:]), other+`<rs:md`+from+`/>`), want: []string{"error until-missing 4:1 sitemap"}},
	"an open list in a closed index":   {doc: index(`capability="changelist"`+from+until, md(from[1:])), want: []string{"error until-missing 3:81 md"}},
	"a gap":                            {doc: lists(md(from[1:]+until), other+`<rs:md from="2026-01-04T00:00:00Z"/>`), want: []string{"warning interval-gap 4:42 md"}},
	"lastmod of a capability":          {doc: capabilities(page + noon + `<rs:md capability="resourcelist"/>`), want: []string{"info lastmod 3:1 url"}},

	// Entries.
	"a description of lists":           {doc: openSet + about + `<rs:md capability="description"/>` + "\n<url>" + page + `<rs:md capability="resourcelist"/>` + about + "</url></urlset>", want: []string{"error target 3:38 md"}},
	"a capability without capability":  {doc: capabilities(page), want: []string{"error target 3:1 md"}},
	"a list of Capability Lists":       {doc: capabilities(page + `<rs:md capability="capabilitylist"/>`), want: []string{"error target 3:38 md"}},
	"a capability twice":               {doc: capabilities(page+`<rs:md capability="resourcelist"/>`, other+`<rs:md capability="resourcelist"/>`), want: []string{"error target-repeated 4:38 md"}},
	"a capability of a resource":       {doc: resources(md(`capability="resourcelist"`)), want: []string{"warning target-place 3:77 md"}},
	"a dump in an index of lists":      {doc: lists(md(`capability="changedump"` + from)), want: []string{"warning target-place 3:81 md"}},
	"a package without length":         {doc: packages(md(`type="application/zip"` + from)), want: []string{"warning package 3:77 md"}},
	"packages of two formats":          {doc: packages(md(`type="application/zip" length="1"`+from), other+`<rs:md type="application/gzip" length="1"`+from+`/>`), want: []string{"warning package-types 4:38 md"}},
	"no change":                        {doc: changes(page + noon), want: []string{"error change-missing 3:1 md"}},
	"a change of a resource":           {doc: resources(page + noon + updated), want: []string{"error change-place 3:77 md"}},
	"changes in the wrong order":       {doc: changes(page+`<rs:md change="created" datetime="2026-01-02T12:00:00Z"/>`, page+`<rs:md change="updated" datetime="2026-01-02T11:00:00Z"/>`), want: []string{"error order 4:38 md"}},
	"lists in the wrong order":         {doc: lists(md(`until="2026-01-06T00:00:00Z" from="2026-01-05T00:00:00Z"`), other+"<rs:md"+from+until+"/>"), want: []string{"error order 4:42 md"}},
	"lastmod in the wrong order":       {doc: changes(page+noon+updated, page+strings.Replace(noon, "12", "11", 1)+updated), want: []string{"warning order-lastmod 4:1 url"}},
	"lastmod beside datetime":          {doc: changes(page+noon+`<rs:md change="created" datetime="2026-01-02T12:00:00Z"/>`, page+`<lastmod>2024-01-01T00:00:00Z</lastmod><rs:md change="updated" datetime="2026-01-02T12:00:00Z"/>`)},
	"packages in the wrong order":      {doc: packages(md(`type="application/zip" length="1" from="2026-01-05T00:00:00Z"`), other+`<rs:md type="application/zip" length="1"`+from+`/>`), want: []string{"warning order-packages 4:38 md"}},
	"datetime of a resource":           {doc: resources(md(`datetime="2026-01-02T12:00:00Z"`)), want: []string{"error datetime-place 3:77 md"}},
	"datetime after until":             {doc: changes(page + `<rs:md change="created" datetime="2026-01-05T12:00:00Z"/>`), want: []string{"error datetime-outside 3:38 md"}},
	"lastmod before from":              {doc: changes(page + `<lastmod>2025-01-01T00:00:00Z</lastmod>` + updated), want: []string{"info lastmod-outside 3:1 url"}},
	"neither datetime nor lastmod":     {doc: changes(page + updated), want: []string{"info change-time 3:1 url"}},
	"a bitstream without path":         {doc: bitstreams(md(`type="text/html"`)), want: []string{"error path-missing 3:77 md"}},
	"a changed bitstream without path": {doc: changed(md(`change="created" type="text/html"`)), want: []string{"error path-missing 3:77 md"}},
	"a deletion without path":          {doc: changed(md(`change="deleted"`))},
	"a path of a resource":             {doc: resources(md(`path="/a"`)), want: []string{"error path-place 3:77 md"}},
	"a path of a deletion":             {doc: changed(md(`change="deleted" path="/a"`)), want: []string{"warning path-deleted 3:77 md"}},
	"a path twice":                     {doc: bitstreams(md(`path="/a" type="text/html"`), other+`<rs:md path="/a" type="text/html"/>`), want: []string{"error path-repeated 4:38 md"}},
	"a bitstream without type":         {doc: bitstreams(md(`path="/a"`)), want: []string{"warning type-missing 3:77 md"}},
	"contents of a resource":           {doc: resources(ln(`rel="contents" href="https://example.com/m.xml"`)), want: []string{"warning contents-place 3:77 ln"}},
	"a mirror that repeats":            {doc: resources(ln(`rel="duplicate" href="https://m.example.com/" length="3"`)), want: []string{"info duplicate-attributes 3:77 ln"}},
	"an alternate without type":        {doc: resources(ln(`rel="alternate" href="https://example.com/a.pdf"`)), want: []string{"warning alternate-type 3:77 ln"}},
	"a patch without type":             {doc: changes(ln(`rel="http://www.openarchives.org/rs/terms/patch" href="https://example.com/p"`) + updated), want: []string{"error patch-type 3:77 ln"}},
	"a patch of a resource":            {doc: resources(ln(`rel="http://www.openarchives.org/rs/terms/patch" type="application/json-patch+json" href="https://example.com/p"`)), want: []string{"error patch-place 3:77 ln"}},
	"a patch without path":             {doc: changed(md(`change="updated" type="text/html" path="/a"`) + `<rs:ln rel="http://www.openarchives.org/rs/terms/patch" type="application/json-patch+json" href="https://example.com/p"/>`), want: []string{"error patch-path 3:129 ln"}},
	"two mementos":                     {doc: resources(ln(`rel="memento" href="https://example.com/1"`) + `<rs:ln rel="memento" href="https://example.com/2"/>`), want: []string{"warning memento-repeated 3:128 ln"}},
	"a memento without lastmod":        {doc: resources(page + `<rs:ln rel="memento" href="https://example.com/1"/>`), want: []string{"warning memento-lastmod 3:1 url"}},
	"a timegate with a type":           {doc: resources(ln(`rel="timegate" href="https://example.com/1" type="text/html"`)), want: []string{"warning timegate-attributes 3:77 ln"}},
	"two links via":                    {doc: resources(ln(`rel="via" href="https://example.com/1"`) + `<rs:ln rel="via" href="https://example.com/2"/>`), want: []string{"warning via-repeated 3:124 ln"}},
	"completed without at":             {doc: index(`capability="resourcelist"`+at, md(`completed="2026-01-04T00:00:00Z"`)), want: []string{"warning interval-start 3:81 md"}},
	"until without from in an archive": {doc: set(`capability="changelist-archive"`, md(`until="2026-01-04T00:00:00Z"`)), want: []string{"warning interval-start 3:77 md"}},
	"modified after the snapshot":      {doc: set(`capability="resourcelist" completed="2026-01-02T11:00:00Z"`+at, page+noon), want: []string{"warning lastmod-completed 3:1 url"}},
	"modified during the snapshot":     {doc: set(`capability="resourcelist" completed="2026-01-02T13:00:00Z"`+at, page+noon)},
	"changefreq of a capability":       {doc: capabilities(page + `<changefreq>daily</changefreq><rs:md capability="resourcelist"/>`), want: []string{"info changefreq-place 3:1 url"}},
	"changefreq of a package":          {doc: packages(page + `<changefreq>never</changefreq><rs:md type="application/zip" length="1"` + from + `/>`), want: []string{"info changefreq-place 3:1 url"}},
	"changefreq of a resource":         {doc: resources(page + `<changefreq>always</changefreq><rs:md type="text/html"/>`)},
	"always with a hash":               {doc: resources(page + `<changefreq>always</changefreq><rs:md hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6"/>`), want: []string{"info changefreq 3:1 url"}},
	"never but updated":                {doc: changes(page + noon + `<changefreq>never</changefreq>` + updated), want: []string{"info changefreq 3:1 url"}},
	"never and created":                {doc: changes(page + noon + `<changefreq>never</changefreq><rs:md change="created"/>`)},
	"daily in an archive":              {doc: set(`capability="changelist-archive"`, page+`<changefreq>daily</changefreq>`), want: []string{"info changefreq 3:1 url"}},
	"never in an archive":              {doc: set(`capability="changelist-archive"`, page+`<changefreq>never</changefreq>`)},
	"a length of a deletion":           {doc: changes(page + noon + `<rs:md change="deleted" length="3"/>`), want: []string{"warning deleted-attributes 3:77 md"}},
	"a path of a link":                 {doc: changes(page + noon + updated + `<rs:ln rel="via" href="https://example.com/1" path="/a"/>`), want: []string{"error path-place 3:102 ln"}},
	"a path of a link in a package":    {doc: bitstreams(md(`path="/a" type="text/html"`) + `<rs:ln rel="alternate" href="https://example.com/1" type="text/html" path="/b"/>`)},
	"a mirror of other bytes": {doc: resources(md(`hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6" length="2" type="text/html"`) + `<rs:ln rel="duplicate" href="https://m.example.com/" hash="md5:1584abdf8ebdc9802ac0c6a7402c03b7" length="3" type="text/xml"/>`),
		want: []string{"warning related-bytes 3:157 ln", "warning related-bytes 3:157 ln", "warning related-bytes 3:157 ln", "info duplicate-attributes 3:157 ln"}},
	"a mirror of other encoding":  {doc: resources(md(`length="2"`) + `<rs:ln rel="duplicate" href="https://m.example.com/" length="1" encoding="gzip"/>`), want: []string{"info duplicate-attributes 3:96 ln"}},
	"a memento of other bytes":    {doc: resources(md(`length="2"`) + `<rs:ln rel="memento" href="https://example.com/1" length="3"/>`), want: []string{"warning related-bytes 3:96 ln"}},
	"a memento of the same bytes": {doc: resources(md(`length="0" type="text/html"`) + `<rs:ln rel="memento" href="https://example.com/1" length="0" type="text/html;charset=utf-8"/>`)},
	"a patch of a creation":       {doc: changes(ln(`rel="http://www.openarchives.org/rs/terms/patch" type="application/json-patch+json" href="https://example.com/p"`) + `<rs:md change="created"/>`), want: []string{"warning patch-change 3:77 ln"}},
}

func TestValidate(t *testing.T) {
	broken := make(map[string]bool)
	for name, test := range brokenDocuments {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, findings(t, test.doc, test.fails))
		})
		for _, f := range test.want {
			broken["resourcesync-"+strings.Fields(f)[1]] = true
		}
	}
	for _, name := range []string{"package-read", "package-contents", "package-unlisted", "loc-length", "time-ahead", "timemap", "not-listed", "left-out"} {
		broken["resourcesync-"+name] = true // a Source or a Publisher reports it
	}
	for _, r := range resourcesync.Rules() {
		assert.NotEmpty(t, r.Summary)
		assert.Truef(t, broken[r.Name] || strings.HasPrefix(r.Name, "resourcesync-tree-"), "no document breaks %s", r.Name)
	}
}

// TestValidateExamples lists what the examples of the standard depart from.
func TestValidateExamples(t *testing.T) {
	want := map[string][]string{
		"1.0/01": {"up"}, "1.0/02": {"up"}, "1.0/03": {"up"}, "1.0/05": {"up", "type-missing"}, "1.0/08": {"up"},
		"1.0/04":               {"up", "package"},
		"1.0/27":               {"hash"},
		"1.1/changelist-times": {"change-time"},
	}
	files, err := filepath.Glob("testdata/1.[01]/*.xml")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".xml")
		t.Run(name, func(t *testing.T) {
			doc, err := os.ReadFile(file)
			require.NoError(t, err)
			found := make(map[string]bool)
			sum, err := resourcesync.Validate(bytes.NewReader(doc), resourcesync.ValidateOptions{Report: func(f websync.Finding) {
				found[strings.TrimPrefix(f.Rule, "resourcesync-")] = true
			}})
			require.NoError(t, err)
			assert.NotEqual(t, "a document", sum.Name())
			assert.ElementsMatch(t, want[name], slices.Collect(maps.Keys(found)))
		})
	}
}

func TestValidateLenient(t *testing.T) {
	for name, test := range brokenDocuments {
		all, lenient := 0, 0
		sum, err := resourcesync.Validate(strings.NewReader(test.doc), resourcesync.ValidateOptions{Report: func(websync.Finding) { all++ }})
		again, _ := resourcesync.Validate(strings.NewReader(test.doc), resourcesync.ValidateOptions{Lenient: true, Report: func(websync.Finding) { lenient++ }})
		assert.Equal(t, all, lenient, name)
		assert.Equal(t, all, sum.Errors+sum.Warnings+sum.Infos, name)
		if err == nil {
			assert.Zero(t, again.Errors, name)
		}
	}
}
