// Package browser opens pages in headless Chromium: which messages they write to the
// console, what they load, how wide they are, what they look like. Only tests import it.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// programs are the names of Chromium and its relatives.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// lifetime limits how long a browser runs, so that a hanging one fails its test.
const lifetime = 3 * time.Minute

// A Browser is a running Chromium. It is used by one goroutine at a time.
type Browser struct {
	t      testing.TB
	in     io.Writer
	out    *bufio.Reader
	lastID int
	pages  map[string]*Page // by session
}

// Start starts a Browser that ends with the test. Where no Chromium is installed, it
// skips the test; if CI is true, the test fails.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := find()
	if program == "" && os.Getenv("CI") == "true" {
		t.Fatal("chromium must be there in CI")
	}
	if program == "" {
		t.Skip("no chromium: the pages are not opened in a browser")
	}
	// not TempDir, which fails if a process of the browser outlives the first by a moment
	profile, err := os.MkdirTemp("", "browser")
	must(t, err)
	childIn, in, err := os.Pipe()
	must(t, err)
	out, childOut, err := os.Pipe()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	cmd := exec.CommandContext(ctx, program, arguments(profile)...)
	cmd.ExtraFiles = []*os.File{childIn, childOut} // the descriptors 3 and 4
	must(t, cmd.Start())
	childIn.Close()
	childOut.Close()
	b := &Browser{t: t, in: in, out: bufio.NewReader(out), pages: map[string]*Page{}}
	t.Cleanup(func() {
		b.send("", "Browser.close", nil)
		io.Copy(io.Discard, b.out)
		cmd.Wait()
		cancel()
		in.Close()
		out.Close()
		os.RemoveAll(profile)
	})
	return b
}

func find() string {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// arguments returns those of a browser that is driven through a pipe and reaches this
// machine only.
func arguments(profile string) []string {
	args := []string{
		"--headless", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-extensions", "--no-first-run", "--no-default-browser-check",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which root cannot have
	}
	return args
}

// A message is one message of the DevTools protocol, in either direction.
type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// send sends a command and returns its number.
func (b *Browser) send(session, method string, params any) (int, error) {
	b.lastID++
	data, err := json.Marshal(message{ID: b.lastID, SessionID: session, Method: method, Params: params})
	if err != nil {
		return 0, err
	}
	_, err = b.in.Write(append(data, 0))
	return b.lastID, err
}

// call carries out a command and decodes its result.
func (b *Browser) call(session, method string, params, result any) {
	b.t.Helper()
	id, err := b.send(session, method, params)
	must(b.t, err)
	for {
		switch m := b.receive(); {
		case m.ID != id:
		case m.Error != nil:
			b.t.Fatalf("chromium: %s: %s", method, m.Error.Message)
		default:
			if result != nil {
				must(b.t, json.Unmarshal(m.Result, result))
			}
			return
		}
	}
}

// receive reads one message. Events go to their pages.
func (b *Browser) receive() message {
	b.t.Helper()
	data, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium has ended, or takes longer than %v: %v", lifetime, err)
	}
	var params json.RawMessage
	m := message{Params: &params}
	must(b.t, json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m))
	if page := b.pages[m.SessionID]; page != nil && m.Method != "" {
		must(b.t, page.event(m.Method, params))
	}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("chromium: %w", err))
	}
}
