// Gofeed prints the entries of a feed.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/mmcdole/gofeed"
)

func main() {
	feed, err := gofeed.NewParser().ParseURL(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, e := range feed.Items {
		row := map[string]any{"id": e.GUID, "link": e.Link, "title": e.Title, "summary": e.Description}
		row["updated"], row["published"] = e.UpdatedParsed, e.PublishedParsed
		if len(e.Authors) > 0 {
			row["author"] = e.Authors[0].Name
		}
		if len(e.Enclosures) > 0 {
			row["enclosure"] = e.Enclosures[0].URL
		}
		out.Encode(row)
	}
}
