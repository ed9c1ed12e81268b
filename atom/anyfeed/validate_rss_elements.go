package anyfeed

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// An rssElement is what an element may have and must be.
type rssElement struct {
	attrs    map[string]rssCheck
	children map[string]bool // true for those of which there may be one; nil for a value
	rule     websync.Rule    // that is broken if one of needs is missing
	needs    []string        // children, and attributes with an @ before them
	check    rssCheck        // of the value, or of the whole at its end; may be nil
}

// An rssCheck checks the value of the element or attribute that the validator is at.
type rssCheck func(v *rssValidator, value string)

func children(one, many string) map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(one) {
		names[name] = true
	}
	for _, name := range strings.Fields(many) {
		names[name] = false
	}
	return names
}

// fault returns a check that reports what a function finds.
func fault(rule websync.Rule, of func(string) string) rssCheck {
	return func(v *rssValidator, value string) {
		if fault := of(value); fault != "" {
			v.find(rule, value, fault)
		}
	}
}

func matches(rule websync.Rule, pattern, message string) rssCheck {
	wanted := regexp.MustCompile(pattern)
	return fault(rule, func(value string) string {
		if wanted.MatchString(value) {
			return ""
		}
		return message
	})
}

func oneOf(rule websync.Rule, words string) rssCheck {
	return matches(rule, "^(?:"+strings.ReplaceAll(words, " ", "|")+")$", "not one of "+words)
}

func between(rule websync.Rule, least, most int64) rssCheck {
	return fault(rule, func(value string) string {
		if n, fault := syntax.Length(value); fault == "" && n >= least && n <= most {
			return ""
		}
		if most == math.MaxInt64 {
			return fmt.Sprintf("not a whole number from %d", least)
		}
		return fmt.Sprintf("not a whole number from %d to %d", least, most)
	})
}

func rssPlain(v *rssValidator, value string) {
	if found := markup.FindString(value); found != "" {
		v.find(ruleRSSMarkup, found, "looks like HTML in what is plain text")
	}
}

func rssURL(v *rssValidator, value string) {
	if fault := syntax.IRIFault(value); fault != "" {
		v.find(ruleRSSURL, value, fault)
	} else if !syntax.IsRegistered(value) {
		v.find(ruleRSSScheme, value, "the scheme is not registered")
	}
}

var (
	rssLanguage = fault(ruleRSSLanguage, syntax.LanguageFault[string])
	rssHour     = between(ruleRSSSkipHours, 0, 23)
	rssVersion  = oneOf(ruleRSSVersion, "0.91 0.92 0.93 0.94 2.0")
	podcastType = oneOf(rulePodcastType, "episodic serial")
	mailDate    = regexp.MustCompile(`(?i)^(?:(mon|tue|wed|thu|fri|sat|sun),\s*)?\d{1,2}\s+[a-z]{3}\s+(\d\d(?:\d\d)?)\s+` +
		`\d\d:\d\d(?::\d\d)?\s+(ut|gmt|[ecmp][sd]t|[a-ik-z]|[-+]\d{4})(\s*\(.*\))?$`)
	mailbox  = regexp.MustCompile(`^(\S+@\S+)(\s+\(.+\))?$`)
	relative = regexp.MustCompile(`(?i)<[a-z][^<>]*\s(?:href|src)\s*=\s*["']?([^"'\s<>]*)`)
)

// rssDate checks a date of RFC 822, whose year may have four digits.
func rssDate(v *rssValidator, value string) {
	d, _, err := websync.ParseDatetimeLenient(value)
	m := mailDate.FindStringSubmatch(value)
	if m == nil || err != nil {
		v.find(ruleRSSDate, value, "not a date and time of RFC 822")
		return
	}
	switch weekday := d.Time().Weekday().String()[:3]; {
	case len(m[2]) == 2:
		v.find(ruleRSSDateForm, value, "a year of two digits")
	case len(m[3]) == 1 && !strings.EqualFold(m[3], "z"):
		v.find(ruleRSSDateForm, value, "a military time zone, which readers take for different ones")
	case m[4] != "":
		v.find(ruleRSSDateForm, value, "a comment")
	case m[1] != "" && !strings.EqualFold(m[1], weekday):
		v.find(ruleRSSDateForm, value, "that day is a "+weekday)
	}
	v.future(d, value)
}

// w3cDate checks a date of Dublin Core or Atom.
func w3cDate(v *rssValidator, value string) {
	d, err := websync.ParseDatetime(value)
	if err != nil {
		v.find(ruleRSSDublin, value, "not a date such as 2006-01-02T15:04:05Z")
	}
	if strings.HasPrefix(v.s.name, "dc:") {
		v.future(d, value)
	}
}

func (v *rssValidator) future(d websync.Datetime, value string) {
	if !v.o.Now.IsZero() && d.Time().After(v.o.Now.Add(24*time.Hour)) {
		v.find(ruleRSSFuture, value, "more than a day ahead")
	}
}

// rssPerson checks a person: an e-mail address, and a name in parentheses.
func rssPerson(v *rssValidator, value string) {
	switch m := mailbox.FindStringSubmatch(value); {
	case parsePerson(value).Email == "" || syntax.EmailFault(parsePerson(value).Email) != "":
		v.find(ruleRSSPerson, value, "not an e-mail address")
	case m == nil || m[2] == "":
		v.find(ruleRSSName, value, "not in the form address (name)")
	}
}

func rssHTML(v *rssValidator, value string) {
	for _, m := range relative.FindAllStringSubmatch(value, -1) {
		if syntax.Scheme(m[1]) == 0 {
			v.find(ruleRSSRelative, m[1], "a relative URL in HTML")
			return
		}
	}
}

// onlyOnce checks that no other element beside it has the value.
func onlyOnce(rule websync.Rule, check rssCheck) rssCheck {
	return func(v *rssValidator, value string) {
		beside := v.s.parent.stated
		if _, twice := beside["="+value]; twice {
			v.find(rule, value, "the value is there twice")
		}
		if len(beside) < 32 { // more than there are values
			beside["="+value] = rssValue{}
		}
		check(v, value)
	}
}

func skipHour(v *rssValidator, value string) {
	if value == "24" && strings.HasPrefix(v.version, "0.") {
		return // the hours of RSS 0.9x are 1 to 24
	}
	rssHour(v, value)
}

func rssGuid(v *rssValidator, value string) {
	if value == "" {
		v.find(ruleRSSGuid, "", "an empty guid")
		return
	}
	if fault := syntax.IRIFault(value); fault != "" && v.s.stated["@isPermaLink"].text != "false" {
		v.find(ruleRSSGuid, value, fault+`, and no isPermaLink="false"`)
	}
	if first := v.identify(value, whereStated); first != (position{}) {
		v.find(ruleRSSGuidTwice, value, fmt.Sprintf("the guid in line %d is the same", first.line))
	}
}

// rssLink checks a link of Atom.
func rssLink(v *rssValidator, _ string) {
	href := v.s.stated["@href"].text
	switch v.s.stated["@rel"].text {
	case "self":
		if v.s.parent.name != "channel" || v.sum.Self != "" {
			return
		}
		v.sum.Self = href
		if v.o.URL != "" && href != v.o.URL {
			v.find(ruleRSSSelf, href, "the feed has another URL")
		}
		if is := v.s.stated["@type"].text; !syntax.EqualFold(syntax.Essence(is), "application/rss+xml") {
			v.find(ruleRSSSelfType, is, "the type is not application/rss+xml")
		}
	case "next":
		v.sum.Next = href
	}
}

// rssImage checks an image at its end, and keeps what the channel must have, too.
func rssImage(v *rssValidator, _ string) {
	for _, name := range []string{"title", "link"} {
		v.s.parent.stated["image/"+name] = v.s.stated[name]
	}
}

// rssChannel checks the channel of RSS 2.0 and 0.9x at its end.
func rssChannel(v *rssValidator, _ string) {
	s := v.s.stated
	v.sum.Kind = atom.FeedDocument
	for _, name := range []string{"title", "link"} {
		if of := s["image/"+name]; of.isSet && s[name].isSet && of.text != s[name].text {
			v.findAt(ruleRSSImageSame, of.position, name, of.text, "the "+name+" of the channel is another one")
		}
	}
	if v.version == "2.0" && v.sum.Self == "" {
		v.find(ruleRSSSelf, "", "no atom:link with the relation self")
	}
	if v.version == "0.91" && !s["language"].isSet {
		v.find(ruleRSSOld, "", "no language")
	}
	if v.podcast {
		v.lacks(rulePodcastMissing, "language", "itunes:image", "itunes:category", "itunes:explicit")
		v.lacks(rulePodcastAdvised, "itunes:author")
	}
}

// rssItem checks an item of RSS 2.0 and 0.9x at its end.
func rssItem(v *rssValidator, _ string) {
	v.sum.Entries++
	s := v.s.stated
	if !s["guid"].isSet && !s["link"].isSet {
		v.reports.Skipped++ // readers have no id for it
	}
	if !s["title"].isSet && !s["description"].isSet {
		v.find(ruleRSSItem, "", "neither title nor description")
	}
	switch v.version {
	case "0.91":
		v.lacks(ruleRSSOld, "title", "link")
	case "2.0":
		v.lacks(ruleRSSNoGuid, "guid")
	}
	if content, described := s["content:encoded"], s["description"]; content.isSet {
		if !described.isSet {
			v.findAt(ruleRSSEncoded, content.position, "content:encoded", "", "no description")
		} else if content.line < described.line || content.line == described.line && content.column < described.column {
			v.findAt(ruleRSSEncoded, content.position, "content:encoded", "", "before the description")
		}
	}
	for _, pair := range [...][2]string{{"author", "dc:creator"}, {"pubDate", "dc:date"}} {
		if other := s[pair[1]]; s[pair[0]].isSet && other.isSet {
			v.findAt(ruleRSSMeaning, other.position, pair[1], other.text, "the item has "+pair[0]+", too")
		}
	}
	if v.podcast {
		v.lacks(rulePodcastMissing, "title", "enclosure")
		if v.serial && cmp.Or(s["itunes:episodeType"].text, "full") == "full" {
			v.lacks(rulePodcastMissing, "itunes:episode")
		}
	}
}

// lacks reports each of some children that the element does not have.
func (v *rssValidator) lacks(rule websync.Rule, names ...string) {
	for _, name := range names {
		if !v.s.stated[name].isSet {
			v.find(rule, "", "no "+strings.TrimPrefix(name, "@"))
		}
	}
}

// rdfAbout checks an rdf:about.
func rdfAbout(v *rssValidator, value string) {
	if fault := syntax.IRIFault(value); fault != "" {
		v.find(ruleRDFAbout, value, fault)
	}
	if first := v.identify(value, whereStated); first != (position{}) {
		v.find(ruleRDFTwice, value, fmt.Sprintf("the rdf:about in line %d is the same", first.line))
	}
}

// rdfListed keeps an item that the channel lists.
func rdfListed(v *rssValidator, _ string) {
	resource := cmp.Or(v.s.stated["@rdf:resource"].text, v.s.stated["@resource"].text)
	if resource == "" {
		v.find(ruleRDFItems, "", "no rdf:resource")
		return
	}
	if first := v.identify(resource, whereListed); first != (position{}) {
		v.find(ruleRDFItems, resource, fmt.Sprintf("listed in line %d, too", first.line))
	}
}

// rdfRoot compares the channel of RSS 1.0 with the elements beside it.
func rdfRoot(v *rssValidator, _ string) {
	s := v.s.stated
	for _, name := range []string{"image", "textinput"} {
		listed, has := s["channel/"+name], s[name]
		switch {
		case has.isSet && !listed.isSet:
			v.findAt(ruleRDFRefer, has.position, name, "", "the channel does not refer to it")
		case listed.isSet && listed.text != s[name+" about"].text:
			v.findAt(ruleRDFRefer, listed.position, name, listed.text, "the document has no "+name+" with this rdf:about")
		}
	}
	if v.sum.Entries > 15 {
		v.find(ruleRDFLength, "", fmt.Sprintf("%d items", v.sum.Entries))
	}
	v.checkItems()
}

// rdfChannel checks the channel of RSS 1.0 at its end.
func rdfChannel(v *rssValidator, _ string) { v.sum.Kind = atom.FeedDocument }

// rdfItem checks an item of RSS 1.0 at its end.
func rdfItem(v *rssValidator, _ string) {
	v.sum.Entries++
	switch link, about := v.s.stated["link"], v.s.stated["@rdf:about"]; {
	case !link.isSet && !about.isSet:
		v.reports.Skipped++ // readers have no id for it
	case link.isSet && about.isSet && link.text != about.text:
		v.findAt(ruleRDFLink, link.position, "link", link.text, "not the rdf:about")
	}
}

// kept returns a check that keeps an attribute for rdfRoot.
func kept(attr, format string) rssCheck {
	return func(v *rssValidator, _ string) {
		root := v.s.parent
		for root.parent.parent != nil {
			root = root.parent
		}
		root.stated[fmt.Sprintf(format, v.s.name)] = v.s.stated[attr]
	}
}

func mediaContent(v *rssValidator, _ string) {
	parent := v.s.parent
	if !v.s.stated["@url"].isSet && !v.s.stated["media:player"].isSet && !parent.stated["media:player"].isSet {
		v.find(ruleMediaContent, "", "neither url nor media:player")
	}
	if parent.name == "media:group" && v.s.stated["@isDefault"].text == "true" {
		if parent.stated["default"].isSet {
			v.find(ruleMediaDefault, "", "the group has another default")
		}
		parent.stated["default"] = rssValue{isSet: true}
	}
}

// byAttribute returns a check of a text that depends on an attribute.
func byAttribute(attr string, checks map[string]rssCheck) rssCheck {
	return func(v *rssValidator, value string) {
		if check := checks[v.s.stated["@"+attr].text]; check != nil {
			check(v, value)
		}
	}
}

func podcastCategory(v *rssValidator, _ string) {
	text := v.s.stated["@text"].text
	if above := v.s.parent.stated["@text"].text; v.s.parent.name != "itunes:category" {
		if _, known := podcastCategories[text]; !known && text != "" {
			v.find(rulePodcastCategory, text, "not a category of the list")
		}
	} else if !slices.Contains(strings.Split(podcastCategories[above], "|"), text) && text != "" {
		v.find(rulePodcastCategory, text, fmt.Sprintf("not a subcategory of %.100q", above))
	}
}

func podcastExplicit(v *rssValidator, value string) {
	switch value {
	case "true", "false":
	case "yes", "no", "clean":
		v.find(rulePodcastOld, value, "true and false are described")
	default:
		v.find(rulePodcastExplicit, value, "neither true nor false")
	}
}

func podcastOld(v *rssValidator, _ string) {
	v.find(rulePodcastOld, "", "an element that is no longer described")
}

// podcastCategories have the subcategories of each category.
var podcastCategories = map[string]string{
	"Arts":     "Books|Design|Fashion & Beauty|Food|Performing Arts|Visual Arts",
	"Business": "Careers|Entrepreneurship|Investing|Management|Marketing|Non-Profit",
	"Comedy":   "Comedy Interviews|Improv|Stand-Up", "Education": "Courses|How To|Language Learning|Self-Improvement",
	"Fiction": "Comedy Fiction|Drama|Science Fiction", "Government": "", "History": "",
	"Health & Fitness":        "Alternative Health|Fitness|Medicine|Mental Health|Nutrition|Sexuality",
	"Kids & Family":           "Education for Kids|Parenting|Pets & Animals|Stories for Kids",
	"Leisure":                 "Animation & Manga|Automotive|Aviation|Crafts|Games|Hobbies|Home & Garden|Video Games",
	"Music":                   "Music Commentary|Music History|Music Interviews",
	"News":                    "Business News|Daily News|Entertainment News|News Commentary|Politics|Sports News|Tech News",
	"Religion & Spirituality": "Buddhism|Christianity|Hinduism|Islam|Judaism|Religion|Spirituality",
	"Science":                 "Astronomy|Chemistry|Earth Sciences|Life Sciences|Mathematics|Natural Sciences|Nature|Physics|Social Sciences",
	"Society & Culture":       "Documentary|Personal Journals|Philosophy|Places & Travel|Relationships",
	"Sports": "Baseball|Basketball|Cricket|Fantasy Sports|Football|Golf|Hockey|Rugby|Running|Soccer|Swimming|Tennis|" +
		"Volleyball|Wilderness|Wrestling",
	"Technology": "", "True Crime": "",
	"TV & Film": "After Shows|Film History|Film Interviews|Film Reviews|TV Reviews",
}

// longest is how many characters a text of RSS 0.91 may have, and one of RSS 1.0 should
// have.
var longest = map[string]int{
	"0.91channel/title": 100, "0.91channel/link": 500, "0.91channel/description": 500,
	"0.91image/title": 100, "0.91image/link": 500, "0.91image/url": 500,
	"0.91item/title": 100, "0.91item/link": 500, "0.91item/description": 500,
	"0.91textInput/title": 100, "0.91textInput/link": 500, "0.91textInput/description": 500, "0.91textInput/name": 20,
	"rdf:RDF/channel/title": 40, "rdf:RDF/channel/link": 500, "rdf:RDF/channel/description": 500,
	"rdf:RDF/image/title": 40, "rdf:RDF/image/link": 500, "rdf:RDF/image/url": 500,
	"rdf:RDF/item/title": 100, "rdf:RDF/item/link": 500, "rdf:RDF/item/description": 500,
	"rdf:RDF/textinput/title": 40, "rdf:RDF/textinput/link": 500, "rdf:RDF/textinput/description": 100, "rdf:RDF/textinput/name": 500,
}

// The children of other namespaces: those of which there may be one, and the others.
const (
	channelOne = " fh:complete fh:archive sy:updatePeriod sy:updateFrequency sy:updateBase itunes:title itunes:author itunes:type" +
		" itunes:image itunes:explicit itunes:new-feed-url itunes:block itunes:complete itunes:owner itunes:summary itunes:subtitle" +
		" itunes:keywords itunes:applepodcastsverify"
	channelMany = " itunes:category atom:link" + datesOfDublin + mediaMany
	itemOne     = " content:encoded slash:comments itunes:title itunes:author itunes:image itunes:explicit itunes:duration" +
		" itunes:episode itunes:season itunes:episodeType itunes:block itunes:summary itunes:subtitle itunes:keywords itunes:order"
	itemMany      = " atom:link dc:creator media:group media:content" + datesOfDublin + mediaMany
	datesOfDublin = " dc:date dc:language dcterms:created dcterms:issued dcterms:modified dcterms:available dcterms:valid"
	mediaMany     = " media:adult media:rating media:title media:description media:keywords media:thumbnail media:category" +
		" media:hash media:player media:credit media:copyright media:text media:restriction media:community media:comments" +
		" media:embed media:responses media:backLinks media:status media:price media:license media:subTitle media:peerLink" +
		" media:location media:rights media:scenes"
)

type rssAttrs = map[string]rssCheck

var (
	rssSize    = func(most int64) *rssElement { return &rssElement{check: between(ruleRSSImageSize, 1, most)} }
	positive   = &rssElement{check: between(rulePodcastNumber, 1, math.MaxInt64)}
	plain      = &rssElement{check: rssPlain}
	isDate     = &rssElement{check: rssDate}
	isURL      = &rssElement{check: rssURL}
	isW3CDate  = &rssElement{check: w3cDate}
	isPerson   = &rssElement{check: rssPerson}
	isOld      = &rssElement{check: podcastOld}
	isFlag     = &rssElement{check: matches(rulePodcastFlag, "^Yes$", "not Yes, which has no effect")}
	isMark     = &rssElement{check: matches(ruleRSSHistory, "^$", "it must be empty")}
	isMediaURL = &rssElement{check: mediaURL}

	mediaURL    = fault(ruleMediaValue, syntax.IRIFault[string])
	mediaType   = fault(ruleMediaValue, syntax.MediaTypeFault[string])
	mediaLang   = fault(ruleMediaValue, syntax.LanguageFault[string])
	mediaNumber = between(ruleMediaValue, 0, math.MaxInt64)
	mediaReal   = matches(ruleMediaValue, `^\d+(\.\d*)?$`, "not a number")
	mediaTime   = matches(ruleMediaValue, `^(npt:)?(now|\d+(\.\d*)?|\d+:[0-5]?\d:[0-5]?\d(\.\d*)?)$`, "not a time such as 1:02:03.5 (RFC 2326 §3.6)")
	mediaForm   = oneOf(ruleMediaValue, "plain html")
	mediaOf     = func(many string) *rssElement { return &rssElement{children: children("", many)} }
	mediaRated  = oneOf(ruleMediaValue, "adult nonadult")
	mediaMD5    = matches(ruleMediaValue, `^[0-9a-fA-F]{32}$`, "not 32 hexadecimal digits")
)

// rssElements are the elements that are checked, by their names with the usual prefix of
// their namespace. A path with the parent's name has precedence.
var rssElements = map[string]*rssElement{
	"rss": {attrs: rssAttrs{"version": func(v *rssValidator, value string) {
		v.version = value
		rssVersion(v, value)
	}}, children: children("channel", ""), rule: ruleRSSRoot, needs: []string{"channel"},
		check: func(v *rssValidator, _ string) { v.lacks(ruleRSSVersion, "@version") }},
	"RDF": {children: children("channel image textinput", "item"), rule: ruleRSSRoot, needs: []string{"channel"}},
	"channel": {children: children("title link description language copyright managingEditor webMaster pubDate lastBuildDate generator docs"+
		" cloud ttl image rating textInput skipHours skipDays"+channelOne, "category item"+channelMany),
		rule: ruleRSSChannel, needs: []string{"title", "link", "description"}, check: rssChannel},
	"title": plain, "link": isURL, "description": plain, "copyright": plain, "generator": plain, "name": plain,
	"docs": isURL, "url": isURL, "comments": isURL, "pubDate": isDate, "lastBuildDate": isDate,
	"managingEditor": isPerson, "webMaster": isPerson, "author": isPerson,
	"language": {check: rssLanguage}, "dc:language": {check: rssLanguage},
	"cloud": {attrs: rssAttrs{"domain": nil, "port": between(ruleRSSCloud, 1, 65535), "path": nil, "registerProcedure": nil,
		"protocol": oneOf(ruleRSSCloud, "xml-rpc soap http-post")},
		rule: ruleRSSCloud, needs: []string{"@domain", "@port", "@path", "@registerProcedure", "@protocol"}},
	"ttl": {check: between(ruleRSSTTL, 1, math.MaxInt64)},
	"image": {children: children("url title link width height description", ""), check: rssImage,
		rule: ruleRSSImage, needs: []string{"url", "title", "link"}},
	"width": rssSize(144), "height": rssSize(400),
	"textInput": {children: children("title description name link", ""),
		rule: ruleRSSTextInput, needs: []string{"title", "description", "name", "link"}},
	"skipHours": {children: children("", "hour")}, "hour": {check: onlyOnce(ruleRSSSkipHours, skipHour)},
	"skipDays": {children: children("", "day")}, "day": {check: onlyOnce(ruleRSSSkipDays,
		oneOf(ruleRSSSkipDays, "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"))},

	"item": {children: children("title link description author comments guid pubDate source"+itemOne, "category enclosure"+itemMany),
		check: rssItem},
	"item/description": {check: rssHTML}, "content:encoded": {check: rssHTML},
	"category": {attrs: rssAttrs{"domain": nil}, check: rssPlain},
	"guid":     {attrs: rssAttrs{"isPermaLink": oneOf(ruleRSSGuid, "true false")}, check: rssGuid},
	"enclosure": {attrs: rssAttrs{"url": matches(ruleRSSFile, `^https?://[^/]`, "not a URL of HTTP"),
		"length": fault(ruleRSSFile, func(value string) string { _, fault := syntax.Length(value); return fault }),
		"type":   fault(ruleRSSFile, syntax.MediaTypeFault[string])},
		rule: ruleRSSEnclosure, needs: []string{"@url", "@length", "@type"}, check: func(v *rssValidator, _ string) {
			if first, twice := v.s.parent.stated["enclosure"]; twice {
				v.find(ruleRSSEnclosures, "", fmt.Sprintf("another one is in line %d", first.line))
			}
		}},
	"source":         {attrs: rssAttrs{"url": rssURL}, rule: ruleRSSSource, needs: []string{"@url"}, check: rssPlain},
	"slash:comments": {check: between(ruleRSSSlash, 0, math.MaxInt64)},
	"atom:link": {attrs: rssAttrs{"href": fault(ruleRSSLink, syntax.ReferenceFault[string]), "rel": fault(ruleRSSLink, syntax.RelationFault[string]),
		"type": fault(ruleRSSLink, syntax.MediaTypeFault[string]), "hreflang": fault(ruleRSSLink, syntax.LanguageFault[string]),
		"title": nil, "length": fault(ruleRSSLink, func(value string) string { _, fault := syntax.Length(value); return fault })},
		rule: ruleRSSLink, needs: []string{"@href"}, check: rssLink},
	"fh:complete": isMark, "fh:archive": isMark,
	"dc:date": isW3CDate, "dcterms:created": isW3CDate, "dcterms:issued": isW3CDate, "dcterms:modified": isW3CDate,
	"sy:updateBase": isW3CDate, "sy:updatePeriod": {check: oneOf(ruleRDFModule, "hourly daily weekly monthly yearly")},
	"sy:updateFrequency": {check: between(ruleRDFModule, 1, math.MaxInt64)},

	"rdf:RDF": {children: children("channel image textinput", "item"), check: rdfRoot},
	"rdf:RDF/channel": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title link description image items textinput"+channelOne, channelMany),
		rule: ruleRDFChild, needs: []string{"@rdf:about", "title", "link", "description", "items"}, check: rdfChannel},
	"rdf:RDF/channel/image":     {attrs: rssAttrs{"rdf:resource": nil}, check: kept("@rdf:resource", "channel/%s")},
	"rdf:RDF/channel/textinput": {attrs: rssAttrs{"rdf:resource": nil}, check: kept("@rdf:resource", "channel/%s")},
	"items":                     {children: children("rdf:Seq", ""), rule: ruleRDFItems, needs: []string{"rdf:Seq"}},
	"rdf:Seq":                   {children: children("", "rdf:li")},
	"rdf:li":                    {attrs: rssAttrs{"rdf:resource": nil, "resource": nil}, check: rdfListed},
	"rdf:RDF/image": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title url link", ""),
		rule: ruleRDFChild, needs: []string{"@rdf:about", "title", "url", "link"}, check: kept("@rdf:about", "%s about")},
	"rdf:RDF/textinput": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title description name link", ""),
		rule: ruleRDFChild, needs: []string{"@rdf:about", "title", "description", "name", "link"}, check: kept("@rdf:about", "%s about")},
	"rdf:RDF/item": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title link description"+itemOne, itemMany),
		rule: ruleRDFChild, needs: []string{"@rdf:about", "title", "link"}, check: rdfItem},
	"rdf:RDF/item/description": {check: rssHTML},

	"media:group": mediaOf("media:content" + mediaMany),
	"media:content": {attrs: rssAttrs{"url": mediaURL, "fileSize": mediaNumber, "type": mediaType,
		"medium":    oneOf(ruleMediaValue, "image audio video document executable"),
		"isDefault": oneOf(ruleMediaValue, "true false"), "expression": oneOf(ruleMediaValue, "sample full nonstop"),
		"bitrate": mediaReal, "framerate": mediaReal, "samplingrate": mediaReal, "channels": mediaReal, "duration": mediaNumber,
		"height": mediaNumber, "width": mediaNumber, "lang": mediaLang}, children: children("", mediaMany), check: mediaContent},
	"media:adult": {check: func(v *rssValidator, _ string) { v.find(ruleMediaOld, "", "media:rating has replaced it") }},
	"media:rating": {attrs: rssAttrs{"scheme": mediaURL},
		check: byAttribute("scheme", rssAttrs{"": mediaRated, "urn:simple": mediaRated})},
	"media:title": {attrs: rssAttrs{"type": mediaForm}}, "media:description": {attrs: rssAttrs{"type": mediaForm}},
	"media:thumbnail": {attrs: rssAttrs{"url": mediaURL, "width": mediaNumber, "height": mediaNumber, "time": mediaTime},
		rule: ruleMediaRequired, needs: []string{"@url"}},
	"media:category": {attrs: rssAttrs{"scheme": mediaURL, "label": nil}},
	"media:hash": {attrs: rssAttrs{"algo": oneOf(ruleMediaValue, "md5 sha-1")}, check: byAttribute("algo", rssAttrs{
		"": mediaMD5, "md5": mediaMD5, "sha-1": matches(ruleMediaValue, `^[0-9a-fA-F]{40}$`, "not 40 hexadecimal digits")})},
	"media:player": {attrs: rssAttrs{"url": mediaURL, "width": mediaNumber, "height": mediaNumber},
		rule: ruleMediaRequired, needs: []string{"@url"}},
	"media:credit":    {attrs: rssAttrs{"role": matches(ruleMediaValue, `^\P{Lu}*$`, "a role with capitals"), "scheme": mediaURL}},
	"media:copyright": {attrs: rssAttrs{"url": mediaURL}},
	"media:text":      {attrs: rssAttrs{"type": mediaForm, "lang": mediaLang, "start": mediaTime, "end": mediaTime}},
	"media:restriction": {attrs: rssAttrs{"relationship": oneOf(ruleMediaValue, "allow deny"), "type": oneOf(ruleMediaValue, "country uri sharing")},
		rule: ruleMediaRequired, needs: []string{"@relationship"}, check: byAttribute("type", rssAttrs{
			"":        oneOf(ruleMediaValue, "all none"),
			"country": matches(ruleMediaValue, `^(?:[A-Za-z]{2}(?:\s+[A-Za-z]{2})*|all|none)$`, "not countries of two letters"),
			"uri":     matches(ruleMediaValue, `\S`, "no URI")})},
	"media:community":  mediaOf("media:starRating media:statistics media:tags"),
	"media:starRating": {attrs: rssAttrs{"average": mediaReal, "count": mediaNumber, "min": mediaNumber, "max": mediaNumber}},
	"media:statistics": {attrs: rssAttrs{"views": mediaNumber, "favorites": mediaNumber}},
	"media:comments":   mediaOf("media:comment"), "media:responses": mediaOf("media:response"), "media:backLinks": mediaOf("media:backLink"),
	"media:backLink": isMediaURL,
	"media:embed": {attrs: rssAttrs{"url": mediaURL, "width": mediaNumber, "height": mediaNumber}, children: children("", "media:param"),
		rule: ruleMediaRequired, needs: []string{"@url"}},
	"media:param": {attrs: rssAttrs{"name": nil}, rule: ruleMediaRequired, needs: []string{"@name"}},
	"media:status": {attrs: rssAttrs{"state": oneOf(ruleMediaValue, "active blocked deleted"), "reason": nil},
		rule: ruleMediaRequired, needs: []string{"@state"}},
	"media:price": {attrs: rssAttrs{"type": oneOf(ruleMediaValue, "rent purchase package subscription"), "info": mediaURL, "price": mediaReal,
		"currency": matches(ruleMediaValue, `^[A-Z]{3}$`, "not a currency of three letters")}},
	"media:license":  {attrs: rssAttrs{"type": mediaType, "href": mediaURL}},
	"media:subTitle": {attrs: rssAttrs{"type": mediaType, "lang": mediaLang, "href": mediaURL}},
	"media:peerLink": {attrs: rssAttrs{"type": mediaType, "href": mediaURL}},
	"media:location": {attrs: rssAttrs{"description": nil, "start": mediaTime, "end": mediaTime}, children: children("", "")},
	"media:rights":   {attrs: rssAttrs{"status": oneOf(ruleMediaValue, "userCreated official")}},
	"media:scenes":   mediaOf("media:scene"),
	"media:scene":    mediaOf("sceneTitle sceneDescription sceneStartTime sceneEndTime"),

	"itunes:image": {attrs: rssAttrs{"href": rssURL}, rule: rulePodcastMissing, needs: []string{"@href"}},
	"itunes:category": {attrs: rssAttrs{"text": nil}, children: children("", "itunes:category"),
		rule: rulePodcastMissing, needs: []string{"@text"}, check: podcastCategory},
	"itunes:owner": {children: children("itunes:name itunes:email", ""), rule: rulePodcastMail, needs: []string{"itunes:email"}},
	"itunes:email": {check: fault(rulePodcastMail, syntax.EmailFault[string])},
	"itunes:title": plain, "itunes:author": plain, "itunes:new-feed-url": isURL, "itunes:explicit": {check: podcastExplicit},
	"itunes:duration": {check: matches(rulePodcastDuration, `^\d+(?::[0-5]?\d){0,2}$`, "neither seconds nor a time such as 1:02:03")},
	"itunes:episode":  positive, "itunes:season": positive,
	"itunes:episodeType": {check: oneOf(rulePodcastType, "full trailer bonus")},
	"itunes:type": {check: func(v *rssValidator, value string) {
		v.serial = value == "serial"
		podcastType(v, value)
	}},
	"itunes:block": isFlag, "itunes:complete": isFlag,
	"itunes:summary": isOld, "itunes:subtitle": isOld, "itunes:keywords": isOld, "itunes:order": isOld,
}
