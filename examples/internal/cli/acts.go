package cli

import (
	"strings"
	"time"

	"github.com/websync-go/websync/eli"
)

// Acts are the flags about what is got of legislation, and fields of a configuration.
type Acts struct {
	Languages    []string `json:"languages"`
	AllLanguages bool     `json:"all_languages"`
	Formats      []string `json:"formats"`
	Linked       bool     `json:"linked"`       // the pages of expressions that are only linked
	ResyncEvery  string   `json:"resync_every"` // empty: never
}

// Declare declares the flags.
func (a *Acts) Declare(l *Line) {
	l.Words(&a.Languages, "languages")
	l.Words(&a.Formats, "formats")
	l.BoolVar(&a.AllLanguages, "all-languages", a.AllLanguages, "")
	l.BoolVar(&a.Linked, "linked", a.Linked, "")
	l.StringVar(&a.ResyncEvery, "resync-every", a.ResyncEvery, "")
}

// Wrong returns the first field, by its name in a configuration, that has no meaning for
// targets of a protocol, or whose value is wrong, with the reason. If there is none,
// field is empty.
func (a *Acts) Wrong(protocol string) (field string, value any, reason string) {
	_, every := a.every()
	for _, f := range []struct {
		name  string
		value any
		given bool
		err   error
		right string
	}{
		{"languages", strings.Join(a.Languages, ","), len(a.Languages) > 0,
			(&eli.Preferences{Languages: a.Languages}).Check(), "not language tags, or codes of three letters, such as fr,nld"},
		{"formats", strings.Join(a.Formats, ","), len(a.Formats) > 0,
			(&eli.Preferences{Formats: a.Formats}).Check(), "not media types, or file types, such as html,application/pdf"},
		{"all_languages", a.AllLanguages, a.AllLanguages, nil, ""},
		{"linked", a.Linked, a.Linked, nil, ""},
		{"resync_every", a.ResyncEvery, a.ResyncEvery != "", every, `not a time such as "8760h"`},
	} {
		switch {
		case !f.given:
		case protocol != "eli" && protocol != Auto:
			return f.name, f.value, "only for protocol eli"
		case f.err != nil:
			return f.name, f.value, f.right
		}
	}
	return "", nil, ""
}

// every returns the time of ResyncEvery.
func (a *Acts) every() (time.Duration, error) {
	if a.ResyncEvery == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(a.ResyncEvery)
	if err == nil {
		err = Refuse(d <= 0, "not above 0")
	}
	return d, err
}
