package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/syntax"
)

// Authorize makes clients send the credentials in a netrc file, each to its origin only.
// No error has anything of what the file holds.
func Authorize(file string, clients ...*fetch.Client) error {
	all := signers{}
	err := all.addNetrc(file)
	for _, c := range clients {
		all.authorize(c)
	}
	return err
}

// addNetrc adds the credentials in a netrc file, if one is named.
func (s signers) addNetrc(file string) error {
	if file == "" {
		return nil
	}
	logins, err := readNetrc(file)
	for _, l := range logins {
		if !s.add(l.origin, l.sign()) && err == nil {
			err = atLine(l.line, notOrigin)
		}
	}
	if err != nil {
		return fmt.Errorf("netrc %s: %w", file, err)
	}
	return nil
}

const notOrigin = "machine must be followed by a host, or by an origin such as https://example.org:8443"

func atLine(line int, message string) error { return fmt.Errorf("line %d: %s", line, message) }

const maxNetrc = 1 << 20 // bytes

func readNetrc(file string) ([]login, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	// Windows has no modes.
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("its mode is %#o, and others may use what it holds: it must be 0600", mode)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxNetrc+1))
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if len(content) > maxNetrc {
		return nil, errors.New("longer than 1 MiB")
	}
	return parseNetrc(content)
}

// A login is an entry of a netrc file.
type login struct {
	line   int // of its first word
	origin string
	values map[string]string // by login, password, account, token
}

func (l *login) sign() func(*http.Request) error {
	if token, ok := l.values["token"]; ok {
		return fetch.Bearer(token)
	}
	return fetch.Basic(l.values["login"], l.values["password"])
}

func parseNetrc(content []byte) (logins []login, err error) {
	words, err := netrcWords(content)
	origins := make(map[syntax.Origin]bool)
	for i := 0; err == nil && i < len(words); i += 2 {
		key, line := words[i].text, words[i].line
		switch {
		case key == "default":
			return nil, atLine(line, "default is not taken: credentials are of one machine")
		case key != "machine" && key != "login" && key != "password" && key != "account" && key != "token":
			return nil, atLine(line, "not one of machine, login, password, account and token")
		case i+1 == len(words):
			return nil, atLine(line, key+" without a value")
		}
		value := words[i+1].text
		if key != "machine" {
			err = addTo(logins, line, key, value)
			continue
		}
		if err = checkLast(logins); err != nil {
			break
		}
		if !strings.Contains(value, "://") {
			value = "https://" + value
		}
		origin, _ := syntax.OriginOf(value)
		switch {
		case origin == "":
			return nil, atLine(line, notOrigin)
		case origins[origin]:
			return nil, atLine(line, "a second entry of one machine")
		}
		origins[origin] = true
		logins = append(logins, login{line, value, map[string]string{}})
	}
	return logins, cmp.Or(err, checkLast(logins))
}

// addTo adds a value to the last of logins.
func addTo(logins []login, line int, key, value string) error {
	if len(logins) == 0 {
		return atLine(line, key+" before the first machine")
	}
	values := logins[len(logins)-1].values
	_, twice := values[key]
	control := func(c rune) bool { return c < ' ' || c == 0x7f }
	switch {
	case twice:
		return atLine(line, key+" twice for one machine")
	case strings.ContainsFunc(value, control):
		return atLine(line, key+" with a control character")
	case key == "login" && strings.Contains(value, ":"): // RFC 7617 §2
		return atLine(line, "login with a colon, which no user name has")
	case key == "token" && (value == "" || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' })):
		return atLine(line, "token with a character that none has (RFC 6750 §2.1), or empty")
	}
	values[key] = value
	return nil
}

// checkLast checks that the last of logins is complete.
func checkLast(logins []login) error {
	if len(logins) == 0 {
		return nil
	}
	last := logins[len(logins)-1]
	_, user := last.values["login"]
	_, password := last.values["password"]
	_, token := last.values["token"]
	if token == (user || password) || user != password {
		return atLine(last.line, "a machine must have either login and password, or token")
	}
	return nil
}

type netrcWord struct {
	text string
	line int
}

// netrcWords returns the words of a netrc file: what white space separates, or what is in
// double quotes, where a backslash stands before a quote or a backslash. A line that
// begins with "#" is a comment.
func netrcWords(content []byte) (words []netrcWord, err error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		rest := strings.TrimSpace(line)
		if strings.HasPrefix(rest, "#") {
			continue
		}
		for ; rest != ""; rest = strings.TrimLeft(rest, " \t") {
			text, size := rest, len(rest)
			if rest[0] == '"' {
				text, size = quoted(rest)
			} else if end := strings.IndexAny(rest, " \t"); end > 0 {
				text, size = rest[:end], end
			}
			if size == 0 {
				return nil, atLine(n, "no quote at the end of a value")
			}
			words = append(words, netrcWord{text, n})
			rest = rest[size:]
		}
	}
	return words, nil
}

// quoted returns the text in the quotes with which s begins, and how many bytes of s it
// and they are; 0 if there is no quote at its end.
func quoted(s string) (text string, size int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '"' {
			return b.String(), i + 1
		}
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0
}
