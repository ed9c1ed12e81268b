package atom

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
)

// A stamp is a state of the log: all that documents depend on besides the settings. What
// a generation holds up to a number never changes, and the time of the commit tells it
// from what another Catalog has under the same number.
type stamp struct {
	generation uint64
	seq        websync.Seq
	time       time.Time // of the commit; zero if seq is 0
}

// A logView is what a Publisher knows of the newest generation of the log.
type logView struct {
	generation uint64
	first      time.Time   // of the generation: another log can have the same number
	last       websync.Seq // when it was looked at
	times      []int64     // of the commits at the ends of archive documents, in microseconds; 0: not known

	toldAfter, told websync.Seq // between which it was reported what can't be listed
}

// idLength is the length of an id in the path of an archive document.
const idLength = 8

// epoch is when the feed of an empty log was updated: there is no better time that is the
// same for all who ask.
var epoch = websync.NewDatetime(time.Unix(0, 0).UTC())

// id is a hash of all that decides what a document holds: the settings, the state of the
// log, and more.
func (l *layout) id(s stamp, more ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %q %q", l.settings, s.generation, s.seq, s.time.UnixMicro(),
		site.LocatorKey(l.locator), more))
	return hex.EncodeToString(sum[:idLength/2])
}

// head returns where the log stands, and forgets what is known of another one.
func (p *Publisher) head(ctx context.Context) (websync.Head, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	head, err := p.Catalog.Head(ctx)
	if err == nil {
		err = head.Check()
	}
	if err != nil {
		return head, catalogError(err)
	}
	v := &p.log
	if v.generation != head.Generation || !v.first.Equal(head.FirstTime) || v.last > head.Last {
		*v = logView{generation: head.Generation, first: head.FirstTime}
	}
	v.last = head.Last
	return head, nil
}

// stampOf returns the state of the log at the end of an archive document, the zero stamp
// if the log did not come so far. The error is that of the Catalog, ErrNotFound for a
// generation that was dropped.
func (p *Publisher) stampOf(ctx context.Context, generation uint64, end websync.Seq) (stamp, error) {
	if t := p.knownTime(generation, end); t != 0 {
		return stamp{generation, end, time.UnixMicro(t).UTC()}, nil
	}
	for item, err := range p.Catalog.Changes(ctx, websync.Range{Generation: generation, After: end - 1, Until: end}) {
		if err != nil {
			return stamp{}, err
		}
		p.noteTime(generation, end, item.Time.UnixMicro())
		return stamp{generation, end, item.Time}, nil
	}
	return stamp{}, nil
}

// knownTime returns the time of a commit in microseconds; 0 if it is not known.
func (p *Publisher) knownTime(generation uint64, end websync.Seq) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := int(end/p.site.size) - 1
	if p.log.generation != generation || i >= len(p.log.times) {
		return 0
	}
	return p.log.times[i]
}

func (p *Publisher) noteTime(generation uint64, end websync.Seq, micro int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &p.log
	if v.generation != generation || end > v.last {
		return
	}
	i := int(end/p.site.size) - 1
	if missing := i + 1 - len(v.times); missing > 0 {
		v.times = append(v.times, make([]int64, missing)...)
	}
	v.times[i] = micro
}

// archivePath returns the path of the archive document that ends at a number. The error
// is that of the Catalog.
func (p *Publisher) archivePath(ctx context.Context, generation uint64, end websync.Seq) (string, error) {
	l := &p.site
	s, err := p.stampOf(ctx, generation, end)
	if err != nil {
		return "", err
	}
	return l.archive(archiveName{generation, l.id(s), uint64(end / l.size)}), nil
}

// isTold tells whether it was reported that an entry of the log can't be listed, or needs
// not be, since its generation is an old one.
func (p *Publisher) isTold(generation uint64, seq websync.Seq) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &p.log
	return v.generation != generation || v.toldAfter < seq && seq <= v.told
}

// tell notes that a document is written, and so all that it lacks reported. What is told
// is kept as one range: documents come one after the other, in either order.
func (p *Publisher) tell(d *listing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &p.log
	switch {
	case v.generation != d.stamp.generation:
	case v.told == 0:
		v.toldAfter, v.told = d.after, d.stamp.seq
	case d.after <= v.told && v.toldAfter <= d.stamp.seq:
		v.toldAfter, v.told = min(v.toldAfter, d.after), max(v.told, d.stamp.seq)
	}
}

// catalogError keeps what a Catalog doesn't find from being taken for a document that
// isn't there.
func catalogError(err error) error {
	if errors.Is(err, websync.ErrNotFound) || errors.Is(err, websync.ErrGone) || errors.Is(err, websync.ErrConflict) {
		return fmt.Errorf("atom: the catalog: %v", err)
	}
	return fmt.Errorf("atom: the catalog: %w", err)
}
