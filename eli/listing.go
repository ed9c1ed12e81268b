package eli

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

// A listing is the entries of a sitemap, in a temporary file, in their order.
type listing struct {
	file   spool.File
	out    *bufio.Writer
	n      int64 // entries
	record []byte
	seen   docfetch.Table[struct{}]
	again  map[string]*repeated // the acts that occur more than once, by what variants have in common
	passes int                  // calls of each
	err    error                // of the file

	moment  websync.Datetime // the latest time that is believed
	skipped int              // entries that can't be read
	inner   inner            // checkpoint of the Source of the sitemap
	// how many entries of a host have which form
	counts    map[string]map[form]int
	forms     *forms   // nil if there are too many
	irregular bool     // an entry is not what its form says, such as one with a port
	variants  oddities // entries of acts that are listed in another form, too
	// the server has answered that it is the sitemap of the last reading
	unchanged bool
}

// A repeated is an act that a sitemap lists more than once.
type repeated struct {
	id   string // of its variants, the one that counts
	at   websync.Datetime
	pass int // the last one that has yielded it
}

// forms are the forms of a sitemap's URIs.
type forms struct {
	// Hosts has the form that most of a host's URIs have.
	Hosts map[string]form `json:"hosts"`
	// Odd has the URIs that have another form, by what variants have in common.
	Odd map[string]string `json:"odd,omitempty"`
}

// maxForms is how many hosts, and how many odd URIs, forms have.
const maxForms = 256

// of returns the form of most URIs of the host of a URI without its form.
func (f *forms) of(rest string) (own form, ok bool) {
	own, ok = f.Hosts[rest[:syntax.IndexAny(rest, "/?#")]]
	return own, ok
}

// add adds a URI of the sitemap, which is odd if it does not have the form of most.
func (f *forms) add(rest, id string) {
	if most, _ := f.of(rest); most.uri(rest) != id && len(f.Odd) <= maxForms {
		f.Odd[rest] = id
	}
}

// name returns the URI that the sitemap has, or would have, for a URI of the feed. Nil
// forms have that of the feed.
func (f *forms) name(id string) string {
	if f == nil {
		return id
	}
	_, rest := cutForm(id)
	if listed, ok := f.Odd[rest]; ok {
		return listed
	}
	if own, ok := f.of(rest); ok {
		return own.uri(rest)
	}
	return id
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
	own, rest := cutForm(id)
	l.irregular = l.irregular || own.uri(rest) != id
	l.count(own, rest)
	if _, isNew := l.seen.Add(rest); !isNew && len(l.again) < maxRepeated {
		if l.again == nil {
			l.again = make(map[string]*repeated)
		}
		l.again[rest] = new(repeated)
	}
	l.n++
	text := at.String() // at most 35 bytes
	l.record = binary.AppendUvarint(l.record[:0], uint64(len(id)))
	l.record = append(l.record, id...)
	l.record = append(l.record, byte(len(text)))
	_, l.err = l.out.Write(append(l.record, text...))
}

// count counts the form of an entry.
func (l *listing) count(own form, rest string) {
	host := rest[:syntax.IndexAny(rest, "/?#")]
	if l.counts[host] == nil && len(l.counts) <= maxForms {
		if l.counts == nil {
			l.counts = make(map[string]map[form]int)
		}
		l.counts[strings.Clone(host)] = make(map[form]int)
	}
	if of := l.counts[host]; of != nil {
		of[own]++
	}
}

// findForms finds the form that most entries of each host have, and reports whether some
// have another one.
func (l *listing) findForms() (several bool) {
	l.forms = &forms{Hosts: make(map[string]form), Odd: make(map[string]string)}
	several = l.irregular
	for host, counts := range l.counts {
		several = several || len(counts) > 1
		l.forms.Hosts[host] = slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b form) int {
			return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b.uri(host), a.uri(host)))
		})
	}
	return several
}

// finish completes the entries. Of the variants of an act the one whose form is that of
// most entries counts, and otherwise the first in the order of strings, so that another
// order of the entries changes nothing.
func (l *listing) finish() error {
	if l.out != nil && l.err == nil {
		l.err = l.out.Flush()
	}
	if several := l.findForms(); l.err != nil || len(l.again) == 0 && !several {
		return l.err
	}
	err := l.scan(func(id string, at websync.Datetime) error {
		_, rest := cutForm(id)
		r := l.again[rest]
		if r == nil {
			l.forms.add(rest, id)
			return nil
		}
		if r.at = newest(r.at, at); r.id != "" && r.id != id {
			l.variants.add(id)
		}
		most, _ := l.forms.of(rest)
		if want := most.uri(rest); r.id == "" || id == want || r.id != want && id < r.id {
			r.id = id
		}
		return nil
	})
	for rest, r := range l.again {
		l.forms.add(rest, r.id)
	}
	if len(l.forms.Hosts) > maxForms || len(l.forms.Odd) > maxForms {
		l.forms = nil
	}
	return err
}

// each calls f with each act and its latest time, in the order in which they were added.
func (l *listing) each(f func(id string, at websync.Datetime) error) error {
	l.passes++
	return l.scan(func(id string, at websync.Datetime) error {
		if len(l.again) == 0 {
			return f(id, at)
		}
		_, rest := cutForm(id)
		if r := l.again[rest]; r != nil {
			if r.pass == l.passes {
				return nil
			}
			r.pass, id, at = l.passes, r.id, r.at
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
