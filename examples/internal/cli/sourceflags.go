package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/syntax"
)

// SourceFlags are the flags about what is harvested, and how.
type SourceFlags struct {
	Protocol     string // Auto or one of Harvested
	Complete     bool   // a sitemap lists everything: what it no longer lists is deleted
	Selection    Selection
	Types        []string // media types of ResourceSync, the best first
	Acts         Acts
	Rate         float64
	AllowPrivate bool
	Contact      string   // URL or mail address; empty: none
	UserAgent    string   // empty: that of the SDK
	Netrc        string   // file with credentials; empty: none
	Headers      []string // "Name: value", perhaps after a host
}

// Declare declares the flags.
func (f *SourceFlags) Declare(l *Line) {
	l.StringVar(&f.Protocol, "protocol", Auto, "")
	l.BoolVar(&f.Complete, "complete", false, "")
	f.Selection.Declare(l)
	l.Words(&f.Types, "types")
	f.Acts.Declare(l)
	l.Float64Var(&f.Rate, "rate", 0, "")
	l.BoolVar(&f.AllowPrivate, "allow-private", false, "")
	l.StringVar(&f.Contact, "contact", "", "")
	l.StringVar(&f.UserAgent, "user-agent", "", "")
	l.StringVar(&f.Netrc, "netrc", "", "")
	l.List(&f.Headers, "header")
}

// Check returns an error for the first wrong value.
func (f *SourceFlags) Check() error {
	field, value, reason := f.Acts.Wrong(f.Protocol)
	err := f.addTo(signers{}, nil)
	return cmp.Or(
		Refuse(!IsRate(f.Rate), "-rate %v: not a number of requests a second", f.Rate),
		Refuse(field != "", "-%s %v: %s", strings.ReplaceAll(field, "_", "-"), value, reason),
		Refuse(len(f.Types) > 0 && f.Protocol != "resourcesync" && f.Protocol != Auto,
			"-types %s: only for protocol resourcesync", strings.Join(f.Types, ",")),
		f.checkFilter(),
		Refuse(!IsAgent(f.Contact), "-contact %q: has a control character", f.Contact),
		Refuse(!IsAgent(f.UserAgent), "-user-agent %q: has a control character", f.UserAgent),
		err,
	)
}

// checkFilter returns an error for the first malformed pattern.
func (f *SourceFlags) checkFilter() error {
	if err := f.Selection.Check(); err != nil {
		names := strings.NewReplacer("harvest: Filter.Include", "-include", "harvest: Filter.Exclude", "-exclude")
		return errors.New(names.Replace(err.Error()))
	}
	return nil
}

// IsAgent reports whether a text can be in the header User-Agent.
func IsAgent(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
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
		t.Complete, t.Acts, t.Selection, t.Types = f.Complete, f.Acts, f.Selection, f.Types
		if !slices.ContainsFunc(targets, func(u Target) bool { return u.URL == t.URL }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// headerForm is "Name: value", perhaps after a host or an origin.
var headerForm = regexp.MustCompile(`^(?:(\S*[^\s:]) )?([^\s:]+):[ \t]*(.*)$`)

// addTo adds the Headers, each for its host, or else for the origins of targets. No error
// has a value.
func (f *SourceFlags) addTo(all signers, targets []Target) error {
	for _, text := range f.Headers {
		m := headerForm.FindStringSubmatch(text)
		if m == nil {
			return errors.New(`-header: not of the form "Name: value" or "HOST Name: value"`)
		}
		sign, err := fetch.Header(m[2], m[3])
		if err != nil {
			return fmt.Errorf("-header: %s", strings.TrimPrefix(err.Error(), "fetch: "))
		}
		if m[1] != "" {
			if !all.add(m[1], sign) {
				const message = "-header: %q is not a host, nor an origin such as https://example.org:8443"
				return fmt.Errorf(message, websync.RedactURL(m[1]))
			}
			continue
		}
		for _, t := range targets {
			all.add(t.Origin, sign) // unless it is a directory
		}
	}
	return nil
}

// Client returns a client that keeps the gates and robots.txt files of hosts in state,
// and sends credentials and headers to their origins. The environment names its proxies.
func (f *SourceFlags) Client(state websync.State, targets []Target) (*fetch.Client, error) {
	c := fetch.New(state)
	c.Rate, c.AllowPrivate, c.Contact, c.UserAgent = f.Rate, f.AllowPrivate, f.Contact, f.UserAgent
	c.Proxy = httpproxy.FromEnvironment().ProxyFunc()
	all := signers{}
	if err := cmp.Or(all.addNetrc(f.Netrc), f.addTo(all, targets)); err != nil {
		return nil, err
	}
	for _, t := range targets {
		if t.Sign != nil {
			all.add(t.Origin, t.Sign)
		}
	}
	all.authorize(c)
	return c, nil
}

// Signers are what adds credentials and other headers to requests, by origin.
type signers map[syntax.Origin][]func(*http.Request) error

// add adds one for a host, or an origin, and reports whether that is one.
func (s signers) add(host string, sign func(*http.Request) error) bool {
	origin, ok := OriginOf(host)
	if ok {
		s[origin] = append(s[origin], sign)
	}
	return ok
}

// OriginOf returns the origin that a host, by https, or an origin stands for.
func OriginOf(host string) (origin syntax.Origin, ok bool) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	origin, _ = syntax.OriginOf(host)
	return origin, new(fetch.Client).Authorize(host, nil) == nil
}

// authorize makes a client use them, in their order.
func (s signers) authorize(c *fetch.Client) {
	for origin, all := range s {
		c.Authorize(string(origin), func(r *http.Request) error { // no error: add has found none
			for _, sign := range all {
				if err := sign(r); err != nil {
					return err
				}
			}
			return nil
		})
	}
}
