package dirsource

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// A pattern is one of Include or Exclude, element by element.
type pattern []string

// anything is the element that stands for any number of path elements.
const anything = "**"

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

var errElement = errors.New("an element that is empty, one dot or two")

func parsePattern(text string) (pattern, error) {
	rest, rooted := strings.CutPrefix(text, "/")
	p := pattern(strings.Split(rest, "/"))
	if !rooted && len(p) == 1 {
		p = pattern{anything, rest}
	}
	for _, element := range p {
		if element == "" || element == "." || element == ".." {
			return nil, errElement
		}
		if _, err := path.Match(element, ""); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// matches reports whether the pattern matches a path. If an element after ** does not
// match, the ** takes one more path element; going back to an earlier ** can't find
// another match.
func (p pattern) matches(elements []string) bool {
	i, back, from := 0, -1, 0
	for j := 0; j < len(elements); {
		if i < len(p) && p[i] == anything {
			i++
			back, from = i, j
			continue
		}
		if i < len(p) {
			if ok, _ := path.Match(p[i], elements[j]); ok {
				i, j = i+1, j+1
				continue
			}
		}
		if back < 0 {
			return false
		}
		from++
		i, j = back, from
	}
	for i < len(p) && p[i] == anything {
		i++
	}
	return i == len(p)
}

// A filter chooses what a walk lists.
type filter struct {
	include, exclude []pattern
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

func parsePatterns(texts []string) (all []pattern, err error) {
	for _, text := range texts {
		p, err := parsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func matchesAny(patterns []pattern, file string) bool {
	if len(patterns) == 0 {
		return false
	}
	elements := strings.Split(file, "/")
	for _, p := range patterns {
		if p.matches(elements) {
			return true
		}
	}
	return false
}
