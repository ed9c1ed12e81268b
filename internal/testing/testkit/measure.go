package testkit

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Measure runs f as the sub-benchmark name. Each call of f handles size bytes.
func Measure(b *testing.B, name string, size int, f func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// MeasureEntries runs read, which returns how many entries it has read of a document, as
// the sub-benchmark name.
func MeasureEntries(b *testing.B, name string, doc []byte, entries int, read func() (int, error)) {
	Measure(b, name, len(doc), func() error {
		n, err := read()
		if err == nil && n != entries {
			err = fmt.Errorf("read %d entries, want %d", n, entries)
		}
		return err
	})
}

// DecodeEntries calls decode with each element of a name in a document, as a program does
// that reads entries with encoding/xml one by one. It returns how many there are.
func DecodeEntries(doc []byte, local string, decode func(d *xml.Decoder, start *xml.StartElement) error) (n int, err error) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		t, err := d.Token()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != local {
			continue
		}
		if err := decode(d, &start); err != nil {
			return n, err
		}
		n++
	}
}

// CheckSameEntries returns an error unless two sides write the same entries: as many
// elements, attributes and texts of each name, of the same length.
func CheckSameEntries(local string, ours, peer func(io.Writer) error) error {
	a, err := inventory(local, ours)
	if err != nil {
		return err
	}
	b, err := inventory(local, peer)
	if err == nil && !maps.Equal(a, b) {
		err = fmt.Errorf("the sides write different entries: %v and %v", a, b)
	}
	return err
}

// A tally is how often something occurs, and the length of its values.
type tally struct{ n, length int }

// inventory counts the elements, attributes and texts, by their paths, in the elements of
// one name that write writes.
func inventory(local string, write func(io.Writer) error) (map[string]tally, error) {
	var doc bytes.Buffer
	if err := write(&doc); err != nil {
		return nil, err
	}
	counts := make(map[string]tally)
	count := func(path []string, name, value string) {
		name = strings.Join(path, "/") + name
		counts[name] = tally{counts[name].n + 1, counts[name].length + len(value)}
	}
	n, err := DecodeEntries(doc.Bytes(), local, func(d *xml.Decoder, _ *xml.StartElement) error {
		path := []string{local}
		for len(path) > 0 {
			token, err := d.Token()
			if err != nil {
				return err
			}
			switch t := token.(type) {
			case xml.StartElement:
				path = append(path, t.Name.Local)
				count(path, "", "")
				for _, a := range t.Attr {
					if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
						count(path, "@"+a.Name.Local, a.Value)
					}
				}
			case xml.CharData:
				if text := strings.TrimSpace(string(t)); text != "" {
					count(path, " text", text)
				}
			case xml.EndElement:
				path = path[:len(path)-1]
			}
		}
		return nil
	})
	counts[local] = tally{n: n}
	return counts, err
}

// Heap returns the bytes in use on the heap after a garbage collection.
func Heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// PeakMemory returns the largest resident memory of this process so far, in bytes; 0 if
// the system does not have VmHWM.
func PeakMemory() int64 { return PeakMemoryOf(os.Getpid()) }

// PeakMemoryOf returns that of a process.
func PeakMemoryOf(pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// A ReadFunc is an [io.Reader].
type ReadFunc func(p []byte) (int, error)

// Read implements [io.Reader].
func (f ReadFunc) Read(p []byte) (int, error) { return f(p) }

// Lines returns a document of n lines between head and tail. It holds one line at a time.
// The function line appends the line i, counted from 1.
func Lines(head string, n int, line func(b []byte, i int) []byte, tail string) io.Reader {
	rest, i := []byte(head), 0
	lines := ReadFunc(func(p []byte) (int, error) {
		if len(rest) == 0 && i < n {
			i++
			rest = line(rest[:0], i)
		}
		if len(rest) == 0 {
			return 0, io.EOF
		}
		read := copy(p, rest)
		rest = rest[read:]
		return read, nil
	})
	return io.MultiReader(lines, strings.NewReader(tail))
}

// AtEnd returns a reader of r that calls f at the end.
func AtEnd(r io.Reader, f func()) io.Reader {
	return io.MultiReader(r, ReadFunc(func([]byte) (int, error) { f(); return 0, io.EOF }))
}
