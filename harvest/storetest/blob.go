package storetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A blobs is the Blobs of a Store under test. Its methods end the case if a call fails;
// those that return an error do not.
type blobs struct {
	harvest.Blobs
	*db
}

// withBlobs is withTwo for Stores with Blobs.
func withBlobs(name, sentence string, check func(b, other blobs)) rule {
	return withTwo(name, sentence, func(d, other *db) { check(blobsOf(d), blobsOf(other)) })
}

func blobsOf(d *db) blobs { return blobs{offered[harvest.Blobs](d.tester, d.Store), d} }

// blobName returns a new name.
func blobName() string { return strings.ToLower(rand.Text()) }

// longBlob is the size of a blob that no driver keeps in memory until it is complete.
const longBlob = 12 << 20

// begin writes a blob that is not complete before it is closed.
func (b blobs) begin(ctx context.Context, name, data string) (io.WriteCloser, error) {
	w, err := b.CreateBlob(ctx, name)
	for piece := range slices.Chunk([]byte(data), 100_003) {
		if err != nil {
			return w, err
		}
		var n int
		if n, err = w.Write(piece); n != len(piece) {
			err = cmp.Or(err, io.ErrShortWrite)
		}
		clear(piece) // the caller may use it again
	}
	return w, err
}

func (b blobs) write(name, data string) error {
	ctx, cancel := context.WithCancel(b.Ctx)
	defer cancel()
	w, err := b.begin(ctx, name, data)
	if err != nil {
		return err
	}
	return w.Close()
}

// read reads a blob from several positions.
func (b blobs) read(name, want string) error {
	r, err := b.OpenBlob(b.Ctx, name)
	if err != nil {
		return err
	}
	size := int64(len(want))
	for i, whence := range []int{io.SeekEnd, io.SeekStart, io.SeekStart, io.SeekEnd, io.SeekCurrent} {
		offset, want := []int64{0, 0, size / 2, -1, -size}[i], want[[]int64{size, 0, size / 2, size - 1, 0}[i]:]
		at, err := r.Seek(offset, whence)
		got, failed := io.ReadAll(r)
		if err = cmp.Or(err, failed); err != nil || string(got) != want || at != size-int64(len(want)) {
			return fmt.Errorf("reading the last %d bytes of %d: got %d at %d, and %w", len(want), size, len(got), at, err)
		}
	}
	return r.Close()
}

// names returns what ListBlobs yields, in order of the names.
func (b blobs) names() (names []string, err error) {
	var wrong error
	err = b.ListBlobs(b.Ctx, func(name string, modified time.Time) bool {
		if names = append(names, name); time.Since(modified).Abs() > time.Hour {
			wrong = fmt.Errorf("a new blob was written at %v", modified)
		}
		return true
	})
	slices.Sort(names)
	return names, cmp.Or(err, wrong)
}

// are checks which blobs there are.
func (b blobs) are(names ...string) {
	b.Helper()
	got, err := b.names()
	b.OK(err, "ListBlobs")
	b.Same(slices.Sorted(slices.Values(names)), got, "ListBlobs")
}

// removing removes the first blob that ListBlobs yields, meanwhile. It returns the
// others.
func (b blobs) removing(names []string) []string {
	b.Helper()
	var listed []string
	removed := make(chan error, 1)
	b.OK(b.ListBlobs(b.Ctx, func(name string, _ time.Time) bool {
		if listed = append(listed, name); len(listed) == 1 {
			go func() { removed <- b.RemoveBlob(b.Ctx, name) }()
			time.Sleep(10 * time.Millisecond) // it may wait until the list ends
		}
		return true
	}), "ListBlobs")
	b.OK(<-removed, "RemoveBlob")
	b.Same(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(listed)), "ListBlobs, while the first is removed")
	names = slices.DeleteFunc(names, func(name string) bool { return name == listed[0] })
	b.are(names...)
	return names
}

// lastWrite checks the time of a blob that is written for a while, unless clocks tick in
// seconds.
func (b blobs) lastWrite() {
	b.Helper()
	name := blobName()
	w, err := b.begin(b.Ctx, name, "a")
	b.OK(err, "writing a blob")
	time.Sleep(50 * time.Millisecond)
	late := time.Now()
	time.Sleep(20 * time.Millisecond)
	_, err = w.Write([]byte("b"))
	b.OK(errors.Join(err, w.Close()), "writing a blob")
	b.OK(b.ListBlobs(b.Ctx, func(other string, modified time.Time) bool {
		b.ErrorIf(other == name && modified.Nanosecond() != 0 && modified.Before(late),
			"a blob that was written after %v was last written at %v", late, modified)
		return true
	}), "ListBlobs")
	b.remove(name)
}

// remove removes a blob and checks that it is gone.
func (b blobs) remove(name string) {
	b.Helper()
	b.OK(b.RemoveBlob(b.Ctx, name), "RemoveBlob")
	_, err := b.OpenBlob(b.Ctx, name)
	b.Is(err, fs.ErrNotExist, "OpenBlob of a blob that is not there")
}

var blobRules = []rule{
	withBlobs("read", "A blob that is complete is read from any position, by several at once, until it is removed.",
		func(b, other blobs) {
			var names, data [4]string
			b.Together(len(names), func(i int) error {
				names[i], data[i] = blobName(), pattern([]int{1, 4096, 300_000, longBlob}[i], i)
				return b.write(names[i], data[i])
			})
			first, second := blobName(), blobName()
			w, err := b.begin(b.Ctx, first, "first")
			b.OK(err, "writing a blob")
			b.OK(b.write(second, "second"), "writing a blob")
			b.OK(w.Close(), "Close")
			b.OK(errors.Join(b.read(first, "first"), b.read(second, "second")), "reading two blobs")
			b.remove(first)
			b.remove(second)
			b.Together(2*len(names), func(i int) error { return other.read(names[i/2], data[i/2]) })
			r, err := b.OpenBlob(b.Ctx, names[3])
			b.OK(err, "OpenBlob")
			begin := make([]byte, 1000)
			_, err = io.ReadFull(r, begin)
			b.OK(err, "reading a blob")
			b.OK(b.read(names[3], data[3]), "reading a blob that another reader reads")
			for i, name := range names {
				b.are(names[i:]...)
				other.remove(name)
				b.remove(name)
			}
			b.remove(blobName())
			rest, err := io.ReadAll(r)
			b.ErrorIf(err == nil && string(begin)+string(rest) != data[3],
				"a reader of a blob that is removed reads %d other bytes", len(rest))
			r.Close() // may fail
		}),
	withBlobs("list", "ListBlobs yields each blob, complete or not, until its function returns false.", func(b, other blobs) {
		b.are()
		names := []string{blobName(), blobName()}
		if o, ok := b.Store.(harvest.Owners); ok && o.Owner() != "" {
			names = append(names, names[0]+"."+o.Owner(), blobName()+"."+o.Owner())
		}
		for len(names) < 250 && (len(names) < 120 || !racing.Short()) {
			part := blobName()[2:]
			names = append(names, "ab"+part, part+"ab")
		}
		b.Together(len(names), func(i int) error { return b.write(names[i], names[i]) })
		b.Together(len(names), func(i int) error { return b.read(names[i], names[i]) })
		calls := 0
		b.OK(b.ListBlobs(b.Ctx, func(string, time.Time) bool { calls++; return false }), "ListBlobs")
		b.Same(1, calls, "calls of a function that returns false")
		b.remove(names[0])
		names = names[1:]
		b.are(names...)
		names = b.removing(names)
		b.lastWrite()
		for _, size := range []int{longBlob, 0, 1, 5000} {
			ctx, cancel := context.WithCancel(b.Ctx)
			name := blobName()
			w, err := b.begin(ctx, name, pattern(size, 0))
			b.OK(err, "writing a blob")
			if size == longBlob {
				other.are(append(names, name)...)
			}
			cancel()
			w.Close() // may fail: the bytes are not needed
			b.remove(name)
			b.are(names...)
		}
	}),
	withBlobs("erase", "Bytes that EraseBlob has erased are zeros, and all others stay.", func(b, other blobs) {
		eraser := offered[harvest.Eraser](b.tester, b.Store)
		name, data := blobName(), []byte(pattern(50_001, 1))
		b.OK(b.write(name, string(data)), "writing a blob")
		parts := [][2]int{{5000, 7000}, {12_000, 1}, {4090, 910}, {4000, 90}, {30_000, 20_001}, {0, 3}, {5000, 7000}}
		for _, part := range parts {
			b.OK(eraser.EraseBlob(b.Ctx, name, int64(part[0]), int64(part[1])), "EraseBlob")
			clear(data[part[0]:][:part[1]])
			b.OK(other.read(name, string(data)), "reading a blob of which a part is erased")
		}
		b.are(name)
		b.remove(name)
		b.OK(eraser.EraseBlob(b.Ctx, name, 0, 1), "EraseBlob of a blob that is not there")
		b.are()
	}),
	withBlobs("at-once", "All methods may be called from several goroutines, also inside an Update, of which blobs are no "+
		"part.",
		func(b, other blobs) {
			var kept []string
			gone := blobName()
			b.OK(b.write(gone, "data"), "writing a blob")
			b.Is(b.tryUpdate(b.Ctx, func(t *tx) {
				name := blobName()
				t.fail(cmp.Or(b.write(name, "data"), b.read(name, "data"), b.RemoveBlob(b.Ctx, gone)))
				kept = append(kept, name)
				t.fail(errTest)
			}), errTest, "an Update that fails")
			b.are(kept...)
			b.Together(4, func(worker int) (err error) {
				for i := 0; i < 5 && err == nil; i++ {
					name, data := blobName(), pattern(9000, worker)
					update := func(t *tx) { t.set("a", name) }
					err = cmp.Or(b.write(name, data), other.read(name, data), other.tryUpdate(b.Ctx, update))
					names, failed := other.names()
					err = cmp.Or(err, failed, b.RemoveBlob(b.Ctx, name))
					if err == nil && !(slices.Contains(names, name) && slices.Contains(names, kept[0])) {
						err = fmt.Errorf("ListBlobs yields %q, want %q and %q, too", names, name, kept[0])
					}
				}
				return err
			})
			b.are(kept...)
		}),
	withBlobs("reopen", "A blob is there after Reopen if an Update has followed it; one that is not complete is listed.",
		func(b, other blobs) {
			b.needs(b.options.Reopen != nil, "Options.Reopen is nil")
			names, broken, data := []string{blobName(), blobName()}, blobName(), pattern(70_000, 1)
			b.OK(errors.Join(b.write(names[0], data), b.write(names[1], data)), "writing blobs")
			w, err := b.begin(b.Ctx, broken, pattern(longBlob, 1))
			b.OK(err, "writing a blob")
			defer w.Close()
			b.set(pairs{"a": "1"})
			b.update(func(t *tx) {
				names = append(names, blobName())
				t.fail(b.write(names[len(names)-1], data))
				t.set("a", "2")
			})
			d, _ := reopened(b.db, other.db)
			b = blobsOf(d)
			b.are(append(names, broken)...)
			for _, name := range names {
				b.OK(b.read(name, data), "reading a blob")
			}
			b.remove(broken)
			b.are(names...)
		}),
}
