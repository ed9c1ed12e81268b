package publish

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// servedNames are paths below Base that a directory of files, or a feed, may have.
var servedNames = []string{
	"plain.html", "a%20b", "100%25", "%2541", "a%3Fb%23c", "%C3%A9", "%E6%97%A5%E6%9C%AC.txt", "a&b;c=d,e+f!g$h'i(j)*k", "~user@host:1",
	"%3Cx%3E%22%7B%7D%7C%5E%60%5B%5D", "index.html", "d/", "d/e", "both", "both/below", "both/deeper/index.html", "...", ".well-known/security.txt",
	"a...", "UPPER", "upper", "%E9", "%FF", "%5C", "%09", "%0A", "%7F", "%c3%a9", "%41", "%2F", "%2e%2e", "x%zz", ".hidden", "q?x=1", "f#x",
	"r", "r/x", "sitemap.xml", strings.Repeat("%D0%B6", 127), strings.Repeat("n", 255), strings.Repeat("long/", 200) + "x",
}

// servedCatalog returns a Catalog of an own and a foreign source with the same ids. Each
// body contains its source and id.
func servedCatalog(t *testing.T) *harvest.Catalog {
	store := harvest.NewCatalog(memstore.New())
	for _, source := range []string{"own", "stranger"} {
		for _, name := range servedNames {
			id := "https://example.org/" + name
			put(t, store, source, websync.Item{Resource: websync.Resource{ID: id}}, map[string]string{
				"content": source + " " + id, "alternate text/html": source + " alternate of " + id})
		}
		put(t, store, source, websync.Item{Resource: websync.Resource{ID: "urn:x/../" + source + "/./%2F"}}, map[string]string{"content": source + " urn"})
	}
	return store
}

// TestServersFindTheFiles checks that common servers of files serve each document of an
// export at the path of its URL.
func TestServersFindTheFiles(t *testing.T) {
	list := newSite()
	list.list("/sitemap.xml", "application/xml", "the list")
	store := servedCatalog(t)
	reserved := func(path string) bool { return path == "/sitemap.xml" }
	bodies := Bodies(store, websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}, Reserved: reserved}, "own", "stranger")
	dir := t.TempDir()
	_, err := WriteDir(t.Context(), dir, list, bodies)
	require.NoError(t, err, "what has no file has a URL below r/")

	check := func(t *testing.T, server string) {
		all := 0
		for path, err := range Join(list, bodies).Documents(t.Context()) {
			require.NoError(t, err)
			doc, err := Join(list, bodies).Document(t.Context(), path)
			require.NoError(t, err)
			var want strings.Builder
			require.NoError(t, copyDocument(t.Context(), &want, doc))
			resp, err := http.Get(server + path)
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			require.NoError(t, err)
			assert.Equal(t, 200, resp.StatusCode, path)
			assert.Equal(t, want.String(), string(got), path)
			all++
		}
		assert.Greater(t, all, 3*len(servedNames))
	}
	t.Run("Go's FileServer", func(t *testing.T) {
		server := httptest.NewServer(http.FileServer(http.Dir(dir)))
		defer server.Close()
		check(t, server.URL)
	})
	t.Run("Python's http.server", func(t *testing.T) {
		check(t, servePython(t, dir))
	})
}

// servePython serves a directory with Python's http.server until the test ends.
func servePython(t *testing.T, dir string) (url string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 must be there in CI")
		}
		t.Skip("no python3: the files are not served by Python's http.server")
	}
	cmd := exec.CommandContext(t.Context(), python, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", dir, "0")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	port := regexp.MustCompile(`port (\d+)`).FindStringSubmatch(line)
	require.NotNil(t, port, line)
	return fmt.Sprintf("http://127.0.0.1:%s", port[1])
}
