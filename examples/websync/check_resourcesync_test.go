package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTree checks a source of ResourceSync by the URL of its Source Description: every
// document of it. Of another document it checks nothing else.
func TestTree(t *testing.T) {
	const document = "<urlset " + namespace + rsNamespace + `><rs:md capability="%s"/><rs:ln rel="describedby" href="SELF/about"/>%s</urlset>`
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		doc := ""
		switch r.URL.Path {
		case "/source":
			doc = fmt.Sprintf(document, "description", `<url><loc>SELF/cap</loc><rs:md capability="capabilitylist"/><rs:ln rel="describedby" href="SELF/about"/></url>`)
		case "/cap":
			doc = fmt.Sprintf(document, "capabilitylist", `<rs:ln rel="up" href="SELF/source"/><url><loc>SELF/list</loc><rs:md capability="resourcelist"/></url>`)
		case "/list":
			doc = strings.Replace(rsMD, `resourcelist"`, `resourcelist" at="2026-01-01T00:00:00Z"`, 1)
		default:
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(doc, "SELF", "http://"+r.Host))
	}))
	defer srv.Close()

	got := check(t, "", srv.URL+"/source")
	assert.Equal(t, exitLeft, got.code)
	assert.Contains(t, got.stdout, "/list:1:210: error: hash")
	assert.Contains(t, got.stdout, "/source: description, entries 3, errors 2, warnings 0")
	assert.Subset(t, asked, []string{"/source", "/cap", "/list"})

	asked = nil
	got = check(t, "", srv.URL+"/list", "-spec", "resourcesync")
	assert.Contains(t, got.stdout, "/list: resourcelist, entries 1, errors 2, warnings 0")
	assert.NotContains(t, asked, "/cap")
}
