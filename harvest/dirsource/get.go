package dirsource

import (
	"bufio"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// reads is how often a file that keeps changing is read before Get gives up.
const reads = 3

// A ChangedError says that a file changed each time while it was read. It is
// [harvest.ErrNotYet]: the next run tries again, and that does not count as an attempt.
type ChangedError struct {
	Path string // of the file
}

// Error returns, for example, `dirsource: "/srv/log": changes while it is read`.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("dirsource: %q: changes while it is read", e.Path)
}

// Is lets [errors.Is] match harvest.ErrNotYet.
func (e *ChangedError) Is(target error) bool { return target == harvest.ErrNotYet }

// errChanged is the error of one reading of a file that changed meanwhile.
var errChanged = errors.New("changed while it was read")

// Get implements [harvest.Getter]: it reads the file and keeps its bytes as
// [websync.ContentName]. The stated time is that of the file when it was read. If the
// bytes differ from those held but the time is the same, or less than a second earlier,
// it is the time held plus a microsecond, so that readers that compare times notice the
// change.
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	path, ok := s.path(job.Resource.ID)
	if !ok {
		return fmt.Errorf("dirsource: %.200q: not the id of a file below %s", job.Resource.ID, s.Base)
	}
	for range reads {
		if err := s.read(ctx, job, path); !errors.Is(err, errChanged) {
			return err
		}
	}
	return &ChangedError{s.file(path)}
}

func (s *Source) read(ctx context.Context, job *harvest.Job, path string) error {
	f, err := s.open(path)
	if err != nil {
		return named(s.file(path), err)
	}
	defer f.Close()
	r := f.steady(ctx)
	link := websync.Link{Type: s.typeByName(f.name)}
	if link.Type == "" {
		head := bufio.NewReaderSize(r, sniffed)
		start, err := head.Peek(sniffed)
		if err != nil && err != io.EOF {
			return fmt.Errorf("dirsource: %q: %w", s.file(path), err)
		}
		link.Type, r = typeByContent(start), head
	}
	var sum hash.Hash
	if s.MD5 {
		sum = md5.New()
		r = io.TeeReader(r, sum)
	}
	body, err := job.Keep(ctx, websync.ContentName, link, r)
	if err != nil {
		return fmt.Errorf("dirsource: %q: %w", s.file(path), err)
	}
	if sum != nil {
		link.Digests = websync.Digests{{Algorithm: "md5", Sum: string(sum.Sum(nil))}}
	}
	job.Resource.Content = link
	job.Resource.Modified = modified(timeOf(f.info.ModTime().UnixMicro()), job.Held, body)
	return nil
}

// steady returns a reader of the file that ends in errChanged if the file has changed
// since it was opened.
func (f *file) steady(ctx context.Context) io.Reader {
	left := f.info.Size()
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := f.Read(p)
		left -= int64(n)
		if left < 0 || err == io.EOF && !f.unchanged() {
			err = errChanged
		}
		return n, err
	})
}

// modified returns the time to state for a body, given that of its file.
func modified(file websync.Datetime, held *harvest.Record, body websync.Body) websync.Datetime {
	if held == nil || held.Resource.Modified.IsZero() || file.IsZero() {
		return file
	}
	stated := held.Resource.Modified
	ahead := stated.Time().Sub(file.Time())
	was, ok := held.Body(websync.ContentName)
	if !ok || ahead < 0 || ahead >= time.Second {
		return file
	}
	before, _ := was.Link.Digests.Get("sha-256")
	if now, _ := body.Link.Digests.Get("sha-256"); now == before {
		return stated
	}
	return websync.NewDatetime(stated.Time().Add(time.Microsecond))
}

// raceTime is how long after a change another one may leave the same times: the coarsest
// file system clock in use has a resolution of two seconds.
const raceTime = 2 * time.Second

// tag returns a text that differs between states of a file. If the file was changed just
// before the walk, its tag is unique, so that the next run reads it once more.
func (s *Source) tag(info os.FileInfo, now time.Time) string {
	b := appendState(make([]byte, 0, 64), info)
	_, changed := identity(info)
	if now.Sub(changed) < raceTime {
		b = appendTime(append(b, " at"...), now)
	}
	if s.MD5 {
		b = append(b, " md5"...) // an unchanged file is read for it, too
	}
	return string(b)
}

// appendState appends everything that reveals a change of a file without reading it.
func appendState(b []byte, info os.FileInfo) []byte {
	inode, changed := identity(info)
	b = strconv.AppendInt(b, info.Size(), 10)
	b = appendTime(b, info.ModTime())
	b = append(b, ' ')
	b = strconv.AppendUint(b, inode, 10)
	return appendTime(b, changed)
}

func appendTime(b []byte, t time.Time) []byte {
	b = strconv.AppendInt(append(b, ' '), t.Unix(), 10)
	return strconv.AppendInt(append(b, '.'), int64(t.Nanosecond()), 10)
}
