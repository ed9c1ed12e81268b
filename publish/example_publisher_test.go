package publish_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"net/http/httptest"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/publish"
)

// A table is a Publisher of one document: the live resources as comma-separated values.
type table struct {
	catalog websync.Catalog
	locator websync.Locator
}

func (t *table) Document(_ context.Context, path string) (*websync.Document, error) {
	if path != "/table.csv" {
		return nil, websync.ErrNotFound
	}
	return &websync.Document{Type: "text/csv; charset=utf-8", Write: t.write}, nil // the Handler makes the ETag
}

func (t *table) Documents(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("/table.csv", nil) }
}

func (t *table) write(ctx context.Context, w io.Writer) error {
	rows := csv.NewWriter(w)
	for item, err := range t.catalog.Resources(ctx, websync.Range{}) {
		if err != nil {
			return err
		}
		for _, body := range item.Bodies {
			rows.Write([]string{item.Resource.ID, body.Link.Type, t.locator.URL(&item, body.Name)}) // Error returns its error
		}
	}
	rows.Flush()
	return rows.Error()
}

// A Publisher of your own shares a site with Bodies, and with those of protocols.
func Example_publisher() {
	store := filled()
	locator := websync.PathLocator{Base: "https://example.org/", Own: []string{"demo"}}
	list := &table{store, locator}
	handler := &publish.Handler{Publishers: []websync.Publisher{list, publish.Bodies(store, locator)}}
	defer handler.Close()
	for _, path := range []string{"/table.csv", "/hello"} {
		answer := httptest.NewRecorder() // for a server: http.ListenAndServe(":8080", handler)
		handler.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		fmt.Printf("%d %s\n%s", answer.Code, answer.Header().Get("Content-Type"), answer.Body)
	}
	// Output:
	// 200 text/csv; charset=utf-8
	// https://example.org/hello,text/html,https://example.org/hello
	// 200 text/html
	// <p>Hello.</p>
}
