package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A folder keeps bodies as files. It does not flush them to disk, as a program must.
type folder struct{ *os.Root }

var (
	_ harvest.Blobs  = folder{}
	_ harvest.Eraser = folder{}
)

func (f folder) CreateBlob(_ context.Context, name string) (io.WriteCloser, error) {
	return f.Create(name)
}

func (f folder) OpenBlob(_ context.Context, name string) (io.ReadSeekCloser, error) {
	return f.Open(name)
}

func (f folder) RemoveBlob(_ context.Context, name string) error {
	if err := f.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) ListBlobs(_ context.Context, fn func(name string, modified time.Time) bool) error {
	files, err := fs.ReadDir(f.FS(), ".")
	for _, file := range files {
		if info, err := file.Info(); err == nil && !fn(file.Name(), info.ModTime()) {
			break
		}
	}
	return err
}

func (f folder) EraseBlob(_ context.Context, name string, offset, size int64) error {
	file, err := f.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	_, err = file.WriteAt(make([]byte, size), offset)
	return errors.Join(err, file.Close())
}

// Long bodies can be anywhere beside the Store, here in files. Keys of the Store that
// begin with BlobKey show that there are some, so that their loss is noticed early.
func ExampleBlobs() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	store := memstore.New()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(store)}
	h.Catalog.Blobs = folder{root}
	long := bytes.Repeat([]byte("law "), 1<<20)
	_, err = h.Run(ctx, harvest.Of("demo", harvest.Event{
		Resource: websync.Resource{ID: "https://law.example/all"}, Open: harvest.OpenBytes(long),
	}))
	if err != nil {
		log.Fatal(err)
	}
	inUse := 0
	err = store.View(ctx, func(r harvest.Reader) error {
		return r.Scan([]byte{harvest.BlobKey}, []byte{harvest.BlobKey + 1}, 1, func(_, _ []byte) bool {
			inUse++
			return true
		})
	})
	files, _ := fs.ReadDir(root.FS(), ".")
	fmt.Println(inUse, "in use,", len(files), "in the folder", err)
	// Output: 1 in use, 1 in the folder <nil>
}
