package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tour follows docs/tutorial.md in a shell of its own folder.
type tour struct {
	*testing.T
	dir     string
	address *strings.Replacer // of the page to those of this test
	page    *strings.Replacer // and back
	site    string            // the first URL that is served
	noticed atomic.Int64      // how often the publisher of the site has found changes
}

// blurred are the parts of an output that differ from run to run, because of times and of
// the sample that is random.
var blurred = regexp.MustCompile(`(?m)^  (requests|fetched|took|rechecked|touched|unchanged) .*\n|^\[\d+\].*\n`)

// run runs one command of the page in bash and returns its output.
func (p *tour) run(command string) string {
	before := p.noticed.Load()
	cmd := exec.CommandContext(p.Context(), "bash", "-c", p.address.Replace(command))
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(p, err, &failed, command)
	}
	if p.site == "" { // a reader takes a while until the first page changes
		pages, _ := filepath.Glob(filepath.Join(p.dir, "site/*"))
		for _, page := range pages {
			require.NoError(p, os.Chtimes(page, time.Time{}, time.Now().Add(-time.Hour)))
		}
		return string(out)
	}
	if strings.Contains(command, "site/") {
		for ended := time.Now().Add(time.Minute); p.noticed.Load() == before; { // an answer with the sitemap follows a scan
			require.True(p, time.Now().Before(ended), command)
			resp, err := http.Get(p.site)
			require.NoError(p, err)
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	return string(out)
}

// start starts a command of the page that ends in "&", and returns its output up to the
// URL at which it serves.
func (p *tour) start(command string) (output string) {
	cmd := exec.CommandContext(p.Context(), "bash", "-c", "exec "+strings.TrimSuffix(p.address.Replace(command), " &")+" 2>&1")
	cmd.Dir = p.dir
	out, err := cmd.StdoutPipe()
	require.NoError(p, err)
	require.NoError(p, cmd.Start())
	p.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "http") {
		output += lines.Text() + "\n"
	}
	if p.site == "" {
		p.site = lines.Text()
	}
	output += lines.Text() + "\n"
	go func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "files: ") {
				p.noticed.Add(1)
			}
		}
	}()
	return output
}

// TestTutorial runs the commands of docs/tutorial.md as they stand there, and compares
// what they print with the page.
func TestTutorial(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	p := &tour{T: t, dir: filepath.Join(t.TempDir(), "tour")}
	var there, back []string
	for _, port := range []string{":8081", ":8082"} {
		l, err := net.Listen("tcp", "localhost:0")
		require.NoError(t, err)
		free := fmt.Sprint(":", l.Addr().(*net.TCPAddr).Port)
		l.Close()
		there, back = append(there, port, free, "_"+port[1:], "_"+free[1:]), append(back, free, port)
	}
	p.address, p.page = strings.NewReplacer(there...), strings.NewReplacer(back...)

	require.NoError(t, os.Mkdir(p.dir, 0o755))
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asCommand, os.Args[0])
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "websync"), []byte(program), 0o755))
	_, session, ok := strings.Cut(string(text), "$ cd tour\n") // the folder and the program are there
	require.True(t, ok)
	session, _, ok = strings.Cut(session, "$ kill %1 %2\n") // the test ends what it has begun
	require.True(t, ok)
	tested := 0
	for _, block := range regexp.MustCompile("(?s)(?:^|```console\n)(.*?)```").FindAllStringSubmatch(session, -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			do := p.run
			if strings.HasSuffix(command, " &") {
				do = p.start
			}
			got := blurred.ReplaceAllString(p.page.Replace(do(command)), "")
			want = blurred.ReplaceAllString(want, "")
			assert.Equal(t, strings.TrimSpace(want), strings.TrimSpace(got), command)
			tested++
		}
	}
	assert.Equal(t, 22, tested)
}
