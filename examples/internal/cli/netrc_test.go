package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
)

func netrcFile(t *testing.T, content string, mode os.FileMode) string {
	name := filepath.Join(t.TempDir(), "netrc")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	require.NoError(t, os.Chmod(name, mode))
	return name
}

// signed returns the headers that a netrc file makes, by origin.
func signed(t *testing.T, content string) map[string]string {
	logins, err := parseNetrc([]byte(content))
	require.NoError(t, err)
	headers := map[string]string{}
	for _, l := range logins {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		require.NoError(t, l.sign()(r))
		headers[l.origin] = strings.Join(r.Header["Authorization"], "|")
	}
	return headers
}

func TestNetrc(t *testing.T) {
	basic := func(user, password string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	assert.Equal(t, map[string]string{
		"https://example.org":       basic("me", "secret"),
		"http://example.org:8080":   "Bearer mF_9.B5f-4.1JqM",
		"https://example.net:8443":  basic(`a "b" \c`, "# x"),
		"https://[2001:db8::1]":     basic("", ""),
		"https://token.example.com": basic("machine", "login"),
	}, signed(t, "\ufeffmachine example.org login me password secret\r\n  # machine evil.example login a password b\n\n"+
		"machine http://example.org:8080\n\ttoken\n\tmF_9.B5f-4.1JqM\n"+
		`machine example.net:8443 login "a \"b\" \\c" account x password "# x"`+"\n"+
		`machine [2001:db8::1] login "" password ""`+"\nmachine token.example.com password login login machine"))
	assert.Empty(t, signed(t, ""))
}

// What is wrong in a file is named by its line, and by nothing that the file holds.
func TestNetrcErrors(t *testing.T) {
	for content, want := range map[string]string{
		"hunter2":                         "line 1: not one of machine, login, password, account and token",
		"\nlogin hunter2":                 "line 2: login before the first machine",
		"machine h.example login hunter2": "line 1: a machine must have either login and password, or token",
		"machine h.example password hunter2\nmachine i.example token x": "line 1: a machine must have either login and password, or token",
		"machine h.example\n\nmachine hunter2 token x":                  "line 1: a machine must have either login and password, or token",
		"machine h.example token hunter2 login hunter2":                 "line 1: a machine must have either login and password, or token",
		"machine h.example login hunter2 password":                      "line 1: password without a value",
		"machine": "line 1: machine without a value",
		"machine h.example login hunter2 login hunter2":                     "line 1: login twice for one machine",
		"machine h.example login hunter2:x password hunter2":                "line 1: login with a colon",
		"machine h.example token hunter2\nmachine https://H.EXAMPLE:443/":   "line 2: a second entry of one machine",
		"machine h.example token \"hunter2 x\"":                             "line 1: token with a character that none has",
		"machine h.example token hünter2":                                   "line 1: token with a character that none has",
		"machine h.example token \"\"":                                      "line 1: token with a character that none has",
		"machine h.example login a password \"hunter2\x00\"":                "line 1: password with a control character",
		"machine h.example login a\npassword \"hunter2":                     "line 2: no quote at the end of a value",
		"machine h.example login a\npassword \"hunter2\\":                   "line 2: no quote at the end of a value",
		"machine h.example token hunter2\ndefault login hunter2 password x": "line 2: default is not taken",
		"macdef hunter2\n":                                             "line 1: not one of machine, login",
		"\nmachine ftp://hunter2.example token x":                      "line 2: machine must be followed by a host",
		"machine https://hunter2.example/hunter2 token x":              "line 1: machine must be followed by a host",
		"machine https://hunter2@h.example token x":                    "line 1: machine must be followed by a host",
		"machine \"hunter2 x\" token x":                                "line 1: machine must be followed by a host",
		"machine hunter2.example:99999x token x":                       "line 1: machine must be followed by a host",
		"machine \"\" token hunter2":                                   "line 1: machine must be followed by a host",
		"machine h.example token a\nmachine i.example token b hunter2": "line 2: not one of machine, login",
		strings.Repeat("#hunter2\n", 200_000):                          "longer than 1 MiB",
	} {
		name := netrcFile(t, content, 0o600)
		err := Authorize(name, fetch.New(nil))
		require.ErrorContains(t, err, "netrc "+name+": "+want, "%.100q", content)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.NotContains(t, err.Error(), "hünter2")
	}
	require.EqualError(t, Authorize("none"), "netrc none: no such file or directory")
	require.ErrorContains(t, Authorize(t.TempDir()), "its mode is ")
	require.NoError(t, Authorize(""))
}

// A file that others may use is refused.
func TestNetrcMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o620: false, 0o602: false, 0o610: false, 0o666: false} {
		err := Authorize(netrcFile(t, "machine h.example token hunter2", mode), fetch.New(nil))
		assert.Equal(t, ok, err == nil, "%#o: %v", mode, err)
	}
}

// Credentials go to their scheme, host and port, and nowhere else after a redirect. Those
// of a URL replace them.
func TestNetrcIsSent(t *testing.T) {
	got := map[string]string{}
	var to string
	serve := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got[name+r.URL.Path] = r.Header.Get("Authorization")
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, to, http.StatusFound)
			}
		}))
		t.Cleanup(s.Close)
		return s
	}
	here, there := serve("here"), serve("there")
	to = there.URL + "/x"
	host := strings.TrimPrefix(here.URL, "http://")
	get := func(netrc string, targets ...Target) {
		f := SourceFlags{Netrc: netrcFile(t, netrc, 0o600), AllowPrivate: true, Rate: 1000}
		client, err := f.Client(nil, targets)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		client.IgnoreRobots = true
		clear(got)
		resp, err := client.Fetch(t.Context(), &harvest.Request{URL: here.URL + "/moved"})
		require.NoError(t, err)
		require.NoError(t, errors.Join(resp.Body.Close()))
	}
	get("machine " + here.URL + " token abc")
	assert.Equal(t, map[string]string{"here/moved": "Bearer abc", "there/x": ""}, got)
	get("machine " + host + " token abc")
	assert.Equal(t, map[string]string{"here/moved": "", "there/x": ""}, got, "a host alone is one of https")
	target, err := ParseTarget("sitemap", "http://me:pw@"+host+"/")
	require.NoError(t, err)
	get("machine "+here.URL+" token abc", target)
	assert.Equal(t, map[string]string{"here/moved": "Basic bWU6cHc=", "there/x": ""}, got)
}
