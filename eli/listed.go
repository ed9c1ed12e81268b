package eli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
)

// An elsewhere is the Locator of sources whose pages another program serves at their ids.
type elsewhere []string

// URL implements [websync.Locator].
func (elsewhere) URL(item *websync.Item, _ string) string { return item.Resource.ID }

// Find implements [websync.Locator]: nothing is served here.
func (elsewhere) Find(string) (id, body string, ok bool) { return "", "", false }

// Owns implements [websync.Locator].
func (l elsewhere) Owns(source string) bool { return slices.Contains(l, source) }

var (
	errNotOwn   = errors.New("its source is not own: only the publisher of ELIs can list them")
	errReserved = errors.New("it is the URL of one of the publisher's documents")
	errFragment = errors.New("it has a fragment, which no server sees")
	errUnclean  = errors.New("its path has empty segments or dot segments, so it has other URLs, too")
)

// refusal returns why a resource can't be listed; nil if it can.
func (p *Publisher) refusal(item *websync.Item) error {
	id := item.Resource.ID
	rest, under := strings.CutPrefix(id, p.prefix)
	if !under || rest == "" {
		return fmt.Errorf("it does not begin with %q: a sitemap of ELIs lists only those of its own host and directory", p.prefix)
	}
	if fault := syntax.URLFault(id); fault != "" {
		return errors.New(fault)
	}
	local, query, _ := strings.Cut(id[len(p.site.Origin):], "?")
	switch {
	case strings.Contains(local+query, "#"):
		return errFragment
	case path.Clean(local) != strings.TrimSuffix(local, "/"):
		return errUnclean
	case p.Reserved(local):
		return errReserved
	case !p.site.Locator.Owns(item.Source):
		return errNotOwn
	case p.Pattern != nil && !p.Pattern.MatchString(id):
		return fmt.Errorf("it does not match the pattern %q", p.Pattern)
	case p.Locator == nil:
		return nil
	}
	if url := p.Locator.URL(item, websync.ContentName); url != id {
		return fmt.Errorf("its page is not at the ELI, but at %q", url)
	}
	body, kept := publishing.KeptContent(item)
	if t := body.Link.Type; kept && t != "" && !syntax.IsPage(t) {
		return fmt.Errorf("its content is %q, not the HTML page that an ELI must lead to", t)
	}
	return nil
}

// stated returns the time that a resource states, as it is written. It is zero if there
// is none, or if it is after the commit.
func stated(item *websync.Item) websync.Datetime {
	d := document.SchemaDate(item.Resource.Modified)
	if item.Kind == websync.Deleted || d.Time().After(item.Time) {
		return websync.Datetime{}
	}
	return d
}

// A verdict is which time is listed for a state of an act.
type verdict uint8

const (
	asCommitted verdict = iota // that of the commit
	asStated                   // the one that the state itself has
	asBefore                   // as stated if so is that of the state before, else that of the commit
)

// judge returns the verdict on a state of an act after another one. The time that was
// listed for the one before is either the time that it states or that of its commit.
func judge(item, before *websync.Item) verdict {
	at := stated(item)
	if at.IsZero() {
		return asCommitted
	}
	if at.Time().After(before.Time) {
		return asStated
	}
	earlier := stated(before)
	if earlier.IsZero() || !earlier.Time().Before(at.Time()) {
		return asCommitted
	}
	return asBefore
}

// times returns the time that is listed for each of the items: as stated, if it is later
// than the time that was listed for the state before, or else that of the commit, which
// is later than everything before it. The times depend on the log of the generation only.
func (p *Publisher) times(ctx context.Context, generation uint64, items []*websync.Item) ([]websync.Datetime, error) {
	// how many earlier states are read; if that decides nothing, the commit counts
	const most = 8
	type open struct {
		index int
		state *websync.Item // whose verdict decides
	}
	d, _, err := p.log.Whole(ctx)
	if err != nil {
		return nil, err
	}
	times := make([]websync.Datetime, len(items))
	var undecided []open
	for i, item := range items {
		times[i] = websync.NewDatetime(item.Time)
		switch at := stated(item); {
		case at.IsZero():
		case item.Prior == 0:
			// a later generation lacks the states before those that it began with
			if generation == 1 || item.Kind == websync.Created {
				times[i] = at
			}
		case d.Generation == generation: // otherwise the number is not of this log
			undecided = append(undecided, open{i, item})
		}
	}
	for n := 0; n < most && len(undecided) > 0; n++ {
		states := make([]*websync.Item, len(undecided))
		for i := range undecided {
			states[i] = undecided[i].state
		}
		priors, err := d.Priors(ctx, states)
		if err != nil {
			return nil, err
		}
		rest := undecided[:0]
		for i, o := range undecided {
			before := priors[i]
			v := judge(o.state, before)
			switch {
			case v == asBefore && before.Prior > 0:
				rest = append(rest, open{o.index, before})
			case v == asStated, v == asBefore && generation == 1:
				times[o.index] = stated(items[o.index])
			}
		}
		undecided = rest
	}
	return times, nil
}

// epoch is the updated of a feed whose log is empty. It is the same for every request.
var epoch = websync.NewDatetime(time.Unix(0, 0).UTC())
