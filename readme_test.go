package websync_test

import (
	"bufio"
	"context"
	"fmt"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

func readme(t *testing.T) string {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// TestReadmeService follows README.md from an empty folder to a service, and harvests
// that service. The network of the Go command is off: the clone and the module cache
// suffice.
func TestReadmeService(t *testing.T) {
	if racing.Enabled {
		t.Skip("the service is a process of its own, which the race detector does not see")
	}
	_, section, ok := strings.Cut(readme(t), "\n## Your first service\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	_, program, _ := strings.Cut(section, "```go\n")
	program, _, ok = strings.Cut(program, "```\n")
	require.True(t, ok)
	assert.Less(t, strings.Count(program, "\n"), 40, "the length that is promised")
	formatted, err := format.Source([]byte(program))
	require.NoError(t, err)
	assert.Equal(t, string(formatted), program)
	file, err := os.ReadFile("examples/service/main.go")
	require.NoError(t, err)
	assert.Equal(t, string(file), program)

	clone, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOSUMDB=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %q: %s", args, out)
	}
	var args []string // of go run
	for _, line := range regexp.MustCompile(`(?m)^    go .*$`).FindAllString(section, -1) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(strings.Replace(line, "=../websync", "="+clone, 1))[1:]
		if words[0] == "run" {
			require.Equal(t, ".", words[1])
			args = words[2:]
			words = []string{"build", "-o", "service", "."}
		}
		run(words...)
	}
	require.Len(t, args, 3)

	want := map[string]string{}
	pages, feed := twoPublishers(t, want)
	base := startService(t, filepath.Join(dir, "service"), pages, feed)

	ctx := context.Background()
	store, client := harvest.NewCatalog(memstore.New()), fetch.New(nil)
	client.Rate, client.AllowPrivate = -1, true
	defer client.CloseIdleConnections()
	sets, err := resourcesync.Discover(ctx, client, base)
	require.NoError(t, err)
	require.Len(t, sets, 1)
	report, err := (&harvest.Harvester{Catalog: store, Fetcher: client}).Run(ctx, sets[0].Source())
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	assert.Zero(t, report.Findings)
	assert.Equal(t, want, textsByOrigin(t, store))
}

// TestReadmeExamples: the example of each job is there, and is a test that compares its
// output. Each other link leads to a file.
func TestReadmeExamples(t *testing.T) {
	text := readme(t)
	rows := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)`: \\[(Example\\w*)\\]\\(([^)]+)\\) \\|$").FindAllStringSubmatch(text, -1)
	require.Equal(t, strings.Count(text, "[Example"), len(rows), "each is a row of the table")
	seen := map[string]bool{}
	for _, row := range rows {
		job, dir, name, file := row[1], row[2], row[3], row[4]
		assert.Equal(t, dir, path.Dir(file), job)
		assert.False(t, seen[job], job)
		seen[job] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if !assert.NoError(t, err, job) {
			continue
		}
		examples := doc.Examples(parsed)
		i := slices.IndexFunc(examples, func(e *doc.Example) bool { return "Example"+e.Name == name })
		if assert.GreaterOrEqual(t, i, 0, "%s: %s has no %s", job, file, name) {
			assert.NotEmpty(t, examples[i].Output, "%s: %s in %s has no output", job, name, file)
			assert.NotEmpty(t, examples[i].Doc, "%s: %s in %s has no comment", job, name, file)
		}
	}
	for _, job := range jobs {
		assert.True(t, seen[job], job)
	}
	for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(text, -1) {
		assert.FileExists(t, link[1])
	}
}

// jobs are those that README.md must have an example for.
var jobs = []string{
	"harvest a sitemap", "follow a ResourceSync source", "publish a directory", "harvest ELI metadata and full texts", "run a rinfo depot",
	"feed a search index", "write your own Source", "write your own Publisher", "write your own Store", "dry run: what would be done",
	"approve deletions that were withheld", "observe progress",
}

// TestMap: the documentation of package websync names all packages that others can
// import, and all programs.
func TestMap(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, p := range packages(t) {
		if name := p.name(); name != "." && !strings.Contains("/"+name+"/", "/internal/") {
			assert.Regexp(t, `(?m)^//.*[ ,]`+regexp.QuoteMeta(name)+`[,:]`, string(text))
		}
	}
}

// twoPublishers serves a sitemap of two pages, and a feed of two entries. It adds to want
// what they publish, by id.
func twoPublishers(t *testing.T, want map[string]string) (pages, feed string) {
	serve := func(document func(base string) string, texts ...string) string {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i, text := range texts {
				if r.URL.Path == fmt.Sprint("/", i+1) {
					fmt.Fprint(w, text)
					return
				}
			}
			if r.URL.Path != "/list" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, document("http://"+r.Host))
		}))
		t.Cleanup(site.Close)
		return site.URL
	}
	site := serve(func(base string) string {
		return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + base + `/1</loc></url><url><loc>` + base + `/2</loc></url></urlset>`
	}, "page one", "page two")
	want[site+"/1"], want[site+"/2"] = "page one", "page two"
	const entry = `<entry><id>urn:ex:%d</id><title>T</title><updated>2026-01-02T00:00:00Z</updated>%s</entry>`
	news := serve(func(string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>News</title><updated>2026-01-02T00:00:00Z</updated><author><name>A</name></author>` +
			fmt.Sprintf(entry, 1, `<link href="/1"/>`) + fmt.Sprintf(entry, 2, `<content type="text">inline</content>`) + `</feed>`
	}, "entry one")
	want["urn:ex:1"], want["urn:ex:2"] = "entry one", "inline"
	return site + "/list", news + "/list"
}

// startService runs the program of README.md until it has harvested both publishers, and
// returns its base URL. If another process takes its port first, it gets another one.
func startService(t *testing.T, program, pages, feed string) (base string) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())

		cmd := exec.Command(program, addr, pages, feed)
		cmd.Dir = filepath.Dir(program)
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		var output strings.Builder
		lines, left := bufio.NewScanner(io.TeeReader(stderr, &output)), 2
		for left > 0 && lines.Scan() {
			if strings.Contains(lines.Text(), " in step: ") {
				require.Regexp(t, "in step: true <nil>$", lines.Text())
				left--
			}
		}
		if left == 0 {
			return "http://" + addr + "/"
		}
		require.Contains(t, output.String(), "address already in use")
	}
}

// textsByOrigin returns the texts that a Store holds, by the id that each resource had at
// its first publisher.
func textsByOrigin(t *testing.T, store *harvest.Catalog) map[string]string {
	texts := map[string]string{}
	for item, err := range store.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		via, ok := item.Resource.Via()
		require.True(t, ok, item.Resource.ID)
		body, ok := item.Body(websync.ContentName)
		require.True(t, ok, item.Resource.ID)
		texts[via.Href] = testkit.Read(t, store, body)
	}
	return texts
}
