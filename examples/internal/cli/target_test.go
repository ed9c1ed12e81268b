package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
)

// The name of a host needs no scheme; other texts without one are no URLs.
func TestScheme(t *testing.T) {
	for raw, want := range map[string]string{
		"example.org": "https://example.org", "www.Example.org/a?b=http://c/": "https://www.Example.org/a?b=http://c/",
		"example.co.uk:8443": "https://example.co.uk:8443", "https://example.org/": "https://example.org/", "http://a/": "http://a/",
		"sitemap.xml": "", "wiki": "", "mailto:a@example.org": "", "user@example.org": "", "/example.org": "", "localhost:8080": "", "org": "", ".org": "", "": "",
		"ftp://example.org/": "",
	} {
		target, err := cli.ParseTarget(cli.Auto, raw)
		if want == "" {
			assert.ErrorContains(t, err, "URL", raw)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, target.URL)
	}
}
