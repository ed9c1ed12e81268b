package eli_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/sitemap"
)

// A gazette publishes its acts. A content-management system serves their pages; the log
// holds what has changed.
func ExamplePublisher() {
	day := func(n int) websync.Datetime {
		return websync.DateOf(time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC))
	}
	act := func(number, title string, published websync.Datetime) websync.Item {
		return websync.Item{Source: "acts", Time: published.Time().Add(9 * time.Hour), Resource: websync.Resource{
			ID: "https://country.xy/eli/law/2026/" + number, Title: title, Lang: "en", Modified: published,
		}}
	}
	acts := new(websync.Log)
	acts.Append(
		act("501", "Act on Salt", day(6)),
		act("502", "Act on Roads", day(6)),
		act("501", "Act on Salt, as amended", day(8)),
	)
	p := &eli.Publisher{
		Place:  websync.Place{Catalog: acts, Base: "https://country.xy/", Sources: []string{"acts"}},
		Author: websync.Person{Name: "Country Legislation Service"},
	}
	document := func(path string) *bytes.Buffer {
		var b bytes.Buffer
		doc, err := p.Document(context.Background(), path)
		if err == nil {
			err = doc.Write(context.Background(), &b)
		}
		if err != nil {
			log.Fatal(err)
		}
		return &b
	}

	list := sitemap.NewReader(document("/eli/sitemap.xml"))
	for act, err := range list.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(act.Loc, act.LastMod)
	}
	for _, a := range list.Attrs() {
		fmt.Println(a.Local, a.Value)
	}

	feed := atom.NewReader(document("/eli/eli-update-feed.atom"))
	for item, err := range feed.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Entry.Updated, item.Entry.Title.Value)
	}
	fmt.Println(feed.Feed().ID)
	// Output:
	// https://country.xy/eli/law/2026/501 2026-03-08
	// https://country.xy/eli/law/2026/502 2026-03-06
	// relation https://country.xy/eli/eli-update-feed.atom
	// 2026-03-08T00:00:00Z Act on Salt, as amended
	// 2026-03-06T00:00:00Z Act on Roads
	// urn:country-xy:eli:eli-update-feed
}
