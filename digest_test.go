package websync_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

// sums are those of "hello", in hex.
var sums = map[string]string{
	"md5":     "5d41402abc4b2a76b9719d911017c592",
	"sha-1":   "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
	"sha-256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
	"sha-224": "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193",
	"sha-384": "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3" +
		"553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
	"sha-512": "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7" +
		"2323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
}

func digest(algorithm string) websync.Digest {
	sum, _ := hex.DecodeString(sums[algorithm])
	return websync.Digest{Algorithm: algorithm, Sum: string(sum)}
}

func TestParseDigest(t *testing.T) {
	md5 := digest("md5")
	tests := []struct {
		name, in string
		want     websync.Digest
		text     string // of String; empty: in
	}{
		{"md5", "md5:" + sums["md5"], md5, ""},
		{"sha-1", "sha-1:" + sums["sha-1"], digest("sha-1"), ""},
		{"sha-256", "sha-256:" + sums["sha-256"], digest("sha-256"), ""},
		{"sha-224", "sha-224:" + sums["sha-224"], digest("sha-224"), ""},
		{"sha-384", "SHA_384:" + sums["sha-384"], digest("sha-384"), digest("sha-384").String()},
		{"sha-512", "sha-512:" + sums["sha-512"], digest("sha-512"), ""},
		{"upper case", "MD5:" + strings.ToUpper(sums["md5"]), md5, md5.String()},
		{"no hyphen", "SHA256:" + sums["sha-256"], digest("sha-256"), digest("sha-256").String()},
		{"underscore", "sha_512:" + sums["sha-512"], digest("sha-512"), digest("sha-512").String()},
		{"base64", "md5:XUFAKrxLKna5cZ2REBfFkg==", md5, md5.String()},
		{"base64 without padding", "md5:XUFAKrxLKna5cZ2REBfFkg", md5, md5.String()},
		{"unknown", "crc32:3610A686", websync.Digest{Algorithm: "crc32", Sum: "3610A686"}, ""},
		{"unknown, upper case", "SHA3-256:aB:c", websync.Digest{Algorithm: "sha3-256", Sum: "aB:c"}, "sha3-256:aB:c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := websync.ParseDigest(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, d)
			if tt.text == "" {
				tt.text = tt.in
			}
			assert.Equal(t, tt.text, d.String())
			assert.Equal(t, sums[d.Algorithm] != "", d.Known())
		})
	}
}

func TestParseDigestBase64(t *testing.T) {
	encodings := map[string]*base64.Encoding{
		"standard": base64.StdEncoding, "raw": base64.RawStdEncoding,
		"URL": base64.URLEncoding, "raw URL": base64.RawURLEncoding,
	}
	for algorithm := range sums {
		want := digest(algorithm)
		for name, encoding := range encodings {
			d, err := websync.ParseDigest(algorithm + ":" + encoding.EncodeToString([]byte(want.Sum)))
			require.NoError(t, err, "%s, %s", algorithm, name)
			assert.Equal(t, want, d, "%s, %s", algorithm, name)
		}
	}
}

func TestParseDigestErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `digest "" is not algorithm:sum`},
		{"md5", `digest "md5" is not algorithm:sum`},
		{"md5:", `digest "md5:" is not algorithm:sum`},
		{":" + sums["md5"], `digest ":5d41402abc4b2a76b9719d911017c592" is not algorithm:sum`},
		{"crc32:a b", `digest "crc32:a b" is not algorithm:sum`},
		{"crc32:a\u00a0b", `digest "crc32:a\u00a0b" is not algorithm:sum`},
		{"MD5:5d41", `"5d41" is not a md5 digest of 16 bytes in hex or base64`},
		{"md5:zz41402abc4b2a76b9719d911017c592", `"zz41402abc4b2a76b9719d911017c592" is not a md5 digest of 16 bytes in hex or base64`},
		{"sha-256:" + sums["md5"], `"5d41402abc4b2a76b9719d911017c592" is not a sha-256 digest of 32 bytes in hex or base64`},
		{"sha1:qvTGHdzF6KLavt4PO0gs2a6pQ0", `"qvTGHdzF6KLavt4PO0gs2a6pQ0" is not a sha-1 digest of 20 bytes in hex or base64`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d, err := websync.ParseDigest(tt.in)
			assert.EqualError(t, err, tt.want)
			assert.Zero(t, d)
		})
	}
}

func TestParseDigests(t *testing.T) {
	in := "\n md5:" + sums["md5"] + "\t bad  crc32:1 sha256:123 sha-256:" + sums["sha-256"]
	want := websync.Digests{digest("md5"), {Algorithm: "crc32", Sum: "1"}, digest("sha-256")}
	ds, err := websync.ParseDigests(in)
	assert.EqualError(t, err, "digest \"bad\" is not algorithm:sum\n\"123\" is not a sha-256 digest of 32 bytes in hex or base64")
	assert.Equal(t, want, ds)
	assert.Equal(t, "md5:"+sums["md5"]+" crc32:1 sha-256:"+sums["sha-256"], ds.String())

	got, ok := ds.Get("md5")
	assert.True(t, ok)
	assert.Equal(t, digest("md5"), got)
	_, ok = ds.Get("sha-1")
	assert.False(t, ok)

	ds, err = websync.ParseDigests(" ")
	assert.NoError(t, err)
	assert.Nil(t, ds)
}

func TestStrongest(t *testing.T) {
	unknown := websync.Digest{Algorithm: "sha3-512", Sum: "123"}
	short := websync.Digest{Algorithm: "sha-512", Sum: "123"}
	tests := []struct {
		name string
		in   websync.Digests
		want string
	}{
		{"none", nil, ""},
		{"unknown", websync.Digests{unknown}, ""},
		{"short", websync.Digests{short}, ""},
		{"md5", websync.Digests{unknown, digest("md5"), short}, "md5"},
		{"sha-1", websync.Digests{digest("sha-1"), digest("md5")}, "sha-1"},
		{"sha-256", websync.Digests{digest("md5"), digest("sha-256"), digest("sha-1")}, "sha-256"},
		{"sha-512", websync.Digests{digest("sha-256"), digest("sha-512"), unknown}, "sha-512"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, ok := tt.in.Strongest()
			assert.Equal(t, tt.want, d.Algorithm)
			assert.Equal(t, tt.want != "", ok)
		})
	}

	other := websync.SHA256([]byte("other"))
	d, _ := websync.Digests{digest("sha-256"), other}.Strongest()
	assert.Equal(t, digest("sha-256"), d, "the first of two")
}

func TestNewHash(t *testing.T) {
	for _, name := range []string{"md5", "MD5", "sha-1", "SHA1", "sha-256", "sha_256", "sha-512", "Sha512"} {
		h, ok := websync.NewHash(name)
		require.True(t, ok, name)
		_, _ = io.WriteString(h, "hello")
		d, err := websync.ParseDigest(name + ":" + hex.EncodeToString(h.Sum(nil)))
		require.NoError(t, err)
		assert.Equal(t, digest(d.Algorithm), d, name)
	}
	for _, name := range []string{"", "sha", "sha-3", "sha3-256", "crc32", "sha-2-56"} {
		h, ok := websync.NewHash(name)
		assert.False(t, ok, name)
		assert.Nil(t, h, name)
	}
	assert.Equal(t, digest("sha-256"), websync.SHA256([]byte("hello")))
}

func TestDigestText(t *testing.T) {
	type record struct {
		Key  websync.Digest
		Hash websync.Digests
		None websync.Digests `json:",omitempty"`
	}
	in := record{Key: digest("md5"), Hash: websync.Digests{digest("md5"), {Algorithm: "crc32", Sum: "1"}}}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	assert.Equal(t, `{"Key":"md5:`+sums["md5"]+`","Hash":"md5:`+sums["md5"]+` crc32:1"}`, string(text))

	var out record
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Equal(t, in, out)

	text, err = json.Marshal(record{})
	require.NoError(t, err)
	assert.Equal(t, `{"Key":"","Hash":""}`, string(text))
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Zero(t, out)
	assert.True(t, out.Key.IsZero())

	d := digest("md5")
	assert.EqualError(t, d.UnmarshalText([]byte("md5")), `digest "md5" is not algorithm:sum`)
	assert.Equal(t, digest("md5"), d)
	var ds websync.Digests
	assert.EqualError(t, ds.UnmarshalText([]byte("md5 crc32:1")), `digest "md5" is not algorithm:sum`)
	assert.Len(t, ds, 1)
}

func FuzzDigests(f *testing.F) {
	f.Add("md5:" + sums["md5"] + " sha-256:" + sums["sha-256"])
	f.Add("MD5:XUFAKrxLKna5cZ2REBfFkg== crc32:1 bad SHA1:")
	f.Fuzz(func(t *testing.T, s string) {
		ds, _ := websync.ParseDigests(s)
		again, err := websync.ParseDigests(ds.String())
		require.NoError(t, err)
		require.Equal(t, ds, again)

		strongest, ok := ds.Strongest()
		require.Equal(t, ok, strongest.Known())
		for _, d := range ds {
			_, known := websync.NewHash(d.Algorithm)
			require.Equal(t, known, d.Known())
			require.True(t, ok || !known)
		}
	})
}

func BenchmarkParseDigests(b *testing.B) {
	s := "md5:" + sums["md5"] + " sha-256:" + sums["sha-256"]
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := websync.ParseDigests(s); err != nil {
			b.Fatal(err)
		}
	}
}
