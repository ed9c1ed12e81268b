package browser

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const start = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A page</title>`

func TestPages(t *testing.T) {
	pages := map[string]string{
		"/good":      start + `<p>Good`,
		"/wide":      start + `<div style="width: 700px">Wide</div>`,
		"/boxed":     start + `<div style="overflow-x: auto"><div style="width: 700px">Wide</div></div>`,
		"/throws":    start + `<script>throw new Error("thrown")</script>`,
		"/complains": start + `<script>console.error("said")</script>`,
		"/loads":     start + `<link rel="icon" href="data:,"><img src="/picture" alt="">`,
		"/missing":   start + `<img src="/none" alt="">`,
		"/forbidden": start + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p style="color: red">Red`,
		"/abroad":    start + `<img src="http://www.example.org/picture" alt="">`,
		"/picture":   `<svg xmlns="http://www.w3.org/2000/svg"/>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/picture":
			w.Header().Set("Content-Type", "image/svg+xml")
		case r.URL.Path == "/favicon.ico":
			ok = true
		}
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Write([]byte(page))
	}))
	defer server.Close()
	b := Start(t)
	for _, test := range []struct {
		path, problem, request string
		width                  int
	}{
		{"/good", "", "", Phone},
		{"/wide", "", "", 700},
		{"/boxed", "", "", Phone},
		{"/throws", "thrown", "", Phone},
		{"/complains", "said", "", Phone},
		{"/loads", "", "/picture", Phone},
		{"/missing", "404", "/none", Phone},
		{"/forbidden", "Content Security Policy", "", Phone},
		{"/abroad", "ERR_NAME_NOT_RESOLVED", "http://www.example.org/picture", Phone},
	} {
		t.Run(test.path, func(t *testing.T) {
			p := b.Open(server.URL+test.path, View{Width: Phone})
			assert.LessOrEqual(t, test.width, p.Width())
			assert.Less(t, p.Width(), test.width+30) // the page's margin
			if test.problem == "" {
				assert.Empty(t, p.Problems)
			} else {
				require.NotEmpty(t, p.Problems)
				assert.Contains(t, p.Problems[0], test.problem)
			}
			if test.request == "" {
				assert.Subset(t, []string{server.URL + "/favicon.ico"}, p.Requests)
			} else {
				require.NotEmpty(t, p.Requests)
				assert.Contains(t, p.Requests[0], test.request)
			}
		})
	}
}

func TestViews(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(start+`<style>p { color: black } @media (prefers-color-scheme: dark) { p { color: white } } @media print { p { color: red } }</style><p>Text</p><div style="height: 3000px">`), 0o666))
	b := Start(t)
	for view, colour := range map[View]string{
		{Width: Phone}: "rgb(0, 0, 0)", {Width: Desktop, Dark: true}: "rgb(255, 255, 255)", {Width: Desktop, Print: true}: "rgb(255, 0, 0)",
	} {
		t.Run(view.String(), func(t *testing.T) {
			p := b.Open("file://"+file, view)
			var got string
			p.Eval(`getComputedStyle(document.querySelector("p")).color`, &got)
			assert.Equal(t, colour, got)
			picture := filepath.Join(t.TempDir(), "page.png")
			p.Screenshot(picture)
			data, err := os.ReadFile(picture)
			require.NoError(t, err)
			size, err := png.DecodeConfig(bytes.NewReader(data))
			require.NoError(t, err)
			assert.Equal(t, view.Width, size.Width)
			assert.Greater(t, size.Height, 3000)
			assert.Empty(t, p.Problems)
		})
	}
}
