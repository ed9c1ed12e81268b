package rinfo

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/publishing"
)

// maxPriors limits how many changes of a resource are read to find its first.
const maxPriors = 100

// appeared returns the time of the commit with which a resource appeared, or appeared
// again after a deletion, as far as the log of the generation knows it. It looks at the
// last changes of the resource only, so the result depends on entries of the log up to
// item.
func appeared(ctx context.Context, entry atom.EntryFunc, item *websync.Item) (time.Time, error) {
	at, kind, prior := item.Time, item.Kind, item.Prior
	for range maxPriors {
		if prior == 0 || kind == websync.Created {
			break
		}
		before, err := entry(ctx, prior)
		switch {
		case err != nil:
			return at, err
		case before == nil:
			return at, fmt.Errorf("rinfo: the catalog: %w: no entry %d", websync.ErrCatalog, prior)
		case before.Kind == websync.Deleted:
			return at, nil
		}
		at, kind, prior = before.Time, before.Kind, before.Prior
	}
	return at, nil
}

// A sum is what the profile demands of a body: its MD5 and its length.
type sum struct {
	md5    string
	length int64
}

// sums remembers the sums of bodies by their keys: between maxSums and twice as many of
// the last. It is safe for concurrent use.
type sums struct {
	mu            sync.Mutex
	recent, older map[string]sum
}

const maxSums = 4096

// add adds the MD5 of a kept body to its digests, and its length. If the bytes are gone,
// it adds nothing.
func (s *sums) add(ctx context.Context, catalog websync.Catalog, b *websync.Body) error {
	md5, _ := b.Link.Digests.Get("md5")
	_, hasLength := b.Link.StatedLength()
	if b.Key.IsZero() || md5.Known() && hasLength {
		return nil
	}
	sum, known := s.get(b.Key.Sum)
	if !known {
		var err error
		switch sum, err = sumOf(ctx, catalog, *b); {
		case errors.Is(err, websync.ErrNotFound):
			return nil
		case err != nil:
			return publishing.CatalogError("rinfo", err)
		}
		s.put(b.Key.Sum, sum)
	}
	if !md5.Known() {
		b.Link.Digests = slices.Insert(slices.Clone(b.Link.Digests), 0, websync.Digest{Algorithm: "md5", Sum: sum.md5})
	}
	if b.Link.Length = sum.length; sum.length == 0 {
		b.Link.Length = websync.StatedZero
	}
	return nil
}

// sumOf returns the sum of a body.
func sumOf(ctx context.Context, catalog websync.Catalog, b websync.Body) (s sum, err error) {
	r, err := catalog.Open(ctx, b)
	if err != nil {
		return sum{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	h := md5.New()
	n, err := io.Copy(h, reader{ctx, r})
	return sum{string(h.Sum(nil)), n}, err
}

// A reader ends when its context does.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

func (s *sums) get(key string) (one sum, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, known = s.recent[key]; !known {
		one, known = s.older[key]
	}
	return one, known
}

func (s *sums) put(key string, one sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= maxSums || s.recent == nil {
		s.recent, s.older = make(map[string]sum), s.recent
	}
	s.recent[key] = one
}
