package testkit

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/fill"
)

// The tests of the engine harvest the source Src, whose ids are names below Base.
const (
	Base = "https://example.org/"
	Src  = "https://example.org/list"
)

// Day returns noon of a day in January 2026.
func Day(n int) websync.Datetime {
	return websync.NewDatetime(time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC))
}

// Date returns the time that s writes.
func Date(t T, s string) websync.Datetime {
	d, err := websync.ParseDatetime(s)
	ok(t, err)
	return d
}

// Resource returns a resource whose content is at its id.
func Resource(name string, modified websync.Datetime) websync.Resource {
	url := Base + name
	return websync.Resource{ID: url, Modified: modified, Content: websync.Link{Href: url}}
}

// Put returns the event that says that a resource is there.
func Put(name string, modified websync.Datetime) harvest.Event {
	return harvest.Event{Kind: harvest.Put, Resource: Resource(name, modified)}
}

// Del returns the event that says that a resource was deleted.
func Del(name string, at websync.Datetime) harvest.Event {
	return harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: Base + name}}
}

// All returns what seq yields.
func All[V any](t T, seq iter.Seq2[V, error]) (all []V) {
	for v, err := range seq {
		ok(t, err)
		all = append(all, v)
	}
	return all
}

// Read returns a body as text.
func Read(t T, store websync.Catalog, b websync.Body) string {
	r, err := store.Open(context.Background(), b)
	ok(t, err)
	data, err := io.ReadAll(r)
	ok(t, errors.Join(err, r.Close()))
	return string(data)
}

// Live returns the live names with their content; with "-" if it is not kept.
func Live(t T, store *harvest.Catalog) map[string]string {
	live := map[string]string{}
	for _, item := range All(t, store.Resources(context.Background(), websync.Range{})) {
		text := "-"
		if b, ok := item.Body(websync.ContentName); ok && !b.Key.IsZero() {
			text = Read(t, store, b)
		}
		live[strings.TrimPrefix(item.Resource.ID, Base)] = text
	}
	return live
}

// Entries returns the log, oldest first.
func Entries(t T, store *harvest.Catalog) []websync.Item {
	return All(t, store.Changes(context.Background(), websync.Range{}))
}

// Log returns the log as "kind name", oldest first.
func Log(t T, store *harvest.Catalog) (log []string) {
	for _, item := range Entries(t, store) {
		log = append(log, item.Kind.String()+" "+strings.TrimPrefix(item.Resource.ID, Base))
	}
	return log
}

// Tasks returns the tasks of Src.
func Tasks(t T, store *harvest.Catalog) []harvest.Task {
	return All(t, store.Tasks(context.Background(), Src, ""))
}

// Record returns the record that Src has of a name.
func Record(t T, store *harvest.Catalog, name string) harvest.Record {
	return RecordOf(t, store, Src, Base+name)
}

// RecordOf returns the record that a source has of an id; the zero Record if it has none.
func RecordOf(t T, store *harvest.Catalog, source, id string) harvest.Record {
	for r, err := range store.Records(context.Background(), source, id[:len(id)-1]) {
		ok(t, err)
		if r.Resource.ID >= id {
			if r.Resource.ID == id {
				return r
			}
			break
		}
	}
	return harvest.Record{}
}

// TaskOf returns the task that a source has of an id; the zero Task if it has none.
func TaskOf(t T, store *harvest.Catalog, source, id string) harvest.Task {
	for task, err := range store.Tasks(context.Background(), source, "") {
		ok(t, err)
		if task.Resource.ID == id {
			return task
		}
	}
	return harvest.Task{}
}

// MakeDue makes all tasks of Src due.
func MakeDue(t T, store *harvest.Catalog) {
	var tasks []any
	for _, task := range Tasks(t, store) {
		task.Due = time.Time{}
		tasks = append(tasks, task)
	}
	ok(t, fill.Commit(context.Background(), store, Src, tasks...))
}

// OnFinding returns hooks that call f with each finding of a run, one at a time.
func OnFinding(f func(websync.Finding)) *harvest.Hooks {
	var mu sync.Mutex
	return &harvest.Hooks{Finding: func(_ string, finding websync.Finding) {
		mu.Lock()
		defer mu.Unlock()
		f(finding)
	}}
}
