package s3blobs_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/s3blobs"
)

// leaveEnv makes the test binary a process that leaves bodies below this prefix, which it
// does not commit to the Store of the test.
const leaveEnv = "WEBSYNC_S3_LEAVE"

// leave harvests bodies into a Store that nobody else sees. It writes two to their ends,
// and two parts and a bit of a third one; it prints a line after each and waits to be
// killed.
func leave() {
	s := harvest.NewCatalog(memstore.New())
	s.ChunkSize = 4 << 10
	s.Blobs = printing{blobsOf(os.Getenv(leaveEnv))}
	h := &harvest.Harvester{Catalog: s, Concurrency: 1}
	_, err := h.Run(context.Background(), harvest.Of("a",
		event("1", noise(5000)),
		event("2", noise(6<<20)),
		harvest.Event{Resource: websync.Resource{ID: "3"}, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(noise(11<<20)), stuck{})), nil
		}},
	))
	must(err)
}

// event returns the event of a resource that comes with its bytes.
func event(id string, data []byte) harvest.Event {
	return harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes(data)}
}

func printLine() { os.Stdout.WriteString("written\n") }

// stuck is a Reader that prints a line and does not return.
type stuck struct{}

func (stuck) Read([]byte) (int, error) {
	printLine()
	select {}
}

// printing are Blobs that print a line after each that is complete.
type printing struct{ *s3blobs.Blobs }

func (p printing) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	w, err := p.Blobs.CreateBlob(ctx, name)
	return printingWriter{w}, err
}

type printingWriter struct{ io.WriteCloser }

func (w printingWriter) Close() error {
	err := w.WriteCloser.Close()
	printLine()
	return err
}

// TestKilled: a process dies between its uploads and their Commit. Vacuum removes what it
// has left, and nothing else.
func TestKilled(t *testing.T) {
	blobs, prefix := newBlobs(t)
	s := harvest.NewCatalog(memstore.New())
	s.ChunkSize = 4 << 10
	s.Blobs = blobs
	kept := noise(6 << 20)
	_, err := (&harvest.Harvester{Catalog: s}).Run(t.Context(), harvest.Of("a", event("1", kept)))
	require.NoError(t, err)

	for written := 0; written <= 3; written++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), leaveEnv+"="+prefix, addressEnv+"="+address)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range written {
			require.True(t, lines.Scan())
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if written == 3 {
			assert.Len(t, names(t, blobs), 4, "what is committed, and what the process has left")
		}

		_, err = s.Vacuum(t.Context(), -1) // also what is of this second
		require.NoError(t, err)
		assert.Len(t, names(t, blobs), 1)
		r, err := s.Open(t.Context(), websync.Body{Key: websync.SHA256(kept)})
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, kept, got)
		require.NoError(t, r.Close())
	}
}
