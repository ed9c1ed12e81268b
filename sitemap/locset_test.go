package sitemap

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/internal/syntax"
)

func TestLocSet(t *testing.T) {
	const locs = 100_000
	var s locSet
	for i := range locs {
		if s.add(fmt.Appendf(nil, "https://www.example.com/%d", i)) {
			t.Errorf("%d was not there", i)
		}
	}
	for i := range locs {
		if !s.add(fmt.Appendf(nil, "https://www.example.com/%d", i)) {
			t.Errorf("%d was there", i)
		}
	}
	slots := 0
	for _, table := range s.tables {
		slots += len(table)
	}
	assert.LessOrEqual(t, slots, 4*locs)
}

func TestCanonical(t *testing.T) {
	for _, url := range []string{
		"https://www.example.com/a/b~c?x=%C3%A9",
		"HTTPS://WWW.Example.com:443/a/b~c?x=%C3%A9",
		"https://www.example.com/a/b%7ec?x=%c3%a9#fragment",
		"https://www.example.com/x/../%61/./b~c?x=%C3%A9",
	} {
		assert.Equal(t, "https://www.example.com/a/b~c?x=%C3%A9", syntax.Canonical(url))
	}
	for in, want := range map[string]string{
		"http://example.com":         "http://example.com/",
		"http://example.com:80?q":    "http://example.com/?q",
		"http://example.com:8080/%2": "http://example.com:8080/%2",
		"http://example.com/%2F":     "http://example.com/%2F",
		"ftp://example.com/A":        "ftp://example.com/A",
		"":                           "",
	} {
		assert.Equal(t, want, syntax.Canonical(in), in)
	}
}
