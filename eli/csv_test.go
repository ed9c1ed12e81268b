package eli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// csvOf returns a Source of a list.
func csvOf(list string) *eli.CSV {
	return &eli.CSV{Name: "list", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(list)), nil }}
}

// readCSV returns what a pass yields: the acts as "name date title", their number of
// skipped lines, the findings and the error.
func readCSV(s *eli.CSV) (acts []string, skipped int, findings []string, err error) {
	run := &harvest.Run{Report: func(f websync.Finding) {
		findings = append(findings, fmt.Sprintf("%v %s %d:%d", f.Severity, strings.TrimPrefix(f.Rule, "eli-csv-"), f.Line, f.Column))
	}}
	for ev, failed := range s.Events(context.Background(), run) {
		switch {
		case failed != nil:
			return nil, 0, findings, failed
		case ev.Kind == harvest.Put:
			r := ev.Resource
			name := strings.TrimPrefix(r.ID, country+"eli/act/")
			acts = append(acts, strings.TrimSpace(fmt.Sprintf("%s %v %s", name, r.Modified, r.Title)))
			if ev.At != r.Modified {
				err = fmt.Errorf("At is %v", ev.At)
			}
		case ev.Kind == harvest.SnapshotEnd:
			skipped = ev.Skipped
			if !ev.Complete || (ev.Resume.IsZero() != (skipped > 0)) {
				err = fmt.Errorf("%v", ev)
			}
		}
	}
	return acts, skipped, findings, err
}

// TestCSV has lists as they are written. {1} stands for the first act, and so on.
func TestCSV(t *testing.T) {
	const one = "{1},2026-01-02\n"
	long := strings.Repeat("x", 64<<10)
	for name, test := range map[string]struct {
		list     string
		want     []string
		skipped  int
		findings []string
	}{
		"dates":                   {"{1},2026-01-02\n{2},2026-01-02T03:04:05+01:00\n", []string{"1 2026-01-02", "2 2026-01-02T03:04:05+01:00"}, 0, nil},
		"titles":                  {"{1},2026,Act on Salt\n{2},2026,\"Act on \"\"Salt\"\", and Pepper\"\n{3},2026,\"\"\n", []string{"1 2026 Act on Salt", `2 2026 Act on "Salt", and Pepper`, "3 2026"}, 0, nil},
		"a header":                {"ELI,Date,Title\n" + one, []string{"1 2026-01-02"}, 0, nil},
		"a header in quotes":      {"\"ELI\",\"Date of last change\"\n" + one, []string{"1 2026-01-02"}, 0, nil},
		"a header later":          {one + "ELI,Date,Title\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"a byte-order mark":       {"\ufeffELI,Date\r\n{1},2026-01-02\r\n", []string{"1 2026-01-02"}, 0, nil},
		"a mark without a header": {"\ufeff{1},2026-01-02\r\n", []string{"1 2026-01-02"}, 0, nil},
		"as Excel writes it":      {"\ufeffELI;Date;Title\r\n{1};2026-01-02;\"Salt; Pepper, and Sugar\"\r\n;;\r\n", []string{"1 2026-01-02 Salt; Pepper, and Sugar"}, 0, []string{"warning separator 1:1"}},
		"tabs":                    {"{1}\t2026-01-02\tAct, on Salt;\n", []string{"1 2026-01-02 Act, on Salt;"}, 0, []string{"warning separator 1:1"}},
		"lone carriage returns":   {"{1},2026-01-02\r{2},2026-01-03\r", []string{"1 2026-01-02", "2 2026-01-03"}, 0, nil},
		"blank lines":             {"\n \n" + one + ",,\n\n", []string{"1 2026-01-02"}, 0, nil},
		"blanks":                  {" {1} , 2026-01-02 , \" Act \" \n", []string{"1 2026-01-02 Act"}, 0, nil},
		"fields in quotes":        {"\"{1}\",\"2026-01-02\",\"Act\"\n", []string{"1 2026-01-02 Act"}, 0, nil},
		"a title of two lines":    {"{1},2026-01-02,\"Act\r\non \tSalt\"\n{x}\n", []string{"1 2026-01-02 Act on Salt"}, 1, []string{"error line 3:1"}},
		"empty fields at the end": {"{1},2026-01-02,Act,,\n", []string{"1 2026-01-02 Act"}, 0, nil},
		"a comma in the title":    {"{1},2026-01-02,Salt, Pepper\n", []string{"1 2026-01-02 Salt, Pepper"}, 0, []string{"warning fields 1:56"}},
		"more, on the next line":  {"{1},2026-01-02,\"a\nb\", c\n", []string{"1 2026-01-02 a b, c"}, 0, []string{"warning fields 2:5"}},
		"a comma in the ELI":      {"\"{1}a,b\",2026-01-02\n", []string{"1a,b 2026-01-02"}, 0, nil},
		"an IRI":                  {"{1}é,2026-01-02\n", []string{"1é 2026-01-02"}, 0, nil},
		"no URI":                  {one + "urn:eli:2,2026-01-02\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"a relative URI":          {one + "/eli/act/2,2026-01-02\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"a scheme only":           {one + "https:,2026-01-02\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"a space in the URI":      {one + "{2} 3,2026-01-02\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"a URI that is too long":  {one + "{2}" + long[:5000] + ",2026-01-02\n", []string{"1 2026-01-02"}, 1, []string{"error line 2:1"}},
		"no date":                 {one + "{2}\n{3},\n", []string{"1 2026-01-02"}, 2, []string{"error line 2:1", "error line 3:1"}},
		"dates that are none":     {one + "{2},soon\n{3},2026-02-30\n{4},02-01-2026\n", []string{"1 2026-01-02"}, 3, []string{"error line 2:39", "error line 3:39", "error line 4:39"}},
		"a date as in Europe":     {"{1},02.01.2026\n{2},31/01/2026\n", []string{"1 2026-01-02", "2 2026-01-31"}, 0, []string{"warning date 1:39", "warning date 2:39"}},
		"a date in another form":  {"{1},2026-01-02 03:04:05\n", []string{"1 2026-01-02T03:04:05Z"}, 0, []string{"warning date 1:39"}},
		"the latest counts":       {"{1},2026-01-02,B\n{2},2026-01-01\n{1},2026-01-03,C\n{1},2026-01-01,A\n", []string{"2 2026-01-01", "1 2026-01-03 C"}, 0, []string{"info duplicate 3:1"}},
		"the last of one date":    {"{1},2026-01-02,A\n{1},2026-01-02,B\n", []string{"1 2026-01-02 B"}, 0, []string{"info duplicate 2:1"}},
		"the finer of one day":    {"{1},2026-01-02T00:00:00Z,A\n{1},2026-01-02,B\n", []string{"1 2026-01-02T00:00:00Z A"}, 0, []string{"info duplicate 2:1"}},
		"a quote in a title":      {"{1},2026-01-02,Act \"Salt\"\n", []string{`1 2026-01-02 Act "Salt"`}, 0, []string{"error quote 1:1"}},
		"not doubled":             {"{1},2026-01-02,\"Act \"Salt\" now\"\n", []string{`1 2026-01-02 Act "Salt" now`}, 0, []string{"error quote 1:1"}},
		"not closed":              {one + "{2},2026-01-02,\"Act\n{3},2026-01-03\n{4},2026-01-04,\"Act\"\n", []string{"1 2026-01-02", "3 2026-01-03", "4 2026-01-04 Act"}, 1, []string{"error quote 2:1"}},
		"not closed, in quotes":   {one + "{2},2026-01-02,\"Act\n\"{3}\",\"2026-01-03\"\n", []string{"1 2026-01-02", "3 2026-01-03"}, 1, []string{"error quote 2:1"}},
		"not doubled at the end":  {one + "{2},2026-01-02,\"Act \"Salt\"\"\n{3},2026-01-03\n", []string{"1 2026-01-02", "3 2026-01-03"}, 1, []string{"error quote 2:1"}},
		"not closed at the end":   {one + "{2},2026-01-02,\"Act\n", []string{"1 2026-01-02"}, 1, []string{"error quote 2:1"}},
		"may hide another line":   {one + "{2},2026-01-02,\"Act\non \"Salt\"\n", []string{"1 2026-01-02"}, 1, []string{"error quote 2:1"}},
		"a long line":             {one + "{2},2026-01-02," + long + long + long + "\n{3},2026-01-03\n", []string{"1 2026-01-02", "3 2026-01-03"}, 1, []string{"error line 2:1"}},
		"a long field in quotes":  {one + "{2},2026-01-02,\"" + long + "\"\n{3},2026-01-03\n", []string{"1 2026-01-02", "3 2026-01-03"}, 1, []string{"error line 2:1"}},
		"many lines in quotes":    {one + "{2},2026-01-02,\"" + strings.Repeat("x\n", 40<<10) + "\"\n{3},2026-01-03\n", []string{"1 2026-01-02", "3 2026-01-03"}, 1 + 40<<10, nil},
		"blanks after the end":    {one + "  ", []string{"1 2026-01-02"}, 0, nil},
		"Windows-1252":            {"{1},2026-01-02,Loi d\x92\xe9t\xe9\n{2},2026-01-02,\xe9\n", []string{"1 2026-01-02 Loi d’été", "2 2026-01-02 é"}, 0, []string{"warning encoding 1:50"}},
		"UTF-16":                  {"\xff\xfe" + utf16LE("ELI\tDate\r\n{1}\t2026-01-02\té\r\n"), []string{"1 2026-01-02 é"}, 0, []string{"warning encoding 1:1", "warning separator 1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			acts, skipped, findings, err := readCSV(csvOf(numberedActs(test.list)))
			require.NoError(t, err)
			assert.Equal(t, test.want, acts)
			assert.Equal(t, test.skipped, skipped)
			if len(findings) < 1000 {
				assert.Equal(t, test.findings, findings)
			}
		})
	}
}

// numberedActs replaces {1} by an ELI, and so on.
func numberedActs(list string) string {
	for _, n := range "1234x" {
		eli := country + "eli/act/" + string(n)
		list = strings.ReplaceAll(list, "{"+string(n)+"}", eli)
		list = strings.ReplaceAll(list, utf16LE("{"+string(n)+"}"), utf16LE(eli))
	}
	return list
}

// utf16LE returns text of the first 256 characters in UTF-16.
func utf16LE(text string) string {
	var b []byte
	for _, c := range text {
		b = append(b, byte(c), 0)
	}
	return string(b)
}

// TestCSVErrors: what is no list, or has no act, is an error, never an empty list.
func TestCSVErrors(t *testing.T) {
	for name, test := range map[string]struct {
		list, want string
		kind       error
	}{
		"nothing":              {"", "an empty document, not a list of ELIs", websync.ErrNotDocument},
		"blanks":               {" \r\n\r\n", "an empty document", websync.ErrNotDocument},
		"a mark":               {"\ufeff", "an empty document", websync.ErrNotDocument},
		"only a header":        {"ELI,date,title\n", "no line has an ELI and a date", websync.ErrNotDocument},
		"a cut header":         {"ELI,da", "the last line has no line break", websync.ErrTruncated},
		"a login page":         {"<!DOCTYPE html><html><p>Please log in, now\n", "an HTML page", websync.ErrNotDocument},
		"XML":                  {"<urlset/>", "not a list of ELIs", websync.ErrNotDocument},
		"a text":               {"Please log in.\nThank you, 2026-01-02\n", "no line has", websync.ErrNotDocument},
		"a workbook":           {"PK\x03\x04\x00", "a ZIP file", websync.ErrNotDocument},
		"JSON":                 {`{"a": 1}`, "JSON", websync.ErrNotDocument},
		"only bad lines":       {"https://www.country.example/eli/act/1,soon\n", "no line has", websync.ErrNotDocument},
		"one line":             {numberedActs("{1},2026-01-02"), "line 1, column 39: ", websync.ErrTruncated},
		"cut off in the date":  {numberedActs("{1},2026-01-02\n{2},2026-01"), "the last line has no line break", websync.ErrTruncated},
		"cut off in the URI":   {numberedActs("{1},2026-01-02\nhttp"), "line 2, column 1: ", websync.ErrTruncated},
		"cut off in the title": {numberedActs("{1},2026-01-02\n{2},2026-01-02,Ac"), "the last line has no line break", websync.ErrTruncated},
		"cut off in quotes":    {numberedActs("{1},2026-01-02\n{2},2026-01-02,\"Ac"), "the last line has no line break", websync.ErrTruncated},
		"cut off in two lines": {numberedActs("{1},2026-01-02\n{2},2026-01-02,\"Act\non"), "line 3, column 1: ", websync.ErrTruncated},
		"a damaged gzip":       {"\x1f\x8b\x08\x00\x00", "", websync.ErrTruncated},
		"too long":             {strings.Repeat("https://www.country.example/eli/act/1,2026-01-02\n", 3000), "", websync.ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			s := csvOf(test.list)
			s.MaxBytes = 100_000
			_, _, findings, err := readCSV(s)
			require.ErrorIs(t, err, test.kind)
			assert.NotContains(t, findings, "warning separator 1:1")
			require.ErrorContains(t, err, test.want)
			parse, ok := errors.AsType[*websync.ParseError](err)
			require.True(t, ok)
			assert.Equal(t, "list", parse.Document)
		})
	}
}

func TestCSVCheck(t *testing.T) {
	open := csvOf("").Open
	for name, s := range map[string]*eli.CSV{
		"nothing": {}, "a name only": {Name: "n"}, "two of them": {URL: "https://country.example/list.csv", File: "list.csv"},
		"all": {URL: "https://country.example/list.csv", File: "list.csv", Open: open, Name: "n"}, "no name": {Open: open},
	} {
		err := s.Check()
		require.Error(t, err, name)
		_, _, _, yielded := readCSV(s)
		assert.Equal(t, err, yielded, name)
	}
	assert.Equal(t, "list.csv", (&eli.CSV{File: "list.csv"}).Key())
	assert.Equal(t, "https://country.example/list.csv", (&eli.CSV{URL: "https://country.example/list.csv"}).Key())
	assert.Equal(t, "n", (&eli.CSV{URL: "https://country.example/list.csv", Name: "n"}).Key())
	assert.Equal(t, "https://country.example/list.csv", (&eli.CSV{URL: "https://country.example/list.csv", Name: "n"}).Root())
}

// TestCSVFile reads a file, which must be one and must not change meanwhile.
func TestCSVFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "acts.csv")
	s := &eli.CSV{File: file}
	_, _, _, err := readCSV(s)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte(numberedActs("{1},2026-01-02\n")), 0o666))
	acts, _, _, err := readCSV(s)
	require.NoError(t, err)
	assert.Equal(t, []string{"1 2026-01-02"}, acts)
	_, _, _, err = readCSV(&eli.CSV{File: dir})
	assert.ErrorContains(t, err, "not a regular file")

	broken := errors.New("broken")
	failing := &eli.CSV{Name: "list", Open: func(context.Context) (io.ReadCloser, error) { return nil, broken }}
	_, _, _, err = readCSV(failing)
	assert.ErrorIs(t, err, broken)
	failing.Open = func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(numberedActs("{1},2026-01-02\n")), testkit.ReadFunc(func([]byte) (int, error) { return 0, broken }))), nil
	}
	_, _, _, err = readCSV(failing)
	assert.ErrorIs(t, err, broken)
}

// TestCSVHarvest: the Store finds out what has changed in a list, and a Publisher
// publishes it.
func TestCSVHarvest(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	store.Now = func() time.Time { return now }
	h := &harvest.Harvester{Sample: -1, Catalog: store, MaxDelete: -1}
	p := newPublisher(store)
	p.Sources = []string{"list"}
	run := func(list string) (*harvest.Report, map[string]string) {
		t.Helper()
		now = now.Add(24 * time.Hour)
		report, err := h.Run(t.Context(), csvOf(numberedActs(list)))
		require.NoError(t, err)
		all, _ := readSitemap(t, p, mapPath)
		for _, e := range readFeed(t, p).Entries {
			name := strings.TrimPrefix(e.ID, country+"eli/act/")
			require.Equal(t, instant(t, all[name]), e.Updated.UTC())
		}
		return report, all
	}
	const first = "{1},2026-01-01,One\n{2},2026-01-02\n{3},2026-01-03\n"
	report, all := run(first)
	assert.True(t, report.InStep())
	assert.Equal(t, map[string]string{"1": "2026-01-01", "2": "2026-01-02", "3": "2026-01-03"}, all)
	report, _ = run(first)
	assert.EqualValues(t, 3, report.Unchanged)
	log := testkit.Entries(t, store)
	assert.Len(t, log, 3)

	report, all = run("{1},2026-01-01,One\n{2},2026-02-02\n{4},2026-02-04\n")
	assert.True(t, report.InStep())
	assert.Equal(t, []int64{1, 1, 1}, []int64{report.Created, report.Updated, report.Deleted})
	assert.Equal(t, map[string]string{"1": "2026-01-01", "2": "2026-02-02", "4": "2026-02-04"}, all)

	report, all = run("{1},2026-01-01,One\n{2},soon\n")
	assert.False(t, report.InStep())
	assert.Zero(t, report.Deleted, "a line can't be read")
	assert.Len(t, all, 3)

	_, all = run("{1},2026-01-01,\"One, as amended\"\n{2},2026-02-02\n{4},2026-02-04\n")
	assert.Equal(t, map[string]string{"1": websync.NewDatetime(now).String(), "2": "2026-02-02", "4": "2026-02-04"}, all, "another title with the same date")
	assert.Equal(t, "One, as amended", readFeed(t, p).Entries[0].Title)
}

// TestCSVConformance lists acts on the web.
func TestCSVConformance(t *testing.T) {
	const url = country + "acts.csv"
	site := func(list, tag string) sourcetest.Site {
		return sourcetest.Site{url: {Body: numberedActs(list), ETag: tag}}
	}
	sourcetest.Run(t, sourcetest.Options{
		Source: func() harvest.Source { return &eli.CSV{URL: url} },
		Sites: []sourcetest.Site{
			site("ELI,date,title\n{1},2026-01-01,One\n{2},2026-01-02\n{3},2026-01-03,\"Three,\nas amended\"\n{1},2025-01-01,Old\n", `"1"`),
			site("ELI,date,title\n{1},2026-01-01,One more\n{3},2026-02-03\n{4},2026-01-04\n{2}5,2026-01-04T01:02:03Z\n", `"2"`),
			site("{1},2026-01-01,One more\n{3},2026-02-03\n{4},2026-01-04\n{2}5,2026-01-04T01:02:04Z\n", ""),
		},
		Store: func(testing.TB) harvest.Store { return memstore.New() },
	})
}

// FuzzCSV: any bytes are read without a panic, every line is an act or counted, and a
// list that is read has the same acts when it is written properly.
func FuzzCSV(f *testing.F) {
	for _, list := range []string{
		"ELI,date,title\n{1},2026-01-01,\"One, \"\"two\"\"\"\n{2},2026-01-02", "\ufeff{1};2026;\"a\r\nb\"\r\n", "{1}\t2026\t\"a\n{2}\t2026\n", "\xff\xfea\x00", "{1},2026,a,b,\xe9\r{1},2027\r",
	} {
		f.Add([]byte(numberedActs(list)))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		read := func(list string) (acts []websync.Resource, skipped int, err error) {
			for ev, failed := range csvOf(list).Events(t.Context(), nil) {
				switch {
				case failed != nil:
					return nil, 0, failed
				case ev.Kind == harvest.Put:
					require.Equal(t, strings.ToValidUTF8(ev.Resource.Title, ""), ev.Resource.Title)
					acts = append(acts, ev.Resource)
				case ev.Kind == harvest.SnapshotEnd:
					skipped = ev.Skipped
				}
			}
			return acts, skipped, nil
		}
		acts, _, err := read(string(list))
		if err != nil {
			_, ok := errors.AsType[*websync.ParseError](err)
			require.True(t, ok, err)
			return
		}
		var b strings.Builder
		for _, r := range acts {
			quoted := `"` + strings.ReplaceAll(r.ID, `"`, `""`) + `",` + r.Modified.String()
			fmt.Fprintf(&b, "%s,\"%s\"\n", quoted, strings.ReplaceAll(r.Title, `"`, `""`))
		}
		again, skipped, err := read(b.String())
		require.NoError(t, err)
		require.Zero(t, skipped)
		require.Equal(t, acts, again)
	})
}

// A list on the web that only the closed connection ends may lack its end.
func TestCSVMayBeCut(t *testing.T) {
	run := &harvest.Run{Fetcher: testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) {
		return &harvest.Response{Status: 200, MayBeCut: true, Body: io.NopCloser(strings.NewReader(numberedActs("{1},2026-01-02\n")))}, nil
	})}
	var rules []string
	run.Report = func(f websync.Finding) { rules = append(rules, f.Rule) }
	skipped := 0
	for ev, err := range (&eli.CSV{URL: country + "acts.csv"}).Events(t.Context(), run) {
		require.NoError(t, err)
		skipped += ev.Skipped
		assert.True(t, ev.Resume.IsZero())
	}
	assert.Equal(t, 1, skipped)
	assert.Equal(t, []string{"eli-csv-cut"}, rules)
}

// A file that changes while it is read may be a mixture of two states.
func TestCSVFileChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "acts.csv")
	write := func(text string, at time.Time) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		require.NoError(t, os.Chtimes(file, at, at))
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write("a", at)
	before, err := os.Stat(file)
	require.NoError(t, err)
	require.NoError(t, eli.CheckUnchanged(before, file))
	write("ab", at)
	assert.ErrorContains(t, eli.CheckUnchanged(before, file), "has changed")
	write("b", at.Add(time.Second))
	assert.ErrorContains(t, eli.CheckUnchanged(before, file), "has changed")
	require.NoError(t, os.Rename(file, file+".old"))
	assert.ErrorIs(t, eli.CheckUnchanged(before, file), os.ErrNotExist)
	write("a", at)
	assert.ErrorContains(t, eli.CheckUnchanged(before, file), "has changed", "another file")
}
