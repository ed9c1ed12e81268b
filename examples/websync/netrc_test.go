package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNetrcInPrograms: each subcommand that fetches takes credentials from a file, and no
// output has them.
func TestNetrcInPrograms(t *testing.T) {
	w := newWeb(t)
	var relayed atomic.Bool
	closed := func(page http.HandlerFunc) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer hush" {
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			relayed.Store(true)
			page(rw, r)
		}
	}
	w.set("/a", closed(text("A")))
	w.set("/sitemap.xml", closed(text(w.urlset("/a"))))
	w.set("/acts.csv", closed(text(actList)))
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("netrc", []byte("machine "+w.URL+" token hush\n"), 0o600))
	require.NoError(t, os.WriteFile("open", []byte("machine "+w.URL+" token hush\n"), 0o644))
	require.NoError(t, os.Chmod("open", 0o644))
	require.NoError(t, os.WriteFile("wrong", []byte("machine "+w.URL+"\nhush hush\n"), 0o600))

	for name, call := range map[string]func(args ...string) answer{
		"harvest": func(args ...string) answer {
			return callHarvest(t, append(args, "-store=mem", "-protocol=sitemap", w.URL+"/sitemap.xml")...)
		},
		"check": func(args ...string) answer {
			return answer(check(t, "", append(args, w.URL+"/sitemap.xml")...))
		},
		"publish": func(args ...string) answer {
			return callPublish(t, append(args, "-protocol=eli", "-csv="+w.URL+"/acts.csv", "-store=mem", "-base=https://law.example/", "-out=site")...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := call("-netrc=netrc")
			a.is(t, exitDone)
			for args, want := range map[string]string{"": "401", "-netrc=open": "its mode is 0644", "-netrc=wrong": "line 2: not one of", "-netrc=none": "netrc none: no such file"} {
				b := call(strings.Fields(args)...)
				assert.NotEqual(t, exitDone, b.code)
				assert.Contains(t, b.stderr, want)
				a.stdout += b.stdout + b.stderr
			}
			assert.NotContains(t, a.stdout+a.stderr, "hush")
		})
	}
	for _, args := range [][]string{
		{"-netrc=netrc", "-store=mem", "-protocol=sitemap", w.URL + "/sitemap.xml"},
		{configured(t, `{"store": "mem", "netrc": %q, "sources": [{"url": %q, "protocol": "sitemap"}]}`, filepath.Join(dir, "netrc"), w.URL+"/sitemap.xml")},
	} {
		relayed.Store(false)
		r := startRelay(t, 1, args...)
		eventually(t, relayed.Load, r.stderr)
		assert.Equal(t, exitDone, r.stop())
		assert.NotContains(t, r.stderr.String(), "hush")
	}
	assert.Contains(t, callPublish(t, "-netrc=netrc", "-dir=.").stderr, "-netrc needs -csv")
}

// TestCredentialsOfOthers: what a source lists on another host is requested with the
// credentials for that host only if the configuration says so.
func TestCredentialsOfOthers(t *testing.T) {
	w := newWeb(t)
	var asked, told atomic.Int64
	w.set("/closed", func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer hush" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		told.Add(1)
		text("closed")(rw, r)
	})
	netrc := filepath.Join(t.TempDir(), "netrc")
	require.NoError(t, os.WriteFile(netrc, []byte("machine "+w.URL+" token hush\n"), 0o600))
	list := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sitemap.xml" {
			http.NotFound(rw, r)
			return
		}
		text(w.urlset("/closed"))(rw, r)
	}))
	defer list.Close()
	url := strings.Replace(list.URL, "127.0.0.1", "localhost", 1) + "/sitemap.xml"
	relay := func(of string) {
		asked.Store(0)
		r := startRelay(t, 1, configured(t, `{"store": "mem", "allow_private": true, "netrc": %q, "sources": [{"url": %q, "protocol": "sitemap"%s}]}`, netrc, url, of))
		eventually(t, func() bool { return asked.Load() > 0 }, r.stderr)
		assert.Equal(t, exitDone, r.stop())
	}
	relay("")
	relay(`, "credentials": ["other.example", "http://127.0.0.1:1"]`)
	assert.Zero(t, told.Load())
	relay(fmt.Sprintf(`, "credentials": [%q]`, w.URL))
	assert.NotZero(t, told.Load())
}
