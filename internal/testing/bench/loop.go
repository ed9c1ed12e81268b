package bench

import (
	"context"
	"io"
	"iter"
	"net/http"
	"sync"
)

// A Loop gets URLs and drops what it gets: a program that neither checks nor keeps
// anything, with which benchmarks compare harvesting.
type Loop struct {
	concurrency int
	client      http.Client
}

// NewLoop returns a Loop that gets so many URLs at a time.
func NewLoop(concurrency int) *Loop {
	return &Loop{concurrency, http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}}
}

// Close closes the connections.
func (l *Loop) Close() { l.client.CloseIdleConnections() }

// Get gets one URL.
func (l *Loop) Get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// All gets all URLs and returns the first error.
func (l *Loop) All(ctx context.Context, urls iter.Seq[string]) (err error) {
	todo := make(chan string)
	var failed sync.Once
	var wg sync.WaitGroup
	for range l.concurrency {
		wg.Go(func() {
			for url := range todo {
				if e := l.Get(ctx, url); e != nil {
					failed.Do(func() { err = e })
				}
			}
		})
	}
	for url := range urls {
		todo <- url
	}
	close(todo)
	wg.Wait()
	return err
}
