package harvest

import (
	"context"
	"encoding/binary"

	"github.com/websync-go/websync"
)

// A Stat is what a Catalog holds.
type Stat struct {
	Head websync.Head `json:"-"`
	// Entries are those of the newest generation of the log, Superseded those of them
	// that a later one has replaced, and Older those of older generations.
	Entries    int64 `json:"entries"`
	Superseded int64 `json:"superseded"`
	Older      int64 `json:"older"`
	// Bodies are all that are kept, Unused those that no current record names. A body
	// that several records name is kept once.
	Bodies  Amount       `json:"bodies"`
	Unused  Amount       `json:"unused"`
	Sources []SourceStat `json:"sources"` // in order of their keys
}

// An Amount is how many there are of something, and their bytes.
type Amount struct {
	Number int64 `json:"number"`
	Bytes  int64 `json:"bytes"`
}

// A SourceStat is what a Catalog holds of a source.
type SourceStat struct {
	Source       string `json:"source"`
	Live         int64  `json:"live"`         // records
	Tombstones   int64  `json:"tombstones"`   // records of what was deleted
	Bodies       Amount `json:"bodies"`       // of live records, each as often as it is named
	Descriptions int64  `json:"descriptions"` // bytes, of live records
	Tasks        int64  `json:"tasks"`
}

// Stat counts what the Catalog holds. It reads all of it, so it takes some seconds for a
// million records; runs may go on meanwhile.
func (s *Catalog) Stat(ctx context.Context) (st Stat, err error) {
	if st.Head, err = s.Head(ctx); err != nil {
		return st, err
	}
	err = s.view(ctx, func(r *reader) error {
		st = Stat{Head: st.Head, Entries: int64(r.head.last), Superseded: int64(r.head.last) - int64(r.head.born)}
		places := map[uint32]int{} // in st.Sources
		count := map[byte]func(p pair) error{
			sourceKey: func(p pair) error {
				var src source
				err := src.parse(p.value)
				places[src.n] = len(st.Sources)
				stat := SourceStat{Source: string(p.key[1:]), Live: src.live, Tombstones: src.records - src.live}
				st.Sources = append(st.Sources, stat)
				return err
			},
			generationKey: func(p pair) error {
				st.Older += int64(parse(p.value).uint())
				return nil
			},
			taskKey: func(p pair) error {
				if i, ok := places[binary.BigEndian.Uint32(p.key[1:])]; ok {
					st.Sources[i].Tasks++
				}
				return nil
			},
			bodyKey: func(p pair) error {
				var v body
				err := v.parse(p.value)
				st.Bodies.add(v.size)
				if v.refs == 0 {
					st.Unused.add(v.size)
				}
				return err
			},
		}
		for _, kind := range []byte{sourceKey, generationKey, taskKey, bodyKey} {
			from := newKey(kind)
			for to := from.end(); from != nil; {
				page, next, err := r.scan(nil, from, to, pageItems, nil)
				for _, p := range page {
					if err == nil {
						err = count[kind](p)
					}
				}
				if err != nil {
					return err
				}
				from = next
			}
		}
		return nil
	})
	for i := range st.Sources {
		if err == nil {
			err = s.statBodies(ctx, &st.Sources[i])
		}
	}
	return st, err
}

func (a *Amount) add(bytes int64) {
	a.Number++
	a.Bytes += bytes
}

// statBodies counts what only the records of a source state.
func (s *Catalog) statBodies(ctx context.Context, st *SourceStat) error {
	for r, err := range s.Records(ctx, st.Source, "") {
		if err != nil {
			return err
		}
		if !r.Live() {
			continue
		}
		a := amountsOf(&r.Item)
		st.Descriptions += a[ofDescriptions]
		st.Bodies.Bytes += a[ofBodies]
		for i := range r.Bodies {
			if !r.Bodies[i].Key.IsZero() {
				st.Bodies.Number++
			}
		}
	}
	return nil
}
