package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/websync-go/websync"
)

const (
	prefix   = "notify/websub/"
	indexKey = prefix + "index" // all URLs, as a JSON array
)

// change atomically replaces the record of id by the result of f, without what is over.
// Both are nil for no record. It may call f more than once.
func (s *Subscriber) change(ctx context.Context, id string, f func(*record) *record) error {
	return s.swap(ctx, prefix+id, func(old []byte) ([]byte, error) {
		r := f(parseRecord(old))
		if r == nil {
			return nil, nil
		}
		if r.tidy(now()); len(r.Subs) == 0 {
			return nil, nil
		}
		return json.Marshal(r)
	})
}

// swap atomically replaces a value by the result of f.
func (s *Subscriber) swap(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	for range 100 { // at each conflict another change was faster
		old, err := s.State.State(ctx, key)
		if err != nil {
			return err
		}
		value, err := f(slices.Clone(old))
		if err != nil || bytes.Equal(old, value) {
			return err
		}
		if err = s.State.Swap(ctx, key, old, value); !errors.Is(err, websync.ErrConflict) {
			return err
		}
	}
	return websync.ErrConflict
}

// load returns the record of id, or nil if there is none.
func (s *Subscriber) load(ctx context.Context, id string) (*record, error) {
	value, err := s.State.State(ctx, prefix+id)
	return parseRecord(value), err
}

// parseRecord returns a record without what is over. It returns nil for a value that is
// no record, as if there were none.
func parseRecord(value []byte) *record {
	r := new(record)
	if json.Unmarshal(value, r) != nil || slices.Contains(r.Subs, nil) {
		return nil
	}
	if r.tidy(now()); len(r.Subs) == 0 {
		return nil
	}
	return r
}

// urls returns all URLs that may have a record.
func (s *Subscriber) urls(ctx context.Context) (urls []string, err error) {
	value, err := s.State.State(ctx, indexKey)
	if err == nil && value != nil {
		json.Unmarshal(value, &urls) // a malformed index counts as empty
	}
	return urls, err
}

// enroll adds a URL to the index, which is sorted.
func (s *Subscriber) enroll(ctx context.Context, url string) error {
	return s.setURLs(ctx, func(urls []string) []string {
		i, found := slices.BinarySearch(urls, url)
		if !found {
			urls = slices.Insert(urls, i, url)
		}
		return urls
	})
}

// setURLs changes the URLs of the index.
func (s *Subscriber) setURLs(ctx context.Context, change func(urls []string) []string) error {
	return s.swap(ctx, indexKey, func(old []byte) ([]byte, error) {
		var urls []string
		json.Unmarshal(old, &urls) // a malformed index counts as empty
		if urls = change(urls); len(urls) == 0 {
			return nil, nil
		}
		return json.Marshal(urls)
	})
}
