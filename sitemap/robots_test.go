package sitemap_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/sitemap"
)

func TestSitemaps(t *testing.T) {
	tests := map[string]struct {
		file string
		want []string
	}{
		"several, in any case": {
			"User-agent: *\nDisallow: /private\nSitemap: https://www.example.com/a.xml\n\nsitemap: https://www.example.com/b.xml\nSITEMAP:https://www.example.com/c.xml",
			[]string{"https://www.example.com/a.xml", "https://www.example.com/b.xml", "https://www.example.com/c.xml"},
		},
		"spaces, comments, line ends, a mark": {
			"\ufeffSitemap : https://www.example.com/a.xml\t# main\r\n  sitemap:  https://www.example.com/b.xml\r#Sitemap: https://www.example.com/c.xml",
			[]string{"https://www.example.com/a.xml", "https://www.example.com/b.xml"},
		},
		"twice":           {"Sitemap: /a.xml\nSitemap: /a.xml\n", []string{"/a.xml"}},
		"empty and alike": {"Sitemap:\nSitemap\nSitemaps: /a.xml\nX-Sitemap: /b.xml\n", nil},
		"none":            {"User-agent: *\nDisallow:\n", nil},
		"no file":         {"", nil},
		"a long line": {
			"Sitemap: /" + strings.Repeat("x", 200_000) + "\nSitemap: /a.xml\n" + strings.Repeat("#", 100_000) + "\nSitemap: /b.xml",
			[]string{"/a.xml", "/b.xml"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := sitemap.Sitemaps(strings.NewReader(test.file))
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	t.Run("a read error", func(t *testing.T) {
		broken := errors.New("connection reset")
		_, err := sitemap.Sitemaps(io.MultiReader(strings.NewReader("Sitemap: /a.xml\nSite"), &failing{broken}))
		require.ErrorIs(t, err, broken)
	})
}
