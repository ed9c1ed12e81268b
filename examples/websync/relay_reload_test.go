package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/status"
)

// A reloading is a relay whose configuration changes while it runs.
type reloading struct {
	*testing.T
	*running
	file, config string // of the store and of the configuration
	reader       *reader
}

// newReloading starts a relay of sources, as its configuration names them.
func newReloading(t *testing.T, sources ...string) *reloading {
	r := &reloading{T: t, file: filepath.Join(t.TempDir(), "relay.db"), config: filepath.Join(t.TempDir(), "relay.json")}
	r.write(sources...)
	r.start()
	return r
}

// start starts the relay, with a new reader.
func (r *reloading) start() {
	r.running = startRelay(r.T, 1, "-store=sqlite:"+r.file, "-as=atom", "-allow-private", "-config="+r.config)
	r.reader = newReader(&atom.Source{URL: r.entries[0]})
	r.reader.harvester.MaxDelete = -1
}

// write writes the configuration.
func (r *reloading) write(sources ...string) {
	r.Helper()
	text := fmt.Sprintf(`{"sources": [%s]}`, strings.Join(sources, ","))
	require.NoError(r, os.WriteFile(r.config, []byte(text), 0o644))
}

// hangUp sends SIGHUP and waits for a message.
func (r *reloading) hangUp(message string) {
	r.Helper()
	before := strings.Count(r.stderr.String(), message)
	self, err := os.FindProcess(os.Getpid())
	require.NoError(r, err)
	if self.Signal(syscall.SIGHUP) != nil {
		r.Skip("this system has no SIGHUP")
	}
	eventually(r.T, func() bool { return strings.Count(r.stderr.String(), message) > before }, message, r.stderr)
}

// source returns how a configuration names an upstream, with more fields.
func source(u *upstream, more string) string {
	return fmt.Sprintf(`{"url": %q, "protocol": "atom", "every": "never", "interval": "0s"%s}`, u.entry, more)
}

// quarantineNow runs the command.
func quarantineNow(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(t.Context(), append([]string{"quarantine"}, args...), &out, &err)
	return code, out.String(), err.String()
}

// TestReload: sources come, go and change while the relay runs, and those that stay are
// not harvested again because of it.
func TestReload(t *testing.T) {
	one, two := newUpstream(t, "atom"), newUpstream(t, "atom")
	one.put("a.txt", "a")
	two.put("b.txt", "b")
	r := newReloading(t, source(one, ""))
	r.reader.follows(t, one)
	asked := one.asked.Load()

	r.write(source(one, ""), source(two, ""))
	r.hangUp("1 source came, 0 went")
	r.reader.follows(t, one, two)
	r.write(source(one, ""), source(two, `, "quarantined": true`))
	r.hangUp("1 source came, 1 went")
	r.reader.follows(t, one)
	two.put("c.txt", "c")
	r.write(source(one, ""), source(two, ""))
	r.hangUp("1 source came, 1 went")
	r.reader.follows(t, one, two)
	assert.Equal(t, asked, one.asked.Load())

	r.write(source(two, ""))
	r.hangUp("0 sources came, 1 went")
	r.reader.follows(t, one, two) // what the store holds of it stays published
}

// TestReloadMistakes: an error in the file changes nothing and is said, and so is what
// only a new start changes.
func TestReloadMistakes(t *testing.T) {
	one, two := newUpstream(t, "atom"), newUpstream(t, "atom")
	one.put("a.txt", "a")
	r := newReloading(t, source(one, ""))
	for _, text := range []string{"", "{", `{"sources": []}`, fmt.Sprintf(`{"sources": [%s, {"url": "nothing"}]}`, source(two, ""))} {
		require.NoError(t, os.WriteFile(r.config, []byte(text), 0o644))
		r.hangUp("nothing has changed: ")
	}
	require.NoError(t, os.Remove(r.config))
	r.hangUp("nothing has changed: ")
	assert.Contains(t, r.stderr.String(), r.config+":1: sources[1].url")
	r.reader.follows(t, one)
	assert.Zero(t, two.asked.Load())

	require.NoError(t, os.WriteFile(r.config, fmt.Appendf(nil, `{"rate": 7, "status": "127.0.0.1:0", "sources": [%s]}`, source(one, "")), 0o644))
	r.hangUp("0 sources came, 0 went")
	assert.Contains(t, r.stderr.String(), "changed at the next start only: status\n", "the flag -rate counts")
}

// TestQuarantineByCommand: a source is neither published nor harvested while it is
// quarantined, also after a restart.
func TestQuarantineByCommand(t *testing.T) {
	one, two := newUpstream(t, "atom"), newUpstream(t, "atom")
	one.put("a.txt", "a")
	two.put("b.txt", "b")
	r := newReloading(t, source(one, ""), source(two, ""))
	r.reader.follows(t, one, two)
	where := "-store=sqlite:" + r.file

	code, stdout, _ := quarantineNow(t, where, two.entry)
	assert.Equal(t, exitDone, code)
	assert.Equal(t, two.entry+"\n", stdout)
	r.reader.follows(t, one)
	assert.Contains(t, r.stderr.String(), "relay: quarantined by command: 1 source\n")
	asked := two.asked.Load()
	r.stop()
	r.start()
	r.reader.follows(t, one)
	assert.Equal(t, asked, two.asked.Load())

	code, stdout, _ = quarantineNow(t, where)
	assert.Equal(t, two.entry+"\n", stdout)
	assert.Equal(t, exitDone, code)
	code, stdout, _ = quarantineNow(t, where, "-lift", two.entry)
	assert.Equal(t, exitDone, code)
	assert.Empty(t, stdout)
	r.reader.follows(t, one, two)

	code, _, stderr := quarantineNow(t, where, "https://example.org/")
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "quarantine: https://example.org/: the relay of this store has no such source\n", stderr)
	code, _, stderr = quarantineNow(t, "-lift")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "name the sources")
	code, _, _ = quarantineNow(t, where+".other", two.entry)
	assert.Equal(t, exitFailed, code)
	assert.NoFileExists(t, r.file+".other")
}

// TestEndWhileFindingOut: a source that goes while it is found out what its URL offers is
// neither scheduled nor forgotten by the status page.
func TestEndWhileFindingOut(t *testing.T) {
	const url = "https://example.org/feed.atom"
	store := harvest.NewCatalog(memstore.New())
	f := &follower{followed: followed{target: cli.Target{Protocol: "atom", URL: url}}}
	p := &relayCommand{
		store: store, members: members{store: store}, recorder: &status.Recorder{State: store},
		opener: &cli.Opener{State: store}, scheduler: &schedule.Scheduler{Harvester: &harvest.Harvester{Catalog: store}},
	}
	p.wrap = func(src harvest.Source) harvest.Source {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = true
		return src
	}
	p.recorder.Opened(t.Context(), url, nil, errors.New("it was away"))
	require.NoError(t, p.follow(t.Context(), []*follower{f}))
	assert.NotContains(t, p.scheduler.Due(), url)
	s, err := (&status.Handler{Catalog: store}).Status(t.Context())
	require.NoError(t, err)
	require.Len(t, s.Sources, 1)
	assert.Equal(t, url, s.Sources[0].Name)
}
