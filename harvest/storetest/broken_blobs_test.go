package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// named makes blobs whose names alter makes the same one blob.
func named(alter func(name string) string) func(d *driver) {
	return func(d *driver) {
		given := map[string]string{}
		name := func(name string) string {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			if _, ok := given[alter(name)]; !ok {
				given[alter(name)] = name
			}
			return given[alter(name)]
		}
		d.createBlob = func(ctx context.Context, n string) (io.WriteCloser, error) { return d.soundCreate(ctx, name(n)) }
		d.openBlob = func(ctx context.Context, n string) (io.ReadSeekCloser, error) { return d.soundOpen(ctx, name(n)) }
		d.removeBlob = func(ctx context.Context, n string) error { return d.soundRemove(ctx, name(n)) }
	}
}

// created alters what CreateBlob returns.
func created(alter func(d *driver, b *blob, w *blobWriter)) func(d *driver) {
	return func(d *driver) {
		d.createBlob = func(ctx context.Context, name string) (io.WriteCloser, error) {
			w, err := d.soundCreate(ctx, name)
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			alter(d, d.m.blobs[name], w.(*blobWriter))
			return w, err
		}
	}
}

// opened alters what OpenBlob returns. There are size bytes.
func opened(alter func(r *blobReader, size int64)) func(d *driver) {
	return func(d *driver) {
		d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
			r, err := d.soundOpen(ctx, name)
			if err != nil {
				return nil, err
			}
			size, _ := r.Seek(0, io.SeekEnd)
			r.Seek(0, io.SeekStart)
			alter(r.(*blobReader), size)
			return r, nil
		}
	}
}

// listing alters which blobs ListBlobs yields.
func listing(alter func(d *driver, all []listed) []listed) func(d *driver) {
	return func(d *driver) {
		d.listBlobs = func(_ context.Context, fn func(name string, modified time.Time) bool) error {
			for _, l := range alter(d, d.m.list()) {
				if !fn(l.name, l.modified) {
					break
				}
			}
			return nil
		}
	}
}

// failingBlobs calls failed after an Update whose fn has failed, with the names of the
// blobs of the moment when it began.
func failingBlobs(failed func(d *driver, before map[string]*blob)) func(d *driver) {
	return func(d *driver) {
		d.update = func(ctx context.Context, fn func(t *tx) error) error {
			d.m.mu.Lock()
			before := maps.Clone(d.m.blobs)
			d.m.mu.Unlock()
			err := d.soundUpdate(ctx, fn)
			if err != nil {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				failed(d, before)
			}
			return err
		}
	}
}

const (
	canOpen   = "Once Close has returned nil the blob can be opened"
	isDurable = "A blob is durable when the next Update returns"
	seekEnd   = "The caller seeks to the end first, to compare the size"
	isUnknown = "The error is fs.ErrNotExist if there is no blob"
	noneLeft  = "RemoveBlob removes a blob; it is no error when there is none"
	listsAll  = "ListBlobs calls fn with each blob, complete or not"
	ownName   = "Each blob has a name of its own: 26 letters and digits and, with Owners, a full stop and the name of an owner"
	erases    = "EraseBlob replaces size bytes of a complete blob, from offset on, with zeros"
	notPart   = "Blobs are not part of an Update"
	anywhere  = "All methods may be called from several goroutines and inside an Update"
)

// erased alters what EraseBlob erases.
func erased(alter func(offset, size int64) (int64, int64)) func(d *driver) {
	return func(d *driver) {
		d.eraseBlob = func(ctx context.Context, name string, offset, size int64) error {
			offset, size = alter(offset, size)
			return d.soundErase(ctx, name, offset, size)
		}
	}
}

var brokenBlobs = []brokenDriver{
	{
		name:   "EraseBlob does nothing",
		breaks: erases,
		caught: "blobs/erase",
		fault:  erased(func(offset, _ int64) (int64, int64) { return offset, 0 }),
	},
	{
		name:   "EraseBlob leaves the last byte",
		breaks: erases,
		caught: "blobs/erase",
		fault:  erased(func(offset, size int64) (int64, int64) { return offset, size - 1 }),
	},
	{
		name:   "EraseBlob erases from the beginning of a block",
		breaks: erases,
		caught: "blobs/erase",
		fault: erased(func(offset, size int64) (int64, int64) {
			return offset &^ 4095, size + offset&4095
		}),
	},
	{
		name:   "EraseBlob shortens the blob",
		breaks: erases,
		caught: "blobs/erase",
		fault: func(d *driver) {
			d.eraseBlob = func(_ context.Context, name string, offset, size int64) error {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				if b := d.m.blobs[name]; b != nil {
					b.data = slices.Delete(slices.Clone(b.data), int(offset), int(offset+size))
				}
				return nil
			}
		},
	},
	{
		name:   "EraseBlob of an unknown name is an error",
		breaks: "It is no error if there is no such blob",
		caught: "blobs/erase",
		fault: func(d *driver) {
			d.eraseBlob = func(ctx context.Context, name string, offset, size int64) error {
				if _, err := d.soundOpen(ctx, name); err != nil {
					return err
				}
				return d.soundErase(ctx, name, offset, size)
			}
		},
	},
	{
		name:   "a blob can be opened after the next Update only",
		breaks: canOpen,
		caught: "blobs/at-once",
		fault: func(d *driver) {
			waiting := map[*blob]bool{}
			created(func(d *driver, b *blob, w *blobWriter) {
				w.close = func() error {
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					waiting[b] = true
					return nil
				}
			})(d)
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				for b := range waiting {
					b.complete, b.durable = true, true
				}
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "a Reopen loses a blob though an Update has returned since its Close",
		breaks: isDurable,
		caught: "blobs/reopen",
		fault: created(func(d *driver, b *blob, w *blobWriter) {
			next := w.close
			w.close = func() error {
				err := next()
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				b.durable = false
				return err
			}
		}),
	},
	{
		name:   "a Reopen loses the second of two blobs that the next Update makes durable",
		breaks: isDurable,
		caught: "blobs/reopen",
		fault: func(d *driver) {
			waiting := 0
			created(func(d *driver, b *blob, w *blobWriter) {
				next := w.close
				w.close = func() error {
					err := next()
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					b.durable = waiting == 0
					waiting++
					return err
				}
			})(d)
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				waiting = 0
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "a blob that is written inside an Update is not durable with it",
		breaks: isDurable,
		caught: "blobs/reopen",
		fault: func(d *driver) {
			updating, late := false, []*blob(nil)
			d.updating = func(*tx) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				for _, b := range late {
					b.durable = true
				}
				updating, late = true, nil
			}
			d.leave = func() {
				d.m.mu.Lock()
				updating = false
				d.m.mu.Unlock()
				d.soundLeave()
			}
			created(func(d *driver, b *blob, w *blobWriter) {
				next := w.close
				w.close = func() error {
					err := next()
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					if updating {
						b.durable, late = false, append(late, b)
					}
					return err
				}
			})(d)
		},
	},
	{
		name:   "Seek to the end returns one less than the size",
		breaks: seekEnd,
		caught: "blobs/at-once",
		fault: opened(func(r *blobReader, _ int64) {
			seek := r.seek
			r.seek = func(offset int64, whence int) (int64, error) {
				n, err := seek(offset, whence)
				if whence == io.SeekEnd {
					n--
				}
				return n, err
			}
		}),
	},
	{
		name:   "Seek to the end returns the size in blocks of 512 bytes",
		breaks: seekEnd,
		caught: "blobs/at-once",
		fault: opened(func(r *blobReader, _ int64) {
			seek := r.seek
			r.seek = func(offset int64, whence int) (int64, error) {
				n, err := seek(offset, whence)
				if whence == io.SeekEnd && offset == 0 {
					n = (n + 511) / 512 * 512
				}
				return n, err
			}
		}),
	},
	{
		name:   "a Seek to the start after one to the end does not move",
		breaks: seekEnd,
		caught: "blobs/at-once",
		fault: opened(func(r *blobReader, _ int64) {
			ended := false
			seek := r.seek
			r.seek = func(offset int64, whence int) (int64, error) {
				if ended && offset == 0 && whence == io.SeekStart {
					return 0, nil
				}
				ended = whence == io.SeekEnd
				return seek(offset, whence)
			}
		}),
	},
	{
		name:   "a Seek from where the reader is counts from the start",
		breaks: "OpenBlob returns an io.ReadSeekCloser",
		caught: "blobs/at-once",
		fault: opened(func(r *blobReader, _ int64) {
			seek := r.seek
			r.seek = func(offset int64, whence int) (int64, error) {
				if whence == io.SeekCurrent && offset != 0 {
					whence = io.SeekStart
				}
				return seek(offset, whence)
			}
		}),
	},
	{
		name:   "reading ends in io.ErrUnexpectedEOF",
		breaks: "OpenBlob returns an io.ReadSeekCloser",
		caught: "blobs/list",
		fault: opened(func(r *blobReader, _ int64) {
			read := r.read
			r.read = func(p []byte) (int, error) {
				n, err := read(p)
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return n, err
			}
		}),
	},
	{
		name:   "reading ends after the first 64 kB",
		breaks: "OpenBlob returns an io.ReadSeekCloser",
		caught: "blobs/reopen",
		fault: opened(func(r *blobReader, size int64) {
			seek, read := r.seek, r.read
			r.read = func(p []byte) (int, error) {
				if at, _ := seek(0, io.SeekCurrent); at+int64(len(p)) > 1<<16 {
					p = p[:max(0, 1<<16-at)]
					if len(p) == 0 {
						return 0, io.EOF
					}
				}
				return read(p)
			}
		}),
	},
	{
		name:   "two readers of a blob share where they are",
		breaks: anywhere,
		caught: "blobs/read",
		fault: func(d *driver) {
			readers := map[*blob]*blobReader{}
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				_, err := d.soundOpen(ctx, name)
				if err != nil {
					return nil, err
				}
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				b := d.m.blobs[name]
				r, ok := readers[b]
				if !ok {
					r = guarded(&d.m.mu, readerOf(b.data))
					readers[b] = r
				}
				return &sharedReader{r, func() {
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					delete(readers, b)
				}}, nil
			}
		},
	},
	{
		name:   "Write keeps the caller's memory until Close",
		breaks: "CreateBlob returns an io.WriteCloser",
		caught: "blobs/at-once",
		fault: created(func(d *driver, b *blob, w *blobWriter) {
			var given [][]byte
			write, end := w.write, w.close
			w.write = func(p []byte) (int, error) {
				given = append(given, p)
				return len(p), nil
			}
			w.close = func() error {
				for _, p := range given {
					if _, err := write(p); err != nil {
						return err
					}
				}
				return end()
			}
		}),
	},
	{
		name:   "of one Write, 64 kB are written",
		breaks: "CreateBlob returns an io.WriteCloser",
		caught: "blobs/read",
		fault: created(func(_ *driver, _ *blob, w *blobWriter) {
			write := w.write
			w.write = func(p []byte) (int, error) {
				_, err := write(p[:min(1<<16, len(p))])
				return len(p), err
			}
		}),
	},
	{
		name:   "a blob is cut after 1 MiB",
		breaks: "Blobs keeps long bodies",
		caught: "blobs/read",
		fault: created(func(d *driver, b *blob, w *blobWriter) {
			end := w.close
			w.close = func() error {
				err := end()
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				b.data = b.data[:min(1<<20, len(b.data))]
				return err
			}
		}),
	},
	{
		name:   "CR LF becomes LF in a blob",
		breaks: "CreateBlob returns an io.WriteCloser",
		caught: "blobs/read",
		fault: created(func(d *driver, b *blob, w *blobWriter) {
			end := w.close
			w.close = func() error {
				err := end()
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				b.data = bytes.ReplaceAll(b.data, []byte("\r\n"), []byte("\n"))
				return err
			}
		}),
	},
	{
		name:   "two blobs that are written at a time get each other's bytes",
		breaks: anywhere,
		caught: "blobs/read",
		fault: func(d *driver) {
			var pending []byte
			created(func(_ *driver, b *blob, w *blobWriter) {
				write, end := w.write, w.close
				w.write = func(p []byte) (int, error) {
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					pending = append(pending, p...)
					return len(p), nil
				}
				w.close = func() error {
					d.m.mu.Lock()
					all := pending
					pending = nil
					d.m.mu.Unlock()
					if _, err := write(all); err != nil {
						return err
					}
					return end()
				}
			})(d)
		},
	},
	{
		name:   "another opening does not find a blob",
		breaks: "Blobs belong to the Store",
		caught: "blobs/reopen",
		fault: func(d *driver) {
			own := map[string]bool{}
			created(func(d *driver, b *blob, _ *blobWriter) {
				for name, other := range d.m.blobs {
					own[name] = own[name] || other == b
				}
			})(d)
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				d.m.mu.Lock()
				found := own[name] || len(d.m.openings) == 1
				d.m.mu.Unlock()
				if !found {
					return nil, notExist(name)
				}
				return d.soundOpen(ctx, name)
			}
		},
	},
	{
		name:   "CreateBlob waits for the end of an Update",
		breaks: anywhere,
		caught: "blobs/at-once",
		fault: func(d *driver) {
			d.createBlob = func(ctx context.Context, name string) (io.WriteCloser, error) {
				if err := d.enter(ctx); err != nil {
					return nil, err
				}
				defer d.leave()
				return d.soundCreate(ctx, name)
			}
		},
	},
	{
		name:   "RemoveBlob waits for the end of an Update",
		breaks: anywhere,
		caught: "blobs/at-once",
		fault: func(d *driver) {
			d.removeBlob = func(ctx context.Context, name string) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				defer d.leave()
				return d.soundRemove(ctx, name)
			}
		},
	},
	{
		name:   "an Update that fails removes the blobs that were created meanwhile",
		breaks: notPart,
		caught: "blobs/at-once",
		fault: failingBlobs(func(d *driver, before map[string]*blob) {
			maps.DeleteFunc(d.m.blobs, func(name string, _ *blob) bool { return before[name] == nil })
		}),
	},
	{
		name:   "an Update that fails brings back the blobs that were removed meanwhile",
		breaks: notPart,
		caught: "blobs/at-once",
		fault: failingBlobs(func(d *driver, before map[string]*blob) {
			for name, b := range before {
				if d.m.blobs[name] == nil {
					d.m.blobs[name] = b
				}
			}
		}),
	},
	{
		name:   "OpenBlob of an unknown name returns another error",
		breaks: isUnknown,
		caught: "blobs/list",
		fault: func(d *driver) {
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				r, err := d.soundOpen(ctx, name)
				if err != nil {
					return nil, errors.New(err.Error())
				}
				return r, nil
			}
		},
	},
	{
		name:   "OpenBlob of an unknown name returns an empty blob",
		breaks: isUnknown,
		caught: "blobs/list",
		fault: func(d *driver) {
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				r, err := d.soundOpen(ctx, name)
				if err != nil {
					return readerOf(nil), nil
				}
				return r, nil
			}
		},
	},
	{
		name:   "OpenBlob of an unknown name fails at the first Seek only",
		breaks: isUnknown,
		caught: "blobs/read",
		fault: func(d *driver) {
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				r, err := d.soundOpen(ctx, name)
				if err != nil {
					return &blobReader{
						func([]byte) (int, error) { return 0, err },
						func(int64, int) (int64, error) { return 0, err },
					}, nil
				}
				return r, nil
			}
		},
	},
	{
		name:   "a blob can be opened after RemoveBlob, but not listed",
		breaks: noneLeft,
		caught: "blobs/list",
		fault: func(d *driver) {
			removed := map[string][]byte{}
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				if b := d.m.blobs[name]; b != nil && b.complete {
					removed[name] = b.data
				}
				d.m.mu.Unlock()
				return d.soundRemove(ctx, name)
			}
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				d.m.mu.Lock()
				data, ok := removed[name]
				d.m.mu.Unlock()
				if ok {
					return readerOf(data), nil
				}
				return d.soundOpen(ctx, name)
			}
		},
	},
	{
		name:   "who reads a blob that is removed gets zeros",
		breaks: "OpenBlob returns a reader of a blob",
		caught: "blobs/read",
		fault: func(d *driver) {
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				if b := d.m.blobs[name]; b != nil {
					clear(b.data)
				}
				d.m.mu.Unlock()
				return d.soundRemove(ctx, name)
			}
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				r, err := d.soundOpen(ctx, name)
				if err != nil {
					return nil, err
				}
				return guarded(&d.m.mu, r.(*blobReader)), nil
			}
		},
	},
	{
		name:   "RemoveBlob of an unknown name is an error",
		breaks: noneLeft,
		caught: "blobs/read",
		fault: func(d *driver) {
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				_, ok := d.m.blobs[name]
				d.m.mu.Unlock()
				if !ok {
					return notExist(name)
				}
				return d.soundRemove(ctx, name)
			}
		},
	},
	{
		name:   "RemoveBlob leaves a blob that is not complete",
		breaks: "If ctx has ended before Close, the bytes are not needed, and RemoveBlob follows",
		caught: "blobs/reopen",
		fault: func(d *driver) {
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				b, ok := d.m.blobs[name]
				d.m.mu.Unlock()
				if ok && !b.complete {
					return nil
				}
				return d.soundRemove(ctx, name)
			}
		},
	},
	{
		name:   "RemoveBlob removes blobs whose names begin with the name",
		breaks: noneLeft,
		caught: "blobs/list",
		fault: func(d *driver) {
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				maps.DeleteFunc(d.m.blobs, func(other string, _ *blob) bool { return strings.HasPrefix(other, name) })
				return nil
			}
		},
	},
	{
		name:   "blobs whose names differ after a full stop are one blob",
		breaks: ownName,
		caught: "blobs/list",
		fault: named(func(name string) string {
			if i := strings.LastIndex(name, "."); i > 0 {
				name = name[:i]
			}
			return name
		}),
	},
	{
		name:   "ListBlobs leaves out blobs that are not complete",
		breaks: listsAll,
		caught: "blobs/reopen",
		fault: listing(func(d *driver, all []listed) []listed {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			return slices.DeleteFunc(all, func(l listed) bool {
				b := d.m.blobs[l.name]
				return b != nil && !b.complete
			})
		}),
	},
	{
		name:   "ListBlobs yields a blob that is not complete with another name",
		breaks: "Names that CreateBlob was never given are passed over",
		caught: "blobs/reopen",
		fault: listing(func(d *driver, all []listed) []listed {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			for i, l := range all {
				if b := d.m.blobs[l.name]; b != nil && !b.complete {
					all[i].name += ".tmp"
				}
			}
			return all
		}),
	},
	{
		name:   "ListBlobs yields blobs that were removed",
		breaks: noneLeft,
		caught: "blobs/reopen",
		fault: func(d *driver) {
			var removed []listed
			d.removeBlob = func(ctx context.Context, name string) error {
				d.m.mu.Lock()
				if b := d.m.blobs[name]; b != nil {
					removed = append(removed, listed{name, b.modified})
				}
				d.m.mu.Unlock()
				return d.soundRemove(ctx, name)
			}
			listing(func(d *driver, all []listed) []listed {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				return append(all, removed...)
			})(d)
		},
	},
	{
		name:   "ListBlobs yields the first 100 blobs only",
		breaks: listsAll,
		caught: "blobs/list",
		fault:  listing(func(_ *driver, all []listed) []listed { return all[:min(100, len(all))] }),
	},
	{
		name:   "ListBlobs is an error before the first blob",
		breaks: listsAll,
		caught: "blobs/list",
		fault: func(d *driver) {
			d.listBlobs = func(ctx context.Context, fn func(name string, modified time.Time) bool) error {
				if len(d.m.list()) == 0 {
					return notExist("blobs")
				}
				return d.soundList(ctx, fn)
			}
		},
	},
	{
		name:   "ListBlobs leaves out the blob after one that is removed meanwhile",
		breaks: "ListBlobs may leave out blobs that are created or removed meanwhile",
		caught: "blobs/list",
		fault: func(d *driver) {
			d.listBlobs = func(_ context.Context, fn func(name string, modified time.Time) bool) error {
				for i := 0; i < len(d.m.list()); i++ {
					if l := d.m.list()[i]; !fn(l.name, l.modified) {
						break
					}
				}
				return nil
			}
		},
	},
	{
		name:   "ListBlobs goes on after fn has returned false",
		breaks: "ListBlobs calls fn until it returns false",
		caught: "blobs/list",
		fault: func(d *driver) {
			d.listBlobs = func(_ context.Context, fn func(name string, modified time.Time) bool) error {
				for _, l := range d.m.list() {
					fn(l.name, l.modified)
				}
				return nil
			}
		},
	},
	{
		name:   "ListBlobs yields a blob with no time",
		breaks: "ListBlobs calls fn with the time of the last write of each blob",
		caught: "blobs/at-once",
		fault: listing(func(_ *driver, all []listed) []listed {
			for i := range all {
				all[i].modified = time.Time{}
			}
			return all
		}),
	},
	{
		name:   "ListBlobs yields a blob with the time of its creation",
		breaks: "ListBlobs calls fn with the time of the last write of each blob",
		caught: "blobs/list",
		fault: created(func(d *driver, b *blob, w *blobWriter) {
			begun := b.modified
			write := w.write
			w.write = func(p []byte) (int, error) {
				n, err := write(p)
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				b.modified = begun
				return n, err
			}
		}),
	},
}

// guarded returns r under a mutex.
func guarded(mu *sync.Mutex, r *blobReader) *blobReader {
	return &blobReader{
		func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return r.read(p)
		},
		func(offset int64, whence int) (int64, error) {
			mu.Lock()
			defer mu.Unlock()
			return r.seek(offset, whence)
		},
	}
}

// A sharedReader is one of several that read through the same one.
type sharedReader struct {
	io.ReadSeeker
	close func()
}

func (r *sharedReader) Close() error {
	r.close()
	return nil
}
