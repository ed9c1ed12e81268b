package dirsource

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// PatternOf returns the pattern that matches only name, a file or directory below dir in
// the form of the system. A program that writes below the directory that it reads
// excludes its own files with it. For dir itself, which no pattern matches, it returns
// "/"; for a name that is not below dir, "". It follows links in both names, and neither
// needs to exist.
func PatternOf(dir, name string) (string, error) {
	top, err := resolve(dir)
	if err != nil {
		return "", fmt.Errorf("dirsource: %w", err)
	}
	if name, err = resolve(name); err != nil {
		return "", fmt.Errorf("dirsource: %w", err)
	}
	below, err := filepath.Rel(top, name)
	switch {
	case err != nil || !filepath.IsLocal(below): // err means another volume
		return "", nil
	case below == ".":
		return "/", nil
	}
	return "/" + strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(filepath.ToSlash(below)), nil
}

// resolve returns an absolute path, without links as far as the path exists.
func resolve(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(name)
	if dir := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && dir != name {
		real, err = resolve(dir)
		real = filepath.Join(real, filepath.Base(name))
	}
	return real, err
}

// A filter chooses what a walk lists.
type filter struct {
	include, exclude []syntax.Glob
	hidden           bool
}

// filter reads the patterns.
func (s *Source) filter() (f filter, err error) {
	f.hidden = s.Hidden
	if f.include, err = parsePatterns(s.Include); err != nil {
		return f, fmt.Errorf("dirsource: Include: %w", err)
	}
	if f.exclude, err = parsePatterns(s.Exclude); err != nil {
		return f, fmt.Errorf("dirsource: Exclude: %w", err)
	}
	return f, nil
}

func parsePatterns(texts []string) (all []syntax.Glob, err error) {
	for _, text := range texts {
		p, err := syntax.ParseGlob(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func matchesAny(patterns []syntax.Glob, file string) bool {
	if len(patterns) == 0 {
		return false
	}
	elements := strings.Split(file, "/")
	for _, p := range patterns {
		if p.Matches(elements) {
			return true
		}
	}
	return false
}
