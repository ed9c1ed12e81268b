package docfetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/testing/testkit"
)

func TestGet(t *testing.T) {
	const url = "https://www.example.com/list.xml"
	boom := errors.New("boom")
	body := func(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
	for name, test := range map[string]struct {
		resp *harvest.Response
		err  error
		want string // body, or the error's text
		doc  Document
	}{
		"an answer": {
			resp: &harvest.Response{URL: url + "?2", Body: body("x"), MayBeCut: true, Header: map[string][]string{"Date": {"Sun, 01 Jun 2025 12:00:00 GMT"}}},
			want: "x", doc: Document{Final: url + "?2", MayBeCut: true},
		},
		"nothing in it":  {resp: &harvest.Response{}, doc: Document{Final: url}},
		"not modified":   {resp: &harvest.Response{NotModified: true, Validator: harvest.Validator{ETag: `"2"`}}, doc: Document{Final: url, NotModified: true, Validators: Validators{ETag: `"2"`}}},
		"a failure":      {err: fmt.Errorf("%s: %w", url, boom), want: "test: " + url + ": boom"},
		"in the body":    {resp: &harvest.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader("x"), failing{boom}))}, want: "test: " + url + ": boom"},
		"at the closing": {resp: &harvest.Response{Body: closing{strings.NewReader("x"), boom}}, want: "test: " + url + ": boom"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Pass{Format: "test", Accept: "text/plain", Run: &harvest.Run{Fetcher: testkit.FetchFunc(func(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
				assert.Equal(t, &harvest.Request{
					URL: url, Accept: "text/plain", MaxBytes: 1 << 30, Spool: true,
					Validator: harvest.Validator{URL: url, ETag: `"1"`, LastModified: "then"},
				}, req)
				return test.resp, test.err
			})}}
			d := &Document{URL: url}
			err := p.Get(t.Context(), d, Validators{`"1"`, "then"}, 0)
			if test.doc.Final == "" {
				assert.True(t, IsOfDocument(err))
				assert.ErrorIs(t, err, boom)
				assert.EqualError(t, err, test.want)
				return
			}
			require.NoError(t, err)
			for range 2 {
				if d.Body == nil {
					break
				}
				data, err := io.ReadAll(d.Body)
				require.NoError(t, err)
				assert.Equal(t, test.want, string(data))
				_, err = d.Body.Seek(0, io.SeekStart)
				require.NoError(t, err)
			}
			assert.Equal(t, name == "an answer", !d.Date.IsZero())
			assert.Equal(t, test.doc.NotModified, d.Body == nil)
			require.NoError(t, d.Close())
			require.NoError(t, d.Close())
			test.doc.URL, test.doc.Date, test.doc.Header = url, d.Date, d.Header
			assert.Equal(t, &test.doc, d)
		})
	}
	t.Run("the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		body := &watched{Reader: strings.NewReader("x")}
		p := &Pass{Run: &harvest.Run{Fetcher: testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) {
			cancel()
			return &harvest.Response{Body: body}, nil
		})}}
		err := p.Get(ctx, &Document{URL: url}, Validators{}, 0)
		assert.Equal(t, context.Canceled, err)
		assert.True(t, body.closed)
	})
}

// Load has a document checked and leaves it to be read again, in a file of its own or in
// one that it shares.
func TestLoad(t *testing.T) {
	boom := errors.New("boom")
	p := &Pass{Format: "test", Run: &harvest.Run{Fetcher: testkit.FetchFunc(func(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
		header := map[string][]string{"Content-Type": {"text/plain;a=" + strings.Repeat("x", 2000)}}
		return &harvest.Response{Body: io.NopCloser(strings.NewReader(req.URL)), Header: header, NotModified: req.Validator.ETag != ""}, nil
	})}}
	var shared spool.File
	defer func() { assert.NoError(t, shared.Close()) }()
	for name, file := range map[string]*spool.File{"its own": nil, "shared": &shared} {
		t.Run(name, func(t *testing.T) {
			for _, url := range []string{"urn:a", "urn:b"} {
				d := &Document{URL: url}
				read := func() error {
					data, err := io.ReadAll(d.Body)
					assert.Equal(t, url, string(data))
					return err
				}
				require.NoError(t, p.Load(t.Context(), d, Validators{}, 0, file, read))
				assert.Empty(t, d.Header, "a document that is held is short")
				assert.Empty(t, d.ContentType, "likewise")
				require.NoError(t, read())
				require.NoError(t, p.Rewind(d))
				require.NoError(t, read())
				require.NoError(t, d.Close())

				d = &Document{URL: url}
				assert.Equal(t, boom, p.Load(t.Context(), d, Validators{}, 0, file, func() error { return boom }))
				assert.Nil(t, d.Body)
				require.NoError(t, p.Load(t.Context(), d, Validators{ETag: "1"}, 0, file, func() error { return boom }), "not modified")
				assert.Nil(t, d.Body)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type closing struct {
	io.Reader
	err error
}

func (c closing) Close() error { return c.err }

func TestValidators(t *testing.T) {
	for name, v := range map[string]Validators{
		"long": {ETag: strings.Repeat("x", 513), LastModified: "then"}, "a long date": {LastModified: strings.Repeat("x", 513)},
		"not UTF-8": {ETag: "\"\xff\"", LastModified: "then"},
	} {
		assert.True(t, v.Kept().IsZero(), name)
	}
	usual := Validators{ETag: strings.Repeat("x", 512), LastModified: "then"}
	assert.Equal(t, usual, usual.Kept())
}

func TestNamed(t *testing.T) {
	boom := errors.New("boom")
	assert.EqualError(t, Named("test", "urn:x", boom), "test: urn:x: boom")
	inside := &websync.ParseError{Format: "other", Document: "urn:y", Err: boom}
	assert.Same(t, inside, Named("test", "urn:x", inside))
	assert.EqualError(t, Named("test", "urn:x", &websync.ParseError{Line: 1, Err: boom}), "test: urn:x: line 1: boom")
}

// TestPass: after a Problem there is neither a Resume nor a Complete.
func TestPass(t *testing.T) {
	boom := errors.New("boom")
	resume := Checkpoint(1, "here")
	run := func(stop int) (got []string) {
		events := Pass{Format: "test"}.Events(nil, func(p *Pass) error {
			if p.Mark(resume, 2) != nil {
				return boom // not yielded any more
			}
			err := p.Snapshot(func() error { return p.Problem(boom) }, func() harvest.Event { return harvest.Event{Complete: true, Resume: resume} })
			if err != nil {
				return errors.Join(err, boom)
			}
			return boom
		})
		for ev, err := range events {
			got = append(got, fmt.Sprint(ev.Kind, ev.Skipped, ev.Complete, !ev.Resume.IsZero(), ev.Err, err))
			if len(got) == stop {
				break
			}
		}
		return got
	}
	want := []string{
		"mark 2 false true <nil> <nil>", "snapshot start 0 false false <nil> <nil>", "problem 0 false false boom <nil>",
		"snapshot end 0 false false <nil> <nil>", "put 0 false false <nil> boom",
	}
	for stop := range want {
		assert.Equal(t, want[:stop+1], run(stop+1))
	}
	assert.Equal(t, want, run(0))
}

func TestSet(t *testing.T) {
	var s Set
	key := func(name string) Key { return KeyOf("https://www.example.com/" + name) }
	read := func(url, final string) error {
		d := &Document{URL: "https://www.example.com/" + url, Final: "HTTPS://www.example.com:443/" + final}
		return s.Add(d)
	}
	assert.NoError(t, read("a", "%61"))
	assert.NoError(t, read("b", "c"))
	assert.ErrorContains(t, read("d", "b"), "redirects to HTTPS://www.example.com:443/b, which is another", "asked for")
	assert.Error(t, read("e", "c"), "another was redirected there")
	assert.True(t, s.Asked(key("b")))
	assert.False(t, s.Asked(key("c")))
	assert.Equal(t, "https://www.example.com/b", s.ReadAs(key("c")))
	assert.Empty(t, new(Set).ReadAs(key("c")))
}

func TestCheckLimit(t *testing.T) {
	p := &Pass{Format: "test"}
	assert.NoError(t, p.CheckLimit("u", 1, 2))
	err := p.CheckLimit("u", 2, 2)
	assert.EqualError(t, err, "test: u: more than 2 documents: "+websync.ErrLimit.Error())
	assert.ErrorIs(t, err, websync.ErrLimit)
	assert.NoError(t, p.CheckLimit("u", DefaultDocuments-1, 0))
	assert.Error(t, p.CheckLimit("u", DefaultDocuments, 0), "zero is the default")
	assert.NoError(t, p.CheckLimit("u", DefaultDocuments, -1), "there is no limit")
}

func TestEach(t *testing.T) {
	next := Each([]string{"a", "b"})
	for _, want := range []string{"a", "b"} {
		got, ok := next()
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	for range 2 {
		_, ok := next()
		assert.False(t, ok)
	}
}

func TestCheckpoint(t *testing.T) {
	var got []int
	c := Checkpoint(3, []int{1, 2})
	assert.True(t, ReadCheckpoint(c, 3, &got))
	assert.Equal(t, []int{1, 2}, got)
	assert.False(t, ReadCheckpoint(c, 2, &got), "of another version")
	assert.False(t, ReadCheckpoint(harvest.Checkpoint{}, 3, &got))
	c.Data = c.Data[1:]
	assert.False(t, ReadCheckpoint(c, 3, &got), "damaged")
	assert.NotEqual(t, Fingerprint("%q", "a"), Fingerprint("%q", "b"))
}

// TestAhead: the order is that of Next, never more than Parallel are under way, what is
// not yielded is closed, and nothing runs on. A panic reaches the caller, also when the
// range is left before its document.
func TestAhead(t *testing.T) {
	for name, stop := range map[string]func(){"to its end": func() {}, "panic": func() { panic(errBoom) }, "Goexit": runtime.Goexit} {
		for _, leave := range []int{0, 1, 4} {
			t.Run(fmt.Sprintf("%s, left after %d", name, leave), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					next, yielded, closed := 0, 0, 0
					var running, most atomic.Int64
					a := Ahead[int]{
						Parallel: 3,
						Next: func() (int, bool) {
							if next == 7 {
								return 0, false
							}
							next++
							return next, true
						},
						Ready: func(n int) bool { return n == 2 },
						Get: func(ctx context.Context, n int) {
							assert.NotEqual(t, 2, n)
							now := running.Add(1)
							defer running.Add(-1)
							most.Store(max(most.Load(), now))
							time.Sleep(time.Second)
							if n == 5 {
								stop()
							}
						},
						Close: func(int) { closed++ },
					}
					defer func() {
						err, _ := recover().(error)
						assert.Equal(t, name != "to its end" && leave != 1, err != nil, "%v", err)
						assert.Equal(t, name == "panic" && leave != 1, errors.Is(err, errBoom))
						assert.Zero(t, running.Load())
						assert.Greater(t, most.Load(), int64(1))
						assert.LessOrEqual(t, most.Load(), int64(3))
						assert.Equal(t, next, yielded+closed)
					}()
					for n := range a.All(t.Context()) {
						yielded++
						require.Equal(t, yielded, n)
						if n == leave {
							break
						}
					}
				})
			})
		}
	}
}

var errBoom = errors.New("boom")

type watched struct {
	io.Reader
	closed bool
}

func (w *watched) Close() error {
	w.closed = true
	return nil
}
