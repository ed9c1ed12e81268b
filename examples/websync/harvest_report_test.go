package main

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/browser"
)

// pageOf returns the page in a file, as text.
func pageOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	_, body, ok := bytes.Cut(data, []byte("</style>"))
	require.True(t, ok)
	assert.Contains(t, string(body), "</html>")
	return html.UnescapeString(string(body))
}

// The page is written whatever happens, and -json is the same with it.
func TestReportAlways(t *testing.T) {
	w := newWeb(t)
	paths := w.serve("p", 12)
	w.set("/good.xml", text(w.urlset(paths...)))
	w.set("/bad.xml", text(w.urlset("/p/000", "/none", "/broken")))
	w.set("/broken", answerWith(http.StatusServiceUnavailable))
	w.set("/login.xml", text(loginPage))
	dir := t.TempDir()
	noStore := filepath.Join(dir, "store")
	require.NoError(t, os.WriteFile(noStore, []byte("this is no database, and never was one"), 0o666))
	for name, test := range map[string]struct {
		args string
		code int
		want []string
	}{
		"in step": {"-store mem " + w.URL + "/good.xml", exitDone,
			[]string{"The store has what the source lists.", "There is nothing to do.", "12 created", "Requests over time", w.URL + "/p/0"}},
		"failures": {"-store mem " + w.URL + "/bad.xml", exitLeft,
			[]string{"Not in step: work is left", "Run again: 2 resources are still to be fetched.", "status 404: not found", "status 503: not available now", "1 created"}},
		"plan":     {"-plan -store mem " + w.URL + "/good.xml", exitDone, []string{"Not in step: 12 differences. Nothing was written.", "This run only looked.", "12 created"}},
		"audit":    {"-audit -store mem " + w.URL + "/good.xml", exitLeft, []string{"Not in step: 12 differences. Nothing was written."}},
		"no list":  {"-store mem " + w.URL + "/none.xml", exitFailed, []string{"Not harvested to the end", "404 Not Found", "Mend what the error names"}},
		"login":    {"-store mem " + w.URL + "/login.xml", exitFailed, []string{"Not harvested to the end", "Give the URL of a sitemap"}},
		"two":      {"-store mem " + w.URL + "/good.xml " + w.URL + "/none.xml", exitFailed, []string{"2 sources: 1 failed, 1 in step.", w.URL + "/none.xml"}},
		"no store": {"-store sqlite:" + noStore + " " + w.URL + "/good.xml", exitFailed, []string{"Nothing was harvested.", "store: "}},
		"usage":    {"-max-delete x " + w.URL + "/good.xml", exitFailed, []string{"Nothing was harvested.", `invalid value "x" for flag -max-delete`}},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(strings.Fields(test.args), "-rate=1000", "-report="+filepath.Join(t.TempDir(), "report.html"))
			file := strings.TrimPrefix(args[len(args)-1], "-report=")
			plain := callHarvest(t, args...)
			plain.is(t, test.code)
			page := pageOf(t, file)
			for _, want := range test.want {
				assert.Contains(t, page, want)
			}
			require.NoError(t, os.Remove(file))
			asJSON := callHarvest(t, append(args, "-json")...)
			asJSON.is(t, test.code)
			asJSON.parsed(t)
			for _, want := range test.want {
				assert.Contains(t, pageOf(t, file), want)
			}
		})
	}
}

func TestReportOfDemonstration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	a := callHarvest(t, "-report", file)
	a.is(t, exitDone)
	assert.Empty(t, a.stderr)
	page := pageOf(t, file)
	for _, want := range []string{
		"The store has what the source lists.", "1. The first run: everything is new.", "4. The page can be read again.",
		"317 created", "10 updated", "6 deleted", "status 500: internal error", "/pages/011.html", "Slowest hosts",
	} {
		assert.Contains(t, page, want)
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	browser.Readable(t, "demonstration", data)
}

func TestReportOfInterruptedRun(t *testing.T) {
	w := newWeb(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.set("/sitemap.xml", func(rw http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	file := filepath.Join(t.TempDir(), "report.html")
	a := callHarvestContext(ctx, "-report", file, storeFlag(t), w.URL+"/sitemap.xml", w.URL+"/other.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stderr, "1 further source was not begun")
	page := pageOf(t, file)
	assert.Contains(t, page, "Interrupted: the next run goes on from here.")
	assert.Contains(t, page, "1 further source was not begun")
}

// A demoFile that cannot be written ends the program before it has asked anybody.
func TestReportThatCannotBeWritten(t *testing.T) {
	w := newWeb(t)
	w.set("/sitemap.xml", text(w.urlset()))
	for _, file := range []string{filepath.Join(t.TempDir(), "none", "report.html"), "https://example.org/?token=hunter2", "-json"} {
		a := callHarvest(t, "-report", file, "-store=mem", w.URL+"/sitemap.xml")
		a.is(t, exitFailed)
		assert.Contains(t, a.stderr, strings.Split(file, "?")[0])
		assert.NotContains(t, a.stderr, "hunter2")
	}
	assert.Zero(t, w.asked["/sitemap.xml"])

	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o777))
	w.set("/sitemap.xml", func(rw http.ResponseWriter, r *http.Request) {
		os.RemoveAll(dir)
		text(w.urlset())(rw, r)
	})
	a := callHarvest(t, "-json", "-report", filepath.Join(dir, "report.html"), "-store=mem", w.URL+"/sitemap.xml")
	a.is(t, exitFailed)
	s := a.parsed(t)
	assert.False(t, s.InStep)
	assert.Contains(t, s.Error, "report.html")
}

// The page of a directory's run is not one of its files.
func TestReportInsideTheDirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o666))
	var got summary
	for range 2 {
		a := callHarvest(t, "-protocol=dir", "-store=mem", "-json", "-report", filepath.Join(dir, "report.html"), dir)
		a.is(t, exitDone)
		require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
		assert.EqualValues(t, 1, got.Reports[0].Events)
	}
}

// The page has no secrets of URLs, and is harmless whatever the web contains.
func TestReportIsHarmless(t *testing.T) {
	w := newWeb(t)
	const evil = "&lt;script>alert(1)&lt;/script>"
	w.set("/list.xml", text(strings.Replace(w.urlset("/a?token=hunter2", "/b?api_key=hunter2", "/"+evil), "<loc>", "<priority>"+evil+"</priority><loc>", 1)))
	file := filepath.Join(t.TempDir(), "report.html")
	url := strings.Replace(w.URL, "http://", "http://me:hunter2@", 1) + "/list.xml?access_token=hunter2"
	callHarvest(t, "-store=mem", "-rate=1000", "-report", file, url).is(t, exitLeft)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hunter2")
	assert.NotContains(t, string(data), "<script")
	assert.Contains(t, string(data), "token=xxxxx")
	assert.Contains(t, string(data), "&lt;script&gt;alert(1)")
}
