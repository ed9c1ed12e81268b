package harvest_test

import (
	"context"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A copier is a Source of one resource, which is a copy of one of another source.
type copier struct {
	from   *harvest.Catalog
	digest bool   // of the body is stated
	read   *int64 // how many bytes were
}

func (copier) Key() string { return "copy" }

func (copier) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		yield(harvest.Event{Resource: websync.Resource{ID: "urn:x"}}, nil)
	}
}

func (c copier) Get(ctx context.Context, job *harvest.Job) error {
	items, err := c.from.Get(ctx, "original", []string{"urn:x"})
	if err != nil {
		return err
	}
	body := items[0].Bodies[0]
	r, err := c.from.Open(ctx, body)
	if err != nil {
		return err
	}
	defer r.Close()
	if body.Link.Digests = nil; c.digest {
		body.Link.Digests = websync.Digests{body.Key}
	}
	if _, err = job.Keep(ctx, body.Name, body.Link, r); err == nil {
		*c.read, err = r.Seek(0, io.SeekCurrent)
	}
	return err
}

// TestKeepShares: a body of the Catalog of the run is not read if its digest is stated; the
// copy stays when the original goes.
func TestKeepShares(t *testing.T) {
	for name, tt := range map[string]struct {
		other, digest, shares bool
		bodies                harvest.BodyMode
	}{
		"the same Catalog":    {digest: true, shares: true},
		"another Catalog":     {digest: true, other: true},
		"without a digest":    {},
		"only to be verified": {digest: true, bodies: harvest.VerifyBodies},
	} {
		t.Run(name, func(t *testing.T) {
			from := harvest.NewCatalog(memstore.New())
			original := harvest.Event{Resource: websync.Resource{ID: "urn:x"}, Open: harvest.OpenBytes([]byte("bytes"))}
			h := &harvest.Harvester{Catalog: from, MaxDelete: -1}
			_, err := h.Run(t.Context(), harvest.Of("original", original))
			require.NoError(t, err)
			to := &harvest.Harvester{Catalog: from, Bodies: tt.bodies}
			if tt.other {
				to.Catalog = harvest.NewCatalog(memstore.New())
			}
			read := int64(-1)
			report, err := to.Run(t.Context(), copier{from, tt.digest, &read})
			require.NoError(t, err)
			require.True(t, report.InStep(), "%+v", report)
			assert.Equal(t, tt.shares, read == 0)

			_, err = h.Run(t.Context(), harvest.Of("original", harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: "urn:x"}}))
			require.NoError(t, err)
			_, err = from.Vacuum(t.Context(), 0)
			require.NoError(t, err)
			items, err := to.Catalog.Get(t.Context(), "copy", []string{"urn:x"})
			require.NoError(t, err)
			require.Len(t, items[0].Bodies, 1)
			assert.EqualValues(t, 5, items[0].Bodies[0].Link.Length)
			if tt.bodies == harvest.VerifyBodies {
				return
			}
			r, err := to.Catalog.Open(t.Context(), items[0].Bodies[0])
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.Equal(t, "bytes", string(got))
			faults, err := to.Catalog.Inspect(t.Context())
			require.NoError(t, err)
			assert.Empty(t, faults)
		})
	}
}
