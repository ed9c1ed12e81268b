//go:build unix

package hostile

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/dirsource"
)

// Directories with what is no regular file, and names of every kind.
func TestDirectories(t *testing.T) {
	for name, arm := range map[string]func(dir string) error{
		"link to a file outside": func(dir string) error {
			return os.Symlink(filepath.Join(dir, "..", "..", "secret.txt"), filepath.Join(dir, "x"))
		},
		"link to a directory outside": func(dir string) error { return os.Symlink(filepath.Join(dir, "..", ".."), filepath.Join(dir, "x")) },
		"link to itself":              func(dir string) error { return os.Symlink("x", filepath.Join(dir, "x")) },
		"link to its directory":       func(dir string) error { return os.Symlink(".", filepath.Join(dir, "x")) },
		"link to nothing":             func(dir string) error { return os.Symlink("nothing", filepath.Join(dir, "x")) },
		"link to a device":            func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, "x")) },
		"pipe":                        func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "x"), 0o600) },
		"name with lines":             func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\r\nX: y"), nil, 0o600) },
		"name of bytes":               func(dir string) error { return os.WriteFile(filepath.Join(dir, "\xff\xfe"), nil, 0o600) },
		"name that looks like escapes": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "%2e%2e%2fsecret.txt"), nil, 0o600)
		},
		"name of a device":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "aux.txt"), nil, 0o600) },
		"name with a drive": func(dir string) error { return os.WriteFile(filepath.Join(dir, `C:\x..\..\y`), nil, 0o600) },
		"name of dots":      func(dir string) error { return os.WriteFile(filepath.Join(dir, "..."), nil, 0o600) },
		"name with a query": func(dir string) error { return os.WriteFile(filepath.Join(dir, "a?b#c"), nil, 0o600) },
		"longest name":      func(dir string) error { return os.WriteFile(filepath.Join(dir, strings.Repeat("a", 255)), nil, 0o600) },
		"unreadable file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0) },
		"deep directories":  func(dir string) error { return os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 200)), 0o700) },
		"many files": func(dir string) error {
			for i := range 3000 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("x", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		"long file": func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "x"))
			if err == nil {
				err = f.Truncate(24 << 20)
				f.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := filepath.Join(w.dir, "files")
			require.NoError(t, os.Mkdir(dir, 0o755))
			for i := range seeds {
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("a"), 0o644))
			}
			src := &dirsource.Source{Dir: dir, Base: "http://example.org/", Hidden: true}
			w.expect(harmless, w.run(src, 0))
			before := w.live(src)
			require.Len(t, before, seeds)
			require.NoError(t, arm(dir))
			o := w.run(src, 0)
			require.NoError(t, o.err)
			now := w.live(src)
			for id := range before {
				assert.Contains(t, now, id)
			}
			for id := range now {
				u, err := url.Parse(id)
				require.NoError(t, err, "%q", id)
				assert.Equal(t, "example.org", u.Host)
				assert.NotContains(t, id, "\n")
			}
			for item, err := range w.store.Records(t.Context(), src.Key(), "") {
				require.NoError(t, err)
				if content, ok := item.Body(websync.ContentName); ok {
					r, err := w.store.Open(t.Context(), content)
					require.NoError(t, err)
					got, err := io.ReadAll(io.LimitReader(r, 100))
					r.Close()
					require.NoError(t, err)
					assert.NotContains(t, string(got), secret)
				}
			}
		})
	}
}
