package sitemap

import (
	"math"
	"time"

	"github.com/websync-go/websync"
)

const (
	maxNews    = 1000 // of one document
	maxNewsAge = 48 * time.Hour
)

// News is the <news:news> of an [Entry]: its page is an article of a newspaper.
type News struct {
	Publication string           // the name of the newspaper; required
	Language    string           // of the newspaper: a code of ISO 639 in lower case, or "zh-cn", "zh-tw"; required
	Published   websync.Datetime // required
	Title       string           // required

	// Google no longer uses these.
	Access       string // "Subscription" or "Registration"
	Genres       string // of PressRelease, Satire, Blog, OpEd, Opinion, UserGenerated, separated by commas
	Keywords     string
	StockTickers string
}

var newsExtension = &extension{
	space: NewsNamespace, local: "news", child: ruleNewsChild, value: ruleNewsValue, length: ruleNewsValue,
	children: []childSpec{
		{name: "publication", required: true, children: []childSpec{
			{name: "name", required: true},
			{name: "language", required: true, check: checkNewsLanguage},
		}},
		{name: "access", old: true, check: checkOneOf("Subscription", "Registration")},
		{name: "genres", old: true, check: checkPattern(genre+`(, *`+genre+`)*`, "not a list of PressRelease, Satire, Blog, OpEd, Opinion, UserGenerated")},
		{name: "publication_date", required: true, check: checkDate},
		{name: "title", required: true},
		{name: "geo_locations", max: math.MaxInt32, old: true, empty: true},
		{name: "keywords", old: true, empty: true},
		{name: "stock_tickers", old: true, empty: true, check: checkPattern(ticker+`(, *`+ticker+`){0,4}`, "not one to five tickers as EXCHANGE:NAME")},
	},
}

const (
	genre  = `(?:PressRelease|Satire|Blog|OpEd|Opinion|UserGenerated)`
	ticker = `[\pL\pN_]+:[\pL\pN_]+`
)

var checkNewsLanguage = checkPattern(`[a-z]{2,3}|zh-cn|zh-tw`, "not a language code of ISO 639 in lower case, zh-cn or zh-tw")

// News returns the news articles of e, which can only be one. It returns those that can
// be read even if there is an error, which joins an [*EntryError] for each of the others.
func (e *Entry) News() ([]News, error) {
	return extensionsOf(e, NewsNamespace, "news", func(n *node) (News, error) {
		var v values
		publication := n.child("publication")
		v.required(n, "publication_date")
		return News{
			Publication:  v.required(publication, "name"),
			Language:     v.required(publication, "language"),
			Published:    v.date(n, "publication_date"),
			Title:        v.required(n, "title"),
			Access:       n.child("access").text,
			Genres:       n.child("genres").text,
			Keywords:     n.child("keywords").text,
			StockTickers: n.child("stock_tickers").text,
		}, v.err
	})
}

// Element returns the article as an extension element, for [Entry] Elements. It refuses
// with an [*EntryError] what the rules call an error.
func (n News) Element() (websync.Element, error) {
	m := newMarkup("news", NewsNamespace, "news")
	m.open()
	m.begin("publication")
	m.open()
	m.element("name", n.Publication)
	m.element("language", n.Language)
	m.close("publication")
	m.element("access", n.Access)
	m.element("genres", n.Genres)
	m.element("publication_date", schemaDate(n.Published).String())
	m.element("title", n.Title)
	m.element("keywords", n.Keywords)
	m.element("stock_tickers", n.StockTickers)
	m.close("news")
	return m.finish(NewsNamespace, "news")
}
