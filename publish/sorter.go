package publish

import (
	"bufio"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
)

// A sorter sorts any number of rows. What does not fit into memory is kept in temporary
// files. A row is some fields, which hold no control characters; the order is that of the
// first field in which a slash comes before all else, so that a directory is followed by
// what is in it.
type sorter struct {
	rows  []string
	bytes int
	runs  []*os.File
}

// sorterMemory is how many bytes of rows are held in memory.
const sorterMemory = 4 << 20

const (
	fieldEnd = "\x00"
	slashes  = "\x01" // stands for a slash, to sort before all but the end of a field
)

func (s *sorter) add(fields ...string) error {
	fields[0] = strings.ReplaceAll(fields[0], "/", slashes)
	row := strings.Join(fields, fieldEnd)
	s.rows = append(s.rows, row)
	if s.bytes += len(row) + 16; s.bytes < sorterMemory {
		return nil
	}
	return s.spill()
}

// spill moves the rows to a file.
func (s *sorter) spill() error {
	f, err := createTemp("")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	slices.Sort(s.rows)
	w := bufio.NewWriterSize(f, 64<<10)
	for _, row := range s.rows {
		w.WriteString(row + "\n")
	}
	clear(s.rows)
	s.rows, s.bytes = s.rows[:0], 0
	return w.Flush()
}

// close removes the files.
func (s *sorter) close() {
	for _, f := range s.runs {
		closeTemp(f)
	}
	s.runs, s.rows = nil, nil
}

// sorted yields the rows in their order. It may be called again.
func (s *sorter) sorted() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		slices.Sort(s.rows)
		heads := []*run{{rows: s.rows}}
		for _, f := range s.runs {
			heads = append(heads, &run{file: bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 64<<10)})
		}
		for i := 0; i < len(heads); {
			if more, err := heads[i].next(); err != nil {
				yield(nil, err)
				return
			} else if more {
				i++
			} else {
				heads = slices.Delete(heads, i, i+1)
			}
		}
		for len(heads) > 0 {
			least := 0
			for i := range heads {
				if heads[i].row < heads[least].row {
					least = i
				}
			}
			fields := strings.Split(heads[least].row, fieldEnd)
			fields[0] = strings.ReplaceAll(fields[0], slashes, "/")
			if !yield(fields, nil) {
				return
			}
			if more, err := heads[least].next(); err != nil {
				yield(nil, err)
				return
			} else if !more {
				heads = slices.Delete(heads, least, least+1)
			}
		}
	}
}

// A run is a part of the rows that is sorted already.
type run struct {
	rows []string
	file *bufio.Reader // nil: rows
	row  string        // the one in front
}

func (r *run) next() (more bool, err error) {
	if r.file == nil {
		if len(r.rows) == 0 {
			return false, nil
		}
		r.row, r.rows = r.rows[0], r.rows[1:]
		return true, nil
	}
	row, err := r.file.ReadString('\n')
	if err == io.EOF {
		return false, nil
	}
	r.row = strings.TrimSuffix(row, "\n")
	return err == nil, err
}
