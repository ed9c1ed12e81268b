package websync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

func TestTagURI(t *testing.T) {
	seen := map[string]string{}
	for _, source := range []string{"https://Example.org:8080/rss?a=b", "https://example.org/rss", "names", "http://[::1]/", "https://ex_ample.org/", "", "https://-/"} {
		for _, id := range []string{"news-1", "1", "", "a b", "ü/%41#?", "%", "\xff", "news-1/", strings.Repeat("x", 5000)} {
			tag := websync.TagURI(source, id)
			assert.Empty(t, syntax.IRIFault(tag), tag)
			key := fmt.Sprintf("%q %q", source, id)
			assert.Empty(t, seen[tag], "%s and %s", key, seen[tag])
			seen[tag] = key
		}
	}
	assert.Regexp(t, "^tag:example.org,2026:[0-9a-f]{16}/news-1$", websync.TagURI("https://Example.org:8080/rss", "news-1"))
	assert.Regexp(t, "^tag:localhost,2026:[0-9a-f]{16}/a%20b$", websync.TagURI("names", "a b"))
}

func ExampleTagURI() {
	fmt.Println(websync.TagURI("https://example.org/rss", "news-1"))
	// Output: tag:example.org,2026:36f840d5d3aa0cf3/news-1
}
