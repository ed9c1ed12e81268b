package google_test

import (
	"fmt"

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
