package google

import (
	"math"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/sitemap"
)

const (
	maxNews    = 1000 // of one document
	maxNewsAge = 48 * time.Hour
)

// News is the <news:news> of a [sitemap.Entry]: its page is an article of a newspaper.
type News struct {
	Publication string // the name of the newspaper; required
	// of the newspaper: a code of ISO 639 in lower case, or "zh-cn", "zh-tw"; required
	Language  string
	Published websync.Datetime // required
	Title     string           // required

	// Google no longer uses these.
	Access string // "Subscription" or "Registration"
	// of PressRelease, Satire, Blog, OpEd, Opinion, UserGenerated, separated by commas
	Genres       string
	Keywords     string
	StockTickers string
}

var newsFormat = format{
	space: NewsNamespace, local: "news", child: ruleNewsChild, value: ruleNewsValue, length: ruleNewsValue,
	also: checkAge,
	children: []childSpec{
		{name: "publication", required: true, children: []childSpec{
			{name: "name", required: true},
			{name: "language", required: true, check: checkNewsLanguage},
		}},
		{name: "access", old: true, check: checkOneOf("Subscription", "Registration")},
		{name: "genres", old: true, check: checkPattern(genre+`(, *`+genre+`)*`,
			"not a list of PressRelease, Satire, Blog, OpEd, Opinion, UserGenerated")},
		{name: "publication_date", required: true, check: checkDate},
		{name: "title", required: true},
		{name: "geo_locations", max: math.MaxInt32, old: true, empty: true},
		{name: "keywords", old: true, empty: true},
		{name: "stock_tickers", old: true, empty: true, check: checkPattern(ticker+`(, *`+ticker+`){0,4}`,
			"not one to five tickers as EXCHANGE:NAME")},
	},
}

const (
	genre  = `(?:PressRelease|Satire|Blog|OpEd|Opinion|UserGenerated)`
	ticker = `[\pL\pN_]+:[\pL\pN_]+`
)

var checkNewsLanguage = checkPattern(`[a-z]{2,3}|zh-cn|zh-tw`, "not a language code of ISO 639 in lower case, zh-cn or zh-tw")

// Articles returns the news articles of e, of which there should be one at most. If some
// can't be read, it returns the others, and an error that joins a [*websync.EntryError]
// for each.
func Articles(e *sitemap.Entry) ([]News, error) {
	return read(e, &newsFormat, func(v *values, n *element.Node) News {
		publication := n.Child("publication")
		v.required(n, "publication_date")
		return News{
			Publication:  v.required(publication, "name"),
			Language:     v.required(publication, "language"),
			Published:    v.date(n, "publication_date"),
			Title:        v.required(n, "title"),
			Access:       n.Child("access").Text,
			Genres:       n.Child("genres").Text,
			Keywords:     n.Child("keywords").Text,
			StockTickers: n.Child("stock_tickers").Text,
		}
	})
}

// Element returns the article for [sitemap.Entry] Elements. If the article breaks a rule
// of severity error, it returns a [*websync.EntryError].
func (n News) Element() (websync.Element, error) {
	m := element.New("news", NewsNamespace, "news")
	m.Start("publication")
	m.Child("name", n.Publication)
	m.Child("language", n.Language)
	m.End("")
	m.Child("access", n.Access)
	m.Child("genres", n.Genres)
	m.Child("publication_date", document.SchemaDate(n.Published).String())
	m.Child("title", n.Title)
	m.Child("keywords", n.Keywords)
	m.Child("stock_tickers", n.StockTickers)
	return newsFormat.build(m)
}
