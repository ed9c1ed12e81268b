package harvest_test

import (
	"context"
	"iter"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Store has the methods of a [harvest.Catalog] that are checked here, so that tests can
// break them one by one.
type checkedCatalog interface {
	websync.Catalog
	websync.State

	Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error)
	Renew(ctx context.Context, c *harvest.Claim) error
	Release(ctx context.Context, c *harvest.Claim) error
	Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) (conflicts []string, err error)
	Checkpoint(ctx context.Context, source string) (harvest.Checkpoint, error)
	Lookup(ctx context.Context, source string, ids []string) ([]harvest.Record, error)
	Records(ctx context.Context, source, after string) iter.Seq2[harvest.Record, error]
	Briefs(ctx context.Context, source, after string) iter.Seq2[harvest.Brief, error]
	Fingerprints(ctx context.Context, source string) (*harvest.Fingerprints, error)
	Due(ctx context.Context, source string, now time.Time, n int) ([]harvest.Task, error)
	LookupTasks(ctx context.Context, source string, ids []string) ([]harvest.Task, error)
	Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error]
	NewBody(ctx context.Context) (harvest.BodyWriter, error)
	Compact(ctx context.Context) (generation uint64, err error)
	Drop(ctx context.Context, before uint64) error
	Vacuum(ctx context.Context, grace time.Duration) (removed int, err error)
}
