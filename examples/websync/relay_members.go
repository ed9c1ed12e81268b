package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/union"
)

// membersState holds, as JSON, which URL of the configuration each source came from: what
// the settings of a source mean must be known before its publisher answers.
const membersState = "relay/members"

// members are the sources that the configuration's URLs have led to.
type members struct {
	store *harvest.Catalog

	mu   sync.Mutex
	urls map[string]string // by key of the source
}

// load reads what earlier runs of the program have noted.
func (m *members) load(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	m.urls, _, err = readState[map[string]string](ctx, m.store, membersState)
	return err
}

// add notes that a URL leads to some sources.
func (m *members) add(ctx context.Context, url string, keys []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	urls, err := updateState(ctx, m.store, membersState, func(urls *map[string]string) error {
		if *urls == nil {
			*urls = map[string]string{}
		}
		for _, key := range keys {
			(*urls)[key] = url
		}
		return nil
	})
	if err == nil {
		m.urls = urls
	}
	return err
}

// readState returns a value that the State of a store holds as JSON, and its text. The
// zero value stands for none.
func readState[T any](ctx context.Context, store *harvest.Catalog, key string) (value T, text []byte, err error) {
	text, err = store.State(ctx, key)
	if err == nil && text != nil {
		if err = json.Unmarshal(text, &value); err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
	}
	return value, text, err
}

// updateState changes such a value, again if another process has changed it meanwhile,
// and returns what it is then. What stays the same is not written.
func updateState[T any](ctx context.Context, store *harvest.Catalog, key string, change func(*T) error) (T, error) {
	for {
		value, before, err := readState[T](ctx, store, key)
		if err == nil {
			err = change(&value)
		}
		if err != nil {
			return *new(T), err
		}
		after, err := json.Marshal(value)
		if err == nil && !bytes.Equal(before, after) {
			err = store.Swap(ctx, key, before, after)
		}
		if !errors.Is(err, websync.ErrConflict) {
			return value, err
		}
	}
}

func (m *members) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.urls))
}

// url returns the URL that a source came from. Of many publishers it is its key.
func (m *members) url(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if url, ok := m.urls[key]; ok {
		return url
	}
	return key
}

// makeMerger merges what the store holds, and makes what goes on with it.
func (p *relayCommand) makeMerger(ctx context.Context) error {
	p.members.store = p.store
	if err := p.members.load(ctx); err != nil {
		return err
	}
	p.merger = &merger{
		catalog: p.store, log: p.logger(slog.LevelError), fail: func(err error) { p.Complain(err.Error()) },
		changed: p.notify, again: make(chan struct{}, 1), known: p.members.keys, member: p.member,
	}
	return p.merger.ready(ctx)
}

// member returns how a source of the store is published, and false if it is quarantined. One
// that is no longer named has no settings.
func (p *relayCommand) member(source string) (m union.Member, ok bool) {
	m.URL = p.members.url(source)
	if f := p.follower(source); f != nil {
		m.Scope, m.Rank = f.Scope, f.Rank
		return m, !f.Quarantined
	}
	return m, true
}

// claim returns those of some Sources, to which the URL of f leads, that are not another
// follower's, and takes them from followers with less right to them. It reports the
// others, or returns an error if there are no more.
func (p *relayCommand) claim(ctx context.Context, f *follower, sources []harvest.Source) (own []harvest.Source, err error) {
	var taken []string
	for _, src := range sources {
		key := src.Key()
		if owner := p.owner(f, key); owner != nil {
			if err != nil {
				p.fail(err)
			}
			err = fmt.Errorf("%s leads to %s, which is and remains a source of %s", websync.RedactURL(f.target.URL),
				websync.RedactURL(key), websync.RedactURL(owner.target.URL))
			continue
		}
		own = append(own, src)
		if before := p.follower(key); before != nil && before != f {
			before.lose(key)
			taken = append(taken, key)
		}
	}
	if err != nil && len(own) > 0 {
		p.fail(err)
		err = nil
	}
	return own, errors.Join(err, p.scheduler.Remove(ctx, taken...))
}

// owner returns the follower of another URL than that of f that has a source, and no less
// right to it; nil if there is none. It may be one that is quarantined.
func (p *relayCommand) owner(f *follower, key string) *follower {
	noted := p.members.url(key)
	for _, other := range p.following() {
		url := other.target.URL
		if (url == noted || url == key) && url != f.target.URL && rightTo(key, url) >= rightTo(key, f.target.URL) {
			return other
		}
	}
	return nil
}

// rightTo returns what right a URL of the configuration has to a source to which it
// leads: anybody may name a document of somebody else.
func rightTo(key, url string) int {
	switch {
	case url == key:
		return 2
	case onSameHost(url, key):
		return 1
	}
	return 0 // as good as that of any other; the first one has it
}

// follower returns what follows a source; nil if its URL is no longer named.
func (p *relayCommand) follower(source string) *follower {
	url := p.members.url(source)
	for _, f := range p.following() {
		if f.target.URL == url {
			return f
		}
	}
	return nil
}
