package interop

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// TestResync lets the reference client of ResourceSync follow a directory. It needs
// resync 2.0.1 in the folder that WEBSYNC_RESYNC names, and its libraries dateutil,
// defusedxml and requests.
func TestResync(t *testing.T) {
	if os.Getenv("WEBSYNC_RESYNC") == "" {
		t.Skip("WEBSYNC_RESYNC is not set")
	}
	for _, files := range []int{100, 30_000} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			if files > 1000 && testing.Short() {
				t.Skip("this takes minutes")
			}
			followed(t, files)
		})
	}
}

func followed(t *testing.T, files int) {
	source, work := t.TempDir(), t.TempDir()
	handler := &publish.Handler{}
	t.Cleanup(func() { handler.Close() })
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	store := harvest.NewCatalog(memstore.New())
	dir := &dirsource.Source{Dir: source, Base: server.URL + "/"}
	site := &publish.Site{Catalog: store, Base: dir.Base, Own: []string{dir.Key()}}
	handler.Publishers = site.Publishers(&resourcesync.Publisher{})

	random, written := rand.New(rand.NewPCG(1, uint64(files))), 0
	write := func(name string) {
		written++
		file := filepath.Join(source, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "text %d\n", written), 0o644))
	}
	remove := func(name string) { require.NoError(t, os.Remove(filepath.Join(source, name))) }
	resync := func(args ...string) string {
		report, err := (&harvest.Harvester{Catalog: store}).Run(t.Context(), dir)
		require.NoError(t, err)
		require.True(t, report.InStep(), "%+v", report)
		script := filepath.Join(os.Getenv("WEBSYNC_RESYNC"), "resync-sync")
		args = slices.Concat([]string{script}, args, []string{server.URL, "copy"})
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "TZ=UTC", "no_proxy=127.0.0.1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.NotContains(t, string(out), "FatalError")
		return string(out)
	}

	for n := range files {
		write(fmt.Sprintf("%d/%d é&.txt", n%50, n))
	}
	resync("--baseline")
	require.Empty(t, differences(t, source, filepath.Join(work, "copy")))
	for round := range 10 {
		switch round {
		case 3, 7:
			write("alone.txt")
		case 4, 8:
			remove("alone.txt")
		default:
			names := slices.Sorted(maps.Keys(tree(t, source)))
			for _, n := range random.Perm(len(names))[:10+random.IntN(10)] {
				if random.IntN(2) == 0 {
					write(names[n])
				} else {
					remove(names[n])
				}
			}
			for range random.IntN(10) {
				write(fmt.Sprintf("new/%d.txt", written))
			}
		}
		out := resync("--incremental", "--delete")
		require.Empty(t, differences(t, source, filepath.Join(work, "copy")), "round %d: %s", round, out)
		assert.NotContains(t, resync("--audit"), "NOT IN SYNC", "round %d: %s", round, out)
	}
}

// differences returns the names of files that two directories do not have alike.
func differences(t *testing.T, a, b string) (names []string) {
	in, other := tree(t, a), tree(t, b)
	for name, text := range in {
		if other[name] != text {
			names = append(names, name)
		}
		delete(other, name)
	}
	return slices.AppendSeq(names, maps.Keys(other))
}

// tree returns the texts of the files below a directory. The client names files as URLs
// name them: with escapes.
func tree(t *testing.T, dir string) map[string]string {
	texts := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		require.NoError(t, err)
		name, err := url.PathUnescape(path)
		texts[name] = string(text)
		return err
	}))
	return texts
}
