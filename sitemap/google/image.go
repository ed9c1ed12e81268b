package google

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/sitemap"
)

const maxImages = 1000 // of one page

// An Image is an <image:image> of a [sitemap.Entry]: a picture on its page. It may lie on
// another host.
type Image struct {
	Loc string // required

	// Google no longer uses these.
	Caption     string
	GeoLocation string
	Title       string
	License     string // URL
}

var imageFormat = format{
	space: ImageNamespace, local: "image", child: ruleImageChild, value: ruleImageValue, length: ruleImageValue,
	children: []childSpec{
		{name: "loc", required: true, check: checkURL},
		{name: "caption", old: true, empty: true},
		{name: "geo_location", old: true, empty: true},
		{name: "title", old: true, empty: true},
		{name: "license", old: true, empty: true, check: checkURL},
	},
}

// Images returns the images of e. If some can't be read, it returns the others, and an
// error that joins a [*websync.EntryError] for each.
func Images(e *sitemap.Entry) ([]Image, error) {
	return read(e, &imageFormat, func(v *values, n *element.Node) Image {
		return Image{
			Loc:         v.required(n, "loc"),
			Caption:     n.Child("caption").Text,
			GeoLocation: n.Child("geo_location").Text,
			Title:       n.Child("title").Text,
			License:     n.Child("license").Text,
		}
	})
}

// Element returns the image for [sitemap.Entry] Elements. If the image breaks a rule of
// severity error, it returns a [*websync.EntryError].
func (i Image) Element() (websync.Element, error) {
	m := element.New("image", ImageNamespace, "image")
	m.Child("loc", i.Loc)
	m.Child("caption", i.Caption)
	m.Child("geo_location", i.GeoLocation)
	m.Child("title", i.Title)
	m.Child("license", i.License)
	return imageFormat.build(m)
}
