package status

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// How much of each source is kept.
const (
	maxRuns  = 30
	maxDays  = 30
	maxHours = 48
	maxHosts = 8
	maxCodes = 20 // different statuses a day
	maxGoing = 8
)

// A history is what the State keeps of a source.
type history struct {
	Latest time.Time        `json:"latest,omitzero"` // that the publisher stated
	Runs   []Run            `json:"runs,omitempty"`  // the latest last
	Days   []Day            `json:"days,omitempty"`  // likewise
	Hosts  []Host           `json:"hosts,omitempty"`
	Going  map[string]Going `json:"going,omitempty"` // by run
}

// A Day counts what happened on one day, by UTC.
type Day struct {
	Date     string        `json:"date"` // such as "2026-01-02"
	Created  int64         `json:"created"`
	Updated  int64         `json:"updated"`
	Deleted  int64         `json:"deleted"`
	Failed   int64         `json:"failed"`
	Requests map[int]int64 `json:"requests,omitempty"` // by status; 0 is no answer
}

// A Host has the requests to a host: a scheme, a name and perhaps a port.
type Host struct {
	Name  string `json:"name"`
	Hours []Hour `json:"hours"`
}

// An Hour counts the requests to a host in one hour.
type Hour struct {
	Start time.Time `json:"start"`
	// Requests are those with a status of 2xx, 3xx, 4xx and 5xx, and those without an
	// answer.
	Requests [numStatuses]int64 `json:"requests"`
	Seconds  float64            `json:"seconds"` // that they took
}

// Going is a run that goes on, or whose process was ended.
type Going struct {
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"` // the last sign of it
	Listed  int64     `json:"listed"`
	Done    int64     `json:"done"`
	Total   int64     `json:"total"` // 0: not known
}

// silence is how long a run that goes on may give no sign of it.
const silence = 4 * signOfLife

// isSilent reports whether the run has given no sign for so long that its process has
// probably ended.
func (g *Going) isSilent(now time.Time) bool { return now.Sub(g.Seen) >= silence }

// add adds a run that has ended.
func (h *history) add(r Run) {
	if n := len(h.Runs); n > 0 && r.isIdle() && h.Runs[n-1].isIdle() {
		last := &h.Runs[n-1]
		r.add(last)
		r.Started, r.Count = last.Started, last.Count+r.Count
		*last = r
		return
	}
	h.Runs = append(h.Runs, r)
	h.Runs = h.Runs[max(0, len(h.Runs)-maxRuns):]
}

// addDay adds the counts of a day.
func (h *history) addDay(d Day) { h.Days = addDay(h.Days, d) }

// addDay adds the counts of a day to days, of which it keeps the last.
func addDay(days []Day, d Day) []Day {
	i, ok := slices.BinarySearchFunc(days, d.Date, func(x Day, date string) int { return cmp.Compare(x.Date, date) })
	if !ok {
		days = slices.Insert(days, i, Day{Date: d.Date})
	}
	x := &days[i]
	x.Created, x.Updated, x.Deleted, x.Failed = x.Created+d.Created, x.Updated+d.Updated, x.Deleted+d.Deleted, x.Failed+d.Failed
	if x.Requests == nil {
		x.Requests = map[int]int64{}
	}
	for _, status := range slices.Sorted(maps.Keys(d.Requests)) {
		n := d.Requests[status]
		if _, known := x.Requests[status]; !known && len(x.Requests) >= maxCodes {
			status = status / 100 * 100
		}
		x.Requests[status] += n
	}
	return days[max(0, len(days)-maxDays):]
}

// addHour adds requests to a host. The idlest of too many hosts are dropped.
func (h *history) addHour(name string, hour Hour) {
	h.Hosts = addHour(h.Hosts, name, hour)
	slices.SortStableFunc(h.Hosts, func(a, b Host) int { return cmp.Compare(b.total(), a.total()) })
	h.Hosts = h.Hosts[:min(len(h.Hosts), maxHosts)]
}

func addHour(hosts []Host, name string, hour Hour) []Host {
	i := slices.IndexFunc(hosts, func(x Host) bool { return x.Name == name })
	if i < 0 {
		i = len(hosts)
		hosts = append(hosts, Host{Name: name})
	}
	x := &hosts[i]
	k, ok := slices.BinarySearchFunc(x.Hours, hour.Start, func(a Hour, t time.Time) int { return a.Start.Compare(t) })
	if !ok {
		x.Hours = slices.Insert(x.Hours, k, Hour{Start: hour.Start})
	}
	for c, n := range hour.Requests {
		x.Hours[k].Requests[c] += n
	}
	x.Hours[k].Seconds += hour.Seconds
	return hosts
}

// total returns the number of requests to a host.
func (h *Host) total() (n int64) {
	for i := range h.Hours {
		n += h.Hours[i].total()
	}
	return n
}

func (h *Hour) total() int64 { return sum(h.Requests[:]) }

// forget drops what is too old, and what other clocks stated that are far ahead.
func (h *history) forget(now time.Time) {
	first, last := now.Add(-maxHours*time.Hour), now.Add(24*time.Hour)
	isOld := func(x Hour) bool { return !x.Start.After(first) || x.Start.After(last) }
	for i := range h.Hosts {
		h.Hosts[i].Hours = slices.DeleteFunc(h.Hosts[i].Hours, isOld)
	}
	h.Hosts = slices.DeleteFunc(h.Hosts, func(x Host) bool { return len(x.Hours) == 0 })
	oldest, newest := dateOf(now.AddDate(0, 0, 1-maxDays)), dateOf(last)
	h.Days = slices.DeleteFunc(h.Days, func(x Day) bool { return x.Date < oldest || x.Date > newest })
	maps.DeleteFunc(h.Going, func(_ string, g Going) bool { return now.Sub(g.Seen) > 24*time.Hour })
	if len(h.Going) > maxGoing {
		names := slices.SortedFunc(maps.Keys(h.Going), func(a, b string) int { return h.Going[b].Seen.Compare(h.Going[a].Seen) })
		for _, name := range names[maxGoing:] {
			delete(h.Going, name)
		}
	}
}

func dateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// The keys of the State.
const indexKey = "status/sources"

func historyKey(source string) string { return "status/source/" + source }

// A sourceIndex has the keys of sources, in order. They are bytes, since JSON would
// change keys that are not UTF-8.
type sourceIndex [][]byte

// maxSources limits the sources of an index.
const maxSources = 5000

func (x *sourceIndex) add(source string) {
	if i, ok := x.find(source); !ok && len(*x) < maxSources {
		*x = slices.Insert(*x, i, []byte(source))
	}
}

func (x *sourceIndex) remove(source string) {
	if i, ok := x.find(source); ok {
		*x = slices.Delete(*x, i, i+1)
	}
}

func (x *sourceIndex) find(source string) (i int, ok bool) {
	return slices.BinarySearchFunc(*x, source, func(key []byte, source string) int { return cmp.Compare(string(key), source) })
}

// update changes a value of the State by f, in spite of others who change it at the same
// time. A value that can't be read is taken for none.
func update[T any](ctx context.Context, state websync.State, key string, f func(*T)) error {
	for range 100 {
		old, err := state.State(ctx, key)
		if err != nil {
			return err
		}
		value := parse[T](old)
		f(&value)
		data, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("status: %s: %w", key, err)
		}
		if err := state.Swap(ctx, key, old, data); !errors.Is(err, websync.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("status: %s: %w", key, websync.ErrConflict)
}

// parse reads a value of the State; one that can't be read is zero.
func parse[T any](data []byte) (value T) {
	if json.Unmarshal(data, &value) != nil {
		var none T
		return none
	}
	return value
}
