package s3blobs_test

import (
	"bufio"
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

// leaveEnv makes the test binary a process that writes bodies below this prefix and never
// commits them.
const leaveEnv = "WEBSYNC_S3_LEAVE"

// leave writes one body of two parts and a bit that it doesn't end, and bodies that it
// ends; it prints a line after each and waits to be killed.
func leave() {
	s := harvest.NewCatalog(memstore.New())
	s.ChunkSize = 4 << 10
	blobs := s3blobs.New(client(), bucket, os.Getenv(leaveEnv))
	blobs.PartSize = 5 << 20
	s.Blobs = blobs
	body := func(n int, end bool) {
		w, err := s.NewBody(context.Background())
		must(err)
		_, err = w.Write(noise(n))
		must(err)
		if end {
			_, _, err = w.Finish()
			must(err)
		}
		os.Stdout.WriteString("written\n")
	}
	body(11<<20, false)
	body(5000, true)
	body(6<<20, true)
	select {}
}

// TestKilled: a process dies between its uploads and their Commit. Vacuum removes what it
// has left, and nothing else.
func TestKilled(t *testing.T) {
	blobs, prefix := newBlobs(t)
	s := harvest.NewCatalog(memstore.New())
	s.ChunkSize = 4 << 10
	s.Blobs = blobs
	kept := noise(6 << 20)
	key := commit(t, s, kept)

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
		r, err := s.Open(t.Context(), websync.Body{Key: key})
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, kept, got)
		require.NoError(t, r.Close())
	}
}

// commit stores a record with a body.
func commit(t *testing.T, s *harvest.Catalog, data []byte) (key websync.Digest) {
	w, err := s.NewBody(t.Context())
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	key, _, err = w.Finish()
	require.NoError(t, err)
	c, err := s.Claim(t.Context(), "source/a", 0)
	require.NoError(t, err)
	b := harvest.NewBatch("a")
	var rec harvest.Record
	rec.Resource.ID, rec.Kind = "1", websync.Created
	rec.Bodies = []websync.Body{{Name: "content", Key: key}}
	b.Puts, b.Bodies = []harvest.Change{{Record: rec}}, []harvest.BodyWriter{w}
	conflicts, err := s.Commit(t.Context(), c, b)
	require.NoError(t, err)
	require.Empty(t, conflicts)
	return key
}
