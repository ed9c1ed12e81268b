package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
)

const actList = "ELI,date,title\nhttps://law.example/eli/act/1,2026-01-02,Act on Salt\nhttps://law.example/eli/act/2,2026-01-03\n"

// TestHarvestList: a list of acts is harvested from a file and from the web, and what it
// no longer lists is deleted.
func TestHarvestList(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	w := newWeb(t)
	for name, test := range map[string]struct {
		source string
		put    func(list string)
	}{
		"acts.csv":       {"file://" + filepath.ToSlash(dir) + "/acts.csv", func(list string) { require.NoError(t, os.WriteFile("acts.csv", []byte(list), 0o644)) }},
		w.URL + "/a.csv": {w.URL + "/a.csv", func(list string) { w.set("/a.csv", text(list)) }},
	} {
		test.put(actList)
		args := []string{storeFlag(t), "-protocol=csv", name}
		a := callHarvest(t, args...)
		a.is(t, exitDone)
		assert.Regexp(t, `created +2\n`, a.stdout)
		assert.Equal(t, []string{test.source}, live(t, args[0]))
		test.put(strings.Replace(actList, "https://law.example/eli/act/1,2026-01-02,Act on Salt\n", "", 1))
		a = callHarvest(t, args...)
		a.is(t, exitDone)
		assert.Regexp(t, `deleted +1\n`, a.stdout)
		test.put("<!doctype html><title>Log in</title>")
		a = callHarvest(t, args...)
		a.is(t, exitFailed)
		assert.Contains(t, a.stderr, "not a list of ELIs")
	}
	callHarvest(t, storeFlag(t), "-protocol=csv", "missing.csv").is(t, exitFailed)
	assert.Contains(t, refused(t, "-protocol=csv", "acts.csv"), `URL "acts.csv": not a URL that begins with http:// or https://`)
}

// TestPublishList: a list of acts is published by ELI; a list with faults deletes nothing.
func TestPublishList(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(list string) { require.NoError(t, os.WriteFile("acts.csv", []byte(list), 0o644)) }
	write(actList)
	args := []string{"-protocol=eli", "-csv=acts.csv", "-store=sqlite:acts.db", "-base=https://law.example/", "-out=site"}
	listed := func() (n int) {
		sitemap, err := os.ReadFile("site/eli/sitemap.xml")
		require.NoError(t, err)
		return strings.Count(string(sitemap), "<loc>")
	}
	a := callPublish(t, args...)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, "https://law.example/eli/sitemap.xml\n", a.stdout)
	assert.Contains(t, a.stderr, "acts: 2 created, 0 updated, 0 deleted")
	feed, err := os.ReadFile("site/eli/eli-update-feed.atom")
	require.NoError(t, err)
	assert.Contains(t, string(feed), "<title>Act on Salt</title>")

	write(strings.Replace(actList, "2026-01-03", "soon", 1))
	a = callPublish(t, args...)
	assert.Equal(t, exitLeft, a.code, a.stderr)
	assert.Contains(t, a.stderr, "1 lines can't be read, so nothing is deleted")
	assert.Equal(t, 2, listed())

	write("https://law.example/eli/act/1,2026-01-02,Act on Salt\n")
	a = callPublish(t, args...)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, 1, listed())

	for flags, want := range map[string]string{
		"-protocol=sitemap -csv=acts.csv": "-csv is a list of acts, for -protocol eli", "-protocol=eli -csv=acts.csv -dir=.": "-dir and -csv: one at a time",
		"-protocol=eli -csv=acts.csv -own=x": "-own names sources of a -store", "-protocol=eli": "use -dir, -csv or -store", "-protocol=eli -out=o -base=https://law.example/ -csv=none.csv": "none.csv: no such file",
	} {
		a := callPublish(t, strings.Fields(flags)...)
		assert.Equal(t, exitFailed, a.code, flags)
		assert.Contains(t, a.stderr, want, flags)
	}
}

// TestCheckList: what is wrong with a list of acts.
func TestCheckList(t *testing.T) {
	got := check(t, actList, "-spec=csv", "-")
	assert.Equal(t, exitDone, got.code, got.stderr)
	assert.Equal(t, "-: csv, entries 2, errors 0, warnings 0\n", got.stdout)
	got = check(t, strings.Replace(actList, "2026-01-03", "03.01.2026 ; soon", 1), "-spec=csv", "-")
	assert.Equal(t, exitLeft, got.code)
	assert.Contains(t, got.stdout, "eli-csv-line")
	assert.Contains(t, got.stdout, "-: csv, entries 1, errors 1, warnings 0\n")
	got = check(t, "<html>", "-spec=csv", "-")
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.stderr, "not a list of ELIs")
}

// TestRelayOfActs: the flags and fields about legislation, and lists of acts, of a relay.
func TestRelayOfActs(t *testing.T) {
	s, err := parseRelay([]string{"-protocol=csv", "https://law.example/acts.csv"})
	require.NoError(t, err)
	assert.Equal(t, "csv", s.sources[0].target.Protocol)

	want := cli.Acts{Languages: []string{"pt", "fra"}, AllLanguages: true, Formats: []string{"pdf"}, Linked: true, ResyncEvery: "8760h"}
	s, err = parseRelay([]string{"-protocol=eli", "-languages=pt,fra", "-all-languages", "-formats=pdf", "-linked", "-resync-every=8760h", "https://law.example/"})
	require.NoError(t, err)
	assert.Equal(t, want, s.sources[0].target.Acts)

	file := filepath.Join(t.TempDir(), "relay.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"sources": [{"url": "https://law.example/", "protocol": "eli",
"acts": {"languages": ["pt", "fra"], "all_languages": true, "formats": ["pdf"], "linked": true, "resync_every": "8760h"}}]}`), 0o644))
	s, err = parseRelay([]string{"-config=" + file})
	require.NoError(t, err)
	assert.Equal(t, want, s.sources[0].target.Acts)
	assert.Contains(t, refused(t, "-config="+file, "-languages=fr"), "-languages is for URLs on the command line")
	assert.Contains(t, refused(t, "-languages=French", "https://law.example/"), `-languages "French": not language tags`)
}
