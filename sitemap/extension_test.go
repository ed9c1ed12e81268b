package sitemap_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

func datetime(t testing.TB, s string) websync.Datetime {
	d, err := websync.ParseDatetime(s)
	require.NoError(t, err)
	return d
}

// fullVideo has a value in every field.
func fullVideo(t testing.TB) google.Video {
	return google.Video{
		Thumbnail: "https://www.example.com/t.png?a=1&b=2", Title: `"Fish" & <chips>`, Description: "Grüße\nto\tall",
		Content: "https://cdn.example.org/v.mp4", Player: "https://www.example.com/player?v=1",
		Duration: 90 * time.Minute, Expires: datetime(t, "2030-01-01T00:00:00+01:00"), Published: datetime(t, "2025-06-01"),
		Rating: 4.2, Views: 12345, Tags: []string{"a b", "c"},
		FamilyFriendly: google.Yes, RequiresSubscription: google.No, Live: google.No,
		Countries: google.Limit{Allow: true, Of: []string{"DE", "FR"}}, Platforms: google.Limit{Of: []string{"tv"}},
		Uploader: "Me & Co", UploaderInfo: "https://www.example.com/?a&b'",
	}
}

// TestExtensions: what is written is read again, through a document.
func TestExtensions(t *testing.T) {
	minimal := google.Video{Thumbnail: "https://www.example.com/t.png", Title: "T", Description: "D", Player: "https://www.example.com/p"}
	zeros := minimal
	zeros.Rating, zeros.Views = -1, -1
	images := []google.Image{
		{Loc: "https://cdn.example.org/1.png"},
		{Loc: "https://cdn.example.org/2.png?a&b", Caption: "<c>", GeoLocation: "Limerick, Ireland", Title: "t", License: "https://www.example.com/l"},
	}
	videos := []google.Video{minimal, zeros, fullVideo(t)}
	articles := []google.News{{
		Publication: "The Times & more", Language: "zh-cn", Published: datetime(t, "2025-12-31T10:00:00Z"), Title: "T",
		Access: "Registration", Genres: "Blog", Keywords: "a, b", StockTickers: "NASDAQ:A",
	}}
	alternates := []sitemap.Alternate{
		{Lang: "de", Href: "https://www.example.com/"},
		{Lang: "x-default", Href: "https://www.example.com/en?a=1&b=2"},
		{Media: "only screen and (max-width: 640px)", Href: "https://m.example.com/"},
	}
	e := sitemap.Entry{Loc: "https://www.example.com/"}
	add := func(x websync.Element, err error) {
		require.NoError(t, err)
		testkit.CheckElement(t, x)
		e.Elements = append(e.Elements, x)
	}
	for _, x := range images {
		add(x.Element())
	}
	for _, x := range videos {
		add(x.Element())
	}
	for _, x := range articles {
		add(x.Element())
	}
	for _, x := range alternates {
		add(x.Element())
	}
	doc := write(t, sitemap.Head{}, e)
	got, err := newReader(doc, func(f websync.Finding) { t.Error(f) }).Next()
	require.NoError(t, err)

	gotImages, err := google.Images(&got)
	require.NoError(t, err)
	assert.Equal(t, images, gotImages)
	gotVideos, err := google.Videos(&got)
	require.NoError(t, err)
	assert.Equal(t, videos, gotVideos)
	gotNews, err := google.Articles(&got)
	require.NoError(t, err)
	assert.Equal(t, articles, gotNews)
	gotAlternates, err := got.Alternates()
	require.NoError(t, err)
	assert.Equal(t, alternates, gotAlternates)
	testkit.Golden(t, "testdata/writer/extensions.xml", doc)
	testkit.Lint(t, "sitemap.xsd", doc)
}

// TestExtensionsOfThird: elements are read with any prefix, with elements of other
// namespaces inside, and with unknown elements.
func TestExtensionsOfThird(t *testing.T) {
	e := sitemap.Entry{Elements: []websync.Element{
		{Space: google.ImageNamespace, Local: "image", XML: `<image xmlns="` + google.ImageNamespace + `" xmlns:o="urn:o"><o:loc>x</o:loc><!-- --><loc> https://www.example.com/1.png
 </loc></image>`},
		{Space: "urn:o", Local: "image", XML: `<image xmlns="urn:o"/>`},
	}}
	images, err := google.Images(&e)
	require.NoError(t, err)
	assert.Equal(t, []google.Image{{Loc: "https://www.example.com/1.png"}}, images)
	videos, err := google.Videos(&e)
	require.NoError(t, err)
	assert.Empty(t, videos)
}

// TestExtensionErrors: an element that can't be read is an error, and the others are
// read.
func TestExtensionErrors(t *testing.T) {
	v := func(children string) string { return "<v:video>" + children + "</v:video>" }
	links := `<x:link rel="alternate" hreflang="de"/><x:link rel="alternate" hreflang="en" href=" https://www.example.com/en "/><x:link rel="stylesheet" href="s"/>`
	e, err := newReader([]byte(inEntry("<i:image/><i:image><i:loc>https://www.example.com/i.png</i:loc></i:image>"+
		v(video+"<v:rating>5.5</v:rating>")+v(video+"<v:duration>1h</v:duration>")+v(video+"<v:duration>28801</v:duration>")+
		v(video+"<v:view_count>-5</v:view_count>")+v(video+"<v:live>maybe</v:live>")+v(video+"<v:publication_date>x</v:publication_date>")+
		v(video+"<v:live>YES</v:live>")+v("")+
		"<n:news/>"+strings.Replace(news, "2025-12-31", "2025-12-31 10:00", 1)+links)), nil).Next()
	require.NoError(t, err)
	check := func(n, errs int, err error, message string) {
		t.Helper()
		require.ErrorContains(t, err, message)
		joined, ok := err.(interface{ Unwrap() []error })
		require.True(t, ok)
		assert.Len(t, joined.Unwrap(), errs)
		var entry *websync.EntryError
		require.ErrorAs(t, err, &entry)
		assert.Equal(t, "https://www.example.com/maps/1", entry.ID)
		assert.Equal(t, 1, n)
	}
	images, err := google.Images(&e)
	check(len(images), 1, err, "sitemap: https://www.example.com/maps/1: image: no loc")
	videos, err := google.Videos(&e)
	check(len(videos), 7, err, "rating: not a number from 0.0 to 5.0")
	assert.ErrorContains(t, err, "duration: not a whole number")
	assert.ErrorContains(t, err, "duration: more than 8 hours")
	assert.ErrorContains(t, err, "video: no thumbnail_loc")
	assert.Equal(t, google.Yes, videos[0].Live)
	articles, err := google.Articles(&e)
	check(len(articles), 1, err, "publication_date")
	assert.Equal(t, "2025-12-31T10:00Z", articles[0].Published.String(), "what a date can only mean")
	links2, err := e.Alternates()
	check(len(links2), 1, err, "link: no href")
	assert.Equal(t, "https://www.example.com/en", links2[0].Href)
}

// TestExtensionsRefused: nothing is written that is an error for Validate.
func TestExtensionsRefused(t *testing.T) {
	video := google.Video{Thumbnail: "https://www.example.com/t.png", Title: "T", Description: "D", Player: "https://www.example.com/p"}
	change := func(f func(*google.Video)) google.Video { v := video; f(&v); return v }
	element := func(x interface {
		Element() (websync.Element, error)
	}) error {
		_, err := x.Element()
		return err
	}
	for i, x := range []interface {
		Element() (websync.Element, error)
	}{
		google.Image{},
		google.Image{Loc: "/relative"},
		google.Image{Loc: "https://www.example.com/", Caption: "\x00"},
		change(func(v *google.Video) { v.Title = "" }),
		change(func(v *google.Video) { v.Player = "" }),
		change(func(v *google.Video) { v.Title = strings.Repeat("x", 101) }),
		change(func(v *google.Video) { v.Duration = 9 * time.Hour }),
		change(func(v *google.Video) { v.Duration = time.Millisecond }),
		change(func(v *google.Video) { v.Rating = 6 }),
		change(func(v *google.Video) { v.Views = -2 }),
		change(func(v *google.Video) { v.Live = "perhaps" }),
		change(func(v *google.Video) {
			v.Tags = make([]string, 33)
			for i := range v.Tags {
				v.Tags[i] = "t"
			}
		}),
		change(func(v *google.Video) { v.Countries.Of = []string{"Germany"} }),
		google.News{},
		google.News{Publication: "P", Language: "english", Published: datetime(t, "2025"), Title: "T"},
		google.News{Publication: "P", Language: "EN", Published: datetime(t, "2025"), Title: "T"},
		google.News{Publication: "P", Language: "en", Published: datetime(t, "2025"), Title: "T", Access: "Free"},
		google.News{Publication: "P", Language: "en", Published: datetime(t, "2025"), Title: "T", Genres: "Blog; Satire"},
		google.News{Publication: "P", Language: "en", Published: datetime(t, "2025"), Title: "T", StockTickers: "A"},
		change(func(v *google.Video) { v.Countries.Of = []string{"de"} }),
		sitemap.Alternate{Lang: "de"},
		sitemap.Alternate{Lang: "german", Href: "https://www.example.com/"},
		sitemap.Alternate{Href: "https://www.example.com/"},
	} {
		err := element(x)
		var entry *websync.EntryError
		assert.ErrorAs(t, err, &entry, fmt.Sprint(i))
	}
	require.NoError(t, element(video))
}

// TestExtensionDates: dates are written as the schemas have them, and children in their
// order.
func TestExtensionDates(t *testing.T) {
	article, err := google.News{Publication: "P", Language: "en", Published: datetime(t, "2025-06"), Title: "T",
		Access: "Subscription", Genres: "Blog, OpEd,Satire", Keywords: "k", StockTickers: "NASDAQ:A, BOM:B_1"}.Element()
	require.NoError(t, err)
	assert.Equal(t, `<news:news xmlns:news="`+google.NewsNamespace+`"><news:publication><news:name>P</news:name><news:language>en</news:language></news:publication>`+
		`<news:access>Subscription</news:access><news:genres>Blog, OpEd,Satire</news:genres><news:publication_date>2025-06-01</news:publication_date>`+
		`<news:title>T</news:title><news:keywords>k</news:keywords><news:stock_tickers>NASDAQ:A, BOM:B_1</news:stock_tickers></news:news>`, article.XML)
	v := google.Video{Thumbnail: "https://www.example.com/t.png", Title: "T", Description: "D", Player: "https://www.example.com/p",
		Expires: datetime(t, "2030"), Published: datetime(t, "2016-12-31T23:59:59+23:00")}
	x, err := v.Element()
	require.NoError(t, err)
	assert.Contains(t, x.XML, "<video:expiration_date>2030-01-01</video:expiration_date><video:publication_date>2016-12-31T00:59:59Z</video:publication_date>")
}
