package eli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireServed checks that a handler answers with the bytes of an exported file, which
// hold some text, and answers a conditional request for it.
func requireServed(t *testing.T, h http.Handler, dir, path, mediaType, holds string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	require.NoError(t, err)
	req := httptest.NewRequest("GET", path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, mediaType, w.Header().Get("Content-Type"))
	assert.Equal(t, string(file), w.Body.String())
	assert.Contains(t, string(file), holds)
	req.Header.Set("If-None-Match", w.Header().Get("ETag"))
	w = httptest.NewRecorder()
	h.ServeHTTP(w, req)
	assert.Equal(t, http.StatusNotModified, w.Code)
}
