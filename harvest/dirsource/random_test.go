package dirsource_test

import (
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A model is what a tree should hold, by path.
type model struct {
	*tree
	files map[string]string
}

// name returns the path of a file, sometimes an unusual one. There are few names and
// directories, so that paths often collide.
func (m *model) name(t *rapid.T) string {
	element := rapid.SampledFrom([]string{"a", "b", "c", "d e", "%41", "\xff\xfe", "ö\n", "r"})
	return strings.Join(rapid.SliceOfN(element, 1, 3).Draw(t, "path"), "/")
}

// free removes what is in the way of a file.
func (m *model) free(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := m.files[dir]; ok {
			m.delete(dir)
		}
	}
	m.delete(name)
}

// delete removes a file or a directory.
func (m *model) delete(name string) {
	m.remove(name)
	maps.DeleteFunc(m.files, func(f, _ string) bool { return f == name || strings.HasPrefix(f, name+"/") })
}

func (m *model) create(t *rapid.T) {
	name := m.name(t)
	m.free(name)
	m.put(t, name)
}

// put writes new bytes, at least as many as before, with one of few times.
func (m *model) put(t *rapid.T, name string) {
	text := rapid.SampledFrom([]string{"", "x", "y", "text"}).Draw(t, "text")
	m.write(name, text)
	m.files[name] = text
	if rapid.Bool().Draw(t, "set the time") {
		m.touch(name, m.time(t))
	}
}

func (m *model) time(t *rapid.T) time.Time {
	return time.Unix(1.7e9, int64(rapid.IntRange(0, 3).Draw(t, "time"))*500)
}

func (m *model) any(t *rapid.T) (string, bool) {
	if len(m.files) == 0 {
		return "", false
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.files))).Draw(t, "file"), true
}

func (m *model) change(t *rapid.T) {
	name, ok := m.any(t)
	what := rapid.SampledFrom([]string{"create", "create", "update", "delete", "delete directory", "rename", "touch"}).Draw(t, "change")
	switch {
	case what == "create" || !ok:
		m.create(t)
	case what == "update":
		m.put(t, name)
	case what == "delete":
		m.delete(name)
	case what == "delete directory":
		m.delete(strings.SplitN(name, "/", 2)[0])
	case what == "rename":
		m.rename(t, name)
	case what == "touch":
		m.touch(name, m.time(t))
	}
}

func (m *model) rename(t *rapid.T, from string) {
	to := m.name(t)
	if to == from || strings.HasPrefix(from, to+"/") || strings.HasPrefix(to, from+"/") {
		return
	}
	text := m.files[from]
	m.free(to)
	if _, ok := m.files[from]; !ok {
		return
	}
	require.NoError(t, os.MkdirAll(path.Dir(m.path(to)), 0o777))
	require.NoError(t, os.Rename(m.path(from), m.path(to)))
	delete(m.files, from)
	m.files[to] = text
}

// check harvests and compares. After that nothing changes, and nothing more may be read.
func (m *model) check(t *rapid.T) {
	report := m.run()
	require.True(t, report.InStep(), "%v", report.Failures)
	live := map[string]string{}
	for id, text := range m.live() {
		name, err := url.PathUnescape(id)
		require.NoError(t, err)
		live[name] = text
	}
	require.Equal(t, m.files, live)
	log := m.log()
	m.src.Ahead(time.Hour)
	m.run()
	report = m.run()
	require.Empty(t, m.read)
	require.EqualValues(t, len(m.files), report.Unchanged)
	m.src.Ahead(0)
	m.run()
	require.Equal(t, log, m.log())
}

// Whatever changes in a tree, the Store holds what is in it, and unchanged files are not
// read.
func TestRandomChanges(t *testing.T) {
	top := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(top, "")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		m := &model{tree: newTree(t, dir), files: map[string]string{}}
		m.src.Ahead(0)
		m.src.Hidden = rapid.Bool().Draw(t, "hidden")
		m.src.MD5 = rapid.Bool().Draw(t, "md5")
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			for range rapid.IntRange(0, 8).Draw(t, "changes") {
				m.change(t)
			}
			m.check(t)
		}
	})
}
