package cli

import (
	"fmt"

	"github.com/websync-go/websync/harvest/dirsource"
)

// OwnFiles returns the patterns of the files that a program itself writes below dir, so
// that it does not read them: the export, unless that is empty, and the files of the
// store. It returns an error if dir is the export: the export would replace its files.
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
