package webpage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

func TestChannel(t *testing.T) {
	const a, b = "https://a.example/", "https://b.example/"
	for name, tt := range map[string]struct {
		header   []string
		document []websync.Link
		topic    string
		hubs     []string
	}{
		"nothing":               {},
		"a header":              {[]string{"<" + a + ">; rel=hub, <" + b + `>;REL="self"`}, nil, b, []string{a}},
		"two header fields":     {[]string{"<" + a + ">; rel=hub", "<" + b + ">; rel=self"}, nil, b, []string{a}},
		"one link for both":     {[]string{"<" + a + `>; rel="self hub"`}, nil, a, []string{a}},
		"quotes and commas":     {[]string{"<" + a + `?x=1,2>; title="a, \"b\"; rel=x"; rel="HUB"`}, nil, "", []string{a + "?x=1,2"}},
		"the first rel counts":  {[]string{"<" + a + ">; rel=next; rel=hub"}, nil, "", nil},
		"after a damaged value": {[]string{"a; rel=hub", "<" + b + ">; rel=hub"}, nil, "", []string{b}},
		"the document":          {nil, []websync.Link{{Rel: "hub", Href: a}, {Rel: "self", Href: b}}, b, []string{a}},
		"the header first":      {[]string{"<" + a + ">; rel=hub, <" + a + ">; rel=self"}, []websync.Link{{Rel: "hub", Href: b}, {Rel: "self", Href: b}}, a, []string{a}},
		"relative":              {[]string{"</x>; rel=self, <?y>; rel=hub"}, nil, a + "x", []string{a + "?y"}},
		"itself":                {[]string{`<>; rel=self, </hub>; rel=hub`}, nil, a, []string{a + "hub"}},
		"half in the header":    {[]string{"<" + a + ">; rel=hub"}, []websync.Link{{Rel: "hub", Href: b}, {Rel: "self", Href: b}}, b, []string{a}},
		"the other half":        {[]string{"<" + a + ">; rel=self"}, []websync.Link{{Rel: "hub", Href: b}, {Rel: "self", Href: b}}, a, []string{b}},
		"https first":           {nil, []websync.Link{{Rel: "hub", Href: "http://c.example/"}, {Rel: "hub", Href: b}, {Rel: "hub", Href: a}, {Rel: "hub", Href: b}}, "", []string{b, a, "http://c.example/"}},
		"of another document":   {[]string{"<" + a + `>; rel=hub; anchor="/x"`}, []websync.Link{{Rel: "hub", Href: b}}, "", []string{b}},
		"not to be requested": {
			nil, []websync.Link{{Rel: "hub", Href: "ftp://a.example/"}, {Rel: "hub", Href: "/hub"}, {Rel: "hub", Href: "https://me:x@a.example/"}, {Rel: "self", Href: a + "#x"}, {Rel: "self", Href: "https:///x"}, {Rel: "self", Href: "urn:x"}, {Rel: "self", Href: b}},
			b, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			topic, hubs := Channel(HeaderLinks(tt.header, a), Links(tt.document))
			assert.Equal(t, tt.topic, topic)
			assert.Equal(t, tt.hubs, hubs)
			topic, hubs = Channel(HeaderLinks([]string{strings.Join(tt.header, ",")}, a), Links(tt.document))
			if !strings.HasPrefix(strings.Join(tt.header, ""), "a;") { // which costs the rest of the value
				assert.Equal(t, tt.topic, topic, "one field")
				assert.Equal(t, tt.hubs, hubs, "one field")
			}
		})
	}
}
