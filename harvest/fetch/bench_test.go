package fetch_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/testing/bench"
)

// BenchmarkFetch gets bodies of 1 KiB from a server on loopback, four at a time. The peer
// is a plain net/http loop. cpu-ns/op counts the server's share, which is the same for
// both.
func BenchmarkFetch(b *testing.B) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"1"`)
		w.Write(body)
	}))
	defer srv.Close()
	const workers = 4

	b.Run("bare-get", func(b *testing.B) {
		t := &http.Transport{MaxIdleConnsPerHost: workers}
		defer t.CloseIdleConnections()
		client := &http.Client{Transport: t}
		run(b, workers, func() error {
			resp, err := client.Get(srv.URL + "/a")
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	})
	b.Run("client", func(b *testing.B) {
		client := fetch.New(nil)
		client.Rate = -1
		defer client.CloseIdleConnections()
		run(b, workers, func() error {
			resp, err := client.Fetch(b.Context(), &harvest.Request{URL: srv.URL + "/a", Root: srv.URL})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	})
}

func run(b *testing.B, workers int, get func() error) {
	b.SetBytes(1024)
	b.ReportAllocs()
	next := make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range next {
				if err := get(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	before := bench.CPUTime()
	for range b.N {
		next <- struct{}{}
	}
	close(next)
	wg.Wait()
	b.ReportMetric(float64(bench.CPUTime()-before)/float64(b.N), "cpu-ns/op")
}
