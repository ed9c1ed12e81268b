package rinfo_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/rinfo"
)

// formatOf returns an enclosure that states what it is a file of.
func formatOf(value, mediaType string) websync.Link {
	return websync.Link{Rel: "enclosure", Href: "http://www.example.se/upload/1", Type: mediaType,
		Attrs: []websync.Attr{{Space: "http://example.se/", Local: "isFormatOf", Value: "x"}, {Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: value}}}
}

func TestAttachmentURL(t *testing.T) {
	const id = "http://rinfo.lagrummet.se/publ/livsfs/2006:22"
	href := func(h string) websync.Link { return websync.Link{Rel: "enclosure", Href: h} }
	const content = "http://www.slv.se/upload/lagstiftning/2006_22.pdf"
	for name, test := range map[string]struct {
		id, content string
		link        websync.Link
		want        string // below the id, or "error: " and a part of the error
	}{
		// §3.3.7
		"the example":              {link: formatOf(id+"#bilaga_1", "application/pdf"), want: "bilaga_1.pdf"},
		"a part with a path":       {link: formatOf(id+"/bilaga/1", "text/html; charset=utf-8"), want: "bilaga/1.html"},
		"of the id alone":          {link: formatOf(" #bilaga_1 ", "Application/PDF"), want: "bilaga_1.pdf"},
		"relative":                 {link: formatOf("bilaga", "text/turtle"), want: "bilaga.ttl"},
		"isFormatOf before href":   {link: func() websync.Link { l := formatOf(id+"#a", "image/png"); l.Href = id + "/b.png"; return l }(), want: "a.png"},
		"the entry itself":         {link: formatOf(id, "application/pdf"), want: "error: must be below the id"},
		"the entry itself, empty":  {link: formatOf("", "application/pdf"), want: "error: must be below the id"},
		"the entry itself, as #":   {link: formatOf(id+"#", "application/pdf"), want: "error: must be below the id"},
		"of another entry":         {link: formatOf(id+"0#bilaga_1", "application/pdf"), want: "error: must be below the id"},
		"of another host":          {link: formatOf("http://evil.example/publ/livsfs/2006:22#a", "application/pdf"), want: "error: must be below the id"},
		"upwards":                  {link: formatOf("../../../robots", "text/plain"), want: "error: must be below the id"},
		"upwards, absolute":        {link: formatOf(id+"/../x", "text/plain"), want: "error: no path of a visible file"},
		"upwards after the sign":   {link: formatOf(id+"#../x", "text/plain"), want: "error: no path of a visible file"},
		"upwards, escaped":         {link: formatOf(id+"/%2e%2e/x", "text/plain"), want: "error: no path of a visible file"},
		"a slash, escaped":         {link: formatOf(id+"/a%2Fx", "text/plain"), want: "error: no path of a visible file"},
		"a backslash":              {link: formatOf(id+`/a\x`, "text/plain"), want: "error: no path of a visible file"},
		"a hidden file":            {link: formatOf(id+"/.htaccess", "text/plain"), want: "error: no path of a visible file"},
		"a well-known file":        {link: formatOf(id+"/.well-known/x", "text/plain"), want: "error: no path of a visible file"},
		"an empty segment":         {link: formatOf(id+"//x", "text/plain"), want: "error: no path of a visible file"},
		"a query":                  {link: formatOf(id+"/x?y", "text/plain"), want: "error: no path of a visible file"},
		"two number signs":         {link: formatOf(id+"#x#y", "text/plain"), want: "error: no path of a visible file"},
		"not in canonical form":    {link: formatOf(id+"/%41", "text/plain"), want: "error: no path of a visible file"},
		"a control character":      {link: formatOf(id+"/a\x00", "text/plain"), want: "error: no path of a visible file"},
		"an unknown type":          {link: formatOf(id+"#a", "application/x-unknown"), want: "error: no known extension"},
		"no type":                  {link: formatOf(id+"#a", ""), want: "error: no known extension"},
		"beside the content":       {content: content, link: href("http://www.slv.se/upload/lagstiftning/2006_22bill1.pdf"), want: "2006_22bill1.pdf"},
		"below its directory":      {content: content, link: href("http://www.slv.se/upload/lagstiftning/css/style.css"), want: "css/style.css"},
		"with a query":             {content: content + "?v=1/2#p/q", link: href("http://www.slv.se/upload/lagstiftning/x.pdf"), want: "x.pdf"},
		"below the content":        {content: "http://www.slv.se/2006:22", link: href("http://www.slv.se/2006:22/bilaga.pdf"), want: "bilaga.pdf"},
		"below the id":             {content: content, link: href(id + "/bilaga.pdf"), want: "bilaga.pdf"},
		"below the id's path":      {content: content, link: href("https://mirror.example.org/publ/livsfs/2006:22/bilaga.pdf"), want: "bilaga.pdf"},
		"an id that ends in slash": {id: "http://rinfo.lagrummet.se/x/", content: content, link: href("http://www.slv.se/upload/lagstiftning/x.pdf"), want: "x.pdf"},
		"the host's root":          {content: "http://www.slv.se/2006_22.pdf", link: href("http://www.slv.se/x.pdf"), want: "x.pdf"},
		"elsewhere":                {content: content, link: href("http://www.slv.se/upload/other/x.pdf"), want: "error: not below the directory of the content"},
		"another host":             {content: content, link: href("http://www.slv.se.evil.example/upload/lagstiftning/x.pdf"), want: "error: not below the directory"},
		"another scheme":           {content: content, link: href("https://www.slv.se/upload/lagstiftning/x.pdf"), want: "error: not below the directory"},
		"upwards, by href":         {content: content, link: href("http://www.slv.se/upload/lagstiftning/../x.pdf"), want: "error: no path of a visible file"},
		"only the directory":       {content: content, link: href("http://www.slv.se/upload/lagstiftning/"), want: "error: no path of a visible file"},
		"a script":                 {content: content, link: href("http://www.slv.se/upload/lagstiftning/show?doc=1"), want: "error: neither a dct:isFormatOf nor a URL"},
		"no content":               {link: href("http://www.slv.se/x.pdf"), want: "error: not below the directory"},
		"content without a path":   {content: "http://www.slv.se", link: href("http://www.slv.se/x.pdf"), want: "error: not below the directory"},
		"not a URL":                {content: content, link: href("x.pdf"), want: "error: not below the directory"},
		"an id with a fragment":    {id: id + "#x", content: content, link: href(id + "/x.pdf"), want: "error: the id must be an HTTP URL"},
		"an id that is no URL":     {id: "tag:example.se,2026:1", content: content, link: href("http://www.slv.se/upload/lagstiftning/x.pdf"), want: "error: the id must be an HTTP URL"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &websync.Resource{ID: id, Content: websync.Link{Href: test.content}, Links: []websync.Link{test.link}}
			if test.id != "" {
				r.ID = test.id
			}
			got, err := rinfo.AttachmentURL(r, test.link)
			if want, fails := strings.CutPrefix(test.want, "error: "); fails {
				assert.ErrorContains(t, err, want)
				assert.ErrorContains(t, err, r.ID)
				assert.Empty(t, got)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, strings.TrimSuffix(r.ID, "/")+"/"+test.want, got)
		})
	}
}

// TestAttachmentCollisions: two documents of a resource that would have one URL both get
// an error that names the other.
func TestAttachmentCollisions(t *testing.T) {
	const id = "http://rinfo.lagrummet.se/publ/livsfs/2006:22"
	one := websync.Link{Rel: "enclosure", Href: "http://www.slv.se/1.pdf"}
	two := websync.Link{Rel: "http://www.iana.org/assignments/relation/enclosure", Href: "http://www.slv.se/2", Type: "application/pdf",
		Attrs: []websync.Attr{{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: id + "#1"}}}
	rdf := websync.Link{Rel: "alternate", Href: "http://www.slv.se/about", Type: "application/rdf+xml"}
	swedish := rdf
	swedish.Lang = "sv"
	r := &websync.Resource{ID: id, Content: websync.Link{Href: "http://www.slv.se/0.pdf"}, Links: []websync.Link{rdf, swedish, one, one, two}}
	for _, pair := range [][2]websync.Link{{one, two}, {two, one}} {
		_, err := rinfo.AttachmentURL(r, pair[0])
		assert.ErrorContains(t, err, id+"/1.pdf")
		assert.ErrorContains(t, err, pair[0].Href)
		assert.ErrorContains(t, err, pair[1].Href)
	}
	for _, name := range []string{"rdf", "rdf,sv"} {
		_, err := rinfo.AttachmentURL(r, websync.Link{Rel: "enclosure", Href: "http://www.slv.se/" + name})
		assert.ErrorContains(t, err, "http://www.slv.se/about")
	}
	r.Links = r.Links[:4]
	got, err := rinfo.AttachmentURL(r, one)
	assert.NoError(t, err, "it does not collide with itself")
	assert.Equal(t, id+"/1.pdf", got)
}

// FuzzAttachmentURL: whatever the links are, the URL is below the id, and no client takes
// it for another one.
func FuzzAttachmentURL(f *testing.F) {
	f.Add("http://rinfo.lagrummet.se/publ/livsfs/2006:22", "http://www.slv.se/0.pdf", "http://www.slv.se/1.pdf", "http://rinfo.lagrummet.se/publ/livsfs/2006:22#bilaga_1", "application/pdf")
	f.Add("http://h/a", "http://h/a/..", "http://h/a/../b", "#..", "text/html")
	f.Fuzz(func(t *testing.T, id, content, href, format, mediaType string) {
		link := websync.Link{Rel: "enclosure", Href: href, Type: mediaType}
		if format != "-" {
			link.Attrs = []websync.Attr{{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: format}}
		}
		r := &websync.Resource{ID: id, Content: websync.Link{Href: content}, Links: []websync.Link{link, {Rel: "alternate", Href: content + "x", Type: mediaType}}}
		got, err := rinfo.AttachmentURL(r, link)
		if err != nil {
			return
		}
		base := strings.TrimSuffix(id, "/") + "/"
		if !strings.HasPrefix(got, base) || got == base {
			t.Fatalf("%q is not below %q", got, id)
		}
		parsed, err := url.Parse("http://h/" + strings.TrimPrefix(got, base))
		if err != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
			t.Fatalf("%q: %v", got, err)
		}
		if cleaned := parsed.JoinPath(); cleaned.EscapedPath() != parsed.EscapedPath() || strings.Contains(parsed.Path, "/.") {
			t.Fatalf("%q is also %q", got, cleaned)
		}
	})
}
