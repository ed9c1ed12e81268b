package publish

import (
	"context"
	"errors"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/sitemap"
)

// files returns the content of all files below dir, except the export's own.
func files(t testing.TB, dir string) map[string]string {
	all := make(map[string]string)
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name == private {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	}))
	return all
}

// privateFiles returns the names of the export's own files.
func privateFiles(t testing.TB, dir string) (names []string) {
	entries, err := os.ReadDir(filepath.Join(dir, private))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// files sets the documents of a site to these, each a text at its path. The last one
// lists the others, a path a line.
func (s *site) files(texts map[string]string) {
	s.mu.Lock()
	s.docs, s.order = make(map[string]func() (*websync.Document, error)), nil
	s.mu.Unlock()
	var list strings.Builder
	for _, path := range sortedKeys(texts) {
		s.file(path, websync.Document{Type: "text/html", ETag: "x"}, texts[path])
		list.WriteString(path + "\n")
	}
	s.list("/sitemap.txt", "text/plain", list.String())
}

func sortedKeys(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestWriteDir(t *testing.T) {
	dir := t.TempDir()
	s := newSite()
	zipped := "\x1f\x8b not really"
	s.files(map[string]string{
		"/a": "a", "/b/": "b", "/b/c.html": "c", "/a%20b": "space", "/%C3%A9": "e", "/%2541": "A", "/.well-known/x": "known",
		"/d": "d", "/d/e": "e", "/d/e/f": "f", "/same": "same", "/x.gz": zipped, "/": "home",
	})
	got, err := WriteDir(t.Context(), dir, s, Text("/robots.txt", "robots"))
	require.NoError(t, err)
	want := map[string]string{
		"a": "a", "b/index.html": "b", "b/c.html": "c", "a b": "space", "\u00e9": "e", "%41": "A", ".well-known/x": "known",
		"d/index.html": "d", "d/e/index.html": "e", "d/e/f": "f", "same": "same", "x.gz": zipped, "index.html": "home",
		"robots.txt": "robots", "sitemap.txt": strings.Join(s.order[:len(s.order)-1], "\n") + "\n",
	}
	assert.Equal(t, want, files(t, dir))
	var bytes int64
	for _, text := range want {
		bytes += int64(len(text))
	}
	assert.Equal(t, Written{Written: 15, Bytes: bytes}, got)

	// An export does not rewrite unchanged files, removes those whose documents no longer
	// exist, and leaves files that it did not write.
	before, err := os.Stat(filepath.Join(dir, "same"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "own"), []byte("own"), 0o600))
	s.files(map[string]string{"/a": "a!", "/same": "same", "/d": "d", "/b/n": "new"})
	got, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"a": "a!", "same": "same", "d/index.html": "d", "b/own": "own", "b/n": "new", "sitemap.txt": "/a\n/b/n\n/d\n/same\n",
	}, files(t, dir))
	assert.Equal(t, Written{Written: 3, Unchanged: 2, Removed: 11, Bytes: 2 + 3 + 17}, got)
	after, err := os.Stat(filepath.Join(dir, "same"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	assert.Equal(t, before.ModTime(), after.ModTime())
	for _, gone := range []string{"d/e", ".well-known"} {
		_, err := os.Stat(filepath.Join(dir, gone))
		assert.ErrorIs(t, err, fs.ErrNotExist, "a directory that is empty")
	}

	got, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.Equal(t, Written{Unchanged: 5}, got)
	assert.Equal(t, []string{
		"apache.conf", "apache.map", "lock", "manifest", "nginx-hash.conf", "nginx-http.conf", "nginx-server.conf",
	}, privateFiles(t, dir))

	got, err = WriteDir(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Written{Removed: 5}, got)
	assert.Equal(t, map[string]string{"b/own": "own"}, files(t, dir))
}

// Every kind of difference between the old bytes and the new, across the borders of
// buffers.
func TestWriteDirCompares(t *testing.T) {
	dir := t.TempDir()
	s := newSite()
	text := strings.Repeat("0123456789", 30_000)
	for _, next := range []string{
		text, text, text + "x", text, text[:len(text)-1], "x" + text[1:], text[:65536] + "x" + text[65537:], text[:100_000], "", "", text,
	} {
		before, _ := os.ReadFile(filepath.Join(dir, "a"))
		s.list("/a", "image/x", next)
		got, err := WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		assert.Equal(t, next, files(t, dir)["a"])
		assert.EqualValues(t, 1, got.Written+got.Unchanged)
		if string(before) == next && before != nil {
			assert.EqualValues(t, 1, got.Unchanged)
		}
	}
}

// If another program truncates a file while it is compared, the export fails.
func TestWriteDirOfAFileThatIsCutOff(t *testing.T) {
	dir := t.TempDir()
	half := strings.Repeat("x", 200_000)
	end := func() string { return "before" }
	s := newSite()
	s.set("/a", func() (*websync.Document, error) {
		return &websync.Document{Write: func(_ context.Context, w io.Writer) error {
			io.WriteString(w, half)
			_, err := io.WriteString(w, end())
			return err
		}}, nil
	})
	_, err := WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	end = func() string {
		require.NoError(t, os.Truncate(filepath.Join(dir, "a"), 10))
		return "after"
	}
	_, err = WriteDir(t.Context(), dir, s)
	require.Error(t, err)
	_, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.Equal(t, half+"after", files(t, dir)["a"])
}

func TestWriteDirIsWhatTheHandlerServes(t *testing.T) {
	store := catalog(t, map[string]string{"https://example.org/a/b c": bodyText, "https://example.org/a": "a", "https://example.org/x/": "x", "urn:x:/y": "z"})
	all := []websync.Publisher{exportable(exampleSite()), Bodies(store, locator), Text("/robots.txt", "x"), Text("/robots.txt", "y")}
	dir := t.TempDir()
	_, err := WriteDir(t.Context(), dir, all...)
	require.NoError(t, err)
	written := files(t, dir)
	h := newHandler(t, all...)
	n := 0
	for path, err := range Join(all...).Documents(t.Context()) {
		require.NoError(t, err)
		n++
		name, err := fileName(path)
		require.NoError(t, err)
		got, ok := written[name]
		if !ok {
			got, ok = written[name+"/"+indexFile]
		}
		assert.True(t, ok, path)
		assert.Equal(t, get(h, "GET", path).Body.String(), got, path)
	}
	assert.Len(t, written, n)
	assert.Greater(t, n, 10)
}

// exportable removes the documents that cannot be written.
func exportable(s *site) *site {
	for _, path := range []string{"/gone", "/broken", "/busy", "/large", "/unwritten.xml", "/unopened", "/panic.xml"} {
		s.remove(path)
	}
	return s
}

// Documents that cannot be written are reported, and all others are written.
func TestWriteDirRefuses(t *testing.T) {
	for name, test := range map[string]struct{ docs, refused, reasons []string }{
		"index.html twice":            {[]string{"/a/", "/a/index.html"}, []string{"/a/index.html"}, []string{`"/a/" has the same file`}},
		"a file beside its directory": {[]string{"/a", "/a/"}, []string{"/a/"}, []string{`"/a" has the same file`}},
		"three of one":                {[]string{"/a", "/a/", "/a/index.html"}, []string{"/a/", "/a/index.html"}, []string{`"/a" has the same file`, `"/a" has the same file`}},
		"below an index":              {[]string{"/a/", "/a/index.html/b"}, []string{"/a/"}, []string{`its file "a/index.html" is a directory of other paths`}},
		"below what becomes an index": {[]string{"/a", "/a/index.html/b", "/a/index.html/c"}, []string{"/a/index.html/b", "/a/index.html/c"}, nil},
		"an empty segment":            {[]string{"/a//b"}, []string{"/a//b"}, []string{`"" is not the name of a file`}},
		"upwards":                     {[]string{"/../a", "/%2E%2E/a"}, []string{"/../a", "/%2E%2E/a"}, []string{`".." is not the name of a file`, `"%2E%2E" is not escaped as a server expects it`}},
		"the export's own":            {[]string{"/.websync/manifest", "/.WebSync/x"}, []string{"/.websync/manifest", "/.WebSync/x"}, nil},
		"another way to escape":       {[]string{"/%41", "/%2541", "/%c3%a9", "/%C3%A9"}, []string{"/%41", "/%c3%a9"}, nil},
		"not UTF-8":                   {[]string{"/%E9", "/%FF"}, []string{"/%E9", "/%FF"}, []string{`"\xe9" is not UTF-8`, `"\xff" is not UTF-8`}},
		"characters":                  {[]string{"/%5C", "/%09", "/%00", "/a%2Fb"}, []string{"/%5C", "/%09", "/%00", "/a%2Fb"}, nil},
		"a long name":                 {[]string{"/" + strings.Repeat("a", 256)}, []string{"/" + strings.Repeat("a", 256)}, []string{"the name has 256 bytes; a file name can have at most 255"}},
		"a long path":                 {[]string{strings.Repeat("/a", 1751)}, []string{strings.Repeat("/a", 1751)}, []string{"the path has 3501 bytes; a server can open at most 3500"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			texts := map[string]string{"/z": "/z"}
			order := []string{"/z"}
			for _, path := range test.docs {
				texts[path] = path
				order = append(order, path)
			}
			s := newSite()
			s.files(texts)
			s.order = order
			for range 2 {
				done, err := WriteDir(t.Context(), dir, s)
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				var paths, reasons []string
				for _, r := range refused.Refused {
					paths, reasons = append(paths, r.Path), append(reasons, r.Reason)
				}
				assert.Equal(t, test.refused, paths)
				if test.reasons != nil {
					assert.Equal(t, test.reasons, reasons)
				}
				assert.EqualValues(t, len(test.refused), refused.Total)
				assert.EqualValues(t, len(order)-len(test.refused), done.Written+done.Unchanged)
				got := slices.Collect(maps.Values(files(t, dir)))
				for _, path := range order {
					if slices.Contains(test.refused, path) {
						assert.NotContains(t, got, path)
					} else {
						assert.Contains(t, got, path)
					}
				}
			}
		})
	}
	many := newSite()
	for i := range 3 * maxRefused {
		many.file(fmt.Sprintf("/%%E9/%d", i), websync.Document{Type: "text/plain"}, "x")
	}
	_, err := WriteDir(t.Context(), t.TempDir(), many)
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.EqualValues(t, 3*maxRefused, refused.Total)
	assert.Len(t, refused.Refused, maxRefused)
	assert.EqualError(t, err, `publish: 300 documents have no file, first "/%E9/0": "\xe9" is not UTF-8`)
}

func TestWriteDirFails(t *testing.T) {
	for name, test := range map[string]struct {
		docs []string
		want string
	}{
		"something else is in the way": {[]string{"/foreign"}, "publish: foreign is in the way of /foreign: no export has written it"},
		"a directory is in the way":    {[]string{"/dir"}, "publish: dir is in the way of /dir: no export has written it"},
		"a file for a directory":       {[]string{"/foreign/x"}, "publish: /foreign/x: foreign is in the way: no export has written it"},
		"a link for a directory":       {[]string{"/link/x"}, "publish: /link/x: link is not a directory"},
		"a link for a file":            {[]string{"/dangling"}, "publish: dangling is in the way of /dangling: no export has written it"},
	} {
		t.Run(name, func(t *testing.T) {
			outside, dir := t.TempDir(), t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "foreign"), []byte("foreign"), 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
			require.NoError(t, os.Symlink("dir", filepath.Join(dir, "link")))
			require.NoError(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "dangling")))
			before := files(t, filepath.Join(dir, "dir"))
			texts := make(map[string]string)
			for _, path := range test.docs {
				texts[path] = path
			}
			s := newSite()
			s.files(texts)
			_, err := WriteDir(t.Context(), dir, s)
			require.EqualError(t, err, test.want)
			foreign, err := os.ReadFile(filepath.Join(dir, "foreign"))
			require.NoError(t, err)
			assert.Equal(t, "foreign", string(foreign))
			assert.Equal(t, before, files(t, filepath.Join(dir, "dir")))
			assert.Empty(t, files(t, outside))
		})
	}
}

// A file that no export wrote stays, even if its path is refused and other paths need a
// directory of its name.
func TestWriteDirMovesNoForeignFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", indexFile), []byte("foreign"), 0o600))
	s := newSite()
	s.files(map[string]string{"/a/": "a", "/a/index.html/b": "b"})
	_, err := WriteDir(t.Context(), dir, s)
	require.EqualError(t, err, "publish: /a/index.html/b: a/index.html is in the way: no export has written it")
	assert.Equal(t, map[string]string{"a/index.html": "foreign"}, files(t, dir))
}

// A symbolic link that takes the place of a file or a directory is replaced or refused,
// and what it points to stays.
func TestWriteDirFollowsNoLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "b"), []byte("outside"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte("c"), 0o600))
	s := newSite()
	s.files(map[string]string{"/a/b": "ab", "/c": "c"})
	_, err := WriteDir(t.Context(), dir, s)
	require.NoError(t, err)

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "a")))
	require.NoError(t, os.Remove(filepath.Join(dir, "c")))
	require.NoError(t, os.Symlink("own", filepath.Join(dir, "c")))
	_, err = WriteDir(t.Context(), dir, s)
	require.Error(t, err)
	s.files(map[string]string{"/c": "c"})
	_, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	info, err := os.Lstat(filepath.Join(dir, "c"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	assert.Equal(t, "c", files(t, dir)["own"])
	assert.Equal(t, map[string]string{"b": "outside"}, files(t, outside))
}

// since matches the time in a lock file.
var since = regexp.MustCompile("since .*Z$")

// What stands in the way of an export is an error of one line, and nothing is deleted or
// written because of it.
func TestWriteDirOfADamagedDirectory(t *testing.T) {
	manifest := func(text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, manifestFile), []byte(text), 0o600))
		}
	}
	// instead puts something else in place of one of the export's own.
	instead := func(name string, put func(name string) error) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
			require.NoError(t, put(filepath.Join(dir, name)))
		}
	}
	file := func(name string) error { return os.WriteFile(name, []byte("foreign"), 0o600) }
	link := func(name string) error { return os.Symlink("a", name) }
	directory := func(name string) error { return os.MkdirAll(filepath.Join(name, "x"), 0o700) }
	const damaged = "publish: .websync/manifest is damaged"
	inTheWay := func(name string) string { return "publish: " + name + " is in the way: no export has written it" }
	for name, test := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"an empty manifest":               {manifest(""), damaged},
		"another manifest":                {manifest("x\n"), damaged},
		"a manifest cut in its header":    {manifest(manifestHeader), damaged},
		"a manifest cut in a name":        {manifest(manifestHeader + "\na"), damaged},
		"a manifest cut before a newline": {manifest(manifestHeader + "\na\nb"), damaged},
		"a name that leads upwards":       {manifest(manifestHeader + "\n../x\n"), damaged},
		"an absolute name":                {manifest(manifestHeader + "\n/etc/x\n"), damaged},
		"the name of the manifest":        {manifest(manifestHeader + "\n.WebSync/manifest\n"), damaged},
		"a second name of a file":         {manifest(manifestHeader + "\n./a\n"), damaged},
		"a manifest of noise":             {manifest(strings.Repeat("\xff\x00", 1<<20)), damaged},
		"noise after the header":          {manifest(manifestHeader + "\n" + strings.Repeat("x", 1<<20)), damaged},
		"a newer manifest": {
			manifest("websync export 2\na\n"),
			`publish: .websync/manifest is of another version, "websync export 2": this one writes "websync export 1"`,
		},
		"a directory for the manifest": {instead(manifestFile, directory), inTheWay(manifestFile)},
		"a link for the manifest":      {instead(manifestFile, link), inTheWay(manifestFile)},
		"a directory for the lock":     {instead(lockFile, directory), inTheWay(lockFile)},
		"a link for the lock":          {instead(lockFile, link), inTheWay(lockFile)},
		"a file for the new files":     {instead(newDir, file), inTheWay(newDir)},
		"a link for the new files":     {instead(newDir, link), "publish: .websync/new is not a directory"},
		"a file for .websync":          {instead(private, file), inTheWay(private)},
		"a link for .websync": {instead(private, func(name string) error {
			elsewhere := t.TempDir()
			return errors.Join(file(filepath.Join(elsewhere, "manifest")), os.Symlink(elsewhere, name))
		}), "publish: .websync is not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := WriteDir(t.Context(), dir, Text("/a", "a"), Text("/b", "b"))
			require.NoError(t, err)
			test.damage(t, dir)
			all := func() (all []string) {
				require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
					text, _ := os.ReadFile(name)
					all = append(all, name+"\x00"+since.ReplaceAllString(string(text), ""))
					return err
				}))
				return all
			}
			before := all()
			_, err = WriteDir(t.Context(), dir, Text("/a", "new"))
			require.EqualError(t, err, test.want)
			assert.Equal(t, before, all())
		})
	}
}

func TestWriteDirBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := WriteDir(t.Context(), dir, Text("/a", "a"))
		require.ErrorContains(t, err, "publish: ")
		assert.NotContains(t, err.Error(), "\n")
	}
}

// Of several exports into one directory one writes, and the others say which one.
func TestWriteDirAtOnce(t *testing.T) {
	if !spool.CanLock {
		t.Skip("no file locks on this system")
	}
	dir := filepath.Join(t.TempDir(), "out")
	s := newSite()
	s.set("/a", func() (*websync.Document, error) {
		_, err := WriteDir(t.Context(), dir, Text("/b", "b"))
		assert.ErrorIs(t, err, ErrBusy)
		assert.ErrorContains(t, err, fmt.Sprintf(`publish: %s: another export is writing: "process %d on `, dir, os.Getpid()))
		return Text("/a", "a").Document(t.Context(), "/a")
	})
	for range 2 { // the lock ends with the export
		_, err := WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"a": "a"}, files(t, dir))
	}
}

func TestWriteDirOfMovingDocuments(t *testing.T) {
	dir := t.TempDir()
	s := newSite()
	moving(s, 2, "m")
	_, err := WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a.xml": "state 2"}, files(t, dir))
	moving(s, 1000, "m")
	_, err = WriteDir(t.Context(), dir, s)
	require.ErrorIs(t, err, websync.ErrConflict)
	assert.Equal(t, map[string]string{"a.xml": "state 2"}, files(t, dir))

	// The next export removes the file of a document that disappears during an export.
	s.fail("/a.xml", websync.ErrGone)
	_, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	s.remove("/a.xml")
	_, err = WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.Empty(t, files(t, dir))

	for _, bad := range []string{"/broken", "/unwritten.xml", "/unopened"} {
		_, err = WriteDir(t.Context(), dir, exampleSite(), Text(bad, "never reached"))
		assert.ErrorContains(t, err, "secret")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = WriteDir(ctx, dir, Text("/x", "x"))
	assert.ErrorIs(t, err, context.Canceled)
}

// TestWriteDirOfAnIndexThatMoves exports an index and its part while the Catalog changes
// with every rendering: the index may be older than the part, but not newer.
func TestWriteDirOfAnIndexThatMoves(t *testing.T) {
	state := 0
	look := func(_ context.Context, w io.Writer) error {
		state++
		_, err := io.WriteString(w, strings.Repeat("x", state))
		return err
	}
	s := newSite()
	s.set("/part.xml", func() (*websync.Document, error) { return &websync.Document{Type: "text/xml", Write: look}, nil })
	s.set("/index.xml", func() (*websync.Document, error) { return &websync.Document{Type: "text/xml", Write: look}, nil })
	dir := t.TempDir()
	for range 3 {
		_, err := WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		got := files(t, dir)
		assert.Less(t, len(got["index.xml"]), len(got["part.xml"]))
	}
	leftover := filepath.Join(dir, newDir, "7")
	require.NoError(t, os.Mkdir(filepath.Dir(leftover), 0o700))
	require.NoError(t, os.WriteFile(leftover, nil, 0o600))
	_, err := WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	assert.NoFileExists(t, leftover)
}

// An export that fails leaves no new files behind.
func TestWriteDirLeavesNoNewFiles(t *testing.T) {
	var cancel context.CancelFunc
	half := func(end func() error) func() (*websync.Document, error) {
		return func() (*websync.Document, error) {
			return &websync.Document{Write: func(_ context.Context, w io.Writer) error {
				io.WriteString(w, strings.Repeat("half of it", 100_000))
				return end()
			}}, nil
		}
	}
	for name, end := range map[string]func() error{
		"failed":  func() error { return errors.New("the disk") },
		"stopped": func() error { cancel(); return nil },
		"removed": func() error { return websync.ErrNotFound },
	} {
		t.Run(name, func(t *testing.T) {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			s := newSite()
			s.set("/part.xml", half(func() error { return nil }))
			s.set("/index.xml", half(end))
			s.set("/other.xml", half(func() error { return nil }))
			dir := t.TempDir()
			_, err := WriteDir(ctx, dir, s)
			require.Error(t, err)
			assert.Equal(t, []string{"lock", "manifest"}, privateFiles(t, dir))
		})
	}
}

// An export of a frozen Catalog fails if a body or a state of the log is removed that it
// needs. The lists and files of the export before then stay as they are.
func TestAnExportThatFailsLeavesTheOneBefore(t *testing.T) {
	for name, forget := range map[string]func(s *shelf) error{
		"Vacuum":  func(s *shelf) error { _, err := s.Vacuum(t.Context(), 0); return err },
		"Compact": func(s *shelf) error { _, err := s.Compact(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for at, last := 1, 1; at <= last; at++ {
				dir := t.TempDir()
				s := newShelf(t, 8, 25)
				export := func(c websync.Catalog) error {
					list := &sitemap.Publisher{Place: websync.Place{Catalog: c, Base: "https://example.org/"}, PartSize: 3}
					locator := websync.PathLocator{Base: list.Base, Own: []string{"own"}, Reserved: list.Reserved}
					list.Locator = locator
					_, err := WriteDir(t.Context(), dir, list, Bodies(c, locator))
					return err
				}
				require.NoError(t, export(s))
				before := files(t, dir)
				for range 10 {
					s.change()
				}
				err := export(freeze(t, s, func(_ string, n int) {
					if last = n; n == at {
						for range 10 {
							s.change()
						}
						s.Clock = s.Clock.Add(time.Hour)
						require.NoError(t, forget(s))
					}
				}))
				if err == nil {
					continue
				}
				failed++
				after := files(t, dir)
				for file, text := range before {
					require.Equal(t, text, after[file], "%s after %s at call %d: %v", file, name, at, err)
				}
			}
			require.NotZero(t, failed)
		})
	}
}

// TestFlushedBeforeNamed: a file gets its name when its bytes are on disk, and a list when
// the names of what it links to are.
func TestFlushedBeforeNamed(t *testing.T) {
	s := newSite()
	s.files(map[string]string{"/a": "a", "/b/c": "c", "/b/d/e": "e"})
	dir := t.TempDir()
	replaced := false
	export := func() (flushes int) {
		tree, err := openTree(dir)
		require.NoError(t, err)
		defer tree.close()
		if tree.disk == nil {
			t.Skip("not a file system that can be flushed as a whole")
		}
		var written, named string
		tree.step = func(op, name string) error {
			switch op {
			case "create":
				written = name
			case "flush":
				written, named = "", ""
				flushes++
			case "rename":
				require.Empty(t, written, "not on disk before %s has its name", name)
				if name == "sitemap.txt" {
					require.NotContains(t, []string{"a", "b/c", "b/d/e", "f"}, named, "not on disk before the list")
				}
				if named = name; name == "a" && replaced {
					named = "" // it is put in place as lists are
				}
			}
			return nil
		}
		require.NoError(t, (&export{tree: tree, site: Join(s)}).run(t.Context()))
		require.False(t, tree.dirty)
		return flushes
	}
	assert.Less(t, export(), 12)
	s.files(map[string]string{"/a": "A", "/f": "f"})
	replaced = true
	export()
	assert.Equal(t, map[string]string{"a": "A", "f": "f", "sitemap.txt": "/a\n/f\n"}, files(t, dir))
}

// TestBodiesAhead: bodies that are found without a look-up are the same documents as those
// that are looked up, whatever changes in between.
func TestBodiesAhead(t *testing.T) {
	s := newShelf(t, 300, 900)
	locator := websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}}
	link := websync.Link{Rel: "resourcesync", Href: "https://example.org/capabilitylist.xml"}
	looked := Linked(Bodies(s, locator, "own"), link)
	n := 0
	for o, err := range eachBody(t.Context(), Join(Text("/x", "x"), looked)) {
		require.NoError(t, err)
		want, err := looked.Document(t.Context(), o.path)
		require.NoError(t, err)
		want.Open, o.doc.Open = nil, nil
		require.Equal(t, want, o.doc)
		n++
	}
	require.NotZero(t, n)
	for range eachBody(t.Context(), Bodies(s, locator)) {
		t.Fatal("several sources may have an id")
	}

	// Documents that are not next, or that are gone, are looked up.
	e := &export{site: Join(looked), plan: plan{}}
	var stop func()
	e.ahead, stop = iter.Pull2(eachBody(t.Context(), e.site))
	defer stop()
	doc, err := e.documentAhead("/none")
	require.NoError(t, err)
	require.Nil(t, doc)
	require.Nil(t, e.ahead)
}

// crash runs an export that ends before its n-th step, as if it was killed. It reports
// whether the export had that many steps. With an odd n files are flushed one by one.
func crash(t testing.TB, dir string, n int, publishers ...websync.Publisher) (crashed bool) {
	tree, err := openTree(dir)
	require.NoError(t, err)
	defer tree.close()
	if n%2 == 1 {
		require.NoError(t, tree.closeDisk())
	}
	killed := errors.New("killed")
	tree.step = func(string, string) error {
		if n--; n < 0 {
			return killed
		}
		return nil
	}
	e := &export{tree: tree, site: Join(publishers...)}
	err = e.run(t.Context())
	require.True(t, err == nil || errors.Is(err, killed), err)
	return err != nil
}

// linked checks that all files that the list on disk links to exist.
func linked(t testing.TB, dir string) {
	written := files(t, dir)
	for _, path := range strings.Fields(written["sitemap.txt"]) {
		name, err := fileName(path)
		require.NoError(t, err)
		_, plain := written[name]
		_, index := written[name+"/"+indexFile]
		require.True(t, plain || index, "%s is missing", path)
	}
}

func TestACrashLeavesNoDanglingLink(t *testing.T) {
	first := map[string]string{"/a": "a", "/b/c": "c", "/b/d/": "d", "/e": "e", "/same": "same"}
	second := map[string]string{"/a": "A", "/b/c2": "c2", "/e/f": "ef", "/e": "e", "/same": "same", "/g/h/i": "i"}
	delete(second, "/e/f") // see the next test
	s := newSite()
	for n := 0; ; n++ {
		dir := t.TempDir()
		s.files(first)
		_, err := WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		s.files(second)
		crashed := crash(t, dir, n, s)
		linked(t, dir)
		_, err = WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{
			"a": "A", "b/c2": "c2", "e": "e", "same": "same", "g/h/i": "i", "sitemap.txt": "/a\n/b/c2\n/e\n/g/h/i\n/same\n",
		}, files(t, dir), n)
		if !crashed {
			require.Greater(t, n, 12)
			return
		}
	}
}

// Files become directories, both of documents that remain and of others. Wherever an
// export is killed, the next one has the same result.
func TestFilesBecomeDirectories(t *testing.T) {
	s := newSite()
	for n := 0; ; n++ {
		dir := t.TempDir()
		s.files(map[string]string{"/a": "a", "/b": "b", "/c/d": "d"})
		_, err := WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		s.files(map[string]string{"/a": "a", "/a/x": "x", "/b/y": "y", "/c/d": "d", "/c/d/z/z": "z"})
		crashed := crash(t, dir, n, s)
		_, err = WriteDir(t.Context(), dir, s)
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"a/index.html": "a", "a/x": "x", "b/y": "y", "c/d/index.html": "d", "c/d/z/z": "z", "sitemap.txt": "/a\n/a/x\n/b/y\n/c/d\n/c/d/z/z\n",
		}, files(t, dir), n)
		if !crashed {
			require.Greater(t, n, 15)
			return
		}
	}
}

// Random sets of documents are exported one after the other, and each export is killed a
// few times. At the end there is one file for each document, and the foreign file.
func TestExportsOfRandomSites(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 0))
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte("own"), 0o600))
		s := newSite()
		for round := range 4 {
			texts := make(map[string]string)
			for range r.IntN(8) {
				p := ""
				for range 1 + r.IntN(3) {
					p += "/" + string("abc"[r.IntN(3)])
				}
				if _, plain := texts[p]; r.IntN(4) == 0 && !plain {
					p += "/"
				}
				if _, other := texts[strings.TrimSuffix(p, "/")+strings.Repeat("/", 1-strings.Count(p[len(p)-1:], "/"))]; other {
					continue // such two have one file
				}
				texts[p] = fmt.Sprint(p, r.IntN(3))
			}
			s.files(texts)
			for range 2 {
				crash(t, dir, r.IntN(25), s)
			}
			got, err := WriteDir(t.Context(), dir, s)
			require.NoError(t, err, "seed %d round %d", seed, round)
			assert.EqualValues(t, len(texts)+1, got.Written+got.Unchanged)
			linked(t, dir)
			written := files(t, dir)
			require.Len(t, written, len(texts)+2, "seed %d round %d: %v of %v", seed, round, sortedKeys(written), sortedKeys(texts))
			for p, text := range texts {
				name, err := fileName(p)
				require.NoError(t, err)
				if _, plain := written[name]; !plain {
					name = path.Join(name, indexFile)
				}
				require.Equal(t, text, written[name])
			}
		}
	}
}

func TestFileName(t *testing.T) {
	for path, want := range map[string]string{
		"/": "index.html", "/a": "a", "/a/": "a/index.html", "/a/b.html": "a/b.html", "/a%20b": "a b", "/%C3%A9": "\u00e9",
		"/%25": "%", "/%2541": "%41", "/100%25%20%C3%A9": "100% \u00e9", "/r/https=3A/=2Fx~content": "r/https=3A/=2Fx~content",
		"/.well-known/x": ".well-known/x", "/a/.websync": "a/.websync",
	} {
		got, err := fileName(path)
		require.NoError(t, err, path)
		assert.Equal(t, want, got, path)
	}
	for _, path := range []string{
		"", "a", "//", "/a//b", "/.", "/a/..", "/../a", "/a b", "/\u00e9", "/a\\b", "/a\x00", "/a\nb", "/\xff", "/.websync", "/.websync/x",
		"/%c3%a9", "/%41", "/%2F", "/%2E%2E", "/%5C", "/%00", "/%FF", "/%0A", "/%7F", "/a%zz", "/a%2", "/%7E",
	} {
		_, err := fileName(path)
		assert.Error(t, err, path)
	}
}

// Different paths have different files, and all are local.
func FuzzFileName(f *testing.F) {
	f.Add("/a%20b", "/a b")
	f.Add("/a/", "/a/index.html")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := fileName(a)
		if err != nil {
			return
		}
		require.True(t, filepath.IsLocal(x))
		y, err := fileName(b)
		if err == nil && x == y && a != b {
			require.Equal(t, strings.TrimSuffix(a, indexFile), strings.TrimSuffix(b, indexFile))
		}
	})
}

// A URL that the default Locator keeps has a file name.
func TestFileNamesOfBodies(t *testing.T) {
	for _, letter := range []string{"a", "%41", "%C3%A9", "%c3%a9", "%FF", "%0A", "%5C", "%25", "'"} {
		for _, n := range []int{1, 85, 86, 127, 128, 255, 256} {
			name, err := fileName(urlPath(locator.URL(own("https://example.org/"+strings.Repeat(letter, n)), "content")))
			require.NoError(t, err)
			for segment := range strings.SplitSeq(name, "/") {
				assert.LessOrEqual(t, len(segment), 255, "%d of %s", n, letter)
			}
		}
	}
}

// A numbered is a Publisher of many documents whose bytes are not needed.
type numbered int

func (n numbered) Document(context.Context, string) (*websync.Document, error) {
	return nil, websync.ErrGone
}

func (n numbered) Documents(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range int(n) {
			if !yield(fmt.Sprintf("/r/https=3A/=2Fexample.org/eli/lov/2024/%09d~alternate=20application=2Frdf+xml", i*7919%int(n)), nil) {
				return
			}
		}
	}
}

// A plan needs 25 bytes a document and the spare capacity of slices, whatever the lengths
// of the paths.
func TestPlanOfManyDocuments(t *testing.T) {
	racing.Long(t)
	const n, nameLength = 100_000, 82
	dir := t.TempDir()
	var most uint64
	measure := func() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	measure()
	base := most
	tree, err := openTree(dir)
	require.NoError(t, err)
	defer tree.close()
	require.NoError(t, tree.makeNew())
	for range 2 { // the second time, all names are in the manifest
		e := &export{tree: tree, site: numbered(n)}
		require.NoError(t, e.makePlan(t.Context()))
		measure()
		require.NoError(t, e.writeManifest(t.Context(), e.writeOldNames, old))
		measure()
		require.NoError(t, e.plan.lines.Close())
		info, err := os.Stat(filepath.Join(dir, manifestFile))
		require.NoError(t, err)
		assert.EqualValues(t, len(manifestHeader)+1+n*(nameLength+1), info.Size())
	}
	assert.Less(t, most-base, uint64(n*24*5/4+1<<20), "their names are %d", n*nameLength)
}

// A keeping site decides which files of earlier exports stay.
type keepingSite struct {
	*site
	keep string
}

func (k keepingSite) Keep(file string) bool { return file == k.keep }

func TestWriteDirKeeps(t *testing.T) {
	dir := t.TempDir()
	s := newSite()
	export := func(keep string) {
		_, err := WriteDir(t.Context(), dir, keepingSite{s, keep})
		require.NoError(t, err)
	}
	s.files(map[string]string{"/a": "a", "/b": "b", "/c": "c"})
	export("")
	s.files(map[string]string{"/a": "a"})
	for range 2 {
		export("b")
		assert.Equal(t, map[string]string{"a": "a", "b": "b", "sitemap.txt": "/a\n"}, files(t, dir))
	}
	export("")
	assert.Equal(t, map[string]string{"a": "a", "sitemap.txt": "/a\n"}, files(t, dir), "it is still known")
}
