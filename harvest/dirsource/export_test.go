package dirsource

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// Ahead sets the clock of a Source ahead.
func (s *Source) Ahead(d time.Duration) { s.now = func() time.Time { return time.Now().Add(d) } }

var (
	TypeByContent = typeByContent
	TypeByName    = (*Source).typeByName
	Tag           = (*Source).tag
)

// Matches reports whether a pattern matches a path.
func Matches(text, path string) (bool, error) {
	p, err := syntax.ParseGlob(text)
	return err == nil && p.Matches(strings.Split(path, "/")), err
}

// Faulty returns what a walk yields for a directory whose names can be read, but not the
// state of any file.
func (s *Source) Faulty(ctx context.Context) (yielded []harvest.Event, err error) {
	at, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	names, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer names.Close()
	at.Close()
	pass := docfetch.Pass{Format: "dirsource"}
	for ev, err := range pass.Events(nil, func(p *docfetch.Pass) error {
		w := &walk{Pass: p, source: s}
		l, err := (&lister{walk: w, at: at, names: names}).listing(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		return w.entries(ctx, l, s.Base)
	}) {
		if err != nil {
			return nil, err
		}
		yielded = append(yielded, ev)
	}
	return yielded, nil
}
