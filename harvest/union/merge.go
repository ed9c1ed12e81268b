package union

import (
	"iter"

	"github.com/websync-go/websync"
)

// A logItem is an entry of the log from.
type logItem struct {
	websync.Item
	from int
}

// mergeLogs yields the entries of several logs by time; of entries with one time, that of
// the earlier log comes first. It holds one entry of each. The first error ends it; from
// is then the log that failed.
func mergeLogs(logs []iter.Seq2[websync.Item, error]) iter.Seq2[logItem, error] {
	return func(yield func(logItem, error) bool) {
		type puller struct {
			next func() (websync.Item, error, bool)
			item websync.Item
			ok   bool
		}
		pullers := make([]puller, len(logs))
		advance := func(i int) (err error) {
			p := &pullers[i]
			p.item, err, p.ok = p.next()
			return err
		}
		for i, log := range logs {
			next, stop := iter.Pull2(log)
			defer stop()
			pullers[i].next = next
			if err := advance(i); err != nil {
				yield(logItem{from: i}, err)
				return
			}
		}
		for {
			first := -1
			for i := range pullers {
				if pullers[i].ok && (first < 0 || pullers[i].item.Time.Before(pullers[first].item.Time)) {
					first = i
				}
			}
			if first < 0 || !yield(logItem{pullers[first].item, first}, nil) {
				return
			}
			if err := advance(first); err != nil {
				yield(logItem{from: first}, err)
				return
			}
		}
	}
}
