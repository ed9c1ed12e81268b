package testkit

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/websync-go/websync/internal/testing/racing"
)

// How many mutants Mutants makes of a file, and of a piece.
const (
	fileMutants  = 20
	pieceMutants = 4
)

// Mutants checks that documents, and damaged variants of each, read as before: the golden
// file testdata/mutants/hashes.golden holds a line for each document, with the hash of
// what transcript returns for it and for each of its variants.
//
// The documents are the files of testdata except those in the directories named in skip,
// and what document returns for each line of testdata/mutants/pieces.txt, which is a
// quoted string. Both are changed by a fixed sequence of random numbers. To find out how
// a variant differs, set -mutants to a directory in which the transcripts are written.
func Mutants(t *testing.T, skip []string, document func(piece string) string, transcript func(doc []byte) string) {
	racing.Skip(t)
	var got bytes.Buffer
	add := func(name string, doc []byte, mutants int) {
		got.WriteString(name)
		random := rand.New(rand.NewPCG(uint64(hash(name)), 0))
		for n := range mutants + 1 {
			variant := doc
			if n > 0 {
				variant = mutate(doc, n, random)
			}
			text := transcript(variant)
			fmt.Fprintf(&got, " %08x", hash(text))
			keepMutant(t, fmt.Sprintf("%s.%d", name, n), variant, text)
		}
		got.WriteByte('\n')
	}
	Files(t, "testdata", append(skip, "mutants", "fuzz"), func(path string, data []byte) {
		add(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), data, fileMutants)
	})
	for i, piece := range pieces(t) {
		add(fmt.Sprintf("piece %d", i+1), []byte(document(piece)), pieceMutants)
	}
	want, _ := os.ReadFile("testdata/mutants/hashes.golden")
	if bytes.Equal(want, got.Bytes()) {
		return
	}
	if !*update {
		reportMutants(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
	}
	Golden(t, "testdata/mutants/hashes.golden", got.Bytes())
}

// reportMutants reports the first lines that are different.
func reportMutants(t *testing.T, want, got []string) {
	reported := 0
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] && reported < 10 {
			reported++
			t.Errorf("line %d is different\ngot  %s\nwant %s", i+1, got[i], want[i])
		}
	}
	t.FailNow()
}

// pieces returns the strings of testdata/mutants/pieces.txt.
func pieces(t *testing.T) (all []string) {
	data, err := os.ReadFile("testdata/mutants/pieces.txt")
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		piece, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, piece)
	}
	return all
}

// keepMutant writes a variant with its transcript to the directory of the flag -mutants.
func keepMutant(t *testing.T, name string, variant []byte, transcript string) {
	if *mutants == "" {
		return
	}
	file := filepath.Join(*mutants, strings.ReplaceAll(name, "/", "_"))
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s\n\n-- variant --\n%s", transcript, variant), 0o644); err != nil {
		t.Fatal(err)
	}
}

func hash(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

var (
	tagPattern   = regexp.MustCompile(`<[^<>]*>`)
	namePattern  = regexp.MustCompile(`</?[A-Za-z][\w:.-]*`)
	valuePattern = regexp.MustCompile(`"[^"<>]*"|'[^'<>]*'|>[^<>]+<`)
)

// oddBytes and oddValues are what mutate puts into documents.
const oddBytes = "<>&\"'/= \n\x00\xffx0-:é"

var oddValues = []string{"", " ", "0", "-1", "1.5", "2026-02-30", "2026-01-02t03:04z", "2026-01-02T03:04:05.678+15:00", "a", "../a?b#c", "https://example.org/\u00e4 b",
	"HTTPS://u@example.org:/%zz", "MD5:abc", "md5:1584abdf8ebdc9802ac0c6a7402c03b6 md5:00", "sha-256:YQ==", "xhtml", "HTML", "text/PLAIN; a=b", "de_DE", "via alternate",
	"DELETED", "/a/../b", "&#0;", "&amp;&amp;", "<b>c</b>", "\u00a0", "http://www.openarchives.org/rs/terms"}

// mutate returns a variant of a document; n is how many there were, from 1.
func mutate(doc []byte, n int, random *rand.Rand) []byte {
	switch n % 5 {
	case 0: // a tag is repeated
		return replaceOne(doc, tagPattern, random, func(tag []byte) []byte { return append(bytes.Clone(tag), tag...) })
	case 1: // a line is dropped, or a tag if there is only one line
		lines := bytes.SplitAfter(doc, []byte("\n"))
		if len(lines) < 4 {
			return replaceOne(doc, tagPattern, random, func([]byte) []byte { return nil })
		}
		i := random.IntN(len(lines))
		return append(bytes.Join(lines[:i], nil), bytes.Join(lines[i+1:], nil)...)
	case 2: // two names of elements are swapped
		return swapNames(doc, random)
	case 3: // a byte is changed
		changed := bytes.Clone(doc)
		if len(changed) > 0 {
			changed[random.IntN(len(changed))] = oddBytes[random.IntN(len(oddBytes))]
		}
		return changed
	}
	return replaceOne(doc, valuePattern, random, func(value []byte) []byte { // a value is changed
		odd := append([]byte{value[0]}, oddValues[random.IntN(len(oddValues))]...)
		return append(odd, value[len(value)-1])
	})
}

// replaceOne replaces one match of a pattern.
func replaceOne(doc []byte, pattern *regexp.Regexp, random *rand.Rand, by func([]byte) []byte) []byte {
	all := pattern.FindAllIndex(doc, -1)
	if len(all) == 0 {
		return doc
	}
	at := all[random.IntN(len(all))]
	changed := append(bytes.Clone(doc[:at[0]]), by(doc[at[0]:at[1]])...)
	return append(changed, doc[at[1]:]...)
}

// swapNames swaps two names of elements everywhere.
func swapNames(doc []byte, random *rand.Rand) []byte {
	all := namePattern.FindAll(doc, -1)
	if len(all) == 0 {
		return doc
	}
	name := func() string { return strings.TrimLeft(string(all[random.IntN(len(all))]), "</") }
	a, b := name(), name()
	return namePattern.ReplaceAllFunc(doc, func(match []byte) []byte {
		start := match[:len(match)-len(bytes.TrimLeft(match, "</"))]
		switch string(match[len(start):]) {
		case a:
			return append(bytes.Clone(start), b...)
		case b:
			return append(bytes.Clone(start), a...)
		}
		return match
	})
}

// countsInside finds the websync.Counts of a Summary, and the Tombstones of one of Atom.
var countsInside = regexp.MustCompile(`Counts:\{(Entries:\d+)([^}]*)\}( Tombstones:\d+)?`)

// FlatSummary returns the text of a Summary as golden files have it: with its Counts as
// fields of its own.
func FlatSummary(sum any) string {
	return countsInside.ReplaceAllString(fmt.Sprintf("%+v", sum), "$1$3$2")
}
