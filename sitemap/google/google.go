// Package google reads, checks and writes the elements that Google defines for sitemaps:
// images, videos and news articles of a page, as entries of package sitemap carry them.
//
//   - image: https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
//   - video: https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
//   - news: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
//
// Reading: [Images], [Videos] and [Articles] return the elements of an entry. Writing:
// the Element methods return elements for [sitemap.Entry] Elements. Checking:
// [Extensions] are for [sitemap.ValidateOptions], [sitemap.Writer] and
// [sitemap.Publisher], and [Rules] are the rules that their findings name.
package google

import (
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/sitemap"
)

// The namespaces of the elements.
const (
	ImageNamespace = "http://www.google.com/schemas/sitemap-image/1.1"
	VideoNamespace = "http://www.google.com/schemas/sitemap-video/1.1"
	NewsNamespace  = "http://www.google.com/schemas/sitemap-news/0.9"
)

var rules = document.NewRules("sitemap")

const (
	sectionImage = "Google, Image sitemaps"
	sectionVideo = "Google, Video sitemaps"
	sectionNews  = "Google, News sitemaps"
)

// ruleUnknown is a rule of package sitemap. Elements that Google does not define break
// it, too.
var ruleUnknown = func() websync.Rule {
	all := sitemap.Rules()
	return all[slices.IndexFunc(all, func(r websync.Rule) bool { return r.Name == "sitemap-extension-element" })]
}()

var (
	ruleDeprecated = rules.Info("extension-deprecated", "sitemaps.org, Extending the Sitemaps protocol",
		"an element that is no longer used")

	ruleImageChild = rules.Error("image-child", sectionImage, "an image without its loc, or with one too many of an element")
	ruleImageValue = rules.Error("image-value", sectionImage, "a value that an image can't have")
	ruleImageCount = rules.Error("image-count", sectionImage, "more than 1,000 images of one page")

	ruleVideoChild  = rules.Error("video-child", sectionVideo, "a video that lacks a required element, or with one too many")
	ruleVideoValue  = rules.Error("video-value", sectionVideo, "a value that a video can't have")
	ruleVideoLength = rules.Error("video-length", sectionVideo, "a text of a video that is too long")

	ruleNewsChild = rules.Error("news-child", sectionNews, "a news article that lacks a required element, or with one too many")
	ruleNewsValue = rules.Error("news-value", sectionNews, "a value that a news article can't have")
	ruleNewsTwice = rules.Error("news-repeated", sectionNews, "two news elements of one page")
	ruleNewsCount = rules.Error("news-count", sectionNews, "more than 1,000 news articles in one document")
	ruleNewsAge   = rules.Warning("news-age", sectionNews, "a news article of more than two days ago")
)

// Rules returns the rules of the elements, in the order of the package's source.
func Rules() []websync.Rule { return rules.All() }

// Extensions returns the extensions for images, videos and news.
func Extensions() []sitemap.Extension {
	return []sitemap.Extension{
		{Space: ImageNamespace, Local: "image", Check: imageFormat.check, PerEntry: maxImages, EntryRule: ruleImageCount},
		{Space: VideoNamespace, Local: "video", Check: videoFormat.check},
		{
			Space: NewsNamespace, Local: "news", Check: newsFormat.check,
			PerEntry: 1, EntryRule: ruleNewsTwice, PerDocument: maxNews, DocumentRule: ruleNewsCount,
		},
	}
}

// checkVideo reports a video without a file and without a player.
func checkVideo(n *element.Node, _ time.Time, found foundFunc) {
	if n.Child("content_loc").Text == "" && n.Child("player_loc").Text == "" {
		found(ruleVideoChild, n.Local, "", "neither content_loc nor player_loc")
	}
}

// checkAge reports an article that is too old for Google News.
func checkAge(n *element.Node, now time.Time, found foundFunc) {
	text := n.Child("publication_date").Text
	if d, err := websync.ParseDatetime(text); err == nil && !now.IsZero() && d.End().Before(now.Add(-maxNewsAge)) {
		found(ruleNewsAge, "publication_date", text, "more than two days ago")
	}
}
