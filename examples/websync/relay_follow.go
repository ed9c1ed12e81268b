package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/internal/syntax"
)

// A followed is a source of the configuration, with what that says of all sources.
type followed struct {
	configSource // Quarantined by the file or by command
	target       cli.Target
	entry        schedule.Entry // without Source
}

// A follower follows a source. It has the Sources of what its URL leads to when that is
// found out.
type follower struct {
	followed

	mu      sync.Mutex
	keys    []string // of the Sources; nil: not known yet
	noticed bool     // before they were known
	ended   bool     // it follows no longer
}

// lose makes f follow a source no longer.
func (f *follower) lose(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = slices.DeleteFunc(slices.Clone(f.keys), func(k string) bool { return k == key })
}

// state returns the keys of the Sources, and whether f follows no longer.
func (f *follower) state() (keys []string, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys, f.ended
}

// following returns those that follow the sources of the configuration.
func (p *relayCommand) following() []*follower {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.followers
}

// follow finds the Sources of followers and schedules them, each as soon as it can be
// found.
func (p *relayCommand) follow(ctx context.Context, followers []*follower) error {
	followers = slices.DeleteFunc(slices.Clone(followers), func(f *follower) bool { return f.Quarantined })
	cli.AwaitAll(ctx, followers, func(ctx context.Context, f *follower) error {
		if _, ended := f.state(); ended {
			return nil
		}
		err := p.open(ctx, f)
		if keys, ended := f.state(); ctx.Err() == nil && !ended {
			p.recorder.Opened(ctx, f.target.URL, keys, err)
		}
		return err
	}, p.fail)
	return nil
}

// fail reports that what a URL leads to could not be found out, or is not what it was.
func (p *relayCommand) fail(err error) {
	p.page.Fail(err)
	p.Complain(cmp.Or(cli.Ambiguity("websync relay", err), err.Error()))
}

// maxSources limits the Sources of what a URL leads to. They share a quota.
const maxSources = 100

// open schedules the Sources of what a follower's URL leads to.
func (p *relayCommand) open(ctx context.Context, f *follower) error {
	opener := p.openerFor(f)
	sources, left, err := opener.Sources(ctx, f.target)
	if err != nil && len(sources) == 0 {
		return err
	}
	if err != nil {
		p.fail(err)
	}
	for i := range left {
		p.fail(left[i].Err(f.target))
		sources = append(sources, left[i].Source)
	}
	p.claiming.Lock()
	defer p.claiming.Unlock()
	sources, err = p.claim(ctx, f, sources)
	if err != nil {
		return err
	}
	if n := len(sources); n > maxSources {
		p.fail(fmt.Errorf("%s leads to %d sources: only %d are harvested", websync.RedactURL(f.target.URL), n, maxSources))
		sources = sources[:maxSources]
	}
	return p.schedule(ctx, f, sources)
}

// schedule makes sources those of a follower.
func (p *relayCommand) schedule(ctx context.Context, f *follower, sources []harvest.Source) error {
	var entries []schedule.Entry
	var keys []string
	for _, src := range sources {
		keys = append(keys, src.Key())
	}
	for _, src := range sources {
		e := f.entry
		e.Source, e.URLs = src, []string{src.Key()}
		e.Quota.Shared = keys
		if p.wrap != nil {
			e.Source = p.wrap(src)
		}
		entries = append(entries, e)
	}
	if err := p.members.add(ctx, f.target.URL, keys); err != nil {
		return err
	}
	p.working.Go(func() { p.subscribe(ctx, keys) })
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil
	}
	if err := p.scheduler.Add(entries...); err != nil {
		return err
	}
	f.keys = keys
	if f.noticed || f.entry.Every < 0 && len(f.entry.Daily) == 0 { // the last run may have been interrupted
		for _, key := range keys {
			p.scheduler.Notify(key)
		}
	}
	return nil
}

// openerFor returns the Opener for a source. It reaches a private address only if the
// source's URL names its host.
func (p *relayCommand) openerFor(f *follower) *cli.Opener {
	opener := *p.opener
	opener.MaxValue = int(f.Quota.Description) // of what is longer nothing is taken anyway
	opener.Fetcher = rooted{p.opener.Fetcher, f.target.URL, f.SameHost}
	return &opener
}

// A rooted is a Fetcher of the documents of a URL, or only of those on its host.
type rooted struct {
	harvest.Fetcher
	url      string
	sameHost bool
}

func (r rooted) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	sent := *req
	sent.Root, sent.SameHost = r.url, r.sameHost
	return r.Fetcher.Fetch(ctx, &sent)
}

// entrusts reports whether requests for a source may carry the credentials of an origin:
// one on its host, or one that the configuration names for it.
func (p *relayCommand) entrusts(root, origin string) bool {
	return onSameHost(root, origin) || slices.ContainsFunc(p.following(), func(f *follower) bool {
		own, _ := syntax.OriginOf(f.target.URL)
		return string(own) == root && slices.ContainsFunc(f.Credentials, func(host string) bool {
			named, ok := cli.OriginOf(host)
			return ok && string(named) == origin
		})
	})
}

// doubt lets what a source is be found out anew at the next start.
func (p *relayCommand) doubt(key string) {
	for _, f := range p.following() {
		if keys, _ := f.state(); slices.Contains(keys, key) {
			p.opener.Doubt(context.Background(), f.target)
		}
	}
}

// notice makes the sources run that have a URL, and reports whether there are any.
func (p *relayCommand) notice(url string) bool { return p.payload(url, nil) }

// payload makes the sources run that have a URL, or applies the content of a notice. It
// reports whether there are any.
func (p *relayCommand) payload(url string, body []byte) (known bool) {
	from := p.members.url(url)
	for _, f := range p.following() {
		keys, mine := f.named(url, from)
		known = known || mine
		for _, key := range keys {
			if f.Payloads && key == url { // the hub of one source decides nothing about others
				p.scheduler.Payload(key, body)
			} else {
				p.scheduler.Notify(key)
			}
		}
	}
	return known
}

// named returns the keys of the Sources that have a URL, and reports whether the follower
// has it. from is the URL that led to it in an earlier run. If the Sources are not known
// yet, they run when they are.
func (f *follower) named(url, from string) (keys []string, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.keys, url) && url != f.target.URL {
		return []string{url}, true // one of several
	}
	isNamed := slices.Contains(append([]string{f.target.URL, f.target.Feed}, f.Pings...), url)
	if url == "" || !isNamed && (f.keys != nil || from != f.target.URL) {
		return nil, false
	}
	f.noticed = f.keys == nil
	return f.keys, true
}

// websubPath is where callbacks of hubs are, below notifyPath.
const websubPath = "websub/"

// makeSubscriber makes what subscribes at hubs.
func (p *relayCommand) makeSubscriber() {
	p.subscriber = &notify.Subscriber{
		Callback: p.Base + notifyPath + websubPath, State: p.store, Log: p.log,
		Discover: p.channel, Notify: p.notice, Payload: p.payload,
	}
	if p.AllowPrivate {
		p.subscriber.Client = &http.Client{} // one without the guard
	}
}

// subscribes reports whether notices of changes of a source are wanted, and can come in.
func (p *relayCommand) subscribes(source string) bool {
	f := p.follower(source)
	return f != nil && !f.Quarantined && p.started.Base != ""
}

// channel finds where the changes of a source are announced.
func (p *relayCommand) channel(ctx context.Context, source string) (topic string, hubs []string, err error) {
	f := p.follower(source)
	if f == nil {
		return "", nil, nil // it is followed no longer
	}
	topic, hubs, err = p.openerFor(f).Channel(ctx, f.target, source)
	if f.Hub != "" {
		return topic, []string{f.Hub}, err
	}
	return topic, slices.DeleteFunc(hubs, func(hub string) bool { return f.SameHost && !onSameHost(hub, source) }), err
}

// onSameHost reports whether two URLs have the same host, whatever its port.
func onSameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && strings.EqualFold(x.Hostname(), y.Hostname())
}

// subscribe subscribes to notices of changes of sources as soon as the store can be
// written.
func (p *relayCommand) subscribe(ctx context.Context, sources []string) {
	cli.AwaitAll(ctx, sources, func(ctx context.Context, source string) error {
		if !p.subscribes(source) {
			return nil
		}
		return p.subscriber.Subscribe(ctx, source)
	}, func(err error) { p.Complain(err.Error()) })
}

// unsubscribe ends the subscriptions that are not wanted any more, as soon as the store
// can be written.
func (p *relayCommand) unsubscribe(ctx context.Context) error {
	cli.AwaitAll(ctx, []*notify.Subscriber{p.subscriber}, p.unsubscribeFrom, func(err error) { p.Complain(err.Error()) })
	return nil
}

func (p *relayCommand) unsubscribeFrom(ctx context.Context, subscriber *notify.Subscriber) error {
	var old []string
	for s, err := range subscriber.Subscriptions(ctx) {
		if err != nil {
			return err
		}
		if !p.subscribes(s.URL) {
			old = append(old, s.URL)
		}
	}
	for _, source := range old {
		if err := subscriber.Unsubscribe(ctx, source); err != nil {
			return err
		}
	}
	return nil
}
