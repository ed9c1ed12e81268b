package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
)

var errBoom = errors.New("boom")

// explode panics; its name stands in the stack.
func explode(v any) { panic(v) }

func explodeOnNil(context.Context, *harvest.Job) error {
	var none *websync.Resource
	none.ID = ""
	return nil
}

// logged returns what the Harvester logs.
func (w *world) logged() *bytes.Buffer {
	log := &bytes.Buffer{}
	w.h.Log = slog.New(slog.NewTextHandler(log, nil))
	return log
}

// stacks counts the stacks of panics in a log.
func stacks(log *bytes.Buffer) int {
	return len(regexp.MustCompile(`explode\w*\(`).FindAllString(log.String(), -1))
}

// came returns an event whose bytes come with it and can be got from their URL, too.
func came(name string, open func() (io.ReadCloser, error)) harvest.Event {
	e := put(name, day(2))
	e.Open = open
	return e
}

// An exploding is a Reader that panics.
type exploding struct{}

func (exploding) Read([]byte) (int, error) {
	explode(errBoom)
	return 0, nil
}

// TestPanicOfOneResource panics while one of three resources is obtained. The others are
// stored, its record and its body stay, and the next run gets it.
func TestPanicOfOneResource(t *testing.T) {
	type gets = func(context.Context, *harvest.Job) error
	panics := func(v any) func(*world) gets {
		return func(*world) gets { return func(context.Context, *harvest.Job) error { explode(v); return nil } }
	}
	for name, arrange := range map[string]func(*world) gets{
		"an error":                 panics(errBoom),
		"a text":                   panics("boom"),
		"a number":                 panics(12),
		"an error that says gone":  panics(fmt.Errorf("boom: %w", websync.ErrGone)),
		"an error that says later": panics(fmt.Errorf("boom: %w", harvest.ErrNotYet)),
		"an error of a Store":      panics(&harvest.StoreError{Err: errBoom}),
		"nothing":                  panics(nil),
		"a nil pointer":            func(*world) gets { return explodeOnNil },
		"after a body": func(*world) gets {
			return func(ctx context.Context, job *harvest.Job) error {
				if err := job.Content(ctx); err != nil {
					return err
				}
				explode(errBoom)
				return nil
			}
		},
		"in the bytes": func(*world) gets {
			return func(ctx context.Context, job *harvest.Job) error {
				_, err := job.Keep(ctx, websync.ContentName, job.Resource.Content, io.MultiReader(strings.NewReader("b"), exploding{}))
				return err
			}
		},
		"a library that has a guard": func(*world) gets {
			return func(context.Context, *harvest.Job) (err error) {
				defer func() { err = fmt.Errorf("lib: %w", &websync.PanicError{Value: recover(), Stack: []byte("explode()")}) }()
				explode(websync.ErrGone)
				return nil
			}
		},
		"the Fetcher": func(w *world) gets {
			w.site.before = func(url string) {
				if url == base+"b" {
					explode(errBoom)
				}
			}
			return content
		},
	} {
		for _, run := range []string{"Run", "List and Work", "of a log"} {
			t.Run(name+", "+run, func(t *testing.T) {
				w := newWorld(t)
				w.pages("a", "b", "c")
				w.run(snapshot(put("b", day(1))))
				w.page("b", "new")
				listing := snapshot(put("a", day(2)), put("b", day(2)), put("c", day(2)))
				if run == "of a log" {
					listing = harvest.Of(src, put("a", day(2)), put("b", day(2)), put("c", day(2)),
						harvest.Event{Kind: harvest.Mark, Resume: checkpoint("listed")})
				}
				log := w.logged()
				var mu sync.Mutex
				failed := map[string]error{}
				w.h.Hooks = &harvest.Hooks{Outcome: func(_, id string, o harvest.Outcome, err error) {
					mu.Lock()
					defer mu.Unlock()
					if o == harvest.OutcomeFailed {
						failed[id] = err
					}
				}}
				w.h.DeleteGone = true
				get := arrange(w)
				source := getting{listing, func(ctx context.Context, job *harvest.Job) error {
					if job.Resource.ID != base+"b" {
						return job.Content(ctx)
					}
					return get(ctx, job)
				}}
				var r *harvest.Report
				if run == "List and Work" {
					w.list(source)
					r = w.work(source)
				} else {
					r = w.run(source)
				}
				require.Equal(t, map[string]string{"a": "a", "b": "b", "c": "c"}, w.live())
				require.False(t, r.InStep())
				require.True(t, r.Complete)
				require.Empty(t, r.Problems)
				require.Equal(t, int64(1), r.Failed)
				require.Len(t, r.Failures, 1)
				assert.Equal(t, base+"b", r.Failures[0].ID)
				assert.Contains(t, r.Failures[0].Error, "panic: ")
				require.Len(t, failed, 1)
				caught, ok := errors.AsType[*websync.PanicError](failed[base+"b"])
				require.True(t, ok, "%v", failed)
				assert.Contains(t, string(caught.Stack), "explode")
				assert.Equal(t, 1, stacks(log), "the stack is logged once: %s", log)
				assert.Contains(t, log.String(), base+"b")
				assert.Equal(t, "listed", w.checkpoint())
				tasks := w.tasks()
				require.Len(t, tasks, 1)
				assert.Equal(t, base+"b", tasks[0].Resource.ID)
				assert.Equal(t, 1, tasks[0].Attempts)
				assert.NotContains(t, tasks[0].Error, "goroutine", "a task has no stack")

				w.site.before = nil
				require.True(t, w.run(getting{listing, content}).InStep())
				require.Equal(t, "b new", w.live()["b"])
			})
		}
	}
}

// TestPanicOfEachAttempt parks the task of a resource that panics each time.
func TestPanicOfEachAttempt(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.h.Attempts = 2
	source := getting{snapshot(put("a", day(1)), put("b", day(1))), func(ctx context.Context, job *harvest.Job) error {
		if job.Resource.ID == base+"b" {
			explode(websync.ErrGone)
		}
		return job.Content(ctx)
	}}
	w.run(source)
	r := w.run(source)
	require.Equal(t, harvest.TaskCounts{Parked: 1}, r.Left, "it is not gone")
	require.False(t, r.InStep())
}

// TestPanicOfBytesThatCame: bytes that come with an event and panic are got from their
// URL. If they have none, they are a Problem.
func TestPanicOfBytesThatCame(t *testing.T) {
	for name, open := range map[string]func() (io.ReadCloser, error){
		"when opened": func() (io.ReadCloser, error) { explode(errBoom); return nil, nil },
		"when read":   func() (io.ReadCloser, error) { return io.NopCloser(exploding{}), nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.page("x")
			w.run(snapshot(put("x", day(1))))
			log := w.logged()
			e := came("b", open)
			e.Resource.Content.Href = ""
			w.page("c")
			r := w.run(snapshot(e, put("c", day(2))))
			require.Len(t, r.Problems, 1)
			require.Contains(t, r.Problems[0].Error, "panic: boom")
			require.Equal(t, 1, stacks(log), "%s", log)
			require.Contains(t, w.live(), "x", "nothing is deleted")
			require.Contains(t, w.live(), "c")
			require.Equal(t, "listed", w.checkpoint(), "of the first run")
		})
	}
}

// TestPanicOfASource panics while a Source lists. The run fails, nothing is deleted, the
// checkpoint is the one before, and the next run is whole.
func TestPanicOfASource(t *testing.T) {
	at := func(kind harvest.EventKind, n int) func(harvest.Source) harvest.Source {
		return func(s harvest.Source) harvest.Source {
			return hookedSource{s, func(e harvest.Event) {
				if e.Kind == kind {
					if n--; n < 0 {
						explode(errBoom)
					}
				}
			}}
		}
	}
	for name, break_ := range map[string]func(harvest.Source) harvest.Source{
		"at once": at(harvest.SnapshotStart, 0),
		"in Events itself": func(s harvest.Source) harvest.Source {
			return walking{s, func(context.Context, *harvest.Run) { explode(errBoom) }}
		},
		"after one entry":                at(harvest.Put, 1),
		"before the end of the snapshot": at(harvest.SnapshotEnd, 0),
		"in the Fetcher": func(s harvest.Source) harvest.Source {
			return walking{s, func(ctx context.Context, run *harvest.Run) {
				run.Fetcher.Fetch(ctx, &harvest.Request{URL: "panic:"})
			}}
		},
		"ahead": func(s harvest.Source) harvest.Source {
			return walking{s, func(ctx context.Context, run *harvest.Run) {
				n := 0
				for range (docfetch.Ahead[int]{
					Next:  func() (int, bool) { n++; return n, n < 4 },
					Ready: func(int) bool { return false },
					Get:   func(context.Context, int) { explode(errBoom) },
					Close: func(int) {},
				}).All(ctx) {
				}
			}}
		},
	} {
		for run, call := range map[string]func(*world, harvest.Source) (*harvest.Report, error){
			"Run":   func(w *world, s harvest.Source) (*harvest.Report, error) { return w.h.Run(t.Context(), s) },
			"List":  func(w *world, s harvest.Source) (*harvest.Report, error) { return w.h.List(t.Context(), s) },
			"Plan":  func(w *world, s harvest.Source) (*harvest.Report, error) { return w.h.Plan(t.Context(), s, nil) },
			"Audit": func(w *world, s harvest.Source) (*harvest.Report, error) { return w.h.Audit(t.Context(), s, nil) },
		} {
			t.Run(name+", "+run, func(t *testing.T) {
				w := newWorld(t)
				w.pages("a", "b", "gone")
				w.h.MaxDelete = -1
				w.run(snapshot(put("a", day(1)), put("gone", day(1))))
				w.site.before = func(url string) {
					if url == "panic:" {
						explode(errBoom)
					}
				}
				end := complete
				end.Resume = checkpoint("later")
				listing := between(start, []harvest.Event{put("a", day(1)), put("b", day(1))}, end)
				log := w.logged()
				var problems []error
				var ended error
				w.h.Hooks = &harvest.Hooks{
					Problem: func(_ string, err error) { problems = append(problems, err) },
					End:     func(_ context.Context, _ *harvest.Report, err error) { ended = err },
				}
				r, err := call(w, break_(listing))
				require.ErrorIs(t, err, errBoom)
				require.Equal(t, err, ended)
				caught, ok := errors.AsType[*websync.PanicError](err)
				require.True(t, ok)
				assert.Contains(t, string(caught.Stack), "explode")
				assert.NotContains(t, err.Error(), "goroutine")
				assert.Equal(t, 1, stacks(log), "%s", log)
				assert.False(t, r.Complete)
				assert.False(t, r.InStep())
				assert.NotEmpty(t, r.Problems)
				assert.Contains(t, r.Problems[0].Error, "panic: boom")
				assert.ErrorIs(t, problems[0], errBoom)
				assert.Zero(t, r.Deleted+r.Withheld)
				assert.Contains(t, w.live(), "gone")
				assert.Equal(t, "listed", w.checkpoint())

				require.True(t, w.run(listing).InStep())
				require.Equal(t, map[string]string{"a": "a", "b": "b"}, w.live())
				require.Equal(t, "later", w.checkpoint())
			})
		}
	}
}

// TestPanicInAGuardOfASource: what a Source has of a library that panicked is logged with
// its stack.
func TestPanicInAGuardOfASource(t *testing.T) {
	caught := fmt.Errorf("lib: %w", &websync.PanicError{Value: "boom", Stack: []byte("explode()")})
	w := newWorld(t)
	log := w.logged()
	_, err := w.h.Run(t.Context(), failing{caught})
	require.ErrorIs(t, err, caught)
	require.Equal(t, 1, stacks(log), "%s", log)
	r := w.run(harvest.Of(src, harvest.Event{Kind: harvest.Problem, Err: caught}))
	require.Len(t, r.Problems, 1)
	require.Equal(t, 2, stacks(log), "%s", log)
}

// A recovering is a Source that recovers every panic of what it calls.
type recovering struct{ harvest.Source }

func (s recovering) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		defer func() { recover() }()
		s.Source.Events(ctx, run)(yield)
	}
}

func (s recovering) Get(ctx context.Context, job *harvest.Job) error {
	defer func() { recover() }()
	return s.Source.(harvest.Getter).Get(ctx, job)
}

// explodes returns a Catalog on the world's Store with Blobs that panic in one of their
// methods.
func (w *world) explodes(in string) *harvest.Catalog {
	c := harvest.NewCatalog(harvest.StoreOf(w.store))
	c.ChunkSize, c.Blobs = 1, explodingBlobs{newBlobDB(), in}
	return c
}

type explodingBlobs struct {
	harvest.Blobs
	in string
}

func (b explodingBlobs) at(method string) {
	if b.in == method {
		explode(errBoom)
	}
}

func (b explodingBlobs) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	b.at("CreateBlob")
	w, err := b.Blobs.CreateBlob(ctx, name)
	return explodingBlob{w, b}, err
}

func (b explodingBlobs) RemoveBlob(ctx context.Context, name string) error {
	b.at("RemoveBlob")
	return b.Blobs.RemoveBlob(ctx, name)
}

type explodingBlob struct {
	io.WriteCloser
	blobs explodingBlobs
}

func (b explodingBlob) Write(data []byte) (int, error) {
	b.blobs.at("Write")
	return b.WriteCloser.Write(data)
}

func (b explodingBlob) Close() error {
	b.blobs.at("Close")
	return b.WriteCloser.Close()
}

// TestPanicThatIsNotTheSources panics in the Store and in hooks that a Source or a Getter
// calls, and in the yield of a Source. It goes on in the caller, whatever the Source does
// with it, and the claim is free.
func TestPanicThatIsNotTheSources(t *testing.T) {
	end := complete
	end.Resume = checkpoint("later")
	listing := between(start, []harvest.Event{put("a", day(2))}, end)
	store := func(in string) func(*world) harvest.Source {
		return func(w *world) harvest.Source {
			w.h.Catalog = w.explodes(in)
			return getting{listing, content}
		}
	}
	for name, arrange := range map[string]func(*world) harvest.Source{
		"CreateBlob": store("CreateBlob"),
		"Write":      store("Write"),
		"Close":      store("Close"),
		"RemoveBlob": func(w *world) harvest.Source {
			w.h.Catalog = w.explodes("RemoveBlob")
			return getting{listing, func(ctx context.Context, job *harvest.Job) error {
				_, err := job.Keep(ctx, websync.ContentName, websync.Link{}, io.MultiReader(strings.NewReader("bytes"), iotest.ErrReader(io.ErrNoProgress)))
				return err
			}}
		},
		"RemoveBlob, after bytes that panic": func(w *world) harvest.Source {
			w.h.Catalog = w.explodes("RemoveBlob")
			return getting{listing, func(ctx context.Context, job *harvest.Job) error {
				_, err := job.Keep(ctx, websync.ContentName, websync.Link{}, io.MultiReader(strings.NewReader("bytes"), exploding{}))
				return err
			}}
		},
		"Open": func(w *world) harvest.Source {
			w.h.Catalog = w.looking('B', func() { explode(errBoom) })
			return getting{listing, func(ctx context.Context, job *harvest.Job) error {
				_, err := job.Open(ctx, websync.ContentName)
				return err
			}}
		},
		"a finding of a Source": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Finding: func(string, websync.Finding) { explode(errBoom) }}
			return walking{getting{listing, content}, func(_ context.Context, run *harvest.Run) { run.Report(websync.Finding{}) }}
		},
		"a finding of a Getter": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Finding: func(string, websync.Finding) { explode(errBoom) }}
			return getting{listing, func(_ context.Context, job *harvest.Job) error {
				job.Report(websync.Finding{})
				return nil
			}}
		},
		"a finding of a Source that goes on": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Finding: func(string, websync.Finding) { explode(errBoom) }}
			return walking{harvest.Of(src, start, end), func(_ context.Context, run *harvest.Run) {
				recovered(func() { run.Report(websync.Finding{}) })
			}}
		},
		"an attempt of a Source": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Attempt: func(context.Context, harvest.AttemptInfo) { explode(errBoom) }}
			return walking{getting{listing, content}, func(ctx context.Context, run *harvest.Run) {
				run.Fetcher.Fetch(ctx, &harvest.Request{URL: "urn:none"})
			}}
		},
		"an attempt of a Getter": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Attempt: func(context.Context, harvest.AttemptInfo) { explode(errBoom) }}
			return getting{listing, content}
		},
		"Get": func(w *world) harvest.Source {
			w.h.Catalog = w.looking('r', func() { explode(errBoom) })
			return getting{listing, content}
		},
	} {
		for _, recovers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the Source recovers: %v", name, recovers), func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				w.run(snapshot(put("a", day(1))))
				w.page("a", "new")
				source := arrange(w)
				if recovers {
					source = recovering{source}
				}
				w.h.TTL = time.Hour
				if w.h.Hooks == nil {
					w.h.Hooks = &harvest.Hooks{}
				}
				w.h.Hooks.Problem = func(string, error) { t.Error("no problem of the source") }
				require.ErrorIs(t, recovered(func() { w.h.Run(t.Context(), source) }), errBoom)
				require.Equal(t, map[string]string{"a": "a"}, w.live())
				require.Equal(t, "listed", w.checkpoint())
				require.Empty(t, w.tasks())
				w.h.Catalog, w.h.Hooks = w.store, nil
				require.True(t, w.run(listing).InStep())
			})
		}
	}
	t.Run("a function of Plan", func(t *testing.T) {
		w := newWorld(t)
		require.ErrorIs(t, recovered(func() { w.h.Plan(t.Context(), listing, func(harvest.Decision) { explode(errBoom) }) }), errBoom)
	})
}

// recovered returns the error that f panics with, nil if it returns.
func recovered(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
