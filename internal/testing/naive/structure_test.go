package naive

import (
	"strings"
	"testing"
)

const soundFeed = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:fh="http://purl.org/syndication/history/1.0" xml:lang="sv">
<id>tag:a.example,2026:feed</id><title>T</title><updated>2026-01-02T00:00:00Z</updated>
<author><name>A</name><email>a@a.example</email><uri>/a</uri></author>
<link rel="self" href="feed"/><link rel="prev-archive" href="1"/>
<at:deleted-entry ref="urn:x:d" when="2026-01-01T00:00:00.5+01:00"/>
<entry><id>urn:x:1</id><title>One</title><updated>2026-01-01T00:00:00Z</updated><published>2026-01-01T00:00:00Z</published>
<summary>S</summary><content type="application/pdf" src="/1.pdf" hash="md5:00"/>
<link rel="alternate" type="text/html" hreflang="sv" href="/1" length="3"/><link type="text/html" href="/1"/><category term="c"/></entry>
<entry><id>urn:x:2</id><title type="html">Two</title><updated>2026-01-01T00:00:00Z</updated><content>text</content>
<source><id>urn:x:f</id><title>F</title><updated>2026-01-01T00:00:00Z</updated></source></entry>
</feed>`

// TestFaults: each change of a sound document makes a fault.
func TestFaults(t *testing.T) {
	if faults := Faults([]byte(soundFeed)); len(faults) > 0 {
		t.Fatal(faults)
	}
	for name, change := range map[string][2]string{
		"no id":                    {"<id>tag:a.example,2026:feed</id>", ""},
		"two ids":                  {"<title>T</title>", "<title>T</title><id>urn:x:y</id>"},
		"a relative id":            {"<id>urn:x:1</id>", "<id>x/1</id>"},
		"a space in an id":         {"<id>urn:x:1</id>", "<id>urn:x 1</id>"},
		"an escape in an id":       {"<id>urn:x:1</id>", "<id>urn:x:%zz</id>"},
		"white space around an id": {"<id>urn:x:1</id>", "<id> urn:x:1</id>"},
		"a blank title":            {"<title>One</title>", "<title> </title>"},
		"a title of another type":  {`type="html"`, `type="text/html"`},
		"markup in a title":        {"<title>T</title>", "<title>T<b/></title>"},
		"xhtml without div":        {`type="html"`, `type="xhtml"`},
		"a date only":              {"<published>2026-01-01T00:00:00Z", "<published>2026-01-01"},
		"a date without colon":     {"00.5+01:00", "00.5+0100"},
		"a date in small letters":  {"<updated>2026-01-02T00:00:00Z", "<updated>2026-01-02t00:00:00z"},
		"a date of no day":         {"<updated>2026-01-02T", "<updated>2026-02-30T"},
		"no author":                {"<author><name>A</name><email>a@a.example</email><uri>/a</uri></author>", ""},
		"an author without a name": {"<name>A</name>", ""},
		"two names":                {"<name>A</name>", "<name>A</name><name>B</name>"},
		"a mail address":           {"a@a.example", "a"},
		"no self":                  {`<link rel="self" href="feed"/>`, ""},
		"a link without href":      {`<link type="text/html" href="/1"/>`, `<link type="text/html"/>`},
		"a relation":               {`rel="prev-archive"`, `rel="a b"`},
		"two of a type":            {` hreflang="sv"`, ""},
		"a language":               {`hreflang="sv"`, `hreflang="sv_SE"`},
		"a length":                 {`length="3"`, `length="-3"`},
		"a type":                   {`<link type="text/html"`, `<link type="html"`},
		"another attribute":        {`length="3"`, `size="3"`},
		"no term":                  {`term="c"`, `label="c"`},
		"text in a link":           {`<link type="text/html" href="/1"/>`, `<link type="text/html" href="/1">x</link>`},
		"no summary":               {"<summary>S</summary>", ""},
		"content with src":         {`hash="md5:00"/>`, `hash="md5:00">x</content>`},
		"composite content":        {`"application/pdf"`, `"multipart/mixed"`},
		"src without a type":       {` type="application/pdf"`, ``},
		"two contents":             {"<content>text</content>", "<content>text</content><content>text</content>"},
		"markup in content":        {"<content>text</content>", "<content><b/></content>"},
		"no content":               {"<content>text</content>", ""},
		"two published":            {"<published>", "<published>2026-01-01T00:00:00Z</published><published>"},
		"an element of Atom":       {"<content>text</content>", "<content>text</content><subtitle>x</subtitle>"},
		"an entry in a source":     {"<source>", "<source><entry/>"},
		"a source without id":      {"<id>urn:x:f</id>", ""},
		"an entry twice":           {"<id>urn:x:2</id>", "<id>urn:x:1</id>"},
		"a deletion at the end":    {"</feed>", `<at:deleted-entry ref="urn:x:e" when="2026-01-01T00:00:00Z"/></feed>`},
		"a deletion twice":         {"<entry>", `<at:deleted-entry ref="urn:x:d" when="2026-01-01T00:00:00.5+01:00"/><entry>`},
		"a deletion without ref":   {`ref="urn:x:d" `, ""},
		"a deletion without when":  {`when="2026-01-01T00:00:00.5+01:00"`, ""},
		"a complete archive":       {"<author>", "<fh:complete/><author>"},
		"an archive alone":         {"<author>", "<fh:archive/><author>"},
		"two marks":                {"<author>", "<fh:archive/><fh:archive/><link rel='current' href='a'/><author>"},
		"another mark":             {"<author>", "<fh:whole/><author>"},
		"a mark with text":         {"<author>", "<fh:archive>x</fh:archive><link rel='current' href='a'/><author>"},
		"two archives":             {"<author>", `<link rel="prev-archive" href="2"/><author>`},
		"text between elements":    {"<author>", "x<author>"},
		"no namespace":             {"<author>", `<x xmlns=""/><author>`},
		"a prefix":                 {`length="3"`, `le:length="3"`},
		"an attribute twice":       {`length="3"`, `length="3" length="3"`},
		"a second root":            {"</feed>", "</feed><feed/>"},
		"a document type":          {"<feed", "<!DOCTYPE feed><feed"},
		"a control character":      {"<title>T", "<title>\x01"},
		"another root":             {"2005/Atom", "2005/Other"},
		"a cut":                    {"</feed>", ""},
	} {
		if !strings.Contains(soundFeed, change[0]) {
			t.Errorf("%s: nothing to change", name)
		}
		if faults := Faults([]byte(strings.Replace(soundFeed, change[0], change[1], 1))); len(faults) == 0 {
			t.Errorf("%s: no fault", name)
		}
	}
}
