package cli

import (
	"fmt"

	"github.com/websync-go/websync/harvest/dirsource"
)

// OwnFiles returns the patterns of what a program itself writes below a directory that it
// reads: an export, empty if there is none, and the files of the store, whose names begin
// with that of its first. Without them the next run would read its own files. It returns
// an error if the directory itself is the export: its files would be overwritten.
func OwnFiles(dir, export string, s Store) (patterns []string, err error) {
	if export != "" {
		pattern, err := dirsource.PatternOf(dir, export)
		if err != nil {
			return nil, err
		}
		if pattern == "/" {
			return nil, fmt.Errorf("%s is the directory that is read: an export there would replace its files", export)
		}
		if pattern != "" {
			patterns = append(patterns, pattern)
		}
	}
	if s.Kind == "sqlite" {
		pattern, err := dirsource.PatternOf(dir, s.Name)
		if err != nil {
			return nil, err
		}
		if pattern != "" {
			patterns = append(patterns, pattern+"*")
		}
	}
	return patterns, nil
}
