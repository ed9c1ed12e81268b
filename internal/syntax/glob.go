package syntax

import (
	"errors"
	"path"
	"strings"
)

// A Glob is a pattern for paths, element by element. The element ** stands for any number
// of path elements, none included; every other one matches one path element as
// [path.Match] does. A pattern without a slash matches in every directory, so that *.html
// is **/*.html; a slash at its beginning anchors it to the root, as in /index.html. A
// pattern that ends in a slash, or has an empty element, is malformed.
type Glob []string

// anything is the element that stands for any number of path elements.
const anything = "**"

var errElement = errors.New("an element that is empty, one dot or two")

// ParseGlob reads a pattern.
func ParseGlob(text string) (Glob, error) {
	rest, rooted := strings.CutPrefix(text, "/")
	p := Glob(strings.Split(rest, "/"))
	if !rooted && len(p) == 1 {
		p = Glob{anything, rest}
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

// Matches reports whether the pattern matches a path. If an element after ** does not
// match, the ** takes one more path element; going back to an earlier ** can't find
// another match.
func (p Glob) Matches(elements []string) bool {
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
