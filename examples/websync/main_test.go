package main

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs websync.
func call(t *testing.T, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return answer{code, stdout.String(), stderr.String()}
}

func TestHelp(t *testing.T) {
	a := call(t, "-h")
	a.is(t, exitDone)
	assert.Equal(t, help, a.stdout)
	for _, c := range commands(nil, nil) {
		assert.Contains(t, help, "\n  "+c.name+"\n")
		a := call(t, c.name, "-h")
		a.is(t, exitDone)
		assert.Contains(t, a.stdout, "usage: websync "+c.name+" ")
		assert.Empty(t, a.stderr)
	}
	a = call(t, "harvst")
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "websync: there is no subcommand \"harvst\"\nusage: websync ")
}

var flagOfHelp = regexp.MustCompile(`(?m)^  -([a-z-]+)(?: .*)?\n((?:    \t.*\n)+)`)

// TestFlagsOfHelp: the help of a subcommand explains its flags, and states their
// defaults.
func TestFlagsOfHelp(t *testing.T) {
	for _, c := range commands(nil, nil) {
		explained := map[string]string{}
		for _, m := range flagOfHelp.FindAllStringSubmatch(call(t, c.name, "-h").stdout, -1) {
			explained[m[1]] = m[2]
		}
		c.line().VisitAll(func(f *flag.Flag) {
			text, ok := explained[f.Name]
			assert.True(t, ok, "%s -%s", c.name, f.Name)
			if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" {
				assert.Regexp(t, `\(default "?`+regexp.QuoteMeta(d)+`"?\)`, text, "%s -%s", c.name, f.Name)
			}
			delete(explained, f.Name)
		})
		assert.Empty(t, explained, c.name)
	}
}

// TestCompletion: bash completes subcommands and their flags.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		a := call(t, "completion", shell)
		a.is(t, exitDone)
		assert.Contains(t, a.stdout, "max-delete")
	}
	call(t, "completion", "cmd").is(t, exitFailed)
	call(t, "completion").is(t, exitFailed)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	script := call(t, "completion", "bash").stdout
	complete := func(words ...string) []string {
		words = append([]string{"websync"}, words...)
		run := fmt.Sprintf("%s\nCOMP_WORDS=(%s) COMP_CWORD=%d\n_websync\necho ${COMPREPLY[@]}", script, strings.Join(words, " "), len(words)-1)
		out, err := exec.Command("bash", "-c", run).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.Fields(string(out))
	}
	assert.Equal(t, []string{"check", "completion"}, complete("c"))
	assert.Equal(t, []string{"-max-delete"}, complete("harvest", "-store", "mem", "-max"))
	assert.Equal(t, []string{"-list-size"}, complete("publish", "-list"))
	assert.Empty(t, complete("publish", "x"))
}

// TestNoArguments: without arguments websync is the demonstration.
func TestNoArguments(t *testing.T) {
	a := call(t)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "A demonstration. On this machine")
}
