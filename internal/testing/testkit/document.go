package testkit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

// Files calls do with the path and the content of each file below dir, except golden
// files and the directories named in skip.
func Files(t testing.TB, dir string, skip []string, do func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, ".golden"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			do(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// GoldenFiles runs a subtest for each of Files. It checks that the file of the same name
// with .golden behind it holds what transcript returns.
func GoldenFiles(t *testing.T, dir string, skip []string, transcript func(t *testing.T, data []byte) string) {
	Files(t, dir, skip, func(path string, data []byte) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(path), dir+"/"), func(t *testing.T) {
			Golden(t, path+".golden", []byte(transcript(t, data)))
		})
	})
}

// ErrorLines returns the lines of a transcript for the error of a Reader.
func ErrorLines(err error) string {
	text := fmt.Sprintf("error: %v\n", err)
	for _, kind := range []error{websync.ErrNotDocument, websync.ErrTruncated, websync.ErrLimit} {
		if errors.Is(err, kind) {
			text += fmt.Sprintf("kind of error: %v\n", kind)
		}
	}
	return text
}

// CheckParseError checks that err is nil or a [websync.ParseError] of the format, with a
// position unless the start could not be decompressed.
func CheckParseError(t testing.TB, format string, err error) {
	t.Helper()
	parse, ok := errors.AsType[*websync.ParseError](err)
	switch {
	case err == nil:
	case !ok || parse.Format != format:
		t.Fatalf("got the error %v, want a ParseError of the format %s", err, format)
	case parse.Line == 0 && errors.Is(err, websync.ErrNotDocument):
		t.Fatalf("the error %v has no position", err)
	}
}

// Views returns what next yields until its error. That is io.EOF if want is nil, and
// otherwise one with the text of want.
func Views[V any](t testing.TB, want error, next func() (V, error)) (all []V) {
	t.Helper()
	if want == nil {
		want = io.EOF
	}
	for {
		v, err := next()
		if err != nil {
			if err.Error() != want.Error() {
				t.Fatalf("NextView ends with %q, want %q", err, want)
			}
			return all
		}
		all = append(all, v)
	}
}

// CheckElement checks that the XML of x is one whole element of its name.
func CheckElement(t testing.TB, x websync.Element) {
	t.Helper()
	r := xmlscan.NewReader(strings.NewReader(x.XML))
	kind, err := r.Next()
	if err != nil || kind != xmlscan.Start || r.Name() != (xmlscan.Name{Space: x.Space, Local: x.Local}) {
		t.Fatalf("%q begins with %v %v, error %v, want the element %s %s", x.XML, kind, r.Name(), err, x.Space, x.Local)
	}
	if err = r.Skip(); err == nil {
		_, err = r.Next()
	}
	if err != io.EOF {
		t.Fatalf("%q ends with the error %v, want io.EOF", x.XML, err)
	}
}

// Rules returns the rules of findings, sorted, each once.
func Rules(findings []websync.Finding) []string {
	var rules []string
	for _, f := range findings {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}
