package harvest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest"
)

func TestHost(t *testing.T) {
	for key, want := range map[string]string{
		"https://example.org/a":       "https://example.org",
		"http://Example.org:8080/a?":  "http://example.org:8080",
		"HTTPS://example.org":         "https://example.org",
		"laws of Sweden":              "laws of Sweden",
		"https://example.org:bad/a":   "https://example.org:bad/a",
		"urn:lex:se:lov:1998-07-01;1": "urn:lex:se:lov:1998-07-01;1",
		"":                            "",
	} {
		assert.Equal(t, want, harvest.Host(harvest.Of(key)))
	}
	assert.Equal(t, "https://law.example", harvest.Host(rooted{harvest.Of("laws")}))
}

// A rooted is a source whose Key is no URL.
type rooted struct{ harvest.Source }

func (rooted) Root() string { return "https://law.example/feed.atom" }
