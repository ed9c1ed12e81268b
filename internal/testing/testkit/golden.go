// Package testkit holds what the tests of several packages share: golden files and
// Fetchers without a network. Package sourcetest has the Fetcher of documents in memory.
// Only tests import it.
package testkit

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var (
	update  = flag.Bool("update", false, "write the golden files")
	mutants = flag.String("mutants", "", "where Mutants writes its transcripts")
)

// Golden checks that a golden file holds got. If the flag -update is set, it writes the
// file first.
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s is different; go test -run '^%s$' -update writes it again\n--- got:\n%s\n--- want:\n%s", file, t.Name(), got, want)
	}
}
