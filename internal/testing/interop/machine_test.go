package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A tool is a program or library of others.
type tool struct {
	name string
	// deb is a package of Debian, npm one of npm with its version, and module one of go.mod
	deb, npm, module string
	script           string // in testdata, and arguments behind those of the test
	// differs has fields that arrive otherwise than published, and what users should do
	differs map[string]string
}

// what scripts need besides
var besides = []string{"curl", "jq", "sqlite3", "libjson-perl", "libwww-perl", "python3-rdflib", "python3-html5lib", "ruby"}

// folder is where tools are installed and run.
var folder = os.Getenv("WEBSYNC_INTEROP")

// install installs all tools, or skips the test.
func install(t *testing.T) {
	if folder == "" {
		t.Skip("WEBSYNC_INTEROP is not set")
	}
	if err := installed(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func installed() error {
	debs, npms := slices.Clone(besides), []string{}
	var all []tool
	for _, k := range kinds {
		all = append(all, k.tools...)
	}
	for _, f := range families {
		all = append(all, f.tools...)
	}
	for _, c := range all {
		if c.deb != "" {
			debs = append(debs, c.deb)
		}
		if c.npm != "" {
			npms = append(npms, c.npm)
		}
	}
	slices.Sort(npms)
	os.RemoveAll(filepath.Join(folder, "scripts"))
	if err := os.CopyFS(filepath.Join(folder, "scripts"), os.DirFS("testdata")); err != nil {
		return err
	}
	script := fmt.Sprintf(`set -e
exec 2>&1
if ! dpkg -s %[1]s >/dev/null 2>&1; then
	apt-get update -qq
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io %[1]s >apt.log || { cat apt.log; exit 1; }
fi
[ "$(cat npm.list)" = "%[2]s" ] || npm install --no-audit --no-fund --ignore-scripts --silent %[2]s
echo "%[2]s" >npm.list`, strings.Join(debs, " "), strings.Join(slices.Compact(npms), " "))
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = folder
	if out, err := cmd.Output(); err != nil {
		return fmt.Errorf("what WEBSYNC_INTEROP needs can't be installed: %w\n%s", err, out)
	}
	return nil
}

var interpreters = map[string][]string{
	".mjs": {"node"}, ".py": {"/usr/bin/python3", "-P"}, ".rb": {"ruby"}, ".pl": {"perl"}, ".sh": {"bash"}, ".go": {"go", "run"},
}

// run runs a tool with arguments, and returns what it prints.
func (c *tool) run(t *testing.T, args ...string) []byte {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	script := strings.Fields(c.script)
	interpreter := interpreters[filepath.Ext(script[0])]
	line := slices.Concat(interpreter, []string{filepath.Join(folder, "scripts", script[0])}, args, script[1:])
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	if interpreter[0] != "go" { // which is run in this module
		cmd.Dir = t.TempDir()
	}
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", line, stderr.String())
	return out
}

// version returns the upstream version, without what Debian changes in a release.
func (c *tool) version(t *testing.T) string {
	switch {
	case c.npm != "":
		return c.npm[strings.LastIndex(c.npm, "@")+1:]
	case c.module != "":
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", c.module).Output()
		require.NoError(t, err)
		return strings.TrimSpace(strings.TrimPrefix(string(out), "v"))
	}
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", c.deb).Output()
	require.NoError(t, err)
	version := string(out)
	_, epoch, ok := strings.Cut(version, ":")
	if ok {
		version = epoch
	}
	if _, really, ok := strings.Cut(version, "+really"); ok {
		version = really
	}
	parts := strings.FieldsFunc(version, func(r rune) bool { return r == '+' || r == '-' || r == '~' })
	numbers := strings.Split(parts[0], ".")
	return strings.Join(numbers[:min(2, len(numbers))], ".")
}

// A row has the fields of an entry.
type row map[string]string

// rows reads lines of JSON.
func rows(t *testing.T, out []byte) (all []row) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var fields map[string]any
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&fields), lines.Text())
		r := row{}
		for name, value := range fields {
			if value != nil && fmt.Sprint(value) != "[]" {
				r[name] = fmt.Sprint(value)
			}
		}
		all = append(all, r)
	}
	return all
}
