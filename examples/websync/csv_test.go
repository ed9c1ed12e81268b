package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
