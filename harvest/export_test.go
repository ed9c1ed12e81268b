package harvest

import (
	"context"
	"iter"
	"time"

	"github.com/websync-go/websync"
)

// SetPatience sets how long listing waits for getting.
func (h *Harvester) SetPatience(d time.Duration) { h.patience = d }

// OverlayOn returns the Store of a dry run on another one.
func OverlayOn(store Store) Store { return (&Catalog{store: store}).overlaid().store }

// What tests commit by hand. The methods are those of a Catalog without a capital.
type (
	Batch      = batch
	BodyWriter = pendingBody
	Brief      = brief
	Change     = change
	Claim      = claim
	TaskRef    = taskRef

	Fingerprint    = recordPrint
	FingerprintKey = printKey
	Fingerprints   = recordPrints
)

var (
	ErrBatch  = errBatch
	ErrNoBody = errNoBody
	NewBatch  = newBatch
)

func (s *Catalog) Claim(ctx context.Context, name string, ttl time.Duration) (*Claim, error) {
	return s.claim(ctx, name, ttl)
}

func (s *Catalog) Renew(ctx context.Context, c *Claim) error   { return s.renew(ctx, c) }
func (s *Catalog) Release(ctx context.Context, c *Claim) error { return s.release(ctx, c) }

func (s *Catalog) Commit(ctx context.Context, c *Claim, b *Batch) ([]string, error) {
	return s.commit(ctx, c, b)
}

func (s *Catalog) Lookup(ctx context.Context, source string, ids []string) ([]Record, error) {
	return s.lookup(ctx, source, ids)
}

func (s *Catalog) Briefs(ctx context.Context, source, after string) iter.Seq2[Brief, error] {
	return s.briefs(ctx, source, after)
}

func (s *Catalog) Fingerprints(ctx context.Context, source string) (*Fingerprints, error) {
	return s.fingerprints(ctx, source)
}

func (s *Catalog) Due(ctx context.Context, source string, now time.Time, n int) ([]Task, error) {
	return s.due(ctx, source, now, n)
}

func (s *Catalog) LookupTasks(ctx context.Context, source string, ids []string) ([]Task, error) {
	return s.lookupTasks(ctx, source, ids)
}

func (s *Catalog) NewBody(ctx context.Context) (BodyWriter, error) { return s.newBody(ctx) }

// Brief returns the brief of r.
func (r *Record) Brief() Brief { return r.brief() }

// Amounts returns what a source holds, in the order of the fields of Quota.
func (s *Catalog) Amounts(ctx context.Context, source string) ([4]int64, error) {
	all, _, err := s.amounts(ctx, source)
	return all, err
}

// Excludes reports whether f leaves r out.
func (f *Filter) Excludes(r *websync.Resource) bool {
	c, _ := f.chooser()
	return c.excludes(r)
}
