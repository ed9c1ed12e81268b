package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/fill"
)

// Tests of other packages fill Catalogs, and no part of the API commits by hand.
func init() {
	fill.Commit = func(ctx context.Context, c any, source string, content ...any) error {
		return c.(*Catalog).fill(ctx, source, content)
	}
}

// fill is [fill.Commit].
func (s *Catalog) fill(ctx context.Context, source string, content []any) error {
	claim, err := s.claim(ctx, "fill/"+source, time.Minute)
	if err != nil {
		return err
	}
	b := newBatch(source)
	for _, c := range content {
		switch c := c.(type) {
		case string:
			w, err := s.newBody(ctx)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, c); err != nil {
				return err
			}
			b.Bodies = append(b.Bodies, w)
		case websync.Item:
			b.Puts = append(b.Puts, change{Record: Record{Item: c}})
		case Record:
			b.Puts = append(b.Puts, change{Record: c})
		case Task:
			b.Tasks = append(b.Tasks, c)
		default:
			return fmt.Errorf("harvest: fill: a %T", c)
		}
	}
	for i := range b.Puts {
		held, err := s.lookup(ctx, source, []string{b.Puts[i].Record.Resource.ID})
		if err != nil {
			return err
		}
		b.Puts[i].Base = held[0].Seq
	}
	conflicts, err := s.commit(ctx, claim, b)
	if err == nil && len(conflicts) > 0 {
		err = fmt.Errorf("%w: %q", websync.ErrConflict, conflicts)
	}
	return errors.Join(err, s.release(ctx, claim))
}
