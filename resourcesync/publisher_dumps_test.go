package resourcesync_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A packer is a Store of own resources and a Publisher of it, with dumps.
type packer struct {
	*testkit.Store
	*resourcesync.Publisher
	t *testing.T
}

func newPacker(t *testing.T, p *resourcesync.Publisher) *packer {
	s := testkit.NewStore(t)
	if p.Dumps == nil {
		p.Dumps = new(resourcesync.Dumps)
	}
	if p.Dumps.Dir == "" {
		p.Dumps.Dir = filepath.Join(t.TempDir(), "spool")
	}
	p.Dumps.State = s
	k := &packer{Store: s, Publisher: publisherOf(s, p), t: t}
	k.Publisher.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
	return k
}

// again returns the Publisher of another process: with the same settings, and nothing in
// memory.
func (k *packer) again() *resourcesync.Publisher {
	p := k.Publisher
	return publisherOf(p.Catalog, &resourcesync.Publisher{
		Path: p.Path, Place: websync.Place{Sources: p.Sources, Report: p.Report}, DescribedBy: p.DescribedBy, DescribedByHost: p.DescribedByHost, Dumps: p.Dumps, PartSize: p.PartSize,
		ListSize: p.ListSize, MaxLists: p.MaxLists, MD5: p.MD5, Hubs: p.Hubs, Profile: p.Profile, Item: p.Item,
	})
}

// textItem returns the state of a resource with a text.
func textItem(id, mediaType, text string) websync.Item {
	link := websync.Link{Href: id, Type: mediaType, Length: int64(len(text))}
	return websync.Item{Resource: websync.Resource{ID: id, Content: websync.Link{Href: id, Type: mediaType}},
		Bodies: []websync.Body{{Name: websync.ContentName, Link: link, Key: websync.SHA256([]byte(text))}}}
}

// change makes the changes of a text like "a=1 -b", one commit each.
func (k *packer) change(changes string) {
	for f := range strings.FieldsSeq(changes) {
		if name, ok := strings.CutPrefix(f, "-"); ok {
			k.Delete("own", www+name)
			continue
		}
		name, text, _ := strings.Cut(f, "=")
		k.Fill("own", []string{text}, textItem(www+name, "text/plain", text))
	}
}

func (k *packer) pack(dumps ...resourcesync.Capability) {
	k.t.Helper()
	require.NoError(k.t, k.Pack(k.t.Context(), dumps...))
}

// get returns a document.
func get(t *testing.T, p websync.Publisher, path string) string {
	t.Helper()
	doc, err := p.Document(t.Context(), path)
	require.NoError(t, err, path)
	text := render(t, doc)
	if len(doc.Digests) > 0 {
		assert.Equal(t, websync.Digests{websync.SHA256(text)}, doc.Digests, path)
		assert.True(t, doc.Final)
	}
	return string(text)
}

// files returns the names in Dir.
func (k *packer) files() (names []string) {
	entries, err := os.ReadDir(k.Dumps.Dir)
	require.NoError(k.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// unzip returns the files of a package, in their order.
func unzip(t *testing.T, text string) (names []string, files map[string]string) {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	require.NoError(t, err)
	files = make(map[string]string)
	for _, f := range z.File {
		assert.Equal(t, zip.Deflate, f.Method, f.Name)
		at, err := f.DataOffset()
		require.NoError(t, err)
		local := binary.LittleEndian.AppendUint32(nil, f.CRC32)
		local = binary.LittleEndian.AppendUint32(local, f.CompressedSize)
		local = binary.LittleEndian.AppendUint32(local, f.UncompressedSize)
		header := text[at-int64(len(f.Name))-30 : at]
		assert.Equal(t, string(local), header[14:26], "%s: a reader of the stream needs checksum and lengths", f.Name)
		assert.Zero(t, header[6]&(1<<3), "%s: nothing stands after the bytes", f.Name)
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		names, files[f.Name] = append(names, f.Name), string(data)
	}
	return names, files
}

// listedPackages returns the locs of a dump; none if there is no dump.
func listedPackages(t *testing.T, p *resourcesync.Publisher, kind resourcesync.Capability) (paths []string) {
	doc, err := p.Document(t.Context(), "/"+string(kind)+".xml")
	if errors.Is(err, websync.ErrNotFound) {
		return nil
	}
	require.NoError(t, err)
	for e, err := range resourcesync.NewReader(bytes.NewReader(render(t, doc))).All() {
		require.NoError(t, err)
		paths = append(paths, strings.TrimPrefix(e.Loc, strings.TrimSuffix(www, "/")))
	}
	return paths
}

// texts returns all bitstreams of the listed packages.
func texts(t *testing.T, p *resourcesync.Publisher, kind resourcesync.Capability) (all []string) {
	for _, path := range listedPackages(t, p, kind) {
		_, files := unzip(t, get(t, p, path))
		delete(files, "manifest.xml")
		for _, name := range slices.Sorted(maps.Keys(files)) {
			all = append(all, files[name])
		}
	}
	return all
}

func hashesOf(text string) string {
	return fmt.Sprintf(`hash="sha-256:%x" length="%d"`, sha256.Sum256([]byte(text)), len(text))
}

// TestDumpDocuments compares all documents of dumps with what the standard shows.
func TestDumpDocuments(t *testing.T) {
	k := newPacker(t, new(resourcesync.Publisher))
	k.change("a=1 b=22 c=3 -b")
	k.pack()
	_, texts := documents(t, k.Publisher)
	assert.NotContains(t, texts["/capabilitylist.xml"], "changedump", "it has no package yet")
	k.change("d=4444 a=55 a=666 d=7 -c")
	k.pack()

	paths, texts := documents(t, k.Publisher)
	z := make(map[string]string) // the names of packages, with what identifies them
	var order []string
	for _, path := range paths {
		name := regexp.MustCompile("-[0-9a-f]{8}-").ReplaceAllString(path, "-")
		if order = append(order, name); z[name] == "" {
			z[name] = path
		}
	}
	assert.Equal(t, []string{
		"/resourcedump-1.zip", "/resourcedump-1.xml", "/resourcedump-1.zip", "/resourcedump-1.xml", "/resourcedump.xml",
		"/changedump-1.zip", "/changedump-1.xml", "/changedump.xml",
		"/resourcelist.xml", "/changelist.xml", "/capabilitylist.xml", "/.well-known/resourcesync",
	}, order, "with the packages that were listed before")
	up := `<rs:ln rel="up" href="/capabilitylist.xml"/>` + "\n"
	entry := func(name, more string) string {
		path := z["/"+name+"-1.zip"]
		text := texts[path]
		return "<url><loc>" + path + "</loc><rs:md " + more + " " + hashesOf(text) + ` type="application/zip"/>` +
			`<rs:ln rel="contents" href="` + strings.TrimSuffix(path, "zip") + `xml" type="application/xml"/></url>` + "\n"
	}
	for path, want := range map[string]string{
		"/resourcedump.xml": `<rs:md capability="resourcedump" at="2026-01-02T03:04:14Z"/>` + "\n" + up + entry("resourcedump", `at="2026-01-02T03:04:14Z"`),
		"/changedump.xml": `<rs:md capability="changedump" from="2026-01-02T03:04:09Z"/>` + "\n" + up +
			entry("changedump", `from="2026-01-02T03:04:09Z" until="2026-01-02T03:04:14Z"`),
	} {
		assert.Equal(t, want, body(texts[path]), path)
	}
	names, files := unzip(t, texts[z["/resourcedump-1.zip"]])
	assert.Equal(t, []string{"manifest.xml", "resources/000001", "resources/000002"}, names)
	assert.Equal(t, `<rs:md capability="resourcedump-manifest" at="2026-01-02T03:04:14Z"/>`+"\n"+up+
		`<url><loc>/a</loc><lastmod>2026-01-02T03:04:12Z</lastmod><rs:md `+hashesOf("666")+` type="text/plain" path="/resources/000001"/></url>`+"\n"+
		`<url><loc>/d</loc><lastmod>2026-01-02T03:04:13Z</lastmod><rs:md `+hashesOf("7")+` type="text/plain" path="/resources/000002"/></url>`+"\n",
		body(files["manifest.xml"]))
	assert.Equal(t, "666", files["resources/000001"])
	assert.Equal(t, "7", files["resources/000002"])
	assert.Equal(t, files["manifest.xml"], texts[strings.TrimSuffix(z["/resourcedump-1.zip"], "zip")+"xml"])

	names, files = unzip(t, texts[z["/changedump-1.zip"]])
	assert.Equal(t, []string{"manifest.xml", "changes/000001", "changes/000002"}, names)
	assert.Equal(t, `<rs:md capability="changedump-manifest" from="2026-01-02T03:04:09Z" until="2026-01-02T03:04:14Z"/>`+"\n"+up+
		`<url><loc>/a</loc><lastmod>2026-01-02T03:04:12Z</lastmod><rs:md change="updated" datetime="2026-01-02T03:04:12Z" `+hashesOf("666")+` type="text/plain" path="/changes/000001"/></url>`+"\n"+
		`<url><loc>/d</loc><lastmod>2026-01-02T03:04:13Z</lastmod><rs:md change="updated" datetime="2026-01-02T03:04:13Z" `+hashesOf("7")+` type="text/plain" path="/changes/000002"/></url>`+"\n"+
		`<url><loc>/c</loc><rs:md change="deleted" datetime="2026-01-02T03:04:14Z"/></url>`+"\n",
		body(files["manifest.xml"]))
	assert.Equal(t, files["manifest.xml"], texts[strings.TrimSuffix(z["/changedump-1.zip"], "zip")+"xml"])
	assert.Contains(t, texts["/capabilitylist.xml"], `<url><loc>`+www+`resourcedump.xml</loc><rs:md capability="resourcedump"/></url>`+"\n"+
		`<url><loc>`+www+`changedump.xml</loc><rs:md capability="changedump"/></url>`)
}

// validateAll checks all documents and packages of a Publisher.
func validateAll(t *testing.T, p *resourcesync.Publisher, least websync.Severity) (sum resourcesync.TreeSummary) {
	t.Helper()
	_, texts := documents(t, p)
	open := func(url string) (io.ReadCloser, error) {
		path := strings.TrimPrefix(url, strings.TrimSuffix(www, "/"))
		require.Contains(t, texts, path)
		return io.NopCloser(strings.NewReader(texts[path])), nil
	}
	return resourcesync.ValidateTree(www+".well-known/resourcesync", open, resourcesync.TreeOptions{OpenPackage: open, Report: func(f websync.Finding) {
		if f.Severity >= least && f.Rule != "sitemap-empty" {
			t.Error(f)
		}
	}})
}

// TestDumpTimes: the files of a package have the times of their resources, within what
// the format can state, and it does not matter when and where they are packed.
func TestDumpTimes(t *testing.T) {
	want := []string{
		"2026-01-02T03:04:10Z", // the manifest: of the last commit
		"2024-02-29T10:00:02Z", "2024-02-29T00:00:00Z", "1980-01-01T00:00:00Z", "2026-01-02T03:04:10Z",
		"2026-01-02T03:04:10Z", // of the commit
	}
	k := newPacker(t, &resourcesync.Publisher{})
	k.Clock = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	for i, modified := range []string{"2024-02-29T12:00:02.5+02:00", "2024-02-29", "1970-01-01T00:00:00Z", "2300-01-01T00:00:00Z", ""} {
		text := fmt.Sprint(i)
		item := textItem(www+text, "text/plain", text)
		item.Resource.Modified, _ = websync.ParseDatetime(modified)
		k.Fill("own", []string{text}, item)
	}
	k.pack()
	k.change("changed=x")
	k.pack(resourcesync.ChangeDump)
	times := func(kind resourcesync.Capability) (packed string, all []string) {
		packed = get(t, k.Publisher, listedPackages(t, k.Publisher, kind)[0])
		z, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
		require.NoError(t, err)
		for _, f := range z.File {
			all = append(all, f.Modified.UTC().Format(time.RFC3339))
		}
		return packed, all
	}
	_, got := times(resourcesync.ResourceDump)
	assert.Equal(t, want, got)
	_, got = times(resourcesync.ChangeDump)
	assert.Equal(t, []string{"2026-01-02T03:04:12Z", "2026-01-02T03:04:12Z"}, got)

	k.pack(resourcesync.ResourceDump)
	packed, _ := times(resourcesync.ResourceDump)
	k.Dumps.Dir, k.Clock = t.TempDir(), k.Clock.Add(time.Hour)
	k.Publisher = k.again()
	k.pack(resourcesync.ResourceDump)
	repacked, _ := times(resourcesync.ResourceDump)
	assert.Equal(t, packed, repacked)
}

// TestDumpOfCompressedTypes packs what is compressed already between texts: it is neither
// compressed again nor stored.
func TestDumpOfCompressedTypes(t *testing.T) {
	k := newPacker(t, &resourcesync.Publisher{})
	text := strings.Repeat("text ", 30_000)
	want := map[string]string{}
	for i, mediaType := range []string{"text/plain", "image/png", "application/zip", "text/html", "video/mp4"} {
		content := fmt.Sprint(i, text)
		want[content] = mediaType
		k.Fill("own", []string{content}, textItem(fmt.Sprint(www, i), mediaType, content))
	}
	k.pack(resourcesync.ResourceDump)
	listed := listedPackages(t, k.Publisher, resourcesync.ResourceDump)
	require.Len(t, listed, 1)
	packed := get(t, k.Publisher, listed[0])
	assert.Greater(t, len(packed), 3*len(text))
	assert.Less(t, len(packed), 3*len(text)+len(text)/10)
	names, files := unzip(t, packed)
	for _, name := range names[1:] {
		assert.Contains(t, want, files[name])
	}
	assert.Len(t, names, 1+len(want))
}

// TestDumpTree checks all documents and packages of larger sets: the published schemas
// and ValidateTree find nothing.
func TestDumpTree(t *testing.T) {
	four := [5]int{1, 2, 3, 4, 5}
	for name, test := range map[string]struct {
		settings *resourcesync.Publisher
		packages [5]int // after each Pack
	}{
		"one package of each":  {&resourcesync.Publisher{}, four},
		"small packages":       {&resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxEntries: 7}}, [5]int{2, 8, 14, 17, 21}},
		"packages of one text": {&resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxBytes: 1}}, [5]int{13, 43, 81, 94, 115}},
		"other locations":      {&resourcesync.Publisher{Path: "sub/cap.xml", MD5: true, Dumps: &resourcesync.Dumps{MaxBytes: -1}}, four},
		"harvested":            {&resourcesync.Publisher{Place: websync.Place{Sources: []string{"own"}}}, four},
		"the latest packages":  {&resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxPackages: 2}}, [5]int{1, 2, 3, 3, 3}},
		"a profile": {&resourcesync.Publisher{Profile: "1", Item: func(_ *websync.Item, e *resourcesync.Entry) error {
			e.Links = append(e.Links, resourcesync.Link{Link: websync.Link{Rel: "license", Href: www + "license"}})
			return nil
		}}, four},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for the disk
			p := test.settings
			p.DescribedBy, p.DescribedByHost = www+"about", www+"about-all"
			k := newPacker(t, p)
			if name == "harvested" {
				p.Locator = websync.PathLocator{Base: www, Reserved: p.Reserved}
			}
			for round := range 5 {
				for i := range 30 {
					if i%3 <= round%3 {
						k.change(fmt.Sprintf("r%d=text-%d-%d", i, i, round))
					}
					if (i+round)%7 == 0 {
						k.change(fmt.Sprintf("-r%d r%d=again-%d", i, i, i))
					}
				}
				k.pack()
				assert.Equal(t, test.packages[round], validateAll(t, k.Publisher, websync.SeverityWarning).Packages)
			}
			_, texts := documents(t, k.Publisher)
			for _, text := range texts {
				if strings.HasPrefix(text, "<?xml") {
					testkit.Lint(t, schema(strings.Contains(text, "<sitemapindex")), []byte(text))
				}
			}
		})
	}
}

// TestDumpStable: packages stay as they are, in another process too, and what is lost is
// made anew.
func TestDumpStable(t *testing.T) {
	k := newPacker(t, &resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxEntries: 2}})
	k.change("a=1 b=2 c=3 d=4 e=5")
	k.pack()
	k.change("f=6 g=7 -a")
	k.pack()
	k.pack() // without the dump before
	paths, before := documents(t, k.Publisher)
	files := k.files()
	for range 2 {
		p := k.again()
		require.NoError(t, p.Pack(t.Context()))
		again, texts := documents(t, p)
		assert.Equal(t, paths, again)
		assert.Equal(t, before, texts)
		assert.Equal(t, files, k.files())
	}
	k.change("h=8")
	k.pack()
	_, after := documents(t, k.Publisher)
	for path, text := range before {
		if strings.HasSuffix(path, ".zip") {
			assert.Equal(t, text, after[path], path)
		}
	}
	k.pack()
	for _, path := range paths {
		if strings.HasPrefix(path, "/resourcedump-") {
			_, err := k.Document(t.Context(), path)
			assert.ErrorIs(t, err, websync.ErrGone, path)
		}
	}
	for name, lose := range map[string]func(p *resourcesync.Publisher){
		"Dir": func(p *resourcesync.Publisher) { require.NoError(t, os.RemoveAll(p.Dumps.Dir)) },
		"State": func(p *resourcesync.Publisher) {
			p.Dumps = &resourcesync.Dumps{Dir: p.Dumps.Dir, State: testkit.NewStore(t)}
		},
		"one file": func(p *resourcesync.Publisher) {
			require.NoError(t, os.Remove(filepath.Join(p.Dumps.Dir, k.files()[0])))
		},
		"another file": func(p *resourcesync.Publisher) {
			names := k.files()
			require.NoError(t, os.Remove(filepath.Join(p.Dumps.Dir, names[len(names)-1])))
		},
		"half a file": func(p *resourcesync.Publisher) {
			for _, name := range k.files() {
				if !strings.HasSuffix(name, ".json") {
					require.NoError(t, os.Truncate(filepath.Join(p.Dumps.Dir, name), 7))
				}
			}
		},
		"half an index": func(p *resourcesync.Publisher) {
			for _, name := range k.files() {
				if strings.HasSuffix(name, ".json") {
					require.NoError(t, os.Truncate(filepath.Join(p.Dumps.Dir, name), 7))
				}
			}
		},
		"the settings": func(p *resourcesync.Publisher) { p.MD5 = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := k.again()
			lose(p)
			for path, err := range p.Documents(t.Context()) {
				require.NoError(t, err)
				doc, err := p.Document(t.Context(), path)
				require.NoError(t, err)
				if doc.Open == nil {
					continue
				}
				r, err := doc.Open(t.Context())
				if err != nil {
					continue // it is not there
				}
				text, err := io.ReadAll(r)
				require.NoError(t, errors.Join(err, r.Close()))
				assert.Equal(t, doc.Digests, websync.Digests{websync.SHA256(text)}, "what is there is what it was")
			}
			if name == "the settings" {
				assert.Empty(t, listedPackages(t, p, resourcesync.ResourceDump))
			}
			for range 2 {
				require.NoError(t, p.Pack(t.Context()))
			}
			assert.ElementsMatch(t, []string{"2", "3", "4", "5", "6", "7", "8"}, texts(t, p, resourcesync.ResourceDump))
			validateAll(t, p, websync.SeverityError)
			k.change("a=" + fmt.Sprint(len(name)) + " -a")
			require.NoError(t, p.Pack(t.Context()))
			require.NoError(t, p.Pack(t.Context()))
			validateAll(t, p, websync.SeverityError)
			assert.NotEmpty(t, listedPackages(t, p, resourcesync.ChangeDump))
			k.Publisher = p
		})
	}
}

// TestDumpWithdrawn: what was replaced or withdrawn is in no new package, and what is
// discarded is gone.
func TestDumpWithdrawn(t *testing.T) {
	k := newPacker(t, new(resourcesync.Publisher))
	k.change("a=keep b=secret")
	k.pack()
	first := listedPackages(t, k.Publisher, resourcesync.ResourceDump)
	k.change("c=secret d=old c=fine -b d=new -d e=more")
	k.pack()
	assert.Equal(t, []string{"keep", "fine", "more"}, texts(t, k.Publisher, resourcesync.ResourceDump))
	assert.Equal(t, []string{"fine", "more"}, texts(t, k.Publisher, resourcesync.ChangeDump))
	assert.NotEmpty(t, get(t, k.Publisher, first[0]), "for those that have begun")
	k.pack()
	_, err := k.Document(t.Context(), first[0])
	require.ErrorIs(t, err, websync.ErrGone)
	assert.Len(t, k.files(), 2*(2+1), "two packages, their manifests, and two indexes")

	k.change("-e")
	k.pack()
	assert.Equal(t, []string{"fine", "more"}, texts(t, k.Publisher, resourcesync.ChangeDump), "what is packed stays")
	require.NoError(t, k.Discard(t.Context(), resourcesync.ChangeDump))
	assert.Empty(t, listedPackages(t, k.Publisher, resourcesync.ChangeDump))
	assert.NotContains(t, get(t, k.Publisher, "/capabilitylist.xml"), "changedump")
	assert.Contains(t, get(t, k.Publisher, "/capabilitylist.xml"), "resourcedump")
	for _, name := range k.files() {
		assert.True(t, strings.HasPrefix(name, "resourcedump-"), name)
	}
	k.change("f=last")
	k.pack(resourcesync.ChangeDump)
	assert.Equal(t, []string{"last"}, texts(t, k.Publisher, resourcesync.ChangeDump), "from the Resource Dump on")
	require.NoError(t, k.Discard(t.Context()))
	assert.Empty(t, k.files())
	require.NoError(t, k.Discard(t.Context()))
	_, err = k.Document(t.Context(), "/resourcedump.xml")
	assert.ErrorIs(t, err, websync.ErrNotFound)
}

// TestDumpRotates keeps the changes since the Resource Dump, whatever MaxPackages is.
func TestDumpRotates(t *testing.T) {
	k := newPacker(t, &resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxPackages: 2}})
	k.change("a=1")
	k.pack()
	for i := range 5 {
		k.change(fmt.Sprintf("b=%d", i))
		k.pack(resourcesync.ChangeDump)
	}
	assert.Len(t, listedPackages(t, k.Publisher, resourcesync.ChangeDump), 5)
	k.change("c=1")
	k.pack()
	assert.Len(t, listedPackages(t, k.Publisher, resourcesync.ChangeDump), 2)
	validateAll(t, k.Publisher, websync.SeverityError)
	k.pack()
	assert.Len(t, k.files(), (1+2*2)+(1+2))
}

// TestDumpLacks: a dump that can't have everything is not offered.
func TestDumpLacks(t *testing.T) {
	k := newPacker(t, new(resourcesync.Publisher))
	k.change("a=1")
	k.pack()
	k.change("b=2")
	k.pack()
	k.Put("own", websync.Resource{ID: www + "c", Content: websync.Link{Href: www + "c"}})
	for _, kind := range []resourcesync.Capability{resourcesync.ResourceDump, resourcesync.ChangeDump} {
		require.NotEmpty(t, listedPackages(t, k.Publisher, kind))
		err := k.Pack(t.Context(), kind)
		assert.ErrorContains(t, err, `the content of "`+www+`c" is not kept`)
		assert.Empty(t, listedPackages(t, k.Publisher, kind))
	}
	assert.Empty(t, k.files())
	k.Delete("own", www+"c")
	k.pack()
	assert.Equal(t, []string{"1", "2"}, texts(t, k.Publisher, resourcesync.ResourceDump))
}

// TestDumpHostile: no id, type or link of a stranger decides a name or a path.
func TestDumpHostile(t *testing.T) {
	k := newPacker(t, new(resourcesync.Publisher))
	pack := func() {
		k.pack()
		for _, kind := range []resourcesync.Capability{resourcesync.ResourceDump, resourcesync.ChangeDump} {
			for _, path := range listedPackages(t, k.Publisher, kind) {
				names, _ := unzip(t, get(t, k.Publisher, path))
				for i, name := range names {
					if i > 0 {
						assert.Regexp(t, "^(resources|changes)/[0-9]{6}$", name)
					}
				}
			}
		}
		validateAll(t, k.Publisher, websync.SeverityError)
	}
	k.change("a=1")
	pack()
	for i, id := range []string{"../../etc/passwd", "/etc/passwd", www + "../../x", www + "manifest.xml", www + "resources/000001", "urn:x\\..\\y", www + "a\x00b", "C:\\x", www + "resourcedump.xml"} {
		text := fmt.Sprint("stranger ", i)
		item := textItem(id, "../../html", text)
		item.Resource.Links = []websync.Link{{Rel: "alternate", Href: "../../../x"}, {Rel: "contents", Href: www + "x.xml"}}
		item.Resource.Content.Attrs = []websync.Attr{{Space: resourcesync.Namespace, Local: "path", Value: "/../../x"}}
		k.Publisher.Report = nil
		k.Fill("theirs", []string{text}, item)
	}
	pack()
	assert.NotEmpty(t, listedPackages(t, k.Publisher, resourcesync.ChangeDump))
}

// TestDumpUsage: settings and arguments that are wrong.
func TestDumpUsage(t *testing.T) {
	for want, dumps := range map[string]*resourcesync.Dumps{
		"resourcesync: Publisher.Dumps is nil; it must name a directory and a State":                      nil,
		"resourcesync: Publisher.Dumps.Dir is empty; it must name a directory":                            {State: testkit.NewStore(t)},
		"resourcesync: Publisher.Dumps.State is nil":                                                      {Dir: t.TempDir()},
		`resourcesync: Publisher.Pack and Discard take "resourcedump" and "changedump", not "changelist"`: {Dir: t.TempDir(), State: testkit.NewStore(t)},
	} {
		p := publisherOf(new(websync.Log), &resourcesync.Publisher{Dumps: dumps})
		assert.EqualError(t, p.Pack(t.Context(), resourcesync.ChangeList), want)
		assert.EqualError(t, p.Discard(t.Context(), resourcesync.ChangeList), want)
		assert.Equal(t, dumps != nil, p.Reserved("/resourcedump.xml"))
	}
	p := publisherOf(new(websync.Log), &resourcesync.Publisher{Path: "changedump.xml", Dumps: &resourcesync.Dumps{Dir: t.TempDir(), State: testkit.NewStore(t)}})
	assert.ErrorContains(t, p.Check(), "the URL of another document")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	p = publisherOf(new(websync.Log), &resourcesync.Publisher{Dumps: &resourcesync.Dumps{Dir: file, State: testkit.NewStore(t)}})
	assert.ErrorContains(t, p.Pack(t.Context()), "resourcesync: Publisher.Dumps: mkdir")
}
