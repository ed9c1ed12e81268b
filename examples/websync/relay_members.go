package main

import (
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
	data, err := m.store.State(ctx, membersState)
	if err != nil {
		return err
	}
	return m.set(data)
}

func (m *members) set(data []byte) error {
	m.urls = map[string]string{}
	if data == nil {
		return nil
	}
	if err := json.Unmarshal(data, &m.urls); err != nil {
		return fmt.Errorf("%s: %w", membersState, err)
	}
	return nil
}

// add notes that a URL leads to some sources.
func (m *members) add(ctx context.Context, url string, keys []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		before, err := m.store.State(ctx, membersState)
		if err == nil {
			err = m.set(before)
		}
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(keys, func(key string) bool { return m.urls[key] != url }) {
			return nil
		}
		for _, key := range keys {
			m.urls[key] = url
		}
		after, _ := json.Marshal(m.urls) // strings
		if err := m.store.Swap(ctx, membersState, before, after); !errors.Is(err, websync.ErrConflict) {
			return err
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
	url := p.members.url(source)
	for _, f := range p.following() {
		if f.target.URL == url {
			return union.Member{Scope: f.scope, Rank: f.rank}, !f.quarantined
		}
	}
	return m, true
}
