package eli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
)

// A CSV is a Source for publishers who have a list of their acts, but no record of what
// has changed: the Store finds that out, and a [Publisher] publishes it. The list has a
// line for each act:
//
//	ELI,date,title
//	https://country.xy/eli/law/2026/501,2026-03-06,"Act on Salt, Pepper and Sugar"
//	https://country.xy/eli/law/2026/502,2026-03-08T16:20:00Z
//
// The date is that of the last change, as a W3C date or datetime, and becomes Modified.
// The title may be missing, and so may the first line. If an act has several lines, the
// one with the latest date counts; of two with the same date, the last. The resources
// have no content: nothing is fetched from the ELIs.
//
// A run yields one complete snapshot: acts that are no longer listed are deleted, within
// the delete guard. A line that can't be read is a finding with its number and counts as
// skipped, so that nothing is deleted because of it. A list without an act, one whose
// last line has no line break at its end and so may have been cut off, and anything that
// is no list, such as a login page, is an error, and changes nothing.
//
// Semicolons or tabs between the fields, as Excel writes them, Windows-1252, UTF-16 and
// dates in some other forms are accepted and reported. A line may have 64 KiB; line
// breaks in a title must be in quotation marks.
//
// A CSV is safe for concurrent use as long as its fields do not change.
type CSV struct {
	// URL is that of a list on the web, and File the name of one on disk. Open, if set,
	// opens it otherwise, and is called once in each run. Exactly one of them is
	// required.
	URL, File string
	Open      func(ctx context.Context) (io.ReadCloser, error)

	// Name is the Source's key in a Catalog. If empty, it is URL or File. With Open it is
	// required.
	Name string

	// MaxBytes limits the list, decompressed. If zero, it is 1 GiB; if negative, there is
	// no limit.
	MaxBytes int64
}

var _ harvest.Source = (*CSV)(nil)

// Key returns Name, or URL or File if there is none.
func (s *CSV) Key() string { return cmp.Or(s.Name, s.URL, s.File) }

// Root returns URL.
func (s *CSV) Root() string { return s.URL }

// Check returns an error if the settings are not valid.
func (s *CSV) Check() error {
	set := 0
	for _, is := range []bool{s.URL != "", s.File != "", s.Open != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("eli: exactly one of CSV.URL, File and Open must be set")
	case s.Key() == "":
		return errors.New("eli: CSV.Name is empty, and is required with CSV.Open")
	}
	return nil
}

// Events implements [harvest.Source].
func (s *CSV) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "eli", Accept: "text/csv, text/plain;q=0.9, */*;q=0.5"}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		return (&csvWalk{Pass: p, source: s, again: make(map[string]csvAct)}).all(ctx)
	})
}

// csvVersion is the version of checkpoints. They hold the validators of a list that was
// read without skipped lines.
const csvVersion = 1

// A csvWalk is one run over a list.
type csvWalk struct {
	*docfetch.Pass
	source *CSV
	doc    docfetch.Document
	acts   int64
	seen   docfetch.Table[struct{}]
	again  map[string]csvAct // the latest line of each act that has several
	listed int64             // lines of such acts
}

// maxCSVRepeated is how many acts with several lines are known. Those of others are all
// yielded.
const maxCSVRepeated = 100_000

// all yields the snapshot.
func (w *csvWalk) all(ctx context.Context) error {
	defer w.doc.Close()
	if err := w.load(ctx); err != nil {
		return err
	}
	if w.doc.NotModified {
		return w.Mark(w.From, 0)
	}
	if err := w.findLatest(); err != nil {
		return err
	}
	w.Expect(w.acts)
	list := func() error {
		return w.each(func(act csvAct) error {
			if latest, several := w.again[act.uri]; several && latest.line != act.line {
				return nil
			}
			return w.Yield(harvest.Event{Kind: harvest.Put, At: act.at,
				Resource: websync.Resource{ID: act.uri, Title: act.title, Modified: act.at}})
		})
	}
	return w.Snapshot(list, func() harvest.Event {
		ev := harvest.Event{Complete: true, Skipped: w.doc.Skipped}
		if w.doc.Skipped == 0 {
			ev.Resume = docfetch.Checkpoint(csvVersion, w.doc.Kept())
		}
		return ev
	})
}

// load gets the list and checks all of it.
func (w *csvWalk) load(ctx context.Context) error {
	if s := w.source; s.URL == "" {
		if err := w.read(ctx); err != nil {
			return err
		}
		return w.check()
	}
	var known docfetch.Validators
	docfetch.ReadCheckpoint(w.From, csvVersion, &known)
	w.doc.URL = w.source.URL
	return w.Load(ctx, &w.doc, known, w.source.MaxBytes, nil, w.check)
}

// read reads a list that is not on the web. A file must not change meanwhile.
func (w *csvWalk) read(ctx context.Context) (err error) {
	s := w.source
	w.doc.URL = s.Key()
	w.doc.Final = w.doc.URL
	if s.Open != nil {
		src, err := s.Open(ctx)
		if err != nil {
			return w.Named(w.doc.URL, err)
		}
		return w.spool(src)
	}
	f, err := os.Open(s.File)
	if err != nil {
		return fmt.Errorf("eli: %w", err)
	}
	before, err := f.Stat()
	if err == nil && !before.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return w.Named(w.doc.URL, errors.Join(err, f.Close()))
	}
	if err := w.spool(f); err != nil {
		return err
	}
	if err := checkUnchanged(before, s.File); err != nil {
		return w.Named(w.doc.URL, err)
	}
	return nil
}

// checkUnchanged returns an error if a file is not as it was.
func checkUnchanged(before os.FileInfo, file string) error {
	after, err := os.Stat(file)
	if err == nil && (!os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())) {
		err = errors.New("the file has changed while it was read")
	}
	return err
}

// spool reads src to its end and closes it.
func (w *csvWalk) spool(src io.ReadCloser) error {
	body, err := spool.Read(src, 0)
	if err = errors.Join(err, src.Close()); err != nil {
		if body != nil {
			err = errors.Join(err, body.Close())
		}
		return w.Named(w.doc.URL, err)
	}
	w.doc.Body = body
	return nil
}

// check reads the list to its end, reports its faults, and finds the acts with several
// lines.
func (w *csvWalk) check() error {
	r := w.reader(w.Report)
	first := csvAct{}
	for {
		act, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		w.acts++
		if _, isNew := w.seen.Add(act.uri); isNew {
			continue
		}
		if w.listed++; w.listed == 1 {
			first = act
		}
		if len(w.again) < maxCSVRepeated {
			w.again[act.uri] = csvAct{}
		}
	}
	w.seen = docfetch.Table[struct{}]{}
	w.doc.Skipped = r.skipped
	if w.doc.MayBeCut {
		w.doc.Skipped++
		w.Report(ruleCSVCut.Finding(w.doc.Final, 0, 0, "", nil,
			"only the closed connection ended this list: the end may be missing"))
	}
	if w.listed > 0 {
		w.Report(ruleCSVTwice.Finding(w.doc.Final, first.line, 1, "", []byte(first.uri),
			fmt.Sprintf("%d of %d lines are of acts that have another line before", w.listed, w.acts)))
	}
	return nil
}

// findLatest finds the latest line of each act that has several.
func (w *csvWalk) findLatest() error {
	if len(w.again) == 0 {
		return nil
	}
	return w.each(func(act csvAct) error {
		if latest, several := w.again[act.uri]; several && act.at.Compare(latest.at) >= 0 {
			w.again[act.uri] = act
		}
		return nil
	})
}

// reader returns a reader of the list.
func (w *csvWalk) reader(report func(websync.Finding)) *csvReader {
	return &csvReader{
		name: w.doc.Final, contentType: w.doc.ContentType, src: w.doc.Body,
		maxBytes: w.source.MaxBytes, maxURI: harvest.MaxID, report: report,
	}
}

// each calls f with each act of the list, which was checked before.
func (w *csvWalk) each(f func(csvAct) error) error {
	if err := w.Rewind(&w.doc); err != nil {
		return err
	}
	for r := w.reader(nil); ; {
		act, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(act)
		}
		if err != nil {
			return err
		}
	}
}
