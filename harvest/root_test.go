package harvest_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// named is a Source that the user named by another URL than its own: what that led to.
type named struct{ getting }

func (named) Root() string { return "https://named.example/" }

// TestRootIsTheUsers: a Get that states another Root reaches nothing more. Only the host
// that the user named may have a private address, and no host that a source leads to.
func TestRootIsTheUsers(t *testing.T) {
	var roots []string
	h := &harvest.Harvester{Catalog: testkit.NewStore(t).Plain(), Fetcher: testkit.FetchFunc(
		func(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
			roots = append(roots, req.Root)
			return &harvest.Response{URL: req.URL, Status: 200, Body: io.NopCloser(strings.NewReader("x"))}, nil
		})}
	src := named{getting{snapshot(put("a", day(1))), func(ctx context.Context, job *harvest.Job) error {
		req := &harvest.Request{URL: base + "a", Root: base}
		resp, err := job.Fetch(ctx, req)
		if err != nil {
			return err
		}
		return job.Receive(ctx, "content", job.Resource.Content, resp)
	}}}
	r, err := h.Run(t.Context(), src)
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Created)
	assert.Equal(t, []string{"https://named.example/"}, roots)
}
