package storetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"testing/iotest"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func bodyCases() []rule {
	return []rule{
		{Name: "sizes", Rule: "Bodies of any size come back byte for byte.", Check: bodySizes},
		{Name: "streamed", Rule: "A body of many megabytes is written in pieces, and read from any position.", Check: bodyStreamed},
		{Name: "finish-twice", Rule: "Finish may be called again and answers the same.", Check: bodyFinishTwice},
		{Name: "same-content", Rule: "The same bytes may be written any number of times, at once and later.", Check: bodySameContent},
		{Name: "shared", Rule: "Two records may name one body; it stays as long as either does.", Check: bodyShared},
		{Name: "several", Rule: "One record may name several bodies.", Check: bodySeveral},
		{Name: "named-twice", Rule: "One record may name one body twice: it stays while either name is left, and no longer.", Check: bodyNamedTwice},
		{Name: "known", Rule: "A body that is in the Store already need not be in the Batch.", Check: bodyKnown},
		{Name: "touch", Rule: "A Touch may bring a body, and needs it as a Put does.", Check: bodyTouch},
		{Name: "missing", Rule: "A Put or Touch that names an unknown body is ErrNoBody, and nothing is applied.", Check: bodyMissing},
		{Name: "not-kept", Rule: "A body without a Key is only described: it needs no bytes.", Check: bodyNotKept},
		{Name: "unknown", Rule: "Opening an unknown body is ErrNotFound.", Check: bodyUnknown},
		{Name: "discard-after", Rule: "Discard after the Commit takes nothing away.", Check: bodyDiscardAfter},
		{Name: "discard-before", Rule: "Bytes that were discarded can't be committed.", Check: bodyDiscardBefore},
		{Name: "discard-other", Rule: "Discard of one writer leaves another of the same bytes.", Check: bodyDiscardOther},
		{Name: "open-writers", Rule: "Bodies that are being written block no other call.", Check: bodyOpenWriters},
		{Name: "read-while-commit", Rule: "A body can be read while others commit.", Check: bodyReadWhileCommit},
	}
}

// keep commits data as the body of id.
func (w *writer) keep(id string, data []byte) {
	w.t.Helper()
	b := w.batch()
	b.Puts = []harvest.Change{bodyChange(id, w.record(w.source, id).Seq, "", websync.SHA256(data))}
	b.Bodies = []harvest.BodyWriter{w.body(data)}
	w.apply(b)
}

func bodySizes(t *tester) {
	w := t.open().writer("a")
	for i, size := range []int{0, 1, 100, 4096, 16<<10 - 1, 16 << 10, 16<<10 + 1, 64 << 10, 100_000, 1<<20 + 1} {
		data := pattern(size, uint64(i))
		w.keep(fmt.Sprint(size), data)
		w.holds(data)
	}
	data := []byte("\x00\xff\r\n\x1a not text \xc0\x80")
	w.keep("not text", data)
	w.holds(data)
}

func bodyStreamed(t *tester) {
	w := t.open().writer("a")
	const size = 8<<20 + 12345
	piece := pattern(1<<16, 11)
	body, err := w.NewBody(t.Ctx)
	t.OK(err, "NewBody")
	hash := sha256.New()
	for left := size; left > 0; left -= len(piece) {
		piece = piece[:min(left, len(piece))]
		piece[0]++
		hash.Write(piece)
		_, err := body.Write(piece)
		t.OK(err, "Write")
	}
	key, n, err := body.Finish()
	t.OK(err, "Finish")
	want := websync.Digest{Algorithm: "sha-256", Sum: string(hash.Sum(nil))}
	t.Same(want, key, "content address")
	t.Same(int64(size), n, "size")
	b := w.batch()
	b.Puts = []harvest.Change{bodyChange(uri1, 0, "", key)}
	b.Bodies = []harvest.BodyWriter{body}
	w.apply(b)

	r, err := w.Open(t.Ctx, suite.Exactly(t, 1, w.record("a", uri1).Bodies, "bodies")[0])
	t.OK(err, "Open")
	defer r.Close()
	hash.Reset()
	n, err = io.Copy(hash, r)
	t.OK(err, "Read")
	if n != size || string(hash.Sum(nil)) != want.Sum {
		t.Errorf("the body came back with %d bytes, want %d, or with others", n, size)
	}
	all := make([]byte, size)
	_, err = r.Seek(0, io.SeekStart)
	t.OK(err, "Seek to the start")
	_, err = io.ReadFull(r, all)
	t.OK(err, "Read again")
	for _, at := range []struct {
		offset int64
		whence int
		want   int64
	}{
		{0, io.SeekEnd, size},
		{-100_000, io.SeekEnd, size - 100_000},
		{5 << 20, io.SeekStart, 5 << 20},
		{-1000, io.SeekCurrent, 5<<20 - 1000 + 100},
		{0, io.SeekStart, 0},
	} {
		pos, err := r.Seek(at.offset, at.whence)
		t.OK(err, "Seek(%d, %d)", at.offset, at.whence)
		t.Same(at.want, pos, "Seek(%d, %d)", at.offset, at.whence)
		part := make([]byte, min(100, size-pos))
		_, err = io.ReadFull(r, part)
		t.OK(err, "Read at %d", pos)
		if !bytes.Equal(part, all[pos:pos+int64(len(part))]) {
			t.Errorf("other bytes at %d", pos)
		}
	}
	t.OK(r.Close(), "Close")
}

func bodyFinishTwice(t *tester) {
	w := t.open().writer("a")
	for _, data := range [][]byte{nil, []byte("small"), pattern(1<<20, 13)} {
		body := w.body(data)
		w.key(body, data)
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(fmt.Sprint(len(data)), 0, "", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{body}
		w.apply(b)
		w.key(body, data)
		w.holds(data)
	}
}

func bodySameContent(t *tester) {
	w := t.open().writer("a")
	for i, data := range [][]byte{[]byte("small"), pattern(1<<20, 17)} {
		b := w.batch()
		for k := range 3 {
			b.Puts = append(b.Puts, bodyChange(fmt.Sprintf("%d %d", i, k), 0, "", websync.SHA256(data)))
			b.Bodies = append(b.Bodies, w.body(data))
		}
		w.apply(b)
		w.holds(data)
		w.keep(fmt.Sprintf("%d later", i), data)
		w.keep(fmt.Sprintf("%d later", i), data)
		w.holds(data)
	}
}

func bodyShared(t *tester) {
	w := t.open().writer("a")
	data := []byte("of two")
	b := w.batch()
	b.Puts = []harvest.Change{
		bodyChange(uri1, 0, "", websync.SHA256(data)),
		bodyChange(uri2, 0, "", websync.SHA256(data)),
	}
	b.Bodies = []harvest.BodyWriter{w.body(data)}
	w.apply(b)
	w.delete(uri1)
	if m, ok := w.Store.(harvest.Maintainer); ok {
		_, err := m.Vacuum(t.Ctx, 0)
		t.OK(err, "Vacuum")
	}
	w.holds(data)
}

func bodySeveral(t *tester) {
	w := t.open().writer("a")
	b := w.batch()
	c := change(uri1, 0, websync.Created, "")
	var datas [][]byte
	for i := range 20 {
		data := pattern(i*5000, uint64(100+i))
		datas = append(datas, data)
		b.Bodies = append(b.Bodies, w.body(data))
		c.Record.Bodies = append(c.Record.Bodies, websync.Body{Name: fmt.Sprint(i), Key: websync.SHA256(data)})
	}
	b.Puts = []harvest.Change{c}
	w.apply(b)
	t.Same(c.Record.Bodies, w.record("a", uri1).Bodies, "Bodies")
	for _, data := range datas {
		w.holds(data)
	}
}

func bodyNamedTwice(t *tester) {
	w := t.open().writer("a")
	for i, data := range [][]byte{[]byte("small"), pattern(1<<20, 97)} {
		id := fmt.Sprint(i)
		body := func(names ...string) harvest.Change {
			c := w.change(id, websync.Updated, "")
			for _, name := range names {
				c.Record.Bodies = append(c.Record.Bodies, websync.Body{Name: name, Key: websync.SHA256(data)})
			}
			return c
		}
		vacuum := func() {
			if m, ok := w.Store.(harvest.Maintainer); ok {
				_, err := m.Vacuum(t.Ctx, 0)
				t.OK(err, "Vacuum")
			}
		}
		b := w.batch()
		b.Puts = []harvest.Change{body("content", "alternate")}
		b.Bodies = []harvest.BodyWriter{w.body(data)}
		w.apply(b)
		vacuum()
		w.holds(data)
		w.put(body("alternate"))
		vacuum()
		w.holds(data)
		w.touch(body("alternate", "content", "third"))
		w.put(body("third"))
		vacuum()
		w.holds(data)
		w.put(body())
		vacuum()
		if _, ok := w.Store.(harvest.Maintainer); ok {
			w.gone(data)
		}
	}
}

func bodyKnown(t *tester) {
	w := t.open().writer("a")
	other := w.writer("b")
	data := []byte("known")
	w.keep(uri1, data)
	w.put(bodyChange(uri1, 1, "newer", websync.SHA256(data)), bodyChange(uri2, 0, "", websync.SHA256(data)))
	other.put(bodyChange(uri1, 0, "", websync.SHA256(data)))
	w.holds(data)
}

func bodyTouch(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	data := []byte("brought by a Touch")
	b := w.batch()
	b.Touches = []harvest.Change{bodyChange(uri1, 1, "", websync.SHA256(data))}
	_, err := w.Commit(t.Ctx, w.c, b)
	t.Is(err, harvest.ErrNoBody, "a Touch that names an unknown body")
	t.Same(0, len(w.record("a", uri1).Bodies), "bodies after ErrNoBody")
	b.Bodies = []harvest.BodyWriter{w.body(data)}
	w.apply(b)
	w.holds(data)
	t.Same(websync.SHA256(data), suite.Exactly(t, 1, w.record("a", uri1).Bodies, "bodies")[0].Key, "Key")
}

func bodyMissing(t *tester) {
	w := t.open().writer("a")
	data := []byte("there")
	w.keep(uri1, data)
	missing := bodyChange(uri2, 0, "", websync.SHA256([]byte("nowhere")))
	missing.Record.Bodies = append([]websync.Body{{Name: "first", Key: websync.SHA256(data)}}, missing.Record.Bodies...)
	other := bodyChange(uri3, 0, "", websync.Digest{Algorithm: "sha-512", Sum: websync.SHA256(data).Sum})
	for _, c := range []harvest.Change{missing, other} {
		before := w.contents([]string{"a"}, nil)
		b := w.batch()
		b.Puts = []harvest.Change{change(uri4, 0, websync.Created, ""), c}
		b.Bodies = []harvest.BodyWriter{w.body([]byte("somewhere else"))}
		_, err := w.Commit(t.Ctx, w.c, b)
		t.Is(err, harvest.ErrNoBody, "a Put that names %v", c.Record.Bodies)
		t.Same(before, w.contents([]string{"a"}, nil), "after ErrNoBody: ")
	}
	w.holds(data)
	w.update(uri1, "next")
}

func bodyNotKept(t *tester) {
	w := t.open().writer("a")
	c := change(uri1, 0, websync.Created, "")
	c.Record.Bodies = []websync.Body{{Name: "content", Link: websync.Link{Href: uri1, Length: 5}}}
	w.put(c)
	t.Same(c.Record.Bodies, w.record("a", uri1).Bodies, "Bodies")
	_, err := w.Open(t.Ctx, suite.Exactly(t, 1, w.record("a", uri1).Bodies, "bodies")[0])
	t.Is(err, websync.ErrNotFound, "Open a body without a Key")
}

func bodyUnknown(t *tester) {
	w := t.open().writer("a")
	data := []byte("there")
	w.keep(uri1, data)
	t.UnknownBodies(w, websync.SHA256(data).Sum)
}

func bodyDiscardAfter(t *tester) {
	w := t.open().writer("a")
	for _, data := range [][]byte{[]byte("small"), pattern(1<<20, 19)} {
		body := w.body(data)
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(fmt.Sprint(len(data)), 0, "", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{body}
		w.apply(b)
		t.OK(body.Discard(), "Discard after the Commit")
		t.OK(body.Discard(), "Discard again")
		w.holds(data)
	}
}

func bodyDiscardBefore(t *tester) {
	w := t.open().writer("a")
	for _, data := range [][]byte{[]byte("small"), pattern(1<<20, 23)} {
		body := w.body(data)
		t.OK(body.Discard(), "Discard")
		t.OK(body.Discard(), "Discard again")
		before := w.contents([]string{"a"}, nil)
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(fmt.Sprint(len(data)), 0, "", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{body}
		if _, err := w.Commit(t.Ctx, w.c, b); err == nil {
			t.Errorf("a body of %d bytes that was discarded has been committed", len(data))
		}
		t.Same(before, w.contents([]string{"a"}, nil), "after the Commit of a discarded body: ")
		_, err := w.read(websync.SHA256(data))
		t.Is(err, websync.ErrNotFound, "Open a body that was discarded")
	}
	unfinished, err := w.NewBody(t.Ctx)
	t.OK(err, "NewBody")
	_, err = unfinished.Write(pattern(1<<20, 29))
	t.OK(err, "Write")
	t.OK(unfinished.Discard(), "Discard before Finish")
	w.create(uri1)
}

func bodyDiscardOther(t *tester) {
	w := t.open().writer("a")
	for _, data := range [][]byte{[]byte("small"), pattern(1<<20, 31)} {
		one, other := w.body(data), w.body(data)
		t.OK(one.Discard(), "Discard")
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(fmt.Sprint(len(data)), 0, "", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{other}
		w.apply(b)
		w.holds(data)
		t.OK(w.body(data).Discard(), "Discard a second copy of what is stored")
		w.holds(data)
	}
}

func bodyOpenWriters(t *tester) {
	w := t.open().writer("a")
	var open []harvest.BodyWriter
	t.Within("NewBody and Commit beside bodies that are being written", func() error {
		for i := range 20 {
			body, err := w.NewBody(t.Ctx)
			if err != nil {
				return err
			}
			open = append(open, body)
			if _, err := body.Write(pattern(50_000*(i%3), uint64(i))); err != nil {
				return err
			}
		}
		b := w.batch()
		b.Puts = []harvest.Change{change(uri1, 0, websync.Created, "")}
		_, err := w.Commit(t.Ctx, w.c, b)
		return err
	})
	for _, body := range open {
		t.OK(body.Discard(), "Discard")
	}
	t.Same(1, len(w.checkLog()), "entries of the log")
}

func bodyReadWhileCommit(t *tester) {
	w := t.open().writer("a")
	data := pattern(1<<20, 37)
	w.keep(uri1, data)
	r, err := w.Open(t.Ctx, websync.Body{Key: websync.SHA256(data)})
	t.OK(err, "Open")
	defer r.Close()
	half := make([]byte, len(data)/2)
	_, err = io.ReadFull(r, half)
	t.OK(err, "Read")
	t.Within("Commit while a body is being read", func() error {
		b := w.batch()
		b.Puts = []harvest.Change{change(uri2, 0, websync.Created, "")}
		_, err := w.Commit(t.Ctx, w.c, b)
		return err
	})
	rest, err := io.ReadAll(iotest.OneByteReader(io.LimitReader(r, 1000)))
	t.OK(err, "Read on")
	more, err := io.ReadAll(r)
	t.OK(err, "Read to the end")
	if !bytes.Equal(bytes.Join([][]byte{half, rest, more}, nil), data) {
		t.Error("other bytes came back")
	}
	t.Same(2, len(w.checkLog()), "entries of the log")
}
