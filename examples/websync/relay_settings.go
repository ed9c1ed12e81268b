package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones of sources, on every machine

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/publish"
)

const (
	defaultStore = "sqlite:relay.db"
	defaultAs    = "resourcesync"
)

var (
	// a directory is published by the program publish
	harvested = slices.DeleteFunc(slices.Clone(cli.Harvested), func(p string) bool { return p == "dir" })
	// see eliText
	published = slices.DeleteFunc(slices.Clone(cli.Published), func(p string) bool { return p == "eli" })
)

const eliText = "only the publisher of an ELI can list it, and a relay publishes the work of others"

// defaultQuota is what one source may fill the store with.
var defaultQuota = harvest.Quota{
	Records: 10_000_000, Bodies: 200 << 30, Descriptions: 20 << 30, Description: 1 << 20, Entries: 10_000_000,
}

// notifyPath is where notices come in, below the base.
const notifyPath = "notify/"

// settings are a configuration that can be carried out.
type settings struct {
	*config
	publications []*publication
	sources      []followed
}

// A publication is an element of publish.
type publication struct {
	cli.Publication
	repack time.Duration
}

// check returns the settings, or an error for the first invalid value.
func (c *configuration) check() (*settings, error) {
	s := &settings{config: &c.config}
	c.Store, c.Addr = cmp.Or(c.Store, defaultStore), cmp.Or(c.Addr, cli.DefaultAddr)
	for _, check := range []func(*settings) error{c.checkSite, c.checkPublications, c.checkSources} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (c *configuration) checkSite(*settings) error {
	if _, err := cli.ParseStore(c.Store); err != nil {
		return c.wrong("store", websync.RedactURL(c.Store), "not one of "+cli.StoreForms)
	}
	if err := cli.CheckAddr(c.Addr); err != nil {
		return c.wrong("addr", c.Addr, "%v", err)
	}
	if c.Status != "" {
		if err := cli.CheckAddr(c.Status); err != nil {
			return c.wrong("status", c.Status, "%v", err)
		}
	}
	if c.Base != "" {
		base, err := cli.CheckBase(c.Base)
		if err != nil {
			return c.wrong("base", c.Base, "%v", err)
		}
		c.Base = base
	}
	if !cli.IsRate(c.Rate) {
		return c.wrong("rate", c.Rate, "not a number of requests a second")
	}
	for _, f := range []struct{ name, text string }{{"contact", c.Contact}, {"user_agent", c.UserAgent}} {
		if !cli.IsAgent(f.text) {
			return c.wrong(f.name, f.text, "has a control character")
		}
	}
	if c.Concurrency < 0 {
		return c.wrong("concurrency", c.Concurrency, "not a number of sources, 1 or more")
	}
	for _, f := range []struct {
		name string
		days int
	}{{"retain.log", c.Retain.Log}, {"retain.bodies", c.Retain.Bodies}} {
		if f.days > cli.MaxDays {
			return c.wrong(f.name, f.days, "not a number of days up to %d; negative is for ever", cli.MaxDays)
		}
	}
	if c.Report != "" && cli.CheckPage(c.Report) != nil {
		return c.wrong("report", c.Report, "not the name of a file")
	}
	return cmp.Or(c.urls("subscribers", c.Subscribers), c.urls("hubs", c.Hubs))
}

// urls returns an error unless all values of a field are URLs.
func (c *configuration) urls(path string, values []string) error {
	for i, value := range values {
		if err := c.url(fmt.Sprintf("%s[%d]", path, i), value); err != nil {
			return err
		}
	}
	return nil
}

func (c *configuration) url(path, value string) error {
	if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return c.wrong(path, value, "not a URL that begins with http:// or https://")
	}
	return nil
}

// duration returns a time of the configuration; if empty, 0, and if it is zero, none.
func (c *configuration) duration(path, value string, none time.Duration) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(value)
	switch {
	case err != nil || d < 0 || d == 0 && none == 0:
		return 0, c.wrong(path, value, `not a time such as "90s", "15m" or "1h30m"`)
	case d == 0:
		return none, nil
	}
	return d, nil
}

func (c *configuration) checkPublications(s *settings) error {
	if len(c.Publish) == 0 {
		c.Publish = []configPublish{{Protocol: defaultAs}}
	}
	for i := range c.Publish {
		p := &c.Publish[i]
		path := fmt.Sprintf("publish[%d].", i)
		if err := cmp.Or(c.checkPath(path, i), c.checkLists(path, p)); err != nil {
			return err
		}
		repack, err := c.duration(path+"repack", p.Repack, 0)
		if err != nil {
			return err
		}
		s.publications = append(s.publications, &publication{cli.Publication{
			Protocol: p.Protocol, Path: p.Path, Hubs: c.Hubs, Dumps: p.Dumps, ListSize: p.ListSize, MaxLists: p.MaxLists,
			Inline: p.Inline,
		}, cmp.Or(repack, time.Minute)})
	}
	return c.checkPaths(s)
}

// checkPath checks the protocol of a publication, and where its documents are.
func (c *configuration) checkPath(path string, i int) error {
	p := &c.Publish[i]
	switch {
	case p.Protocol == "eli":
		return c.wrong(path+"protocol", p.Protocol, "not possible: "+eliText)
	case !slices.Contains(published, p.Protocol):
		return c.wrong(path+"protocol", p.Protocol, "not one of %s", strings.Join(published, ", "))
	case slices.ContainsFunc(c.Publish[:i], func(q configPublish) bool { return q.Protocol == p.Protocol }):
		return c.wrong(path+"protocol", p.Protocol, "given twice: each protocol can be there once")
	case !isPath(p.Path):
		return c.wrong(path+"path", p.Path,
			`not a path below the base, such as "lists/feed.atom", of letters, digits, and -._~, and not below %s or r/`,
			notifyPath)
	case p.Protocol == "sitemap" && strings.Contains(p.Path, "/"):
		return c.wrong(path+"path", p.Path,
			"a sitemap must be in the directory of the base, above what it lists: give it a name without a slash")
	}
	return nil
}

// checkLists checks what only one protocol has.
func (c *configuration) checkLists(path string, p *configPublish) error {
	synced := p.Protocol == "resourcesync"
	switch {
	case !synced && p.Dumps != "":
		return c.wrong(path+"dumps", p.Dumps, "only resourcesync has dumps")
	case !synced && p.ListSize != 0:
		return c.wrong(path+"list_size", p.ListSize, "only resourcesync has Change Lists")
	case !synced && p.MaxLists != 0:
		return c.wrong(path+"max_lists", p.MaxLists, "only resourcesync has Change Lists")
	case p.ListSize < 0:
		return c.wrong(path+"list_size", p.ListSize, "not a number of changes, 1 or more")
	case p.Protocol != "atom" && p.Inline != 0:
		return c.wrong(path+"inline", p.Inline, "only atom has content in entries")
	case p.Inline < 0:
		return c.wrong(path+"inline", p.Inline, "not a number of bytes, 0 or more")
	case p.MaxLists < 0:
		return c.wrong(path+"max_lists", p.MaxLists, "not a number of lists, 1 or more")
	}
	return nil
}

// isPath reports whether a path needs no escapes and is not that of notices or bodies.
func isPath(path string) bool {
	if path == "" {
		return true
	}
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~/", r)
	}
	for _, step := range strings.Split(path, "/") {
		if step == "" || step[0] == '.' {
			return false
		}
	}
	odd := strings.ContainsFunc(path, func(r rune) bool { return !plain(r) })
	return !odd && !strings.HasPrefix(path, notifyPath) && !strings.HasPrefix(path, "r/")
}

// checkPaths returns an error if two publications have documents with the same URL.
func (c *configuration) checkPaths(s *settings) error {
	site := &publish.Site{Base: "http://localhost/"}
	site.Publishers(s.lists(site.Base)...)
	for i, p := range s.publications {
		for k, q := range s.publications {
			at := strings.TrimPrefix(p.Entry(), strings.TrimSuffix(site.Base, "/"))
			if i == k || !q.IsList(at) {
				continue
			}
			late := max(i, k)
			path, value := fmt.Sprintf("publish[%d].", late), s.publications[late]
			const format = "%s and %s both have a document %s: give one of them another path in a configuration file, such as %q"
			text := fmt.Sprintf(format, p.Protocol, q.Protocol, at, value.Protocol+at)
			if value.Path == "" {
				return c.wrong(path+"protocol", value.Protocol, "%s", text)
			}
			return c.wrong(path+"path", value.Path, "%s", text)
		}
	}
	return nil
}

// lists returns the Publishers of the publications.
func (s *settings) lists(base string) (all []websync.Publisher) {
	for _, p := range s.publications {
		all = append(all, p.Publisher(base))
	}
	return all
}

func (c *configuration) checkSources(s *settings) error {
	if len(c.Sources) == 0 {
		if c.file != "" {
			return fmt.Errorf("%s: at least one source must be there", c.name("sources"))
		}
		return errors.New("nothing to harvest: name URLs, or a file with -config")
	}
	for i := range c.Sources {
		f, err := c.followed(fmt.Sprintf("sources[%d].", i), &c.Sources[i])
		if err != nil {
			return err
		}
		for k, other := range s.sources {
			if other.target.URL == f.target.URL {
				return c.wrong(fmt.Sprintf("sources[%d].url", i), f.target.URL, "is sources[%d], too: each source once", k)
			}
		}
		s.sources = append(s.sources, f)
	}
	return nil
}

// checkProtocol returns an error for what a source lacks, or what its protocol does not
// have.
func (c *configuration) checkProtocol(path, protocol string, src *configSource) error {
	switch {
	case !slices.Contains(harvested, protocol):
		return c.wrong(path+"protocol", src.Protocol, "not one of %s", strings.Join(harvested, ", "))
	case src.URL == "":
		return fmt.Errorf("%s: must be there", c.name(path+"url"))
	case src.Feed != "" && protocol != "eli":
		return c.wrong(path+"feed", src.Feed, "only for protocol eli")
	case src.Complete && protocol != "sitemap" && protocol != cli.Auto:
		return c.wrong(path+"complete", src.Complete, "only for sitemaps: what %s deletes, it states", protocol)
	}
	if field, value, reason := src.Acts.Wrong(protocol); field != "" {
		return c.wrong(path+"acts."+field, value, "%s", reason)
	}
	return nil
}

// followed returns what is needed to follow a source.
func (c *configuration) followed(path string, src *configSource) (f followed, err error) {
	protocol := cmp.Or(src.Protocol, cli.Auto)
	if err := c.checkProtocol(path, protocol, src); err != nil {
		return f, err
	}
	for i, prefix := range src.Scope {
		if err := union.CheckScope(prefix); err != nil {
			return f, c.wrong(fmt.Sprintf("%sscope[%d]", path, i), prefix,
				"not %q, nor what ids begin with, with the slash after the host", union.Everything)
		}
	}
	for i, host := range src.Credentials {
		if _, ok := cli.OriginOf(host); !ok {
			return f, c.wrong(fmt.Sprintf("%scredentials[%d]", path, i), host,
				"neither a host nor an origin such as https://example.org:8443")
		}
	}
	f.configSource, f.SameHost = *src, src.SameHost || c.SameHost
	f.Quota = configQuota{
		Records:      cmp.Or(src.Quota.Records, c.Quota.Records, defaultQuota.Records),
		Bodies:       cmp.Or(src.Quota.Bodies, c.Quota.Bodies, defaultQuota.Bodies),
		Descriptions: cmp.Or(src.Quota.Descriptions, c.Quota.Descriptions, defaultQuota.Descriptions),
		Description:  cmp.Or(src.Quota.Description, c.Quota.Description, defaultQuota.Description),
		Entries:      cmp.Or(src.Quota.Entries, c.Quota.Entries, defaultQuota.Entries),
	}
	if f.target, err = cli.ParseTarget(protocol, src.URL); err != nil || f.target.File != "" {
		return f, c.wrong(path+"url", src.URL, "not a URL that begins with http:// or https://")
	}
	f.target.Feed, f.target.Complete, f.target.Acts = src.Feed, src.Complete, src.Acts
	f.target.Selection = cli.Selection{Filter: harvest.Filter{Include: src.Include, Exclude: src.Exclude}, Also: src.Also}
	if src.Feed != "" {
		if err := c.url(path+"feed", src.Feed); err != nil {
			return f, err
		}
	}
	err = cmp.Or(
		c.urls(path+"pings", src.Pings), c.checkAnnounced(path, src),
		c.patterns(path+"include", src.Include), c.patterns(path+"exclude", src.Exclude),
	)
	if err != nil {
		return f, err
	}
	f.entry, err = c.entry(path, src)
	q := f.Quota
	f.entry.SameHost, f.entry.Quota = f.SameHost, harvest.Quota{
		Records: q.Records, Bodies: q.Bodies, Descriptions: q.Descriptions, Description: q.Description, Entries: q.Entries,
	}
	f.entry.Filter, f.entry.Also = f.target.Selection.Filter, f.target.Selection.Relations()
	return f, err
}

// patterns returns an error unless all values of a field are patterns.
func (c *configuration) patterns(path string, values []string) error {
	for i, value := range values {
		if err := (&harvest.Filter{Include: []string{value}}).Check(); err != nil {
			return c.wrong(fmt.Sprintf("%s[%d]", path, i), value, "not a pattern: %v", errors.Unwrap(err))
		}
	}
	return nil
}

// checkAnnounced checks what says how changes of a source are announced by a hub.
func (c *configuration) checkAnnounced(path string, src *configSource) error {
	const needs = "needs base: the hub must reach this program"
	switch {
	case src.Payloads && c.Base == "":
		return c.wrong(path+"payloads", src.Payloads, needs)
	case src.Hub == "":
		return nil
	case c.Base == "":
		return c.wrong(path+"hub", src.Hub, needs)
	}
	return c.url(path+"hub", src.Hub)
}

// entry returns when a source runs.
func (c *configuration) entry(path string, src *configSource) (e schedule.Entry, err error) {
	set := func(to *time.Duration, field, value string, none time.Duration) {
		if err == nil {
			*to, err = c.duration(path+field, value, none)
		}
	}
	if src.Every == "never" {
		e.Every = -1
	} else {
		set(&e.Every, "every", src.Every, 0)
	}
	set(&e.Jitter, "jitter", src.Jitter, -1)
	set(&e.Interval, "interval", src.Interval, -1)
	set(&e.Budget.Time, "budget.time", src.Budget.Time, 0)
	if err != nil {
		return e, err
	}
	for i, text := range src.Daily {
		at, err := timeOfDay(text)
		if err != nil {
			return e, c.wrong(fmt.Sprintf("%sdaily[%d]", path, i), text, `not a time of the day such as "03:30"`)
		}
		e.Daily = append(e.Daily, at)
	}
	if src.Zone != "" {
		if e.Zone, err = time.LoadLocation(src.Zone); err != nil || src.Zone == "Local" {
			return e, c.wrong(path+"zone", src.Zone, `not a time zone such as "Europe/Stockholm"`)
		}
	}
	e.Budget = harvest.Budget{Time: e.Budget.Time, Requests: src.Budget.Requests, Bytes: src.Budget.Bytes}
	switch {
	case len(src.Daily) > 0 && src.Every != "":
		err = c.wrong(path+"every", src.Every, "daily is in its place: leave one of them out")
	case len(src.Daily) == 0 && src.Zone != "":
		err = c.wrong(path+"zone", src.Zone, "only with daily")
	case src.Budget.Requests < 0:
		err = c.wrong(path+"budget.requests", src.Budget.Requests, "not a number of requests, 1 or more")
	case src.Budget.Bytes < 0:
		err = c.wrong(path+"budget.bytes", src.Budget.Bytes, "not a number of bytes, 1 or more")
	}
	return e, err
}

// timeOfDay reads a time of the day as the time since midnight.
func timeOfDay(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil {
		at, err = time.Parse(time.TimeOnly, text)
	}
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	return at.Sub(midnight), err
}
