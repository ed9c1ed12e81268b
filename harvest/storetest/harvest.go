package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
	"github.com/websync-go/websync/publish/catalogtest"
)

var harvestRules = []rule{
	withTwo("runs", "A Catalog on the Store holds what harvests have listed, and what Compact and Vacuum leave of it.",
		func(d, other *db) {
			sites := []*site{newSite("a", 50), newSite("b", 50)}
			for run := range 6 {
				d.Together(2, func(i int) error { return sites[i].harvest([...]*db{d, other}[i], run) })
				if run == 4 {
					d.tidy(sites)
				}
				for _, s := range sites {
					s.check(d)
					s.check(other)
				}
				d, other = reopened(d, other)
			}
		}),
}

// store returns a Store on d.
func (d *db) store() *harvest.Catalog {
	s := harvest.NewCatalog(d.Store)
	s.ChunkSize = 4 << 10
	return s
}

// A site publishes pages, and knows what a Store must hold of them.
type site struct {
	name   string
	pages  int
	served pairs           // bodies, by id
	held   pairs           // titles and bodies, by id
	ever   map[string]bool // titles and bodies that have been held
	tasks  []string        // ids of pages that could not be fetched
}

func newSite(name string, pages int) *site {
	return &site{name: name, pages: pages, held: pairs{}, ever: map[string]bool{}}
}

// publish returns the Source of a run. From each run to the next some pages come, change,
// go and can't be fetched.
func (s *site) publish(run int) harvest.Source {
	s.served, s.tasks = pairs{}, nil
	events := []harvest.Event{{Kind: harvest.SnapshotStart}}
	for i := range s.pages {
		id := fmt.Sprintf("https://%s.example/%02d", s.name, i)
		if run > 0 && (i+run)%9 == 0 {
			delete(s.held, id)
			continue
		}
		version := max(0, run-(i+run)%4)
		body := pattern([]int{20, 300, 5000, 20_000}[i/2%4], (int(s.name[0])*100+i)*100+version)
		e := harvest.Event{Resource: websync.Resource{
			ID: id, Title: fmt.Sprint("version ", version), Content: websync.Link{Href: id},
			Modified: websync.NewDatetime(time.Date(2026, 1, 1+version, 0, 0, 0, 0, time.UTC)),
		}}
		events = append(events, e)
		page := e.Resource.Title + "\n" + body
		if (i+run)%5 > 0 {
			s.served[id] = body
		} else if s.held[id] != page {
			s.tasks = append(s.tasks, id)
			continue
		}
		s.held[id], s.ever[page] = page, true
	}
	return harvest.Of(s.name, append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})...)
}

// Fetch implements [harvest.Fetcher].
func (s *site) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	body := s.served[req.URL]
	if body == "" {
		return nil, errTest
	}
	return &harvest.Response{
		URL: req.URL, Status: 200, Length: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// harvest harvests what s publishes in a run.
func (s *site) harvest(d *db, run int) error {
	h := &harvest.Harvester{Catalog: d.store(), Fetcher: s, Sample: -1, MaxDelete: -1}
	_, err := h.Run(d.Ctx, s.publish(run))
	return err
}

// check checks what a Store on d holds of s.
func (s *site) check(d *db) {
	d.Helper()
	store, held, tasks := d.store(), pairs{}, []string(nil)
	for _, it := range suite.Collect(&d.Tester, "Resources", store.Resources(d.Ctx, websync.Range{Sources: []string{s.name}})) {
		body, err := store.Open(d.Ctx, it.Bodies[0])
		d.OK(err, "Open the body of %s", it.Resource.ID)
		data, err := io.ReadAll(body)
		d.OK(errors.Join(err, body.Close()), "read the body of %s", it.Resource.ID)
		held[it.Resource.ID] = it.Resource.Title + "\n" + string(data)
	}
	d.Same(s.held, held, "resources of %q", s.name)
	for _, t := range suite.Collect(&d.Tester, "Tasks", store.Tasks(d.Ctx, s.name, "")) {
		tasks = append(tasks, t.Resource.ID)
	}
	d.Same(s.tasks, tasks, "tasks of %q", s.name)
	head, err := store.Head(d.Ctx)
	d.OK(err, "Head")
	d.CheckLog(head, suite.Collect(&d.Tester, "Changes", store.Changes(d.Ctx, websync.Range{})))
	faults, err := store.Inspect(d.Ctx)
	d.OK(err, "Inspect")
	d.Same([]string(nil), faults, "Inspect")
}

// tidy removes from a Store on d what sites no longer have.
func (d *db) tidy(sites []*site) {
	d.Helper()
	store, old := d.store(), 0
	generation, err := store.Compact(d.Ctx)
	d.OK(err, "Compact")
	d.OK(store.Drop(d.Ctx, generation), "Drop")
	d.NoGeneration(store, generation-1, "a generation that is dropped")
	removed, err := store.Vacuum(d.Ctx, -time.Hour)
	d.OK(err, "Vacuum")
	for _, s := range sites {
		old += len(s.ever) - len(s.held)
	}
	d.Same(old, removed, "bodies that Vacuum has removed")
}

// catalog returns the options of package catalogtest, for a Catalog on the Store.
func (o Options) catalog() catalogtest.Options {
	run := func(c websync.Catalog, e harvest.Event) error {
		_, err := (&harvest.Harvester{Catalog: c.(*harvest.Catalog)}).Run(context.Background(), harvest.Of("a", e))
		return err
	}
	return catalogtest.Options{
		Open: func(t testing.TB) websync.Catalog {
			d, a, b := newTester(t, o).open(), newSite("a", 10), newSite("b", 10)
			d.OK(errors.Join(a.harvest(d, 0), a.harvest(d, 1), b.harvest(d, 0), b.harvest(d, 1)), "harvest")
			return d.store()
		},
		Change: func(c websync.Catalog, n int) error {
			return run(c, harvest.Event{Resource: websync.Resource{ID: fmt.Sprint("https://c.example/", n)}})
		},
		Replace: func(c websync.Catalog, n int) error {
			modified := websync.NewDatetime(time.Date(2027, 1, 1+n, 0, 0, 0, 0, time.UTC))
			return run(c, harvest.Event{
				Resource: websync.Resource{ID: "https://a.example/01", Modified: modified},
				Open:     harvest.OpenBytes(fmt.Appendf(nil, "state %d", n)),
			})
		},
		Patience: o.Patience,
	}
}
