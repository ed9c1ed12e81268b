package eli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/websync-go/websync"
)

// Acts yields the metadata of all live acts of a Catalog that a [Source] has harvested,
// in the order of their Born. If no source is named, it is that of all sources.
//
// An error about one act is an [*ActError], and the loop may go on to the next. An error
// of the Catalog, or of the context, is the last value. The LegalResource is nil with an
// error.
func Acts(ctx context.Context, c websync.Catalog, sources ...string) iter.Seq2[*LegalResource, error] {
	return func(yield func(*LegalResource, error) bool) {
		for item, err := range c.Resources(ctx, websync.Range{Sources: sources}) {
			if err != nil {
				yield(nil, fmt.Errorf("eli: the catalog: %w", err))
				return
			}
			act, err := readAct(ctx, c, &item)
			_, one := errors.AsType[*ActError](err)
			if !yield(act, err) || err != nil && !one {
				return
			}
		}
	}
}

// An ActError is why the metadata of one act can't be read: it is not kept, which is
// [websync.ErrNotFound], or it can't be read as that of the act.
type ActError struct {
	URI string // of the act
	Err error
}

// Error returns, for example, "eli: the metadata of https://law.example/1: not found".
func (e *ActError) Error() string {
	return fmt.Sprintf("eli: the metadata of %s: %v", websync.RedactURL(e.URI), e.Err)
}

// Unwrap returns e.Err.
func (e *ActError) Unwrap() error { return e.Err }

func readAct(ctx context.Context, c websync.Catalog, item *websync.Item) (*LegalResource, error) {
	body, _ := item.Body(graphName) // without one, Open returns ErrNotFound
	quads, err := readBody(ctx, c, body)
	switch {
	case errors.Is(err, websync.ErrNotFound):
		return nil, &ActError{item.Resource.ID, err}
	case err != nil:
		return nil, fmt.Errorf("eli: the catalog: the metadata of %s: %w", websync.RedactURL(item.Resource.ID), err)
	}
	graph, _, err := ReadGraph(bytes.NewReader(quads))
	if err != nil {
		return nil, &ActError{item.Resource.ID, err}
	}
	act, err := graph.Resource(item.Resource.ID)
	if err != nil {
		return nil, &ActError{item.Resource.ID, err}
	}
	return act, nil
}

func readBody(ctx context.Context, c websync.Catalog, b websync.Body) ([]byte, error) {
	r, err := c.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}
