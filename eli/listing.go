package eli

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// A listing is the entries of a sitemap, in a temporary file, in their order.
type listing struct {
	file   spool.File
	out    *bufio.Writer
	n      int64 // entries
	record []byte
	seen   idSet
	again  map[string]*repeated // the ids that occur more than once
	err    error                // of the file

	moment  websync.Datetime // the latest time that is believed
	skipped int              // entries that can't be read
	inner   inner            // checkpoint of the Source of the sitemap
	// the server has answered that it is the sitemap of the last reading
	unchanged bool
}

// A repeated is an id that a sitemap lists more than once.
type repeated struct {
	at      websync.Datetime
	yielded bool
}

// maxRepeated is how many ids that occur more than once are known. The engine finds the
// latest state of the others.
const maxRepeated = 100_000

// add adds an entry.
func (l *listing) add(id string, at websync.Datetime, now time.Time) {
	if l.out == nil {
		l.out = bufio.NewWriter(&l.file)
	}
	if l.err != nil {
		return
	}
	if isBelieved(at, now) && (l.moment.IsZero() || at.After(l.moment)) {
		l.moment = at
	}
	if l.seen.add(id) && len(l.again) < maxRepeated {
		if l.again == nil {
			l.again = make(map[string]*repeated)
		}
		l.again[id] = new(repeated)
	}
	l.n++
	text := at.String() // at most 35 bytes
	l.record = binary.AppendUvarint(l.record[:0], uint64(len(id)))
	l.record = append(l.record, id...)
	l.record = append(l.record, byte(len(text)))
	_, l.err = l.out.Write(append(l.record, text...))
}

// finish completes the entries.
func (l *listing) finish() error {
	if l.out == nil || l.err != nil {
		return l.err
	}
	if l.err = l.out.Flush(); l.err != nil || len(l.again) == 0 {
		return l.err
	}
	return l.scan(func(id string, at websync.Datetime) error {
		if r := l.again[id]; r != nil {
			r.at = newest(r.at, at)
		}
		return nil
	})
}

// each calls f with each id and its latest time, in the order in which they were added.
func (l *listing) each(f func(id string, at websync.Datetime) error) error {
	return l.scan(func(id string, at websync.Datetime) error {
		if r := l.again[id]; r != nil {
			if r.yielded {
				return nil
			}
			r.yielded, at = true, r.at
		}
		return f(id, at)
	})
}

// scan calls f with each entry.
func (l *listing) scan(f func(id string, at websync.Datetime) error) error {
	in := bufio.NewReader(l.file.Section(spool.Span{Size: l.file.Size()}))
	for range l.n {
		n, err := binary.ReadUvarint(in)
		if err == nil {
			err = l.read(in, n)
		}
		id := string(l.record)
		var length byte
		if err == nil {
			length, err = in.ReadByte()
		}
		if err == nil {
			err = l.read(in, uint64(length))
		}
		var at websync.Datetime
		if err == nil {
			err = at.UnmarshalText(l.record)
		}
		if err != nil {
			return fmt.Errorf("eli: the temporary file of the sitemap is damaged: %w", err)
		}
		if err := f(id, at); err != nil {
			return err
		}
	}
	return nil
}

// read reads n bytes into l.record.
func (l *listing) read(in io.Reader, n uint64) error {
	const most = 1 << 20 // far longer than any id
	if n > most {
		return websync.ErrLimit
	}
	l.record = slices.Grow(l.record[:0], int(n))[:n]
	_, err := io.ReadFull(in, l.record)
	return err
}

// An idSet finds the ids that were added before, by 64 bits of their hashes. It takes 11
// to 16 bytes an id, and half as many more while it grows.
type idSet struct {
	seed  maphash.Seed
	slots []uint64 // 0: free
	n     int
}

// add adds an id, and reports whether it may have been added before.
func (s *idSet) add(id string) bool {
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]uint64, 1024)
	}
	if s.n >= len(s.slots)*3/4 {
		old := s.slots
		s.slots = make([]uint64, len(old)*3/2)
		for _, h := range old {
			if h != 0 {
				s.slots[s.slot(h)] = h
			}
		}
	}
	h := max(1, maphash.String(s.seed, id))
	i := s.slot(h)
	if s.slots[i] == h {
		return true
	}
	s.slots[i] = h
	s.n++
	return false
}

// slot returns where a hash is, or belongs.
func (s *idSet) slot(h uint64) int {
	n := uint64(len(s.slots))
	i := int(h % n)
	for s.slots[i] != 0 && s.slots[i] != h {
		if i++; i == len(s.slots) {
			i = 0
		}
	}
	return i
}
