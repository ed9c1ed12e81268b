package main

import (
	"context"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/websync-go/websync/internal/display"
)

// quarantinePause is how often a relay looks for what is quarantined by command.
const quarantinePause = 2 * time.Second

func (p *relayCommand) loadQuarantined(ctx context.Context) error {
	urls, _, err := readState[[]string](ctx, p.store, quarantinedState)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quarantined = urls
	return nil
}

// reloading returns what reads the configuration again after SIGHUP, and what is
// quarantined by command, until ctx ends. From now on no such signal ends the process.
func (p *relayCommand) reloading() func(ctx context.Context) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	return func(ctx context.Context) error {
		defer signal.Stop(hangup)
		ticker := time.NewTicker(quarantinePause)
		defer ticker.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-hangup:
				p.reload(ctx)
			case <-ticker.C:
				before := p.quarantined
				err := p.loadQuarantined(ctx) // while the store fails, all stays as it is
				if err == nil && !slices.Equal(before, p.quarantined) {
					p.Complain("quarantined by command: " + display.Plural(int64(len(p.quarantined)), "source", "sources"))
					p.follows(ctx, p.sources)
				}
			}
		}
		return nil
	}
}

// reload reads the configuration again. What is wrong in it changes nothing.
func (p *relayCommand) reload(ctx context.Context) {
	next, err := parseRelay(p.args)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n") // without the usage
		p.Complain("nothing has changed: " + text)
		return
	}
	if later := differing(p.started, *next.config); len(later) > 0 {
		p.Complain("changed at the next start only: " + strings.Join(later, ", "))
	}
	p.sources = next.sources
	began, ended := p.follows(ctx, p.sources)
	came := display.Plural(int64(began), "source", "sources")
	p.Complainf("configuration read: %s came, %d went; one that has changed counts twice", came, ended)
}

// differing returns the names of the fields that differ, apart from those about sources.
func differing(a, b config) (names []string) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		name := x.Type().Field(i).Tag.Get("json")
		isOfSources := slices.Contains([]string{"sources", "quota", "same_host"}, name)
		if !isOfSources && !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, name)
		}
	}
	return names
}

// choose makes these the sources that are followed. It returns the followers of those
// that are new or have changed, and those that are not to follow any longer.
func (p *relayCommand) choose(sources []followed) (began, ended []*follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*follower
	for _, src := range sources {
		src.Quarantined = src.Quarantined || slices.Contains(p.quarantined, src.target.URL)
		at := slices.IndexFunc(p.followers, func(f *follower) bool { return reflect.DeepEqual(f.configSource, src.configSource) })
		if at >= 0 {
			all = append(all, p.followers[at])
			continue
		}
		f := &follower{followed: src}
		all, began = append(all, f), append(began, f)
		if src.target.Sign != nil {
			p.client.Authorize(src.target.Origin, src.target.Sign) // no error: ParseTarget made the origin
		}
	}
	ended = slices.DeleteFunc(slices.Clone(p.followers), func(f *follower) bool { return slices.Contains(all, f) })
	p.followers = all
	return began, ended
}

// follows follows other sources than before, and returns how many began and ended.
func (p *relayCommand) follows(ctx context.Context, sources []followed) (began, ended int) {
	next, past := p.choose(sources)
	var keys []string
	for _, f := range past {
		f.mu.Lock()
		f.ended = true
		keys = append(keys, f.keys...)
		f.mu.Unlock()
	}
	if err := p.scheduler.Remove(ctx, keys...); err != nil {
		return 0, 0 // the program ends
	}
	p.working.Go(func() { p.follow(ctx, next) })
	p.working.Go(func() { _ = p.unsubscribe(ctx) })
	select {
	case p.merger.again <- struct{}{}:
	default:
	}
	return len(next), len(past)
}
