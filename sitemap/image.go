package sitemap

import "github.com/websync-go/websync"

const maxImages = 1000 // of one page

// An Image is an <image:image> of an [Entry]: a picture that its page shows. It may lie
// on another host.
type Image struct {
	Loc string // required

	// Google no longer uses these.
	Caption     string
	GeoLocation string
	Title       string
	License     string // URL
}

var imageExtension = &extension{
	space: ImageNamespace, local: "image", child: ruleImageChild, value: ruleImageValue, length: ruleImageValue,
	children: []childSpec{
		{name: "loc", required: true, check: checkURL},
		{name: "caption", old: true, empty: true},
		{name: "geo_location", old: true, empty: true},
		{name: "title", old: true, empty: true},
		{name: "license", old: true, empty: true, check: checkURL},
	},
}

// Images returns the images of e. It returns those that can be read even if there is an
// error, which joins an [*EntryError] for each of the others.
func (e *Entry) Images() ([]Image, error) {
	return extensionsOf(e, ImageNamespace, "image", func(n *node) (Image, error) {
		var v values
		return Image{
			Loc:         v.required(n, "loc"),
			Caption:     n.child("caption").text,
			GeoLocation: n.child("geo_location").text,
			Title:       n.child("title").text,
			License:     n.child("license").text,
		}, v.err
	})
}

// Element returns the image as an extension element, for [Entry] Elements. It refuses
// with an [*EntryError] what the rules call an error.
func (i Image) Element() (websync.Element, error) {
	m := newMarkup("image", ImageNamespace, "image")
	m.open()
	m.element("loc", i.Loc)
	m.element("caption", i.Caption)
	m.element("geo_location", i.GeoLocation)
	m.element("title", i.Title)
	m.element("license", i.License)
	m.close("image")
	return m.finish(ImageNamespace, "image")
}
