package harvest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Filter chooses which of the listed resources a run takes. The zero Filter takes all.
//
// A pattern is matched against the path of a resource: that of its ID if it is a URL, or
// else of its Content. Of one without a URL, it is the ID. The path has no
// percent-encoding. The element ** of a pattern stands for any number of path elements,
// none included; every other element matches one as [path.Match] does. A pattern without
// a slash matches in every directory: *.pdf is **/*.pdf, and /news/** is all below
// /news/. After "re:" a pattern is a regular expression, of package regexp, for any part
// of the path and, after a question mark, the query.
//
// What a Filter leaves out counts as [OutcomeExcluded], and the run is in step without
// it. It is listed nevertheless: what the Catalog holds of it, from a run with another
// Filter, stays as it is until the source states its deletion or no longer lists it.
//
// A run whose Filter is not that of the last one lists the source from the beginning, and
// ends the tasks to get what it leaves out.
type Filter struct {
	// Include, if not empty, leaves out what none of these patterns matches.
	Include []string `json:"include,omitempty"`
	// Exclude leaves out what one of these patterns matches.
	Exclude []string `json:"exclude,omitempty"`
}

// Check returns an error for the first malformed pattern.
func (f *Filter) Check() error {
	_, err := f.chooser()
	return err
}

// A chooser is a Filter that has been read. A nil one takes everything.
type chooser struct{ include, exclude []matcher }

// A matcher reports whether a pattern matches a path, which also comes element by
// element, and a query.
type matcher func(path string, elements []string, query string) bool

func (f *Filter) chooser() (*chooser, error) {
	if len(f.Include)+len(f.Exclude) == 0 {
		return nil, nil
	}
	var c chooser
	for _, kind := range []struct {
		name     string
		patterns []string
		to       *[]matcher
	}{{"Include", f.Include, &c.include}, {"Exclude", f.Exclude, &c.exclude}} {
		for _, text := range kind.patterns {
			m, err := newMatcher(text)
			if err != nil {
				return nil, fmt.Errorf("harvest: Filter.%s %q: %w", kind.name, text, err)
			}
			*kind.to = append(*kind.to, m)
		}
	}
	return &c, nil
}

func newMatcher(text string) (matcher, error) {
	if expr, ok := strings.CutPrefix(text, "re:"); ok {
		re, err := regexp.Compile(expr)
		return func(path string, _ []string, query string) bool { return re.MatchString(path + query) }, err
	}
	glob, err := syntax.ParseGlob(text)
	return func(_ string, elements []string, _ string) bool { return glob.Matches(elements) }, err
}

// leavesOut reports whether the Filter leaves an event out. A snapshot lists it
// nevertheless.
func (p *pipe) leavesOut(s *slot) bool {
	if s.task != nil || s.ev.Kind != Put || !p.chooser.excludes(&s.ev.Resource) {
		return false
	}
	s.outcome = OutcomeExcluded
	if p.snap != nil {
		p.noteEntry(s)
		p.snap.members.of(s.id(), s.ev.Document)
		if p.snap.table.keep(s.tableHash) {
			p.snap.members.partial = true // its record may have another document
		}
	}
	return true
}

// excludes reports whether a resource is left out.
func (c *chooser) excludes(r *websync.Resource) bool {
	if c == nil {
		return false
	}
	path, query := r.ID, ""
	for _, text := range []string{r.ID, r.Content.Href} {
		if u, err := url.Parse(text); err == nil && strings.HasPrefix(u.Path, "/") {
			if path = u.Path; u.RawQuery != "" {
				query = "?" + u.RawQuery
			}
			break
		}
	}
	elements := strings.Split(strings.TrimPrefix(path, "/"), "/")
	matches := func(m matcher) bool { return m(path, elements, query) }
	return len(c.include) > 0 && !slices.ContainsFunc(c.include, matches) || slices.ContainsFunc(c.exclude, matches)
}

// A choice is what a run of a source takes. The Store keeps that of the last one.
type choice struct {
	Filter
	Also []string `json:"also,omitempty"`
	// Asks is set until a run has asked for everything that is held, because Also has
	// more than before.
	Asks bool `json:"asks,omitempty"`
}

// choose reads the choice of the last run. If that of this run is another one, the source
// is listed from the beginning, and the tasks to get what is left out end.
func (r *run) choose(ctx context.Context) error {
	data, err := r.catalog.State(ctx, choiceState.of(r.key))
	if err != nil {
		return &StoreError{err}
	}
	var last choice
	known := json.Unmarshal(data, &last) == nil || len(data) == 0
	r.choice = choice{r.h.Filter, r.h.Also, last.Asks}
	now, _ := json.Marshal(r.choice) // which consists of strings
	if known && string(now) == cmp.Or(string(data), "{}") {
		return nil
	}
	if err := r.endLeftOut(ctx); err != nil {
		return err
	}
	more := slices.ContainsFunc(r.h.Also, func(rel string) bool { return !slices.Contains(last.Also, rel) })
	for rec, err := range r.catalog.Records(ctx, r.key, "") {
		if err != nil {
			return &StoreError{err}
		}
		if !rec.Live() {
			continue
		}
		r.choice.Asks = r.choice.Asks || more
		if r.chooser.excludes(&rec.Resource) {
			r.report.ExcludedHeld++
		}
	}
	b := newBatch(r.key)
	b.Checkpoint = &Checkpoint{}
	b.set(choiceState, r.choice)
	_, err = r.commits.apply(ctx, b)
	return err
}

// endLeftOut ends the tasks to get what is left out.
func (r *run) endLeftOut(ctx context.Context) error {
	for tasks, err := range parts(r.catalog.Tasks(ctx, r.key, ""), commitSlots) {
		if err != nil {
			return &StoreError{err}
		}
		b := newBatch(r.key)
		for i := range tasks {
			if t := &tasks[i]; t.Kind == TaskGet && r.chooser.excludes(&t.Resource) {
				b.Done = append(b.Done, taskRef{ID: t.Resource.ID, N: t.N})
			}
		}
		if _, err := r.commits.applyRest(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// chosen notes that a run has asked for everything that is held.
func (r *run) chosen(ctx context.Context) error {
	if !r.choice.Asks || !r.report.Complete {
		return nil
	}
	r.choice.Asks = false
	b := newBatch(r.key)
	b.set(choiceState, r.choice)
	_, err := r.commits.apply(ctx, b)
	return err
}

// rechecks reports whether the run asks for everything that seems unchanged.
func (r *run) rechecks() bool { return r.h.Recheck || r.choice.Asks }
