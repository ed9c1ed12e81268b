package harvest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/websync-go/websync"
)

func date(s string) websync.Datetime {
	d, err := websync.ParseDatetime(s)
	if err != nil {
		panic(err)
	}
	return d
}

// plainRecord is what a sitemap makes.
func plainRecord() Record {
	id := "https://example.com/eli/lov/2024/1234"
	link := websync.Link{Href: id, Type: "text/html; charset=utf-8", Length: 48211,
		Digests: websync.Digests{websync.SHA256([]byte(id))}}
	return Record{
		Item: websync.Item{
			Seq: 120_345, Born: 99_876, Time: time.UnixMicro(1732190000123456).UTC(), Source: "https://example.com/sitemap.xml",
			Kind: websync.Created, At: date("2024-11-21T11:00:00Z"),
			Resource: websync.Resource{ID: id, Modified: date("2024-11-21"), Content: link,
				Elements: []websync.Element{{Local: "changefreq", XML: "<changefreq>daily</changefreq>"}}},
			Bodies: []websync.Body{{Name: "content", Link: link, Key: websync.SHA256([]byte("x"))}},
		},
		Stated:     Stated{Hash: 0x1234567890abcdef, At: date("2024-11-21T11:00:00Z"), Modified: date("2024-11-21")},
		Validators: []Validator{{URL: id, ETag: `W/"abc-123"`, LastModified: "Thu, 21 Nov 2024 11:00:00 GMT"}},
	}
}

// ownForm returns the form of a record that has an item of its own.
func ownForm(dst []byte, r *Record) []byte {
	rec := newRecord(r)
	rec.own = &r.Item
	return appendRecord(dst, rec)
}

// decodeOwn decodes what ownForm returns.
func decodeOwn(b []byte, id string) (r Record, err error) {
	var rec record
	if err = decodeRecord(b, id, &rec); err == nil && rec.own != nil {
		r = Record{Item: *rec.own, Stated: rec.Stated, Validators: rec.validators, Early: rec.Early}
	}
	return r, err
}

// fullRecord has something in every field.
func fullRecord() Record {
	var r Record
	n := 0
	populate(reflect.ValueOf(&r).Elem(), &n)
	return r
}

// populate sets every exported field below v to a value of its own.
func populate(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.UnixMicro(int64(1732190000123456 + *n)).UTC()
		return
	case *websync.Datetime:
		*x = websync.NewDatetime(time.Unix(int64(*n)*1e6, int64(*n%3)*1e8).UTC()).WithPrecision(websync.PrecisionSecond + websync.Precision(min(1, *n%3)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			populate(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		populate(v.Index(0), n)
		populate(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			populate(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), n)
	case reflect.String:
		v.SetString(strings.Repeat("ÿ\x00\xff", *n%5) + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) * -7)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Uint32:
		v.SetUint(uint64(*n) << 20)
	case reflect.Uint64:
		v.SetUint(uint64(*n) << 50)
	default:
		panic(v.Kind())
	}
}

func TestCodecRoundTrip(t *testing.T) {
	plain, full := plainRecord(), fullRecord()
	cases := map[string]Record{"plain": plain, "full": full, "zero": {}}
	for name, text := range map[string]string{
		"year": "2024", "month": "2024-02", "day": "2024-02-29", "old day": "0001-01-01", "last day": "9999-12-31",
		"minute": "2024-02-29T12:00Z", "second": "2024-02-29T12:00:00Z", "old second": "0001-01-01T00:00:00Z",
		"plus zero": "2024-02-29T12:00:00+00:00", "minus zero": "2024-02-29T12:00:00-00:00", "zone": "2024-02-29T12:00:00+05:45",
		"leap second": "2016-12-31T23:59:60Z", "tenth": "2024-02-29T12:00:00.0Z", "nanosecond": "2024-02-29T12:00:00.123456789-11:30",
	} {
		cases["date, "+name] = Record{Item: websync.Item{At: date(text)}}
	}
	long := plain
	long.Resource.ID = strings.Repeat("\xff%2F/\x00", 900)[:MaxID]
	cases["long id"] = long
	other := plain
	other.Bodies = []websync.Body{{Name: "graph", Key: websync.Digest{Algorithm: "blake3", Sum: "x"}}, {}}
	other.Resource.Content = websync.Link{}
	cases["other digest"] = other

	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			id := want.Resource.ID
			b := ownForm([]byte("before"), &want)
			require.Equal(t, "before", string(b[:6]))
			got, err := decodeOwn(b[6:], id)
			require.NoError(t, err)
			assert.Equal(t, want, got)

			wantBrief := want.brief()
			wantBrief.Seq = 0 // is not a part of the form
			rec := newRecord(&want)
			b = appendRecord(nil, rec)
			var gotRec record
			require.NoError(t, decodeRecord(b, id, &gotRec))
			rec.Seq = 0
			assert.Equal(t, *rec, gotRec, "without an item")
			var gotBrief brief
			require.NoError(t, decodeBrief(b, id, &gotBrief))
			assert.Equal(t, wantBrief, gotBrief)

			var item websync.Item
			require.NoError(t, decodeItem(appendItem(nil, &want.Item, ""), &item, ""))
			assert.Equal(t, want.Item, item)
		})
	}
}

func TestCodecTask(t *testing.T) {
	var full Task
	n := 0
	populate(reflect.ValueOf(&full).Elem(), &n)
	for name, want := range map[string]Task{"full": full, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			var got Task
			require.NoError(t, decodeTask(appendTask(nil, &want), &got))
			assert.Equal(t, want, got)
		})
	}
}

// The text of an element is the same byte for byte, whatever it is.
func TestCodecElements(t *testing.T) {
	const sitemap, atom, image = "http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.w3.org/2005/Atom",
		"http://www.google.com/schemas/sitemap-image/1.1"
	for _, c := range []struct {
		element websync.Element
		most    int // bytes
	}{
		{websync.Element{Space: sitemap, Local: "changefreq", XML: `<changefreq xmlns="` + sitemap + `">weekly</changefreq>`}, 10},
		{websync.Element{Space: sitemap, Local: "priority", XML: `<priority xmlns="` + sitemap + `">0.5</priority>`}, 7},
		{websync.Element{Space: atom, Local: "category", XML: `<category xmlns="` + atom + `" term="a"/>`}, 15},
		{websync.Element{Space: atom, Local: "rights", XML: `<rights xmlns="` + atom + `" type="html">a &lt;b&gt;</rights>`}, 45},
		{websync.Element{Space: image, Local: "image", XML: `<image:image xmlns:image="` + image + `"><image:loc>x</image:loc></image:image>`}, 40},
		{websync.Element{Space: image, Local: "image", XML: `<image xmlns="` + image + `"></image>`}, 5},
		{websync.Element{Space: image, Local: "image", XML: `<image xmlns="` + image + `"/>`}, 7},
		{websync.Element{Space: image, Local: "image", XML: `<x:image xmlns:x="other">`}, 40},
		{websync.Element{Space: image, Local: "image", XML: `<a b:image xmlns:a b="` + image + `">`}, 80},
		{websync.Element{Space: "urn:x", Local: "y", XML: `<:y xmlns:="urn:x"></:y>`}, 40},
		{websync.Element{Space: "urn:x", Local: "", XML: "<"}, 20},
		{websync.Element{Local: "changefreq", XML: "<changefreq>daily</changefreq>"}, 10},
		{websync.Element{Local: "a", XML: "<a></a></a>"}, 20},
		{websync.Element{Local: "a", XML: "</a>"}, 20},
		{websync.Element{}, 10},
	} {
		item := websync.Item{Resource: websync.Resource{Elements: []websync.Element{c.element}}}
		b := appendItem(nil, &item, "")
		assert.LessOrEqual(t, len(b), len(appendItem(nil, &websync.Item{}, ""))+1+c.most, "%+v", c.element)
		var got websync.Item
		require.NoError(t, decodeItem(b, &got, ""))
		assert.Equal(t, c.element, got.Resource.Elements[0])
	}
}

// The forms of ids have the order of the ids, and none is the same as another.
func TestIDSpace(t *testing.T) {
	long := strings.Repeat("https://example.com/", 7)
	for _, like := range []string{"", "b", "https://example.com/items/500", "bb\x00\xff", long[:maxLike]} {
		s := idSpace{n: 1, like: like}
		ids := []string{"", "a", "b", "c", "\x00", "\xff", long, long[:maxLike-1] + "~", "https://example.com/items/50", "https://example.com/items/5000"}
		for i := range len(like) + 1 {
			for _, rest := range []string{"", "\x00", "a", "b5", "\x7f", "\x80", "\xff"} {
				ids = append(ids, like[:i]+rest)
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		for i, id := range ids {
			form := s.id(nil, id)
			require.Equal(t, id, s.idOf(form), "like %q", like)
			if i > 0 {
				require.Negative(t, bytes.Compare(s.id(nil, ids[i-1]), form), "%q and %q like %q", ids[i-1], id, like)
			}
		}
	}
	s := idSpace{like: "abc"}
	assert.Equal(t, "abcx", s.idOf([]byte{100, 'x'}), "a damaged key")
	assert.Empty(t, s.idOf(nil))
}

// Values that share bytes do not share slices.
func TestCodecAliases(t *testing.T) {
	want := plainRecord()
	b := ownForm(nil, &want)
	got, err := decodeOwn(b, want.Resource.ID)
	require.NoError(t, err)
	got.Bodies[0].Link.Digests[0].Algorithm = "changed"
	assert.Equal(t, "sha-256", got.Resource.Content.Digests[0].Algorithm)
	clear(b)
	assert.Equal(t, want.Resource, got.Resource, "nothing of the input is kept")
}

func TestCodecSize(t *testing.T) {
	r := plainRecord()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	item, rec := appendItem(nil, &r.Item, ""), appendRecord(nil, newRecord(&r))
	t.Logf("%d and %d bytes, as JSON %d", len(item), len(rec), len(text))
	assert.Less(t, len(item), 260)
	assert.Less(t, len(rec), 90)
}

// What a Catalog holds stays readable, so its form stays the same.
func TestCodecForm(t *testing.T) {
	plain, full := plainRecord(), fullRecord()
	var task Task
	n := 0
	populate(reflect.ValueOf(&task).Elem(), &n)
	for name, c := range map[string]struct {
		form []byte
		sum  string
	}{
		"plain item":   {appendItem(nil, &plain.Item, ""), "4702ba158917b8ea"},
		"plain record": {appendRecord(nil, newRecord(&plain)), "35260b605df422ae"},
		"full record":  {ownForm(nil, &full), "179a07899e2f74fa"},
		"full task":    {appendTask(nil, &task), "9f4dacc89545607a"},
	} {
		assert.Equal(t, c.sum, fmt.Sprintf("%x", sha256.Sum256(c.form))[:16], name)
	}
}

func TestCodecRefuses(t *testing.T) {
	r, task := plainRecord(), Task{Resource: websync.Resource{ID: "a"}, Error: "b"}
	for name, c := range map[string]struct {
		good   []byte
		decode func([]byte) error
	}{
		"record": {ownForm(nil, &r), func(b []byte) error { return decodeRecord(b, r.Resource.ID, new(record)) }},
		"item":   {appendItem(nil, &r.Item, ""), func(b []byte) error { return decodeItem(b, new(websync.Item), "") }},
		"task":   {appendTask(nil, &task), func(b []byte) error { return decodeTask(b, new(Task)) }},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.decode(c.good))
			for n := range c.good {
				require.ErrorIs(t, c.decode(c.good[:n]), ErrCorrupt, "cut after %d bytes", n)
			}
			assert.ErrorIs(t, c.decode(append(c.good[:len(c.good):len(c.good)], 0)), ErrCorrupt, "a byte too many")
			newer := append([]byte{c.good[0]&^0xf | (codecVersion + 1)}, c.good[1:]...)
			assert.ErrorIs(t, c.decode(newer), ErrNewer)
			older := append([]byte{c.good[0] - 1}, c.good[1:]...)
			assert.ErrorIs(t, c.decode(older), ErrCorrupt)
			assert.ErrorIs(t, c.decode([]byte{0x81, 0}), ErrCorrupt, "something else")
		})
	}
	got := *newRecord(&r)
	assert.ErrorIs(t, decodeRecord([]byte{codecRecord | codecVersion, 0xff}, "a", &got), ErrCorrupt)
	assert.Equal(t, record{}, got)
}

// A false length or count allocates nothing.
func TestCodecHostileLengths(t *testing.T) {
	many := []byte{codecItem | codecVersion, 0, 1 << 4, 0xff, 0xff, 0xff, 0xff, 0x7f}
	long := []byte{codecItem | codecVersion, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	// 2,000 links, as many bytes, and the first is bad
	padded := append(bytes.Clone(many[:3]), 0xd0, 0x0f)
	padded = append(padded, bytes.Repeat([]byte{0xff}, 2_000)...)
	for _, b := range [][]byte{many, long, padded} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			require.ErrorIs(t, decodeItem(b, new(websync.Item), ""), ErrCorrupt)
		}
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*20_000))
	}
}

// FuzzDecode: no input panics, and what can be read is written and read again as the
// same.
func FuzzDecode(f *testing.F) {
	plain, full := plainRecord(), fullRecord()
	f.Add(appendRecord(nil, newRecord(&plain)))
	f.Add(ownForm(nil, &full))
	f.Add(appendItem(nil, &full.Item, ""))
	f.Add(appendTask(nil, &Task{Resource: full.Resource, Due: full.Time, Error: "x", Base: 7}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, r2 record
		if decodeRecord(b, "id", &r) == nil {
			require.NoError(t, decodeRecord(appendRecord(nil, &r), "id", &r2))
			require.Equal(t, r, r2)
		}
		var i, i2 websync.Item
		if decodeItem(b, &i, "") == nil {
			require.NoError(t, decodeItem(appendItem(nil, &i, ""), &i2, ""))
			require.Equal(t, i, i2)
		}
		var k, k2 Task
		if decodeTask(b, &k) == nil {
			require.NoError(t, decodeTask(appendTask(nil, &k), &k2))
			require.Equal(t, k, k2)
		}
	})
}

// FuzzStrings: any strings come back byte for byte.
func FuzzStrings(f *testing.F) {
	f.Add("https://example.com/", "https://example.com/", "text/html", int64(12), uint64(3))
	f.Add("\xff\x00", "", "\x00", int64(-1), ^uint64(0))
	f.Fuzz(func(t *testing.T, id, href, s string, length int64, n uint64) {
		link := websync.Link{Href: href, Type: s, Length: length, Digests: websync.Digests{{Algorithm: s, Sum: href}}}
		want := Record{
			Item: websync.Item{Source: s, Seq: websync.Seq(n), Resource: websync.Resource{ID: id, Title: s, Links: []websync.Link{link}},
				Bodies: []websync.Body{{Name: s, Link: link}}},
			Stated: Stated{Hash: n}, Validators: []Validator{{URL: href, ETag: s}},
		}
		got, err := decodeOwn(ownForm(nil, &want), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func BenchmarkCodec(b *testing.B) {
	r := plainRecord()
	encoded := ownForm(nil, &r)
	text, _ := json.Marshal(r)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(encoded)))
		dst := make([]byte, 0, 512)
		for b.Loop() {
			dst = ownForm(dst[:0], &r)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(encoded)))
		for b.Loop() {
			if _, err := decodeOwn(encoded, r.Resource.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json-append", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			json.Marshal(&r)
		}
	})
	b.Run("encoding-json-decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var got Record
			json.Unmarshal(text, &got)
		}
	})
}

// TestCodecKeepsNoMore: who keeps the id of a long record does not keep its texts.
func TestCodecKeepsNoMore(t *testing.T) {
	r := plainRecord()
	r.Item.Resource.Summary = strings.Repeat("long ", 200_000)
	data := ownForm(nil, &r)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, ids := held(), make([]string, 50)
	for i := range ids {
		var rec record
		require.NoError(t, decodeRecord(data, r.Item.Resource.ID, &rec))
		require.Equal(t, r.Item.Resource.Summary, rec.own.Resource.Summary)
		ids[i] = rec.own.Resource.Content.Type
	}
	assert.Less(t, int64(held()-before), int64(10<<20), "of 50 MB")
	runtime.KeepAlive(ids)
}
