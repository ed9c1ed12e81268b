//go:build unix

package sqlitestore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

const (
	// workerFile is the environment variable that makes the test binary a worker.
	workerFile = "SQLITESTORE_TEST_WORKER"
	// workerStops lists the numbers of the Gets at which a worker waits for a line on
	// standard input.
	workerStops = "SQLITESTORE_TEST_STOPS"

	patchedIDs = 300
)

// patched is a Getter that builds two bodies from the hint of each event. Every tenth
// resource is not to be obtained by a worker.
type patched struct {
	later bool                          // a worker obtains it
	each  func(id string)               // called when a Get begins
	fault func(format string, a ...any) // a hint was lost
}

func (p *patched) Key() string { return "k" }

func (p *patched) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for i := range patchedIDs {
			id := strconv.Itoa(i)
			if !yield(harvest.Event{Resource: websync.Resource{ID: id}, Hint: []byte("patch of " + id)}, nil) {
				return
			}
		}
	}
}

func (p *patched) Get(ctx context.Context, job *harvest.Job) error {
	id := job.Resource.ID
	p.each(id)
	if string(job.Hint) != "patch of "+id {
		p.fault("the hint of %s is %q", id, job.Hint)
	}
	if p.later && strings.HasSuffix(id, "0") {
		return job.NotYet(time.Time{}, "not by a worker")
	}
	if _, err := job.Keep(ctx, "content", websync.Link{}, strings.NewReader(string(job.Hint))); err != nil {
		return err
	}
	// A few long bodies that several processes write at the same time.
	_, err := job.Keep(ctx, "graph", websync.Link{}, strings.NewReader(strings.Repeat(id[len(id)-1:], 100_000)))
	return err
}

// workOnce prints the id when a Get begins.
func workOnce(ctx context.Context, file string) error {
	s, err := sqlitestore.OpenCatalog(ctx, file, nil)
	if err != nil {
		return err
	}
	s.ChunkSize = 16 << 10 // so that some bodies are long
	stops := strings.Fields(os.Getenv(workerStops))
	input := bufio.NewReader(os.Stdin)
	var mu sync.Mutex // while a worker stops, none of its Gets goes on
	n := 0
	src := &patched{later: true, each: func(id string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(id)
		if n++; len(stops) > 0 && stops[0] == strconv.Itoa(n) {
			stops = stops[1:]
			if _, err := input.ReadString('\n'); err != nil {
				os.Exit(3)
			}
		}
	}, fault: func(format string, a ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", a...)
		os.Exit(2)
	}}
	h := harvest.Harvester{Sample: -1, Catalog: s.Catalog, Concurrency: 2}
	r, err := h.Work(ctx, src)
	if err == nil && r.Failed > 0 {
		err = fmt.Errorf("%d failures: %v", r.Failed, r.Failures)
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// A workerProcess is a worker in a process of its own.
type workerProcess struct {
	*exec.Cmd
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	got   []string // ids of the Gets so far
}

func startWorker(ctx context.Context, t *testing.T, file string, stops ...int) *workerProcess {
	w := &workerProcess{Cmd: exec.CommandContext(ctx, os.Args[0]), t: t}
	w.Env = append(os.Environ(), workerFile+"="+file, workerStops+"="+strings.Trim(fmt.Sprint(stops), "[]"))
	w.Stderr = os.Stderr
	var err error
	w.in, err = w.StdinPipe()
	require.NoError(t, err)
	out, err := w.StdoutPipe()
	require.NoError(t, err)
	w.lines = bufio.NewScanner(out)
	require.NoError(t, w.Start())
	return w
}

// read reads ids until there are n of them.
func (w *workerProcess) read(n int) {
	w.t.Helper()
	for len(w.got) < n {
		require.True(w.t, w.lines.Scan(), "a worker ended after %d Gets: %v", len(w.got), w.lines.Err())
		w.got = append(w.got, w.lines.Text())
	}
}

// resume ends a stop.
func (w *workerProcess) resume() {
	w.t.Helper()
	_, err := io.WriteString(w.in, "\n")
	require.NoError(w.t, err)
}

// finish reads ids until the worker ends.
func (w *workerProcess) finish() error {
	for w.lines.Scan() {
		w.got = append(w.got, w.lines.Text())
	}
	return w.Wait()
}

// TestKillWorker has three processes share the tasks of one source and kills one of them
// in a Get. The others carry out what it had in hand.
func TestKillWorker(t *testing.T) {
	for _, last := range []int{2, 30} { // Get of the worker that is killed
		t.Run(strconv.Itoa(last), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			file := filepath.Join(t.TempDir(), "store.db")
			s, err := sqlitestore.OpenCatalog(ctx, file, nil)
			require.NoError(t, err)
			src := &patched{each: func(string) {}, fault: func(format string, a ...any) { t.Errorf(format, a...) }}
			h := harvest.Harvester{Sample: -1, Catalog: s.Catalog}
			_, err = h.List(ctx, src)
			require.NoError(t, err)

			const pause = 10
			victim := startWorker(ctx, t, file, 1, last)
			others := []*workerProcess{startWorker(ctx, t, file, 1, pause), startWorker(ctx, t, file, 1, pause)}
			all := append([]*workerProcess{victim}, others...)
			for _, w := range all {
				w.read(1)
			}
			for _, w := range all {
				w.resume()
			}
			victim.read(last)
			for _, w := range others {
				w.read(pause)
			}
			require.NoError(t, victim.Process.Kill())
			require.Error(t, victim.finish())
			for _, w := range others {
				w.resume()
			}
			var ended sync.WaitGroup
			for _, w := range others {
				ended.Go(func() { assert.NoError(t, w.finish()) })
			}
			ended.Wait()

			times := map[string]int{}
			for _, w := range all {
				for _, id := range w.got {
					times[id]++
				}
			}
			assert.Len(t, times, patchedIDs, "resources that were obtained")
			for _, id := range victim.got {
				times[id]--
			}
			for id, n := range times {
				assert.LessOrEqual(t, n, 1, "Gets of %s by processes that live", id)
			}
			tasks := 0
			for task, err := range s.Tasks(ctx, "k", "") {
				require.NoError(t, err)
				assert.True(t, strings.HasSuffix(task.Resource.ID, "0"), "%s is left", task.Resource.ID)
				assert.Zero(t, task.Attempts, task.Resource.ID)
				tasks++
			}
			assert.Equal(t, patchedIDs/10, tasks)

			r, err := h.Run(ctx, src)
			require.NoError(t, err)
			assert.True(t, r.InStep())
			assert.EqualValues(t, patchedIDs/10, r.Created)
			checkPatched(t, s)
			value, err := s.State(ctx, "harvest/work/k")
			require.NoError(t, err)
			assert.Empty(t, value, "tasks in hand")
			_, err = s.Vacuum(ctx, 0)
			require.NoError(t, err)
			checkFiles(t, s, file)
			assert.NotEmpty(t, bodyFiles(t, file))
			require.NoError(t, s.Close())
		})
	}
}

// checkPatched requires one entry of the log for each id, with both bodies whole.
func checkPatched(t *testing.T, s *sqlitestore.Catalog) {
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, patchedIDs, head.Last)
	assert.EqualValues(t, patchedIDs, head.Total())
	for it, err := range s.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		id := it.Resource.ID
		for name, want := range map[string]string{"content": "patch of " + id, "graph": strings.Repeat(id[len(id)-1:], 100_000)} {
			b, ok := it.Body(name)
			require.True(t, ok, "%s has no body %s", id, name)
			r, err := s.Open(t.Context(), b)
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
			require.Equal(t, want, string(data))
		}
	}
}
