package harvest_test

import (
	"bytes"
	"fmt"
	"io"
	"testing/iotest"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func bodyRules() []rule {
	return []rule{
		withWriter("sizes", "Bodies of any size come back byte for byte, and Finish answers the same each time.", func(w *writer) {
			bodies := [][]byte{[]byte("\x00\xff\r\n\x1a not text \xc0\x80")}
			for i, size := range []int{0, 1, 100, 4096, 16<<10 - 1, 16 << 10, 16<<10 + 1, 64 << 10, 100_000, 1<<20 + 1} {
				bodies = append(bodies, pattern(size, uint64(i)))
			}
			for _, data := range bodies {
				body := w.body(data)
				w.finish(body, data)
				w.apply(w.bodyBatch(sizeID(data), data, body))
				w.finish(body, data)
				w.holds(data)
			}
		}),
		withWriter("streamed", "A body of many megabytes is written in pieces, and read from any position.", func(w *writer) {
			const size = 8<<20 + 12345
			piece := pattern(1<<16, 11)
			body, err := w.NewBody(w.Ctx)
			w.OK(err, "NewBody")
			var data []byte
			for left := size; left > 0; left -= len(piece) {
				piece = piece[:min(left, len(piece))]
				piece[0]++
				data = append(data, piece...)
				_, err := body.Write(piece)
				w.OK(err, "Write")
			}
			w.finish(body, data)
			w.apply(w.bodyBatch(uri1, data, body))

			r, err := w.Open(w.Ctx, suite.Exactly(w, 1, w.record("a", uri1).Bodies, "bodies")[0])
			w.OK(err, "Open")
			defer r.Close()
			all, err := io.ReadAll(r)
			w.OK(err, "Read")
			w.ErrorIf(!bytes.Equal(all, data), "the body came back with %d bytes, want %d, or with others", len(all), size)
			for _, at := range []struct {
				offset int64
				whence int
				want   int64
				length int
			}{
				{0, io.SeekStart, 0, size},
				{0, io.SeekEnd, size, 0},
				{-100_000, io.SeekEnd, size - 100_000, 100},
				{5 << 20, io.SeekStart, 5 << 20, 100},
				{-1000, io.SeekCurrent, 5<<20 - 1000 + 100, 100},
				{10, io.SeekEnd, size + 10, 0},
				{0, io.SeekStart, 0, 100},
			} {
				pos, err := r.Seek(at.offset, at.whence)
				w.OK(err, "Seek(%d, %d)", at.offset, at.whence)
				w.Same(at.want, pos, "Seek(%d, %d)", at.offset, at.whence)
				part := make([]byte, at.length)
				_, err = io.ReadFull(r, part)
				w.OK(err, "Read at %d", pos)
				w.ErrorIf(at.length > 0 && !bytes.Equal(part, data[pos:pos+int64(at.length)]), "other bytes at %d", pos)
			}
			w.OK(r.Close(), "Close")
		}),
		withWriter("same-content", "The same bytes may be written any number of times, at once and later.", func(w *writer) {
			for _, data := range shortAndLong(17) {
				b := w.batch(harvest.Batch{})
				for k := range 3 {
					b.Puts = append(b.Puts, bodyChange(fmt.Sprint(sizeID(data), k), 0, "", data))
					b.Bodies = append(b.Bodies, w.body(data))
				}
				w.apply(b)
				w.holds(data)
				w.keep(sizeID(data), data)
				w.keep(sizeID(data), data)
				w.holds(data)
			}
		}),
		withWriter("shared", "Several records may name one body, also one that is in the Store already; it stays as long as any does.", func(w *writer) {
			data := []byte("of several")
			b := w.bodyBatch(uri1, data, w.body(data))
			b.Puts = append(b.Puts, bodyChange(uri2, 0, "", data))
			w.apply(b)
			w.put(bodyChange(uri1, 1, "newer", data), bodyChange(uri3, 0, "", data))
			w.writer("b").put(bodyChange(uri1, 0, "", data))
			for _, id := range []string{uri1, uri2, uri3} {
				w.delete(id)
				w.vacuum(0)
				w.holds(data)
			}
		}),
		withWriter("several", "One record may name several bodies.", func(w *writer) {
			b := harvest.Batch{}
			c := change(uri1, 0, websync.Created, "")
			var datas [][]byte
			for i := range 20 {
				data := pattern(i*5000, uint64(100+i))
				datas = append(datas, data)
				b.Bodies = append(b.Bodies, w.body(data))
				c.Record.Bodies = append(c.Record.Bodies, websync.Body{Name: fmt.Sprint(i), Key: websync.SHA256(data)})
			}
			b.Puts = []harvest.Change{c}
			w.send(b)
			w.Same(c.Record.Bodies, w.record("a", uri1).Bodies, "Bodies")
			w.holds(datas...)
		}),
		withWriter("named-twice", "One record may name one body twice: it stays while either name is left, and no longer.", func(w *writer) {
			for _, data := range shortAndLong(97) {
				id := sizeID(data)
				named := func(names ...string) harvest.Change {
					c := w.change(id, websync.Updated, "")
					for _, name := range names {
						c.Record.Bodies = append(c.Record.Bodies, websync.Body{Name: name, Key: websync.SHA256(data)})
					}
					return c
				}
				stays := func() {
					w.Helper()
					w.vacuum(0)
					w.holds(data)
				}
				w.send(harvest.Batch{Puts: []harvest.Change{named("content", "alternate")}, Bodies: []harvest.BodyWriter{w.body(data)}})
				stays()
				w.put(named("alternate"))
				stays()
				w.touch(named("alternate", "content", "third"))
				w.put(named("third"))
				stays()
				w.put(named())
				w.vacuum(0)
				w.lacks(data)
			}
		}),
		withWriter("touch", "A Touch may bring a body, and needs it as a Put does.", func(w *writer) {
			w.create(uri1)
			data := []byte("brought by a Touch")
			touch := harvest.Batch{Touches: []harvest.Change{bodyChange(uri1, 1, "", data)}}
			w.fails(w.c, w.batch(touch), harvest.ErrNoBody, "a Touch that names an unknown body")
			w.touchBody(uri1, data)
			w.holds(data)
			w.Same(websync.SHA256(data), suite.Exactly(w, 1, w.record("a", uri1).Bodies, "bodies")[0].Key, "Key")
		}),
		withWriter("missing", "A Put or Touch that names an unknown body is ErrNoBody, and nothing is applied.", func(w *writer) {
			data := []byte("there")
			w.keep(uri1, data)
			missing := bodyChange(uri2, 0, "", []byte("nowhere"))
			missing.Record.Bodies = append([]websync.Body{{Name: "first", Key: websync.SHA256(data)}}, missing.Record.Bodies...)
			other := bodyChange(uri3, 0, "", data)
			other.Record.Bodies[0].Key.Algorithm = "sha-512"
			for _, c := range []harvest.Change{missing, other} {
				w.fails(w.c, w.batch(harvest.Batch{
					Puts:   []harvest.Change{change(uri4, 0, websync.Created, ""), c},
					Bodies: []harvest.BodyWriter{w.body([]byte("somewhere else"))},
				}), harvest.ErrNoBody, "a Put that names %v", c.Record.Bodies)
			}
			w.holds(data)
			w.update(uri1, "next")
		}),
		withWriter("not-kept", "A body without a Key is only described: it needs no bytes.", func(w *writer) {
			c := change(uri1, 0, websync.Created, "")
			c.Record.Bodies = []websync.Body{{Name: "content", Link: websync.Link{Href: uri1, Length: 5}}}
			w.put(c)
			bodies := w.record("a", uri1).Bodies
			w.Same(c.Record.Bodies, bodies, "Bodies")
			suite.Exactly(w, 1, w.records("a", ""), "records")
			_, err := w.Open(w.Ctx, suite.Exactly(w, 1, bodies, "bodies")[0])
			w.Is(err, websync.ErrNotFound, "Open a body without a Key")
		}),
		withWriter("discard-after", "Discard takes nothing away that is in the Store or in another writer of the same bytes.", func(w *writer) {
			for _, data := range shortAndLong(19) {
				one, other := w.body(data), w.body(data)
				w.discard(one)
				w.apply(w.bodyBatch(sizeID(data), data, other))
				w.discard(other)
				w.discard(other)
				w.holds(data)
				w.discard(w.body(data))
				w.holds(data)
			}
		}),
		withWriter("discard-before", "Bytes that were discarded can't be committed.", func(w *writer) {
			for _, data := range shortAndLong(23) {
				body := w.body(data)
				w.discard(body)
				w.discard(body)
				b := w.bodyBatch(sizeID(data), data, body)
				w.unchanged("the Commit of a discarded body", func() {
					if _, err := w.Commit(w.Ctx, w.c, b); err == nil {
						w.Errorf("a body of %d bytes that was discarded has been committed", len(data))
					}
				})
				w.lacks(data)
			}
			unfinished, err := w.NewBody(w.Ctx)
			w.OK(err, "NewBody")
			_, err = unfinished.Write(pattern(1<<20, 29))
			w.OK(err, "Write")
			w.discard(unfinished)
			w.create(uri1)
		}),
		withWriter("open-writers", "Bodies that are being written block no other call.", func(w *writer) {
			var open []harvest.BodyWriter
			w.Within("NewBody and Commit beside bodies that are being written", func() error {
				for i := range 20 {
					body, err := w.NewBody(w.Ctx)
					if err != nil {
						return err
					}
					open = append(open, body)
					if _, err := body.Write(pattern(50_000*(i%3), uint64(i))); err != nil {
						return err
					}
				}
				return w.tryCommit(w.c, w.batch(harvest.Batch{Puts: []harvest.Change{change(uri1, 0, websync.Created, "")}}))
			})
			for _, body := range open {
				w.discard(body)
			}
			w.Same(1, len(w.checkLog()), "entries of the log")
		}),
		withWriter("read-while-commit", "A body can be read while others commit.", func(w *writer) {
			data := pattern(1<<20, 37)
			w.keep(uri1, data)
			r, err := w.Open(w.Ctx, websync.Body{Key: websync.SHA256(data)})
			w.OK(err, "Open")
			defer r.Close()
			half := make([]byte, len(data)/2)
			_, err = io.ReadFull(r, half)
			w.OK(err, "Read")
			w.Within("Commit while a body is being read", func() error {
				return w.tryCommit(w.c, w.batch(harvest.Batch{Puts: []harvest.Change{change(uri2, 0, websync.Created, "")}}))
			})
			rest, err := io.ReadAll(iotest.OneByteReader(io.LimitReader(r, 1000)))
			w.OK(err, "Read on")
			more, err := io.ReadAll(r)
			w.OK(err, "Read to the end")
			w.ErrorIf(!bytes.Equal(bytes.Join([][]byte{half, rest, more}, nil), data), "other bytes came back")
			w.Same(2, len(w.checkLog()), "entries of the log")
		}),
	}
}

// sizeID returns an id for the record that keeps data.
func sizeID(data []byte) string { return fmt.Sprint(len(data), " bytes") }

func (s *store) discard(w harvest.BodyWriter) {
	s.Helper()
	s.OK(w.Discard(), "Discard")
}
