package resourcesync

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

type file struct{ name, text string }

// pack returns a ZIP package.
func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		require.NoError(t, err)
		_, err = io.WriteString(w, f.text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func openPacked(data []byte) (*bundle, error) {
	return openBundle(bytes.NewReader(data), int64(len(data)))
}

func TestBundle(t *testing.T) {
	b, err := openPacked(pack(t, file{"manifest.xml", "<urlset/>"}, file{"resources/", ""}, file{"resources/res1", "one"}, file{"./res2", "two"}, file{"res3", "three"}))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"/manifest.xml": "<urlset/>", "/resources/res1": "one", "resources/res1": "one", "./resources/res1": "one", "/res2": "two",
	} {
		r, err := b.Open(path)
		require.NoError(t, err, path)
		data, err := io.ReadAll(r)
		require.NoError(t, err, path)
		assert.Equal(t, want, string(data), path)
		require.NoError(t, r.Close())
	}
	path, n := b.Unlisted(map[string]bool{"res2": true, "resources/res1": true})
	assert.Equal(t, "/res3", path)
	assert.Equal(t, 1, n)
}

func TestBundlePaths(t *testing.T) {
	b, err := openPacked(pack(t, file{"a", "1"}, file{"b", "1"}, file{"/b", "2"}, file{"../c", "3"}, file{"C:/d", "4"}, file{`e\f`, "5"}))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"/../c": `must have no empty part, "." or ".."`, "/x/../a": "must have no empty part", "//a": "relative to the package", "/C:/d": "relative to the package",
		`/e\f`: "backslash", "/": "names no file", "": "names no file", "/a/": "names no file", "/b": `has "/b" more than once`,
		"/missing": `the package has no file "/missing"`, "/a\x00": "zero byte",
	} {
		_, err := b.Open(path)
		assert.ErrorContains(t, err, want, "%q", path)
	}
}

func TestBundleRefused(t *testing.T) {
	racing.Skip(t)
	good := pack(t, file{"manifest.xml", strings.Repeat("<url/>", 1000)}, file{"a", "text"})
	ustar := make([]byte, 1024)
	copy(ustar[257:], "ustar")
	for name, test := range map[string]struct {
		data []byte
		is   error
		want string
	}{
		"a tar archive": {ustar, websync.ErrNotDocument, "a tar archive"},
		"xz":            {[]byte("\xfd7zXZ\x00........................"), websync.ErrNotDocument, "compressed with xz"},
		"a login page":  {[]byte("<!doctype html><title>Log in</title>"), websync.ErrNotDocument, "a page"},
		"cut short":     {good[:len(good)/2], websync.ErrNotDocument, "damaged or cut short"},
		"nothing":       {nil, websync.ErrNotDocument, "neither a ZIP package nor a tar"},
		"a bomb":        {pack(t, file{"zeros", strings.Repeat("\x00", freeRatio+1)}), websync.ErrLimit, "more than 200 times as many"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openPacked(test.data)
			assert.ErrorIs(t, err, test.is)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// A file that is not what the directory of its package says ends in an error.
func TestBundleDamaged(t *testing.T) {
	data := pack(t, file{"a", strings.Repeat("text ", 100)})
	at := bytes.IndexByte(data, 'a') + 3
	for i := range 20 {
		damaged := bytes.Clone(data)
		damaged[at+i] ^= 0x55
		b, err := openPacked(damaged)
		if err != nil {
			continue
		}
		r, err := b.Open("/a")
		if err == nil {
			_, err = io.ReadAll(r)
		}
		assert.Error(t, err, i)
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(pack(f, file{"manifest.xml", "<urlset/>"}, file{"a", "text"}), "/a")
	archive := tarOf(f, tar.FormatPAX, []file{{"manifest.xml", "<urlset/>"}, {"a", "text"}})
	for _, data := range [][]byte{archive, gzipOf(f, archive), xzOf(f, xz.WriterConfig{BlockSize: 1000}, archive)} {
		f.Add(data, "/a")
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		b, err := openPacked(data)
		if err != nil {
			return
		}
		defer b.Close()
		if r, err := b.Open(path); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
			r.Close()
		}
	})
}
