package patch

import (
	"errors"
	"strings"
)

// A pointer is a JSON Pointer (RFC 6901): its tokens, without their escapes.
type pointer []string

var (
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
)

func parsePointer(text string) (pointer, error) {
	if text == "" {
		return nil, nil
	}
	if text[0] != '/' {
		return nil, errors.New(`a pointer must be empty or begin with "/"`)
	}
	if strings.Count(text, "~") != strings.Count(text, "~0")+strings.Count(text, "~1") {
		return nil, errors.New(`in a pointer "~" must be followed by 0 or 1`)
	}
	p := pointer(strings.Split(text[1:], "/"))
	for i, token := range p {
		p[i] = unescape.Replace(token)
	}
	return p, nil
}

func (p pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteString("/" + escape.Replace(token))
	}
	return b.String()
}
