package cli

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/fetch"
)

// SourceFlags are the flags about what is harvested, and how.
type SourceFlags struct {
	Protocol     string // Auto or one of Harvested
	Complete     bool   // a sitemap lists everything: what it no longer lists is deleted
	Rate         float64
	AllowPrivate bool
	Netrc        string // file with credentials; empty: none
	Acts         Acts
}

// Declare declares the flags.
func (f *SourceFlags) Declare(l *Line) {
	l.StringVar(&f.Protocol, "protocol", Auto, "")
	l.BoolVar(&f.Complete, "complete", false, "")
	l.Float64Var(&f.Rate, "rate", 0, "")
	l.BoolVar(&f.AllowPrivate, "allow-private", false, "")
	l.StringVar(&f.Netrc, "netrc", "", "")
	f.Acts.Declare(l)
}

// Check returns an error if the rate is none, or for a wrong flag about legislation.
func (f *SourceFlags) Check() error {
	field, value, reason := f.Acts.Wrong(f.Protocol)
	return cmp.Or(
		Refuse(!IsRate(f.Rate), "-rate %v: not a number of requests a second", f.Rate),
		Refuse(field != "", "-%s %v: %s", strings.ReplaceAll(field, "_", "-"), value, reason),
	)
}

// IsRate reports whether a number can be that of requests a second.
func IsRate(rate float64) bool { return rate >= 0 && rate <= math.MaxFloat64 }

// Targets returns the targets that arguments name, each once.
func (f *SourceFlags) Targets(names []string) (targets []Target, err error) {
	for _, name := range names {
		t, err := ParseTarget(f.Protocol, name)
		if err != nil {
			return nil, err
		}
		t.Complete, t.Acts = f.Complete, f.Acts
		if !slices.ContainsFunc(targets, func(u Target) bool { return u.URL == t.URL }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// Client returns a client that keeps the gates and robots.txt files of hosts in state,
// and sends the credentials of Netrc and of targets to their origins.
func (f *SourceFlags) Client(state websync.State, targets []Target) (*fetch.Client, error) {
	c := fetch.New(state)
	if err := Authorize(f.Netrc, c); err != nil {
		return nil, err
	}
	c.Rate, c.AllowPrivate = f.Rate, f.AllowPrivate
	for _, t := range targets {
		if t.Sign != nil {
			c.Authorize(t.Origin, t.Sign) // no error: ParseTarget made the origin
		}
	}
	return c, nil
}
