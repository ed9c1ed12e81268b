package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
)

// storeNow runs websync store.
func storeNow(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(t.Context(), append([]string{"store"}, args...), &out, &err)
	return code, out.String(), err.String()
}

// TestStore goes through the commands: a store that is moved, exported and imported is as
// it was, and -plan changes nothing.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return "sqlite:" + filepath.Join(dir, name) }
	a := "-store=" + at("a.db")
	fillStore(t, at("a.db"))
	stat := func(store string) string {
		code, out, stderr := storeNow(t, "stat", "-store="+at(store))
		require.Zero(t, code, stderr)
		return out
	}
	want := stat("a.db")
	assert.Contains(t, want, "log: 4 entries of generation 1, 1 of them superseded; 0 of older generations\n")
	assert.Regexp(t, `(?m)^ +3 +0 +3 +.* +0 https://a.example/$`, want)
	for _, args := range [][]string{
		{"-plan", "move", at("a.db"), at("b.db")}, {"-plan", a, "export", filepath.Join(dir, "x")}, {"-plan", a, "compact"},
		{"-plan", a, "prune"}, {"-plan", a, "restored"}, {"-plan", a, "drop-source", "https://a.example/"},
	} {
		code, out, stderr := storeNow(t, args...)
		require.Zero(t, code, stderr)
		assert.True(t, strings.Contains(out, "would "), out)
	}
	assert.Equal(t, want, stat("a.db"))
	for _, name := range []string{"b.db", "x"} {
		assert.NoFileExists(t, filepath.Join(dir, name))
	}
	for _, args := range [][]string{
		{"move", at("a.db"), at("b.db")}, {a, "export", filepath.Join(dir, "x")},
		{"-store=" + at("c.db"), "import", filepath.Join(dir, "x")}, {"-store=" + at("c.db"), "check"},
	} {
		code, _, stderr := storeNow(t, args...)
		require.Zero(t, code, "%q: %s", args, stderr)
	}
	assert.Equal(t, want, stat("b.db"))
	assert.Equal(t, want, stat("c.db"))
	code, _, stderr := storeNow(t, "move", at("a.db"), at("b.db"))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "holds something: an empty store is right")
	for _, args := range [][]string{{a, "drop-source", "https://a.example/"}, {a, "compact"}, {a, "restored"}, {a, "check"}} {
		code, _, stderr := storeNow(t, args...)
		require.Zero(t, code, "%q: %s", args, stderr)
	}
	assert.Regexp(t, `(?m)^ +0 +3 +0 +.* +0 https://a.example/$`, stat("a.db"))
	assert.Contains(t, stat("a.db"), ", 0 of them superseded")
}

// TestStoreStream: an export goes through a pipe as it is.
func TestStoreStream(t *testing.T) {
	dir := t.TempDir()
	from, to, file := "sqlite:"+filepath.Join(dir, "a.db"), "sqlite:"+filepath.Join(dir, "b.db"), filepath.Join(dir, "x")
	fillStore(t, from)
	var out, messages bytes.Buffer
	stream := &storeCommand{Console: cli.NewConsole("store", &out, &messages), stdout: &out}
	require.Zero(t, stream.run(t.Context(), []string{"-store=" + from, "export", "-"}), "%s", &messages)
	code, _, stderr := storeNow(t, "-store="+from, "export", file)
	require.Zero(t, code, stderr)
	exported, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, exported, out.Bytes())

	stream = &storeCommand{Console: cli.NewConsole("store", &messages, &messages), stdin: &out}
	require.Zero(t, stream.run(t.Context(), []string{"-store=" + to, "import", "-"}), "%s", &messages)
	_, want, _ := storeNow(t, "stat", "-store="+from)
	_, got, _ := storeNow(t, "stat", "-store="+to)
	assert.Equal(t, want, got)
}

func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	fillStore(t, "sqlite:"+filepath.Join(dir, "a.db"))
	export := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(export, []byte("no export"), 0o600))
	a := "-store=sqlite:" + filepath.Join(dir, "a.db")
	for want, args := range map[string][]string{
		"name a command":                       {},
		`there is no command "what"`:           {"what"},
		"stat with 1 argument: see -h":         {"stat", "x"},
		"drop-source with 0 arguments: see -h": {"drop-source"},
		"no such source":                       {a, "drop-source", "https://x.example/"},
		"file exists":                          {a, "export", export},
		"an export begins with":                {"-store=sqlite:" + filepath.Join(dir, "new.db"), "import", export},
		"no such file":                         {"-store=sqlite:" + filepath.Join(dir, "none.db"), "stat"},
		"not one of mem":                       {"move", "what", "mem"},
	} {
		code, _, stderr := storeNow(t, args...)
		assert.Equal(t, exitFailed, code, args)
		assert.Contains(t, stderr, want)
	}
}

// fillStore makes a store of three records, one of which has changed.
func fillStore(t *testing.T, where string) {
	spec, err := cli.ParseStore(where)
	require.NoError(t, err)
	store, closeStore, err := spec.Open(t.Context())
	require.NoError(t, err)
	for _, text := range []string{"one", "two"} {
		var events []harvest.Event
		for _, id := range []string{"https://a.example/1", "https://a.example/2", "https://a.example/3"} {
			e := harvest.Event{Open: harvest.OpenBytes([]byte(id + text))}
			e.Resource.ID = id
			if text == "two" {
				e.Resource.Modified = websync.NewDatetime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			}
			events = append(events, e)
		}
		if text == "two" {
			events = events[:1]
		}
		_, err = (&harvest.Harvester{Catalog: store}).Run(t.Context(), harvest.Of("https://a.example/", events...))
		require.NoError(t, err)
	}
	require.NoError(t, closeStore())
}
