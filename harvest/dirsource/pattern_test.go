package dirsource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/dirsource"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{"a", []string{"a", "x/a", "x/y/a"}, []string{"ab", "a/x"}},
		{"*", []string{"a", "a/b", ".x"}, nil},
		{"/a", []string{"a"}, []string{"x/a", "a/b"}},
		{"a/b", []string{"a/b"}, []string{"x/a/b", "a/b/c", "a"}},
		{"/a/b", []string{"a/b"}, []string{"x/a/b"}},
		{"a/*", []string{"a/b"}, []string{"a", "a/b/c"}},
		{"a/**", []string{"a", "a/b", "a/b/c"}, []string{"b", "x/a/b"}},
		{"**/a", []string{"a", "x/a", "x/y/a"}, []string{"a/x"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b", "a/b/b"}, []string{"a/b/c", "ab", "x/a/b"}},
		{"**/a/**/b/*.html", []string{"a/b/1.html", "x/a/a/y/b/b/1.html"}, []string{"a/b/c/1.html", "b/a/1.html", "a/b/1.htm"}},
		{"**", []string{"a", "a/b"}, nil},
		{"**/**", []string{"a", "a/b"}, nil},
		{"a**b", []string{"ab", "a1b", "x/a12b"}, []string{"a/b"}},
		{"[a-c]?.txt", []string{"a1.txt", "x/b2.txt"}, []string{"d1.txt", "a.txt"}},
		{`\*`, []string{"*"}, []string{"a"}},
		{"?", []string{"ö", "\xff"}, []string{"öö"}},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			for _, path := range c.yes {
				ok, err := dirsource.Matches(c.pattern, path)
				require.NoError(t, err)
				assert.True(t, ok, path)
			}
			for _, path := range c.not {
				ok, err := dirsource.Matches(c.pattern, path)
				require.NoError(t, err)
				assert.False(t, ok, path)
			}
		})
	}
	for _, bad := range []string{"", "/", "a/", "//a", "a//b", "./a", "../a", "a/..", ".", "[", "a/[b", `a\`, "**/"} {
		_, err := dirsource.Matches(bad, "a")
		assert.Error(t, err, bad)
	}
}

// A path can't make matching slow.
func TestPatternsAreQuick(t *testing.T) {
	began := time.Now()
	ok, err := dirsource.Matches(strings.Repeat("**/a/", 30)+"b", strings.Repeat("a/", 2000)+"c")
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Less(t, time.Since(began), 5*time.Second)
}

func TestPatternOf(t *testing.T) {
	x := newTree(t, t.TempDir())
	odd := `s*[a]?\/.x`
	for _, file := range []string{"a", "d/b", "d/bc", odd, "s/.x"} {
		x.write(file, file)
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(x.path("d"), link))
	t.Chdir(x.path("d"))
	for _, c := range []struct{ dir, name, want string }{
		{x.path(""), x.path("a"), "/a"},
		{x.path("."), x.path("d/"), "/d"},
		{x.path(""), x.path("new/er"), "/new/er"},
		{x.path(""), x.path(odd), `/s\*\[a]\?\\/.x`},
		{x.path(""), filepath.Join(link, "b"), "/d/b"},
		{x.path(""), filepath.Join(link, "new"), "/d/new"},
		{link, x.path("d/b"), "/b"},
		{".", "b", "/b"},
		{"..", "b", "/d/b"},
		{x.path("d"), x.path("a"), ""},
		{x.path("d"), x.path("dd"), ""},
		{x.path("d"), x.path(""), ""},
		{link, x.path("d"), "/"},
	} {
		got, err := dirsource.PatternOf(c.dir, c.name)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%s in %s", c.name, c.dir)
	}
	pattern, err := dirsource.PatternOf(x.path(""), x.path(odd))
	require.NoError(t, err)
	x.src.Hidden, x.src.Exclude = true, []string{pattern, "/d/b*"}
	listed, _ := x.list(t)
	assert.ElementsMatch(t, []string{"a", "s/.x"}, listed)
}
