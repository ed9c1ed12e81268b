package anyfeed

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

var words = strings.Fields

func children(one, many string) map[string]bool {
	single := map[string]bool{}
	for _, name := range words(one) {
		single[name] = true
	}
	for _, name := range words(many) {
		single[name] = false
	}
	return single
}

// fault returns a check that reports what a function finds.
func fault(rule websync.Rule, of func(string) string) rssCheck {
	return func(v *rssValidator, value string) {
		if fault := of(value); fault != "" {
			v.find(rule, value, fault)
		}
	}
}

func lengthFault(value string) string {
	_, fault := syntax.Length(value)
	return fault
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

func oneOf(rule websync.Rule, values string) rssCheck {
	return matches(rule, "^(?:"+strings.ReplaceAll(values, " ", "|")+")$", "not one of "+strings.ReplaceAll(values, " ", ", "))
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
	mailbox  = regexp.MustCompile(`^\S+\s+\(.+\)$`)
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
	if fault := syntax.EmailFault(parsePerson(value).Email); fault != "" {
		v.find(ruleRSSPerson, value, fault)
	} else if !mailbox.MatchString(value) {
		v.find(ruleRSSName, value, "not in the form address (name)")
	}
}

func rssHTML(v *rssValidator, value string) {
	for m := relative.FindStringSubmatchIndex(value); m != nil; m = relative.FindStringSubmatchIndex(value) {
		if url := value[m[2]:m[3]]; syntax.Scheme(url) == 0 {
			v.find(ruleRSSRelative, url, "a relative URL in HTML")
			return
		}
		value = value[m[1]:]
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
	href, rel := v.s.stated["@href"].text, v.s.stated["@rel"].text
	switch {
	case v.s.parent.name != "channel":
	case rel == "self" && v.sum.Self == "":
		v.sum.Self = href
		if v.o.URL != "" && href != v.o.URL {
			v.find(ruleRSSSelf, href, "the feed has another URL")
		}
		if is := v.s.stated["@type"].text; !syntax.EqualFold(syntax.Essence(is), "application/rss+xml") {
			v.find(ruleRSSSelfType, is, "the type is not application/rss+xml")
		}
	case rel == "next" && v.sum.Next == "":
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
	switch v.version {
	case "0.90", "0.91":
		v.lacks(ruleRSSOld, "title", "link")
	case "0.92", "0.93", "0.94":
	default:
		if !s["title"].isSet && !s["description"].isSet {
			v.find(ruleRSSItem, "", "neither title nor description")
		}
		v.lacks(ruleRSSNoGuid, "guid")
	}
	for _, pair := range [...][2]string{{"author", "dc:creator"}, {"pubDate", "dc:date"}} {
		if other := s[pair[1]]; s[pair[0]].isSet && other.isSet {
			v.findAt(ruleRSSMeaning, other.position, pair[1], other.text, "the item has "+pair[0]+", too")
		}
	}
	rssExtended(v, s)
}

// rssExtended checks the elements of other namespaces in an item of RSS 2.0.
func rssExtended(v *rssValidator, s map[string]rssValue) {
	if content := s["content:encoded"]; content.isSet && !s["description"].isSet {
		v.findAt(ruleRSSEncoded, content.position, "content:encoded", "", "no description")
	} else if content.isSet && content.compare(s["description"].position) < 0 {
		v.findAt(ruleRSSEncoded, content.position, "content:encoded", "", "before the description")
	}
	if v.podcast {
		v.lacks(rulePodcastMissing, "title", "enclosure")
	}
	if v.serial && cmp.Or(s["itunes:episodeType"].text, "full") == "full" {
		v.lacks(rulePodcastMissing, "itunes:episode")
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

// podcastCategory checks a category, or a subcategory inside of one.
func podcastCategory(v *rssValidator, _ string) {
	text, parent := v.s.stated["@text"], v.s.parent
	if !text.isSet {
		return
	}
	if parent.name == "itunes:category" {
		above := parent.stated["@text"].text
		if text.text == "" || !slices.Contains(strings.Split(podcastCategories[above], "|"), text.text) {
			v.find(rulePodcastCategory, text.text, fmt.Sprintf("not a subcategory of %.100q", above))
		}
	} else if _, known := podcastCategories[text.text]; !known {
		v.find(rulePodcastCategory, text.text, "not a category of the list")
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

// podcastOld reports an element that is no longer described: the first of its name.
func podcastOld(v *rssValidator, _ string) {
	if !v.old[v.s.name] {
		v.old[v.s.name] = true
		v.find(rulePodcastOld, "", "no longer described; further ones are not reported")
	}
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
	"Science": "Astronomy|Chemistry|Earth Sciences|Life Sciences|Mathematics|Natural Sciences|Nature|Physics|" +
		"Social Sciences",
	"Society & Culture": "Documentary|Personal Journals|Philosophy|Places & Travel|Relationships",
	"Sports": "Baseball|Basketball|Cricket|Fantasy Sports|Football|Golf|Hockey|Rugby|Running|Soccer|Swimming|Tennis|" +
		"Volleyball|Wilderness|Wrestling",
	"Technology": "", "True Crime": "",
	"TV & Film": "After Shows|Film History|Film Interviews|Film Reviews|TV Reviews",
}

// longest is how many characters a text of RSS 0.91 may have, and one of RSS 1.0 should
// have: in an element, or anywhere.
var longest = map[string]int{
	"0.91 title": 100, "0.91 link": 500, "0.91 url": 500, "0.91 description": 500, "0.91 name": 20,
	"1.0 title": 40, "1.0 link": 500, "1.0 url": 500, "1.0 description": 500, "1.0 name": 500,
	"1.0 item/title": 100, "1.0 textinput/description": 100,
}

func (v *rssValidator) length(text string) {
	most, limited := longest[v.version+" "+v.s.parent.name+"/"+v.s.name]
	if !limited {
		most, limited = longest[v.version+" "+v.s.name]
	}
	if !limited || utf8.RuneCountInString(text) <= most {
		return
	}
	rule := ruleRDFLength
	if v.version == "0.91" {
		rule = ruleRSSOld
	}
	v.find(rule, text, fmt.Sprintf("more than %d characters", most))
}

// The children of other namespaces: those of which there may be one, and the others.
const (
	channelOne = " fh:complete fh:archive sy:updatePeriod sy:updateFrequency sy:updateBase itunes:title itunes:author" +
		" itunes:type itunes:image itunes:explicit itunes:new-feed-url itunes:block itunes:complete itunes:owner" +
		" itunes:summary itunes:subtitle itunes:keywords itunes:applepodcastsverify"
	channelMany = " itunes:category atom:link" + datesOfDublin + mediaMany
	itemOne     = " content:encoded slash:comments itunes:title itunes:author itunes:image itunes:explicit itunes:duration" +
		" itunes:episode itunes:season itunes:episodeType itunes:block itunes:summary itunes:subtitle itunes:keywords" +
		" itunes:order"
	itemMany      = " atom:link dc:creator media:group media:content" + datesOfDublin + mediaMany
	datesOfDublin = " dc:date dc:language dcterms:created dcterms:issued dcterms:modified dcterms:available dcterms:valid"
	mediaMany     = " media:adult media:rating media:title media:description media:keywords media:thumbnail media:category" +
		" media:hash media:player media:credit media:copyright media:text media:restriction media:community media:comments" +
		" media:embed media:responses media:backLinks media:status media:price media:license media:subTitle media:peerLink" +
		" media:location media:rights media:scenes"
)

type rssAttrs = map[string]rssCheck

// mediaForms are the forms of attributes of Media RSS.
var mediaForms = rssAttrs{
	"any":    nil,
	"url":    fault(ruleMediaValue, syntax.IRIFault[string]),
	"type":   fault(ruleMediaValue, syntax.MediaTypeFault[string]),
	"lang":   fault(ruleMediaValue, syntax.LanguageFault[string]),
	"number": between(ruleMediaValue, 0, math.MaxInt64),
	"real":   matches(ruleMediaValue, `^\d+(\.\d*)?$`, "not a number"),
	"time": matches(ruleMediaValue, `^(npt:)?(now|\d+(\.\d*)?|\d+:[0-5]?\d:[0-5]?\d(\.\d*)?)$`,
		"not a time such as 1:02:03.5 (RFC 2326 §3.6)"),
	"role":     matches(ruleMediaValue, `^\P{Lu}*$`, "a role with capitals"),
	"currency": matches(ruleMediaValue, `^[A-Z]{3}$`, "not a currency of three letters"),
}

// mediaAttrs reads attributes with their forms, or with the values that they may have.
func mediaAttrs(list string) rssAttrs {
	attrs := rssAttrs{}
	for _, field := range words(list) {
		name, form, _ := strings.Cut(field, "=")
		check, known := mediaForms[form]
		if !known {
			check = oneOf(ruleMediaValue, strings.ReplaceAll(form, "|", " "))
		}
		attrs[name] = check
	}
	return attrs
}

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
	mediaOf    = func(many string) *rssElement { return &rssElement{children: children("", many)} }
	mediaRated = oneOf(ruleMediaValue, "adult nonadult")
	mediaMD5   = matches(ruleMediaValue, `^[0-9a-fA-F]{32}$`, "not 32 hexadecimal digits")
)

// anyElement is an element whose value may be any text.
var anyElement = new(rssElement)

// rssElements are the elements that are checked, by their names with the usual prefix of
// their namespace. A path with the parent's name has precedence.
var rssElements = map[string]*rssElement{
	"rss": {attrs: rssAttrs{"version": func(v *rssValidator, value string) {
		v.version = value
		rssVersion(v, value)
	}}, children: children("channel", ""), rule: ruleRSSRoot, needs: words("channel"),
		check: func(v *rssValidator, _ string) { v.lacks(ruleRSSVersion, "@version") }},
	"RDF": {children: children("channel image textinput", "item"), rule: ruleRSSRoot, needs: words("channel")},
	"channel": {children: children("title link description language copyright managingEditor webMaster pubDate lastBuildDate"+
		" generator docs cloud ttl image rating textInput skipHours skipDays"+channelOne, "category item"+channelMany),
		rule: ruleRSSChannel, needs: words("title link description"), check: rssChannel},
	"title": plain, "link": isURL, "description": plain, "copyright": plain, "generator": plain, "name": plain,
	"docs": isURL, "url": isURL, "comments": isURL, "pubDate": isDate, "lastBuildDate": isDate,
	"managingEditor": isPerson, "webMaster": isPerson, "author": isPerson,
	"language": {check: rssLanguage}, "dc:language": {check: rssLanguage},
	"cloud": {attrs: rssAttrs{"domain": nil, "port": between(ruleRSSCloud, 1, 65535), "path": nil, "registerProcedure": nil,
		"protocol": oneOf(ruleRSSCloud, "xml-rpc soap http-post")},
		rule: ruleRSSCloud, needs: words("@domain @port @path @registerProcedure @protocol")},
	"ttl": {check: between(ruleRSSTTL, 1, math.MaxInt64)},
	"image": {children: children("url title link width height description", ""), check: rssImage,
		rule: ruleRSSImage, needs: words("url title link")},
	"width": rssSize(144), "height": rssSize(400),
	"textInput": {children: children("title description name link", ""),
		rule: ruleRSSTextInput, needs: words("title description name link")},
	"skipHours": {children: children("", "hour")}, "hour": {check: onlyOnce(ruleRSSSkipHours, skipHour)},
	"skipDays": {children: children("", "day")}, "day": {check: onlyOnce(ruleRSSSkipDays,
		oneOf(ruleRSSSkipDays, "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"))},

	"item": {children: children("title link description author comments guid pubDate source"+itemOne,
		"category enclosure"+itemMany), check: rssItem},
	"item/description": {check: rssHTML}, "content:encoded": {check: rssHTML},
	"category": {attrs: rssAttrs{"domain": nil}, check: rssPlain},
	"guid":     {attrs: rssAttrs{"isPermaLink": oneOf(ruleRSSGuid, "true false")}, check: rssGuid},
	"enclosure": {attrs: rssAttrs{"url": matches(ruleRSSFile, `^https?://[^/]`, "not a URL of HTTP"),
		"length": fault(ruleRSSFile, lengthFault),
		"type":   fault(ruleRSSFile, syntax.MediaTypeFault[string])},
		rule: ruleRSSEnclosure, needs: words("@url @length @type"), check: func(v *rssValidator, _ string) {
			if first, twice := v.s.parent.stated["enclosure"]; twice {
				v.find(ruleRSSEnclosures, "", fmt.Sprintf("another one is in line %d", first.line))
			}
		}},
	"source":         {attrs: rssAttrs{"url": rssURL}, rule: ruleRSSSource, needs: words("@url"), check: rssPlain},
	"slash:comments": {check: between(ruleRSSSlash, 0, math.MaxInt64)},
	"atom:link": {attrs: rssAttrs{"href": fault(ruleRSSLink, syntax.ReferenceFault[string]),
		"rel":  fault(ruleRSSLink, syntax.RelationFault[string]),
		"type": fault(ruleRSSLink, syntax.MediaTypeFault[string]), "hreflang": fault(ruleRSSLink, syntax.LanguageFault[string]),
		"title": nil, "length": fault(ruleRSSLink, lengthFault)},
		rule: ruleRSSLink, needs: words("@href"), check: rssLink},
	"fh:complete": isMark, "fh:archive": isMark,
	"dc:date": isW3CDate, "dcterms:created": isW3CDate, "dcterms:issued": isW3CDate, "dcterms:modified": isW3CDate,
	"sy:updateBase": isW3CDate, "sy:updatePeriod": {check: oneOf(ruleRDFModule, "hourly daily weekly monthly yearly")},
	"sy:updateFrequency": {check: between(ruleRDFModule, 1, math.MaxInt64)},

	"rdf:RDF": {children: children("channel image textinput", "item"), check: rdfRoot},
	"rdf:RDF/channel": {attrs: rssAttrs{"rdf:about": rdfAbout},
		children: children("title link description image items textinput"+channelOne, channelMany), rule: ruleRDFChild,
		needs: words("@rdf:about title link description items"),
		check: func(v *rssValidator, _ string) { v.sum.Kind = atom.FeedDocument }},
	"rdf:RDF/channel/image":     {attrs: rssAttrs{"rdf:resource": nil}, check: kept("@rdf:resource", "channel/%s")},
	"rdf:RDF/channel/textinput": {attrs: rssAttrs{"rdf:resource": nil}, check: kept("@rdf:resource", "channel/%s")},
	"items":                     {children: children("rdf:Seq", ""), rule: ruleRDFItems, needs: words("rdf:Seq")},
	"rdf:Seq":                   {children: children("", "rdf:li")},
	"rdf:li":                    {attrs: rssAttrs{"rdf:resource": nil, "resource": nil}, check: rdfListed},
	"rdf:RDF/image": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title url link", ""),
		rule: ruleRDFChild, needs: words("@rdf:about title url link"), check: kept("@rdf:about", "%s about")},
	"rdf:RDF/textinput": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title description name link", ""),
		rule: ruleRDFChild, needs: words("@rdf:about title description name link"), check: kept("@rdf:about", "%s about")},
	"rdf:RDF/item": {attrs: rssAttrs{"rdf:about": rdfAbout}, children: children("title link description"+itemOne, itemMany),
		rule: ruleRDFChild, needs: words("@rdf:about title link"), check: rdfItem},
	"rdf:RDF/item/description": {check: rssHTML},

	"media:group": mediaOf("media:content" + mediaMany),
	"media:content": {attrs: mediaAttrs("url=url fileSize=number type=type medium=image|audio|video|document|executable" +
		" isDefault=true|false expression=sample|full|nonstop bitrate=real framerate=real samplingrate=real channels=real" +
		" duration=number height=number width=number lang=lang"), children: children("", mediaMany), check: mediaContent},
	"media:adult": {check: func(v *rssValidator, _ string) { v.find(ruleMediaOld, "", "media:rating has replaced it") }},
	"media:rating": {attrs: mediaAttrs("scheme=url"),
		check: byAttribute("scheme", rssAttrs{"": mediaRated, "urn:simple": mediaRated})},
	"media:title": {attrs: mediaAttrs("type=plain|html")}, "media:description": {attrs: mediaAttrs("type=plain|html")},
	"media:thumbnail": {attrs: mediaAttrs("url=url width=number height=number time=time"),
		rule: ruleMediaRequired, needs: words("@url")},
	"media:player":   {attrs: mediaAttrs("url=url width=number height=number"), rule: ruleMediaRequired, needs: words("@url")},
	"media:category": {attrs: mediaAttrs("scheme=url label=any")},
	"media:hash": {attrs: mediaAttrs("algo=md5|sha-1"), check: byAttribute("algo", rssAttrs{"": mediaMD5, "md5": mediaMD5,
		"sha-1": matches(ruleMediaValue, `^[0-9a-fA-F]{40}$`, "not 40 hexadecimal digits")})},
	"media:credit":    {attrs: mediaAttrs("role=role scheme=url")},
	"media:copyright": {attrs: mediaAttrs("url=url")},
	"media:text":      {attrs: mediaAttrs("type=plain|html lang=lang start=time end=time")},
	"media:restriction": {attrs: mediaAttrs("relationship=allow|deny type=country|uri|sharing"),
		rule: ruleMediaRequired, needs: words("@relationship"), check: byAttribute("type", rssAttrs{
			"":        oneOf(ruleMediaValue, "all none"),
			"country": matches(ruleMediaValue, `^(?:[A-Za-z]{2}(?:\s+[A-Za-z]{2})*|all|none)$`, "not countries of two letters"),
			"uri":     matches(ruleMediaValue, `\S`, "no URI")})},
	"media:community":  mediaOf("media:starRating media:statistics media:tags"),
	"media:starRating": {attrs: mediaAttrs("average=real count=number min=number max=number")},
	"media:statistics": {attrs: mediaAttrs("views=number favorites=number")},
	"media:comments":   mediaOf("media:comment"),
	"media:responses":  mediaOf("media:response"),
	"media:backLinks":  mediaOf("media:backLink"),
	"media:backLink":   {check: mediaForms["url"]},
	"media:embed": {attrs: mediaAttrs("url=url width=number height=number"), children: children("", "media:param"),
		rule: ruleMediaRequired, needs: words("@url")},
	"media:param": {attrs: mediaAttrs("name=any"), rule: ruleMediaRequired, needs: words("@name")},
	"media:status": {attrs: mediaAttrs("state=active|blocked|deleted reason=any"),
		rule: ruleMediaRequired, needs: words("@state")},
	"media:price":    {attrs: mediaAttrs("type=rent|purchase|package|subscription info=url price=real currency=currency")},
	"media:license":  {attrs: mediaAttrs("type=type href=url")},
	"media:subTitle": {attrs: mediaAttrs("type=type lang=lang href=url")},
	"media:peerLink": {attrs: mediaAttrs("type=type href=url")},
	"media:location": {attrs: mediaAttrs("description=any start=time end=time"), children: children("", "")},
	"media:rights":   {attrs: mediaAttrs("status=userCreated|official")},
	"media:scenes":   mediaOf("media:scene"),
	"media:scene":    mediaOf("sceneTitle sceneDescription sceneStartTime sceneEndTime"),

	"itunes:image": {attrs: rssAttrs{"href": rssURL}, rule: rulePodcastMissing, needs: words("@href")},
	"itunes:category": {attrs: rssAttrs{"text": nil}, children: children("", "itunes:category"),
		rule: rulePodcastMissing, needs: words("@text"), check: podcastCategory},
	"itunes:owner": {children: children("itunes:name itunes:email", ""), rule: rulePodcastMail, needs: words("itunes:email")},
	"itunes:email": {check: fault(rulePodcastMail, syntax.EmailFault[string])},
	"itunes:title": plain, "itunes:author": plain, "itunes:new-feed-url": isURL, "itunes:explicit": {check: podcastExplicit},
	"itunes:duration": {check: matches(rulePodcastDuration, `^\d+(?::[0-5]?\d){0,2}$`,
		"neither seconds nor a time such as 1:02:03")},
	"itunes:episode": positive, "itunes:season": positive,
	"itunes:episodeType": {check: oneOf(rulePodcastType, "full trailer bonus")},
	"itunes:type": {check: func(v *rssValidator, value string) {
		v.serial = value == "serial"
		podcastType(v, value)
	}},
	"itunes:block": isFlag, "itunes:complete": isFlag,
	"itunes:summary": isOld, "itunes:subtitle": isOld, "itunes:keywords": isOld, "itunes:order": isOld,
}
