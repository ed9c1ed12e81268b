package catalogtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

func bodyRules() []rule {
	return []rule{
		{Name: "keys", Rule: "The Key of a body is a sha-256, or zero if the bytes are not kept.", Check: bodyKeys},
		{Name: "content", Check: bodyContent,
			Rule: "A body of a live resource can be opened, and its bytes have the digest of its Key."},
		{Name: "superseded", Check: bodySuperseded,
			Rule: "Open returns ErrNotFound for a body of the log that is no longer kept."},
		{Name: "seek", Rule: "A body can be read from any position.", Check: bodySeek},
		{Name: "unknown", Rule: "Open returns ErrNotFound for an unknown body.", Check: bodyUnknown},
	}
}

// kept returns the first body of an item whose bytes are kept.
func kept(it websync.Item) (websync.Body, bool) {
	for _, b := range it.Bodies {
		if !b.Key.IsZero() {
			return b, true
		}
	}
	return websync.Body{}, false
}

// keptBodies returns the bodies of items, each once. It skips the case if there are none.
func (t *tester) keptBodies(items []websync.Item) (bodies []websync.Body) {
	t.Helper()
	seen := map[websync.Digest]bool{}
	for _, it := range items {
		for _, b := range it.Bodies {
			if !b.Key.IsZero() && !seen[b.Key] {
				seen[b.Key] = true
				bodies = append(bodies, b)
			}
		}
	}
	if len(bodies) == 0 {
		t.Skip("not checked: the Catalog keeps no body")
	}
	return bodies
}

// read returns the bytes of a body. It is an error if all bytes were read and do not have
// the digest of its Key.
func (t *tester) read(b websync.Body) ([]byte, error) {
	r, err := t.Open(t.Ctx, b)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err == nil && websync.SHA256(data) != b.Key {
		err = fmt.Errorf("read %d bytes with the digest %v, want %v", len(data), websync.SHA256(data), b.Key)
	}
	return data, err
}

func bodyKeys(t *tester) {
	for _, b := range t.keptBodies(append(t.log(websync.Range{}), t.live(websync.Range{})...)) {
		if b.Key.Algorithm != "sha-256" || len(b.Key.Sum) != 32 {
			t.Errorf("the Key of a body is %v, want a sha-256", b.Key)
		}
	}
}

func bodyContent(t *tester) {
	for _, b := range t.keptBodies(t.live(websync.Range{})) {
		_, err := t.read(b)
		t.OK(err, "the body %v of a live resource", b.Key)
	}
}

func bodySuperseded(t *tester) {
	for _, b := range t.keptBodies(t.log(websync.Range{})) {
		if _, err := t.read(b); err != nil {
			t.Is(err, websync.ErrNotFound, "the body %v of the log", b.Key)
		}
	}
}

func bodySeek(t *tester) {
	for _, b := range t.keptBodies(t.live(websync.Range{})) {
		all, err := t.read(b)
		t.OK(err, "the body %v", b.Key)
		t.seek(b, all)
	}
}

func (t *tester) seek(b websync.Body, all []byte) {
	t.Helper()
	r, err := t.Open(t.Ctx, b)
	t.OK(err, "Open %v", b.Key)
	defer r.Close()
	size := int64(len(all))
	type target struct {
		offset int64
		whence int
		want   int64
	}
	targets := []target{
		{0, io.SeekEnd, size}, {size / 2, io.SeekStart, size / 2}, {-size, io.SeekEnd, 0}, {size / 3, io.SeekCurrent, size / 3},
		{size + 10, io.SeekStart, size + 10}, {10, io.SeekEnd, size + 10}}
	for at := int64(64 << 10); at < size && at <= 1<<20; at *= 2 { // where pieces may end
		targets = append(targets,
			target{at - 1, io.SeekStart, at - 1}, target{at, io.SeekCurrent, at}, target{at + 1 - size, io.SeekEnd, at + 1})
	}
	for _, at := range targets {
		_, err := r.Seek(0, io.SeekStart)
		t.OK(err, "Seek to the start")
		if size > 0 {
			_, err = r.Read(make([]byte, 1))
			t.OK(err, "Read of the first byte")
			if at.whence == io.SeekCurrent {
				at.offset--
			}
		}
		pos, err := r.Seek(at.offset, at.whence)
		t.OK(err, "Seek(%d, %d)", at.offset, at.whence)
		t.Same(at.want, pos, "Seek(%d, %d)", at.offset, at.whence)
		rest, err := io.ReadAll(r)
		t.OK(err, "Read at %d", pos)
		if !bytes.Equal(rest, all[min(at.want, size):]) {
			t.Errorf("reading from byte %d of %d returns other bytes than reading from the start", at.want, size)
		}
	}
}

func bodyUnknown(t *tester) {
	sum := websync.SHA256(nil).Sum
	for _, it := range t.live(websync.Range{}) {
		if b, ok := kept(it); ok {
			sum = b.Key.Sum
		}
	}
	t.UnknownBodies(t.Catalog, sum)
}
