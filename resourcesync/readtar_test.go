package resourcesync

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

// tarOf returns a tar archive of files, and of other members by their headers.
func tarOf(t testing.TB, format tar.Format, files []file, others ...tar.Header) []byte {
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, f := range files {
		require.NoError(t, z.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o644, Format: format}))
		_, err := io.WriteString(z, f.text)
		require.NoError(t, err)
	}
	for _, h := range others {
		require.NoError(t, z.WriteHeader(&h))
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func xzOf(t testing.TB, c xz.WriterConfig, data []byte) []byte {
	var b bytes.Buffer
	z, err := c.NewWriter(&b)
	require.NoError(t, err)
	_, err = z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// contentOf reads all files of a package.
func contentOf(t *testing.T, b *bundle) map[string]string {
	texts := map[string]string{}
	for path := range b.files {
		r, err := b.Open(path)
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		texts[path] = string(text)
	}
	return texts
}

// TestArchives opens packages in each format, as it is and as its server compresses it.
func TestArchives(t *testing.T) {
	racing.Skip(t)
	noise := make([]byte, 100_000)
	rand.New(rand.NewSource(1)).Read(noise)
	long := strings.Repeat("d/", 80) + "long"
	files := []file{{"manifest.xml", "<urlset/>"}, {"./res/1", string(noise)}, {"res/2", strings.Repeat("text", 10_000)}, {"res/empty", ""}}
	want := map[string]string{"manifest.xml": files[0].text, "res/1": files[1].text, "res/2": files[2].text, "res/empty": ""}
	plain := tarOf(t, tar.FormatPAX, files, tar.Header{Typeflag: tar.TypeDir, Name: "res/"}, tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "/etc/passwd"})
	blocks := xz.WriterConfig{BlockSize: 10_000}
	formats := map[string][]byte{
		"tar":              plain,
		"tar, GNU":         tarOf(t, tar.FormatGNU, files),
		"tar.gz":           gzipOf(t, plain),
		"tar.xz":           xzOf(t, xz.WriterConfig{}, plain),
		"tar.xz, blocks":   xzOf(t, blocks, plain),
		"tar.xz, CRC-32":   xzOf(t, xz.WriterConfig{CheckSum: xz.CRC32}, plain),
		"tar.xz, SHA-256":  xzOf(t, xz.WriterConfig{CheckSum: xz.SHA256}, plain),
		"tar.xz, no check": xzOf(t, xz.WriterConfig{NoCheckSum: true}, plain),
		"tar.xz, streams":  append(append(xzOf(t, blocks, plain[:5000]), 0, 0, 0, 0), xzOf(t, blocks, plain[5000:])...),
		"ZIP":              pack(t, files...),
	}
	for name, data := range formats {
		for _, sent := range [][]byte{data, gzipOf(t, data)} {
			b, err := openPacked(sent)
			require.NoError(t, err, name)
			assert.Equal(t, want, contentOf(t, b), name)
			require.NoError(t, b.Close())
		}
	}
	b, err := openPacked(tarOf(t, tar.FormatPAX, []file{{long, "x"}, {"a", "1"}, {"/a", "2"}, {"../b", "3"}}))
	require.NoError(t, err)
	_, err = b.Open("/" + long)
	assert.NoError(t, err)
	_, err = b.Open("/a")
	assert.ErrorContains(t, err, "more than once")
	assert.Len(t, b.files, 2)
}

// TestSparse: the bytes of a sparse file are not one range of the archive.
func TestSparse(t *testing.T) {
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	text := "1\n0\n4\n" + strings.Repeat("\x00", 512-6) + "text"
	require.NoError(t, z.WriteHeader(&tar.Header{Name: "a", Size: int64(len(text)), PAXRecords: map[string]string{
		"XNU.sparse.major": "1", "XNU.sparse.minor": "0", "XNU.sparse.name": "a", "XNU.sparse.realsize": "10"}}))
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	opened, err := openPacked(bytes.ReplaceAll(b.Bytes(), []byte("XNU"), []byte("GNU")))
	require.NoError(t, err)
	assert.Empty(t, opened.files)
}

func TestArchivesRefused(t *testing.T) {
	racing.Skip(t)
	plain := tarOf(t, tar.FormatPAX, []file{{"manifest.xml", strings.Repeat("<url/>", 1000)}, {"a", "text"}})
	zeros := make([]byte, freeRatio+1)
	bomb := bytes.Repeat(xzOf(t, xz.WriterConfig{DictCap: 1 << 16}, zeros[:1<<20]), 65) // a dictionary is made for each
	large := xzOf(t, xz.WriterConfig{DictCap: 2 * maxDictionary}, plain)
	inSecond := append(xzOf(t, xz.WriterConfig{}, plain), large...)
	packed := xzOf(t, xz.WriterConfig{}, plain)
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-30] ^= 1 // of the check
	for name, test := range map[string]struct {
		data []byte
		is   error
	}{
		"a bomb in gzip":       {gzipOf(t, zeros), websync.ErrLimit},
		"a bomb in xz":         {bomb, websync.ErrLimit},
		"a large dictionary":   {large, websync.ErrLimit},
		"a second one":         {inSecond, websync.ErrLimit},
		"three times in gzip":  {gzipOf(t, gzipOf(t, gzipOf(t, plain))), websync.ErrNotDocument},
		"a tar that is cut":    {plain[:2000], websync.ErrTruncated},
		"a tar.gz that is cut": {gzipOf(t, plain)[:100], io.ErrUnexpectedEOF},
		"a tar.xz that is cut": {packed[:len(packed)/2], io.ErrUnexpectedEOF},
		"xz without its index": {packed[:len(packed)-20], io.ErrUnexpectedEOF},
		"xz with a wrong sum":  {damaged, websync.ErrNotDocument},
	} {
		_, err := openPacked(test.data)
		assert.ErrorIs(t, err, test.is, name)
	}
}
