package cli

import (
	"math"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/fetch"
)

// SourceFlags are the flags about what is harvested, and how.
type SourceFlags struct {
	Protocol     string // Auto or one of Harvested
	Complete     bool   // a sitemap lists everything: what it no longer lists is deleted
	Rate         float64
	AllowPrivate bool
}

// Declare declares the flags.
func (f *SourceFlags) Declare(l *Line) {
	l.StringVar(&f.Protocol, "protocol", Auto, "")
	l.BoolVar(&f.Complete, "complete", false, "")
	l.Float64Var(&f.Rate, "rate", 0, "")
	l.BoolVar(&f.AllowPrivate, "allow-private", false, "")
}

// Check returns an error if the rate is none.
func (f *SourceFlags) Check() error {
	return Refuse(!IsRate(f.Rate), "-rate %v: not a number of requests a second", f.Rate)
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
		t.Complete = f.Complete
		if !slices.ContainsFunc(targets, func(u Target) bool { return u.URL == t.URL }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// Client returns a client that keeps the gates and robots.txt files of hosts in state,
// and sends the credentials of targets to their origins.
func (f *SourceFlags) Client(state websync.State, targets []Target) *fetch.Client {
	c := fetch.New(state)
	c.Rate, c.AllowPrivate = f.Rate, f.AllowPrivate
	for _, t := range targets {
		if t.Sign != nil {
			c.Authorize(t.Origin, t.Sign) // no error: ParseTarget made the origin
		}
	}
	return c
}
