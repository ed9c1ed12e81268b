package websync_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func TestStatedLength(t *testing.T) {
	tests := []struct {
		length, want int64
		stated       bool
	}{
		{0, 0, false},
		{websync.StatedZero, 0, true},
		{5, 5, true},
		{-2, 0, false},
	}
	for _, tt := range tests {
		n, ok := websync.Link{Length: tt.length}.StatedLength()
		assert.Equal(t, tt.want, n, "%d", tt.length)
		assert.Equal(t, tt.stated, ok, "%d", tt.length)
	}
}

func TestLinkVerify(t *testing.T) {
	const href = "https://example.com/a"
	unknown := websync.Digest{Algorithm: "crc32", Sum: "3610a686"}
	wrong := websync.SHA256([]byte("other"))
	mismatch := func(what, want, got string) *websync.MismatchError {
		return &websync.MismatchError{Href: href, What: what, Want: want, Got: got}
	}
	hex := func(d websync.Digest) string { return strings.TrimPrefix(d.String(), d.Algorithm+":") }

	tests := []struct {
		name string
		link websync.Link
		in   string
		out  string // what is handed on
		err  *websync.MismatchError
	}{
		{"length", websync.Link{Length: 5}, "hello", "hello", nil},
		{"digest", websync.Link{Digests: websync.Digests{digest("md5")}}, "hello", "hello", nil},
		{"both", websync.Link{Length: 5, Digests: websync.Digests{digest("sha-512")}}, "hello", "hello", nil},
		{"empty", websync.Link{Length: websync.StatedZero}, "", "", nil},
		{"empty with digest", websync.Link{Digests: websync.Digests{websync.SHA256(nil)}}, "", "", nil},
		{"short", websync.Link{Length: 6}, "hello", "hello", mismatch("length", "6", "5")},
		{"nothing", websync.Link{Length: 6}, "", "", mismatch("length", "6", "0")},
		{"long", websync.Link{Length: 4}, "hello", "hell", mismatch("length", "4", "more")},
		{"not empty", websync.Link{Length: websync.StatedZero}, "hello", "", mismatch("length", "0", "more")},
		{
			"long with the right digest of all", websync.Link{Length: 4, Digests: websync.Digests{digest("md5")}},
			"hello", "hell", mismatch("length", "4", "more"),
		},
		{
			"short with the right digest", websync.Link{Length: 6, Digests: websync.Digests{digest("md5")}},
			"hello", "hello", mismatch("length", "6", "5"),
		},
		{
			"wrong digest", websync.Link{Length: 5, Digests: websync.Digests{wrong}},
			"hello", "hello", mismatch("sha-256", hex(wrong), sums["sha-256"]),
		},
		{
			"wrong digest of nothing", websync.Link{Digests: websync.Digests{digest("md5")}},
			"", "", mismatch("md5", sums["md5"], "d41d8cd98f00b204e9800998ecf8427e"),
		},
		{
			"the strongest counts", websync.Link{Digests: websync.Digests{digest("md5"), wrong, unknown}},
			"hello", "hello", mismatch("sha-256", hex(wrong), sums["sha-256"]),
		},
		{
			"the weaker does not", websync.Link{Digests: websync.Digests{digest("sha-512"), wrong, unknown}},
			"hello", "hello", nil,
		},
		{
			"unknown with length", websync.Link{Length: 5, Digests: websync.Digests{unknown}},
			"hello", "hello", nil,
		},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"as it is":       func(r io.Reader) io.Reader { return r },
		"one byte":       iotest.OneByteReader,
		"half":           iotest.HalfReader,
		"early EOF":      iotest.DataErrReader,
		"early, byte":    func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
		"empty reads":    func(r io.Reader) io.Reader { return &hesitant{r: r} },
		"only Read":      func(r io.Reader) io.Reader { return struct{ io.Reader }{r} },
		"pipe, as found": pipe,
	}
	for _, tt := range tests {
		tt.link.Href = href
		require.True(t, tt.link.Verifiable(), tt.name)
		for name, reader := range readers {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				r := tt.link.Verify(reader(strings.NewReader(tt.in)))
				out, err := io.ReadAll(r)
				assert.Equal(t, tt.out, string(out))
				var again [1]byte
				n, sticky := r.Read(again[:])
				assert.Zero(t, n)
				if tt.err == nil {
					assert.NoError(t, err)
					assert.Equal(t, io.EOF, sticky)
					return
				}
				assert.Equal(t, tt.err, err)
				assert.ErrorIs(t, err, websync.ErrMismatch)
				assert.NotErrorIs(t, err, io.EOF)
				assert.Equal(t, err, sticky)
			})
		}
	}
}

// hesitant returns nothing on every other Read.
type hesitant struct {
	r    io.Reader
	turn bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.turn = !h.turn; h.turn {
		return 0, nil
	}
	return h.r.Read(p)
}

func pipe(r io.Reader) io.Reader {
	data, _ := io.ReadAll(r)
	pr, pw := io.Pipe()
	go func() {
		_, err := pw.Write(data)
		_ = pw.CloseWithError(err)
	}()
	return pr
}

func TestLinkVerifyReader(t *testing.T) {
	link := websync.Link{Length: 5, Digests: websync.Digests{digest("sha-256")}}
	assert.NoError(t, iotest.TestReader(link.Verify(strings.NewReader("hello")), []byte("hello")))
}

func TestLinkVerifyNothing(t *testing.T) {
	for _, link := range []websync.Link{
		{},
		{Length: -2},
		{Digests: websync.Digests{{Algorithm: "crc32", Sum: "3610a686"}, {Algorithm: "md5", Sum: "short"}}},
	} {
		r := strings.NewReader("hello")
		assert.Same(t, r, link.Verify(r))
		assert.False(t, link.Verifiable())
	}
}

func TestLinkVerifyReadError(t *testing.T) {
	broken := errors.New("connection reset")
	link := websync.Link{Length: 5, Digests: websync.Digests{digest("sha-256")}}
	for _, in := range []string{"", "hel", "hello"} {
		for _, cause := range []error{broken, io.ErrUnexpectedEOF} {
			r := link.Verify(io.MultiReader(strings.NewReader(in), iotest.ErrReader(cause)))
			out, err := io.ReadAll(r)
			assert.Equal(t, in, string(out))
			assert.Same(t, cause, err)
			_, err = r.Read(make([]byte, 1))
			assert.Same(t, cause, err)
		}
	}
}

// A Reader that goes on is not asked for more than one byte beyond the stated length.
func TestLinkVerifyEndless(t *testing.T) {
	endless := &counter{}
	_, err := io.Copy(io.Discard, websync.Link{Length: 1000}.Verify(endless))
	assert.ErrorIs(t, err, websync.ErrMismatch)
	assert.Equal(t, 1001, endless.n)
}

type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

func TestMismatchError(t *testing.T) {
	err := &websync.MismatchError{Href: "https://me:secret@example.com/a", What: "length", Want: "120", Got: "118"}
	assert.EqualError(t, err, "https://example.com/a: length: want 120, got 118")
	err = &websync.MismatchError{What: "md5", Want: "00", Got: "11"}
	assert.EqualError(t, err, "md5: want 00, got 11")
}

func FuzzLinkVerify(f *testing.F) {
	f.Add([]byte("hello"), int64(5), []byte("hello"), true, uint8(2))
	f.Add([]byte("hello"), int64(4), []byte("hell"), false, uint8(0))
	f.Add([]byte(""), int64(-1), []byte("x"), true, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, length int64, stated []byte, withDigest bool, kind uint8) {
		link := websync.Link{Length: length}
		if withDigest {
			link.Digests = websync.Digests{websync.SHA256(stated)}
		}
		want, hasLength := link.StatedLength()
		right := (!hasLength || want == int64(len(data))) && (!withDigest || bytes.Equal(data, stated))

		kinds := []func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
			func(r io.Reader) io.Reader { return r },
		}
		out, err := io.ReadAll(link.Verify(kinds[int(kind)%len(kinds)](bytes.NewReader(data))))
		require.Equal(t, right, err == nil)
		require.True(t, bytes.HasPrefix(data, out))
		if right {
			require.Len(t, out, len(data))
		} else {
			require.ErrorIs(t, err, websync.ErrMismatch)
		}
		if hasLength {
			require.LessOrEqual(t, int64(len(out)), want)
		}
	})
}

func BenchmarkLinkVerify(b *testing.B) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	links := map[string]websync.Link{
		"none":    {},
		"length":  {Length: int64(len(data))},
		"md5":     {Digests: websync.Digests{sumOf("md5", data)}},
		"sha-256": {Digests: websync.Digests{sumOf("sha-256", data)}},
	}
	for _, name := range []string{"none", "length", "md5", "sha-256"} {
		link := links[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				// without WriteTo, so that all are read alike
				r := struct{ io.Reader }{bytes.NewReader(data)}
				if _, err := io.Copy(io.Discard, link.Verify(r)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func sumOf(algorithm string, data []byte) websync.Digest {
	h, _ := websync.NewHash(algorithm)
	h.Write(data)
	return websync.Digest{Algorithm: algorithm, Sum: string(h.Sum(nil))}
}
