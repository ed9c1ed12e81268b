package sourcetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

type readCloser = io.ReadCloser

// A sharedReader has one position for all its readers.
type sharedReader struct {
	mu sync.Mutex
	r  *strings.Reader
}

func (s *sharedReader) open(open func() (readCloser, error)) (readCloser, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.r = strings.NewReader(string(data))
	return io.NopCloser(s), err
}

func (s *sharedReader) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

func brokenCheckpoints() []broken {
	return []broken{
		{name: "an unreadable checkpoint is an error", caught: "checkpoint/unreadable checkpoint/damaged", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				if data := w.run.From.Data; len(data) > 0 && json.Unmarshal(data, new(note)) != nil {
					w.fail(errors.New("the checkpoint can't be read"))
					return
				}
				w.yieldLog()
			}
		})},
		{name: "the version does not matter", caught: "checkpoint/unreadable", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				json.Unmarshal(w.run.From.Data, &w.from)
				w.yieldLog()
			}
		})},
		{name: "an unreadable checkpoint is the end", caught: "checkpoint/unreadable", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				if !w.run.From.IsZero() && w.from == (note{}) {
					w.yield(harvest.Event{Kind: harvest.Mark, Resume: w.run.From})
					return
				}
				w.yieldLog()
			}
		})},
		{name: "a short checkpoint panics", caught: "checkpoint/damaged", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				if data := w.run.From.Data; len(data) > 0 && data[0] == '{' {
					_ = data[len(w.url)]
				}
				w.yieldLog()
			}
		})},
		{name: "a known page is not read again", caught: "checkpoint/finds-all", log: true, with: each(func(m *model) {
			m.all = func(w *walk) { w.from.Done *= 1000; w.yieldLog() }
		})},
		{name: "always all, and without times", caught: "checkpoint/unchanged", log: true, with: each(func(m *model) {
			m.all = func(w *walk) { w.from = note{}; w.yieldLog() }
			m.alter = func(_ *walk, ev *harvest.Event) { ev.Resource.Modified = websync.Datetime{} }
		})},
		{name: "requests more the second time", caught: "checkpoint/unchanged", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				for range 5 {
					if !w.run.From.IsZero() {
						w.document(w.url)
					}
				}
				w.yieldLog()
			}
		})},
	}
}

// fetching is a fetch whose use of the response leaves something behind.
func fetching(spool bool, use func(w context.Context, resp *harvest.Response) (string, error)) func(context.Context, *harvest.Run, string) (string, error) {
	return func(ctx context.Context, run *harvest.Run, url string) (string, error) {
		resp, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: url, Spool: spool})
		if err != nil {
			return "", err
		}
		return use(ctx, resp)
	}
}

func readOpen(_ context.Context, resp *harvest.Response) (string, error) {
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func brokenReleases() []broken {
	return []broken{
		{name: "spools are not closed", caught: "release/end release/break", with: each(func(m *model) { m.fetch = fetching(true, readOpen) })},
		{name: "a body is closed at the end of the pass only", caught: "release/yield release/break",
			with: each(func(m *model) {
				var open []io.Closer
				m.fetch = fetching(false, func(ctx context.Context, resp *harvest.Response) (string, error) {
					open = append(open, resp.Body)
					return readOpen(ctx, resp)
				})
				m.alter = func(_ *walk, ev *harvest.Event) {
					if ev.Kind == harvest.SnapshotEnd {
						for _, c := range open {
							c.Close()
						}
						open = nil
					}
				}
			})},
		{name: "what can't be read is not closed", caught: "release/failure", with: each(func(m *model) {
			m.fetch = fetching(true, func(ctx context.Context, resp *harvest.Response) (string, error) {
				text, err := readOpen(ctx, resp)
				if strings.HasSuffix(text, "\nend\n") {
					resp.Body.Close()
				}
				return text, err
			})
		})},
		{name: "a goroutine for ever", caught: "release/end release/break release/failure", with: each(func(m *model) {
			m.all = func(w *walk) {
				go time.Sleep(5 * time.Second)
				w.yieldSnapshot()
			}
		})},
		{name: "a goroutine that ends with the last event", caught: "release/break", with: each(func(m *model) {
			m.all = func(w *walk) {
				done := make(chan bool)
				go func() {
					select {
					case <-done:
					case <-time.After(5 * time.Second):
					}
				}()
				w.yieldSnapshot()
				if w.ended {
					close(done)
				}
			}
		})},
		{name: "waits for a request that is not needed any more", caught: "release/pending", with: each(func(m *model) {
			var ahead sync.WaitGroup
			m.all = func(w *walk) {
				w.yieldSnapshot()
				ahead.Wait()
			}
			m.alter = func(w *walk, ev *harvest.Event) {
				if ev.Kind == harvest.SnapshotStart {
					ahead.Go(func() { fetchText(w.ctx, w.run, base+"2") })
				}
			}
		})},
		{name: "requests after a break", caught: "release/break", with: each(func(m *model) {
			m.all = func(w *walk) {
				w.yieldSnapshot()
				if !w.ended {
					go func() {
						time.Sleep(5 * time.Millisecond)
						w.run.Fetcher.Fetch(context.Background(), &harvest.Request{URL: w.url})
					}()
				}
			}
		})},
		{name: "yields on after a break", caught: "release/break", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				w.yieldLog()
				w.next(harvest.Event{Kind: harvest.Mark}, nil)
			}
		})},
		{name: "reports after the pass", caught: "release/end", with: each(func(m *model) {
			m.all = func(w *walk) {
				w.yieldSnapshot()
				go func() {
					time.Sleep(5 * time.Millisecond)
					w.run.Report(websync.Finding{Document: w.url, Rule: "late", Message: "late"})
				}()
			}
		})},
	}
}

func brokenStops() []broken {
	return []broken{
		{name: "the end of the context is a Problem", caught: "stop/during stop/waiting", with: each(func(m *model) {
			m.all = func(w *walk) {
				ctx := w.ctx
				w.ctx = context.Background() // so that page goes on
				m.fetch = func(_ context.Context, run *harvest.Run, url string) (string, error) { return fetchText(ctx, run, url) }
				w.yieldSnapshot()
			}
		})},
		{name: "requests without the context", caught: "stop/waiting", with: each(func(m *model) {
			m.fetch = func(_ context.Context, run *harvest.Run, url string) (string, error) {
				return fetchText(context.Background(), run, url)
			}
		})},
		{name: "no error when the context ends", caught: "stop/before stop/during stop/waiting", with: each(func(m *model) {
			m.all = func(w *walk) {
				next := w.next
				w.next = func(ev harvest.Event, err error) bool { return err == nil && next(ev, err) }
				w.yieldSnapshot()
			}
		})},
		{name: "another error when the context ends", caught: "stop/before stop/waiting", with: each(func(m *model) {
			m.fetch = func(ctx context.Context, run *harvest.Run, url string) (string, error) {
				text, err := fetchText(ctx, run, url)
				if err != nil {
					err = fmt.Errorf("%s: %v", url, err)
				}
				return text, err
			}
			m.all = func(w *walk) {
				ctx := w.ctx
				next := w.next
				w.next = func(ev harvest.Event, err error) bool {
					if ctx.Err() != nil && err == nil && ev.Kind == harvest.Problem {
						return next(harvest.Event{}, errors.New("stopped"))
					}
					return next(ev, err)
				}
				w.yieldSnapshot()
			}
		})},
	}
}

func brokenInterrupts() []broken {
	return []broken{
		{name: "a checkpoint that goes too far", caught: "interrupt/events interrupt/again", log: true, with: each(func(m *model) {
			m.alter = func(_ *walk, ev *harvest.Event) {
				var n note
				json.Unmarshal(ev.Resume.Data, &n)
				n.Done++
				ev.Resume = n.checkpoint()
			}
		})},
		{name: "a checkpoint of the whole page at its first line", caught: "interrupt/events interrupt/again interrupt/moved-on", log: true, with: each(func(m *model) {
			m.alter = func(_ *walk, ev *harvest.Event) {
				var n note
				json.Unmarshal(ev.Resume.Data, &n)
				n.Done = 4
				ev.Resume = n.checkpoint()
			}
		})},
		{name: "a position beside the checkpoint", caught: "interrupt/context", log: true, with: func() breaker {
			var mu sync.Mutex
			var at note
			return func(m *model) {
				m.all = func(w *walk) {
					mu.Lock()
					if w.run.From.IsZero() {
						at = note{}
					}
					w.from = at
					mu.Unlock()
					w.yieldLog()
				}
				m.alter = func(_ *walk, ev *harvest.Event) {
					mu.Lock()
					defer mu.Unlock()
					json.Unmarshal(ev.Resume.Data, &at)
				}
			}
		}},
		{name: "a page is done before it is read", caught: "interrupt/documents interrupt/documents-context", log: true, with: func() breaker {
			var mu sync.Mutex
			done := map[string]bool{}
			return func(m *model) {
				m.read = func(w *walk, url string) ([]line, error) {
					mu.Lock()
					known := done[url] && url != w.url && !w.run.From.IsZero()
					done[url] = true
					mu.Unlock()
					lines, err := w.check(url)
					if known && err == nil {
						return nil, nil
					}
					return lines, err
				}
			}
		}},
		{name: "a missing page is skipped", log: true,
			caught: "interrupt/documents failure/reported failure/heals",
			with: each(func(m *model) {
				m.read = func(w *walk, url string) ([]line, error) {
					lines, err := w.check(url)
					if errors.Is(err, harvest.ErrTemporary) && url != w.url {
						return nil, nil
					}
					return lines, err
				}
			})},
	}
}

func brokenFailures() []broken {
	swallow := func(is func(err error) bool) func() breaker {
		return each(func(m *model) {
			m.read = func(w *walk, url string) ([]line, error) {
				lines, err := w.check(url)
				if err != nil && w.ctx.Err() == nil && is(err) {
					return nil, nil
				}
				return lines, err
			}
		})
	}
	return []broken{
		{name: "a 500 is an empty page", caught: "failure/reported failure/deletes-nothing failure/heals",
			with: swallow(func(err error) bool { return errors.Is(err, harvest.ErrTemporary) })},
		{name: "a 404 is an empty page", caught: "failure/reported failure/deletes-nothing failure/heals",
			with: swallow(func(err error) bool { return errors.Is(err, websync.ErrGone) })},
		{name: "a login page is an empty page", caught: "failure/reported failure/deletes-nothing failure/heals",
			with: swallow(func(err error) bool { return errors.Is(err, websync.ErrNotDocument) })},
		{name: "another page is accepted", caught: "failure/reported failure/deletes-nothing failure/heals",
			with: swallow(func(err error) bool { return errors.Is(err, errMistaken) })},
		{name: "the entries of another page are yielded for this one", caught: "failure/reported failure/deletes-nothing failure/heals", with: each(func(m *model) {
			m.read = func(w *walk, url string) ([]line, error) {
				text, err := fetchText(w.ctx, w.run, url)
				if own, _, _ := strings.Cut(strings.TrimPrefix(text, "list "), "\n"); err == nil && strings.HasPrefix(own, base) {
					return w.parse(own, text)
				}
				return w.check(url)
			}
		})},
		{name: "a redirect to a page that was read is ignored", caught: "failure/reported failure/deletes-nothing failure/heals", with: each(func(m *model) {
			m.read = func(w *walk, url string) ([]line, error) {
				resp, err := w.run.Fetcher.Fetch(w.ctx, &harvest.Request{URL: url, Spool: true})
				if err == nil {
					defer resp.Body.Close()
					if resp.URL != url {
						return nil, nil
					}
				}
				return w.check(url)
			}
		})},
		{name: "half a page is a page", caught: "failure/reported failure/deletes-nothing failure/heals", with: each(func(m *model) {
			m.fetch = func(ctx context.Context, run *harvest.Run, url string) (string, error) {
				text, err := fetchText(ctx, run, url)
				if strings.HasPrefix(text, "list ") && !strings.HasSuffix(text, "\nend\n") {
					text = text[:strings.LastIndexByte(text, '\n')+1] + "end\n"
				}
				return text, err
			}
		})},
		{name: "a Problem without the name of the document", caught: "failure/named", with: on(harvest.Problem, func(ev *harvest.Event) {
			ev.Err = errors.New("a page is missing")
		})},
		{name: "yields a page before it is checked", caught: "failure/nothing-of-it", with: each(func(m *model) {
			m.read = func(w *walk, url string) ([]line, error) {
				text, err := fetchText(w.ctx, w.run, url)
				if err != nil || url == w.url {
					return w.check(url)
				}
				for s := range strings.Lines(text) {
					if f := append(strings.SplitN(strings.TrimSpace(s), " ", 4), "", "", ""); f[0] == "put" {
						if !w.yield(line{f[0], f[1], f[2], f[3]}.event()) {
							return nil, context.Canceled
						}
					}
				}
				_, err = w.parse(url, text)
				return nil, err
			}
		})},
	}
}
