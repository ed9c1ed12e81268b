package cli

import (
	"fmt"

	"github.com/websync-go/websync/harvest/dirsource"
)

// OwnFiles returns the patterns of the files that a program itself writes below dir, so
// that it does not read them: the directories it writes to, where they are not empty, and
// the files of the store. It returns an error if it writes to dir itself: that would
// replace its files.
func OwnFiles(dir string, s Store, written ...string) (patterns []string, err error) {
	for _, out := range written {
		if out == "" {
			continue
		}
		pattern, err := dirsource.PatternOf(dir, out)
		if err != nil {
			return nil, err
		}
		if pattern == "/" {
			return nil, fmt.Errorf("%s is the directory that is read: what is written there would replace its files", out)
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
