package sourcetest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/spool"
)

func TestFetcherStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		is     error
	}{
		{404, websync.ErrGone}, {410, websync.ErrGone}, {403, harvest.ErrForbidden}, {401, harvest.ErrForbidden},
		{500, harvest.ErrTemporary}, {503, harvest.ErrTemporary}, {429, harvest.ErrTemporary}, {400, nil},
	} {
		f := &sourcetest.Fetcher{Site: sourcetest.Site{base: {Status: c.status, Body: "an error page"}}}
		_, err := f.Fetch(t.Context(), &harvest.Request{URL: base})
		require.Error(t, err, c.status)
		for _, kind := range []error{websync.ErrGone, harvest.ErrForbidden, harvest.ErrTemporary} {
			assert.Equal(t, kind == c.is, errors.Is(err, kind), "%d %v", c.status, kind)
		}
		var answer interface {
			StatusCode() int
			RequestURL() string
		}
		require.ErrorAs(t, err, &answer)
		assert.Equal(t, c.status, answer.StatusCode())
		assert.Equal(t, base, answer.RequestURL())
		assert.Equal(t, []sourcetest.Exchange{{URL: base, Status: c.status}}, f.Exchanges())
	}
}

func TestFetcherConditional(t *testing.T) {
	const date = "Mon, 05 Jan 2026 10:00:00 GMT"
	f := &sourcetest.Fetcher{Site: sourcetest.Site{base: {Body: "text", ETag: `W/"1"`, LastModified: date}}}
	for _, c := range []struct {
		name      string
		validator harvest.Validator
		same      bool
	}{
		{"none", harvest.Validator{URL: base}, false},
		{"weak", harvest.Validator{ETag: `W/"1"`}, true},
		{"strong", harvest.Validator{ETag: `"1"`}, true},
		{"another", harvest.Validator{ETag: `"2"`}, false},
		{"the tag counts", harvest.Validator{ETag: `"2"`, LastModified: date}, false},
		{"date", harvest.Validator{LastModified: date}, true},
		{"another date", harvest.Validator{LastModified: "Tue, 06 Jan 2026 10:00:00 GMT"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := f.Fetch(t.Context(), &harvest.Request{URL: base, Validator: c.validator})
			require.NoError(t, err)
			assert.Equal(t, c.same, resp.NotModified)
			assert.Equal(t, c.same, resp.Body == nil)
			assert.Equal(t, harvest.Validator{URL: base, ETag: `W/"1"`, LastModified: date}, resp.Validator)
			assert.Equal(t, []string{`W/"1"`}, resp.Header["Etag"])
		})
	}
}

func TestFetcherBodies(t *testing.T) {
	f := &sourcetest.Fetcher{Site: sourcetest.Site{
		base + "whole":  {Body: "some text"},
		base + "broken": {Body: "some", Broken: true},
	}}
	get := func(path string, spool bool, limit int64) (string, error) {
		resp, err := f.Fetch(t.Context(), &harvest.Request{URL: base + path, Spool: spool, MaxBytes: limit})
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		_, is := resp.Body.(io.Seeker)
		assert.Equal(t, spool, is)
		data, err := io.ReadAll(resp.Body)
		return string(data), err
	}
	for _, spool := range []bool{false, true} {
		text, err := get("whole", spool, 0)
		require.NoError(t, err)
		assert.Equal(t, "some text", text)
		_, err = get("whole", spool, 4)
		assert.ErrorIs(t, err, websync.ErrLimit)
		_, err = get("broken", spool, 0)
		assert.ErrorIs(t, err, websync.ErrTruncated)
	}
	streams, spools := f.Open()
	assert.Zero(t, streams+spools)
}

func TestFetcherOpen(t *testing.T) {
	f := &sourcetest.Fetcher{Site: sourcetest.Site{base: {Body: strings.Repeat("long ", spool.Memory)}}}
	for _, spool := range []bool{false, true} {
		resp, err := f.Fetch(t.Context(), &harvest.Request{URL: base, Spool: spool})
		require.NoError(t, err)
		streams, spools := f.Open()
		assert.Equal(t, []int{1, 0}, []int{max(streams, spools), min(streams, spools)})
		require.NoError(t, resp.Body.Close())
		streams, spools = f.Open()
		assert.Zero(t, streams+spools)
	}
}

func TestFetcherRedirects(t *testing.T) {
	f := &sourcetest.Fetcher{Site: sourcetest.Site{
		base + "a":    {Location: "b"},
		base + "b":    {Location: base + "c"},
		base + "c":    {Body: "there"},
		base + "loop": {Location: "loop"},
	}}
	resp, err := f.Fetch(t.Context(), &harvest.Request{URL: base + "a", Spool: true})
	require.NoError(t, err)
	assert.Equal(t, base+"c", resp.URL)
	assert.Equal(t, base+"a", resp.Validator.URL)
	require.NoError(t, resp.Body.Close())
	_, err = f.Fetch(t.Context(), &harvest.Request{URL: base + "loop"})
	assert.ErrorContains(t, err, "too many redirects")
}

func TestFetcherHook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &sourcetest.Fetcher{Site: sourcetest.Site{base: {Body: "first"}}}
	f.Hook = func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		assert.Equal(t, base, req.URL)
		assert.Equal(t, "first", doc.Body)
		if n == 2 {
			return doc, harvest.ErrNotYet
		}
		return doc, nil
	}
	resp, err := f.Fetch(ctx, &harvest.Request{URL: base})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, err = f.Fetch(ctx, &harvest.Request{URL: base})
	assert.Equal(t, harvest.ErrNotYet, err)
	cancel()
	_, err = f.Fetch(ctx, &harvest.Request{URL: base})
	assert.Equal(t, context.Canceled, err)
	assert.Equal(t, []sourcetest.Exchange{{base, 200}, {base, 0}, {base, 0}}, f.Exchanges())
}
