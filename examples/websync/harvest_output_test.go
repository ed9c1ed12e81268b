package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
)

// parsed returns the one JSON object on standard output.
func (a answer) parsed(t *testing.T) (s struct {
	Store   string
	InStep  bool `json:"in_step"`
	Reports []map[string]any
	Error   string
}) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(a.stdout))
	require.NoError(t, d.Decode(&s), a.stdout)
	assert.False(t, d.More())
	assert.NotNil(t, s.Reports)
	return s
}

// -json always writes an object.
func TestHarvestJSONAlways(t *testing.T) {
	dir := t.TempDir()
	noStore := filepath.Join(dir, "store")
	require.NoError(t, os.WriteFile(noStore, []byte("this is no database, and never was one"), 0o666))
	w := newWeb(t)
	w.set("/1.xml", text(w.urlset()))
	foreign := filepath.Join(dir, "export", "x")
	require.NoError(t, os.MkdirAll(filepath.Dir(foreign), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "export", indexName), []byte("mine"), 0o666))
	for name, test := range map[string]struct {
		args string
		want string // in error
	}{
		"unknown flag":       {"-json -nonsense " + w.URL, "-nonsense"},
		"unknown flag first": {"-nonsense --json=true " + w.URL, "-nonsense"},
		"bad value":          {"-rate x -json " + w.URL, "rate"},
		"no database":        {"-store postgres://127.0.0.1:1/x -json " + w.URL, "store postgres:"},
		"not a URL":          {"-json gopher://x/", "http://"},
		"no store":           {"-json -store sqlite:" + noStore + " " + w.URL, "store"},
		"no place for it":    {"-json -store sqlite:" + noStore + "/x " + w.URL, "store"},
		"export":             {"-json -store mem -export " + dir + "/export " + w.URL + "/1.xml", "no export has written it"},
	} {
		t.Run(name, func(t *testing.T) {
			a := callHarvest(t, strings.Fields(test.args)...)
			a.is(t, exitFailed)
			s := a.parsed(t)
			assert.False(t, s.InStep)
			assert.Contains(t, s.Error, test.want)
			assert.Contains(t, a.stderr, test.want)
		})
	}
	a := callHarvest(t, "-json", "-store=mem", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Empty(t, a.parsed(t).Error)
}

// A failure to write the output is an error.
func TestFullStandardOutput(t *testing.T) {
	w := newWeb(t)
	w.set("/1.xml", text(w.urlset()))
	for _, args := range []string{"-h", "-store mem " + w.URL + "/1.xml", "-store mem -json " + w.URL + "/1.xml", "-plan " + w.URL + "/1.xml"} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var stderr bytes.Buffer
			p := &harvestCommand{Console: cli.NewConsole("harvest", full{}, &stderr), attempts: -1}
			assert.Equal(t, exitFailed, p.run(t.Context(), strings.Fields(args)))
			assert.Contains(t, stderr.String(), "harvest: standard output: no space")
		})
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		defer f.Close()
		cmd := process("harvest", "-h")
		cmd.Stdout = f
		require.Error(t, cmd.Run())
		assert.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// The output contains no secrets of URLs, neither of the command line nor of a source,
// and no control characters.
func TestHarvestOutputIsHarmless(t *testing.T) {
	w := newWeb(t)
	evil := "\u009b31m\u202e"
	w.set("/good.xml", text(w.urlset("/a?token=hunter2", "/b?api_key=hunter2"+evil)))
	w.set("/login.xml", text(loginPage))
	w.set("/cut.xml", text(w.urlset("/a")[:80]))
	w.set("/moved.xml", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/nowhere.xml?sig=hunter2", http.StatusFound)
	})
	w.set("/index.xml", text(w.sitemapindex("/part.xml?secret=hunter2", "/login.xml?secret=hunter2")))
	w.set("/odd.xml", text(strings.Replace(w.urlset("/a?auth=hunter2"), "<loc>", "<priority>\u009b"+"9</priority><loc>", 1)))
	for _, path := range []string{"/good.xml", "/login.xml", "/cut.xml", "/moved.xml", "/index.xml", "/odd.xml", "/none.xml", "/robots.txt"} {
		for _, flags := range []string{"", "-json", "-plan", "-audit"} {
			t.Run(path+flags, func(t *testing.T) {
				url := strings.Replace(w.URL, "http://", "http://me:hunter2@", 1) + path + "?access_token=hunter2"
				a := callHarvest(t, append(strings.Fields(flags), "-store=mem", "-rate=1000", url)...)
				output := a.stdout + a.stderr
				if flags != "-plan" && flags != "-audit" { // which name ids as they are
					assert.NotContains(t, output, "hunter2")
				}
				assert.NotContains(t, output, "\u009b")
				assert.NotContains(t, output, "\u202e")
				assert.Contains(t, output, "access_token=xxxxx")
			})
		}
	}
	a := callHarvest(t, "gopher://me:hunter2@x/?token=hunter2\x1b[2J")
	a.is(t, exitFailed)
	assert.NotContains(t, a.stderr, "hunter2")
	assert.NotContains(t, a.stderr, "\x1b")
}

// A run with entries that cannot be read is not in step, unless that is accepted.
func TestSkipped(t *testing.T) {
	w := newWeb(t)
	w.serve("a", 2)
	w.set("/1.xml", text(strings.Replace(w.urlset("/a/000", "/a/001"), "<url>", "<url/><url>", 1)))
	a := callHarvest(t, "-store=mem", w.URL+"/1.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "1 entry could not be read")
	assert.Contains(t, a.stdout, "Not in step")
	a = callHarvest(t, "-store=mem", "-json", w.URL+"/1.xml")
	a.is(t, exitLeft)
	assert.EqualValues(t, 1, a.parsed(t).Reports[0]["skipped"])

	a = callHarvest(t, "-store=mem", "-accept-skipped", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "1 entry could not be read, which is accepted")
	a = callHarvest(t, "-store=mem", "-accept-skipped", "-json", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.True(t, a.parsed(t).InStep)
}
