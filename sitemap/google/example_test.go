package google_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

func ExampleImages() {
	image, err := google.Image{Loc: "https://cdn.example.org/a.png?size=1&x=2"}.Element()
	if err != nil {
		fmt.Println(err)
		return
	}
	e := sitemap.Entry{Loc: "https://www.example.com/", Elements: []websync.Element{image}} // to be written, or as it was read
	fmt.Println(image.XML)
	images, err := google.Images(&e)
	fmt.Println(images[0].Loc, err)
	// Output:
	// <image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>https://cdn.example.org/a.png?size=1&amp;x=2</image:loc></image:image>
	// https://cdn.example.org/a.png?size=1&x=2 <nil>
}

// A video that may be played in two countries.
func ExampleVideos() {
	video, err := google.Video{
		Thumbnail: "https://cdn.example.org/1.jpg", Title: "The session", Description: "The session of today",
		Content: "https://cdn.example.org/1.mp4", Duration: 90 * time.Minute,
		Live: google.No, Countries: google.Limit{Allow: true, Of: []string{"SE", "NO"}},
	}.Element()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(video.Space == google.VideoNamespace)
	videos, err := google.Videos(&sitemap.Entry{Loc: "https://www.example.com/", Elements: []websync.Element{video}})
	fmt.Println(videos[0].Duration, videos[0].Countries.Of, videos[0].Live, err)
	// Output:
	// true
	// 1h30m0s [SE NO] no <nil>
}

// A sitemap with news is checked by the rules of Google, too.
func ExampleArticles() {
	published, err := websync.ParseDatetime("2026-01-02")
	if err != nil {
		fmt.Println(err)
		return
	}
	news, err := google.News{Publication: "The Gazette", Language: "en", Published: published, Title: "On cats"}.Element()
	if err != nil {
		fmt.Println(err)
		return
	}
	var doc bytes.Buffer
	w := sitemap.NewWriter(&doc)
	w.Extensions = google.Extensions()
	fmt.Println(w.Write(&sitemap.Entry{Loc: "https://www.example.com/1", Elements: []websync.Element{news}}), w.Close())
	_, err = sitemap.Validate(bytes.NewReader(doc.Bytes()), sitemap.ValidateOptions{
		Extensions: google.Extensions(), Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		Report: func(f websync.Finding) { fmt.Println(f.Rule, f.Message) },
	})
	for e, err := range sitemap.NewReader(&doc).All() {
		articles, _ := google.Articles(&e)
		fmt.Println(articles[0].Title, err)
	}
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// sitemap-news-age more than two days ago
	// On cats <nil>
	// <nil>
}
