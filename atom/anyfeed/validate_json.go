package anyfeed

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/jsonscan"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	sectionTop         = "JSON Feed 1.1, Top-level"
	sectionItems       = "JSON Feed 1.1, Items"
	sectionAttachments = "JSON Feed 1.1, Attachments"
	sectionExtensions  = "JSON Feed 1.1, Extensions"
	sectionPublishers  = "JSON Feed 1.1, Suggestions for Publishers"
)

var jsonRules = document.NewRules("jsonfeed")

// JSON and the document.
var (
	ruleJSON          = jsonRules.Error("json", "RFC 8259", "what is not JSON")
	ruleJSONTruncated = jsonRules.Error("truncated", "RFC 8259", "the document ends too early")
	ruleJSONDocument  = jsonRules.Error("document", sectionTop, "a document that is not a JSON Feed, or that can't be read")
	ruleJSONGzip      = jsonRules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
	ruleJSONEncoding  = jsonRules.Error("encoding", "RFC 8259 §8.1", "bytes that are not UTF-8, or a byte-order mark")
	ruleJSONCharacter = jsonRules.Warning("character", "RFC 8259 §7, §8.2",
		"a control character without an escape, half of a surrogate pair, or a character that XML does not have")
	ruleJSONTwice = jsonRules.Error("duplicate", "RFC 8259 §4", "two members of one name, of which one is lost")
	ruleJSONType  = jsonRules.Error("type", sectionTop, "a member of another type than the specification states")
	ruleJSONName  = jsonRules.Warning("unknown-member", sectionExtensions,
		"a member that the specification does not have, and that is no extension")
	ruleJSONSize = jsonRules.Warning("size", sectionPublishers, "more than 1 MB, which is a burden for readers")
)

// The feed.
var (
	ruleJSONVersion = jsonRules.Error("version", sectionTop, "a version that is not the URL of one")
	ruleJSONFirst   = jsonRules.Warning("version-first", sectionTop, "a version that is not the first member")
	ruleJSONTitle   = jsonRules.Error("title", sectionTop, "a feed without a title")
	ruleJSONHome    = jsonRules.Warning("home-page", sectionTop, "a feed without home_page_url")
	ruleJSONSelf    = jsonRules.Warning("feed-url", sectionTop, "a feed without feed_url, or with another than its own")
	ruleJSONNext    = jsonRules.Error("next-url", sectionTop, "a next_url that is the feed_url")
	ruleJSONIcon    = jsonRules.Warning("icon", sectionPublishers, "a feed without icon or favicon")
	ruleJSONHub     = jsonRules.Error("hub", sectionTop, "a hub without type or url")
	ruleJSONTopic   = jsonRules.Error("hub-topic", "JSON Feed 1.1, Subscribing to Real-time Notifications",
		"a hub of WebSub, and no feed_url that is its topic")
	ruleJSONAuthor     = jsonRules.Error("author", sectionTop, "an author without name, url and avatar")
	ruleJSONDeprecated = jsonRules.Warning("deprecated", "JSON Feed 1.1, Deprecations",
		"an author beside which there are no authors")
	ruleJSONLanguage = jsonRules.Error("language", sectionTop, "a language that is not one of RFC 5646")
	ruleJSONURL      = jsonRules.Error("url", sectionTop, "what must be a URL and is not an absolute one")
)

// Items and extensions.
var (
	ruleJSONID       = jsonRules.Error("id", sectionItems, "an item without an id")
	ruleJSONIDTwice  = jsonRules.Error("id-duplicate", sectionItems, "two items of one id")
	ruleJSONIDURL    = jsonRules.Info("id-url", sectionItems, "an id that is not a URL: the first of the document")
	ruleJSONItemURL  = jsonRules.Warning("item-url", sectionItems, "an item without url")
	ruleJSONContent  = jsonRules.Error("content", sectionItems, "an item without content_html and content_text")
	ruleJSONMarkup   = jsonRules.Warning("markup", sectionItems, "what looks like HTML where only plain text may be")
	ruleJSONDate     = jsonRules.Error("date", sectionItems, "a date that is not RFC 3339")
	ruleJSONFuture   = jsonRules.Warning("date-future", sectionItems, "a date more than a day ahead")
	ruleJSONAttached = jsonRules.Error("attachment", sectionAttachments, "an attachment without url or mime_type")
	ruleJSONMedia    = jsonRules.Error("mime-type", sectionAttachments, "a mime_type that is not a media type")
	ruleJSONNumber   = jsonRules.Error("number", sectionAttachments,
		"a size or duration that is negative, or a size that is no whole number")
	ruleJSONCustom = jsonRules.Error("extension-name", sectionExtensions,
		"an extension whose name does not start with _ and a letter, or a name with a dot or, inside of it, with _")
	ruleJSONKey   = jsonRules.Warning("extension-key", sectionExtensions, "a name in an extension that is not alphanumeric")
	ruleJSONAbout = jsonRules.Warning("extension-about", sectionExtensions,
		"an extension that is used twice and nowhere says what it is about")
)

// JSONRules returns every rule of [ValidateJSON], in the order of the source.
func JSONRules() []websync.Rule { return jsonRules.All() }

// ValidateJSON reads one document, and reports every departure from JSON Feed 1.1 and
// from JSON (RFC 8259): see [JSONRules]. A feed of version 1.0 is valid, too.
//
// The options are used as by [atom.Validate], but Item and Feed are not, and MaxBytes is
// 16 MiB if it is zero, because the document is read into memory. The Summary has no
// times of items. The error is one of src, or that the document is not a JSON Feed, is
// cut short, damaged or too long, which is reported, too.
func ValidateJSON(src io.Reader, o atom.ValidateOptions) (atom.Summary, error) {
	v := &jsonValidator{o: o, ids: map[string]int{}, custom: map[string]*extension{}}
	v.reports = document.Reports{Format: "jsonfeed", Document: o.Document, Lenient: o.Lenient}
	v.reports.To = document.Counting(&v.sum.Counts, o.Report)
	source := &document.Source{Src: src}
	err := v.read(source)
	if parse, rule, ok := source.Blame(err, ruleJSONTruncated, ruleJSONDocument, ruleJSON); ok {
		v.reports.Loss(rule, parse.Line, parse.Column, parse.Element, nil, parse.Err.Error())
	}
	v.sum.Skipped = v.reports.Skipped
	return v.sum, err
}

// A jsonValidator makes the checks of ValidateJSON.
type jsonValidator struct {
	*jsonscan.Scanner
	text    string // of the document
	o       atom.ValidateOptions
	doc     document.Document
	reports document.Reports
	sum     atom.Summary
	ids     map[string]int // the line of the item
	custom  map[string]*extension
	offset  int  // of what is checked
	hasHub  bool // of WebSub
	isFeed  bool // the version is known
	isList  bool // there is a list of items
	isNamed bool // an id that is no URL was reported
}

// An extension is what is known of the extensions of one name.
type extension struct {
	uses   int
	about  bool
	offset int // of the second use
}

// find reports a departure of what is checked.
func (v *jsonValidator) find(rule websync.Rule, name, value, message string) {
	line, column := v.Position(v.offset)
	v.reports.Add(rule, line, column, name, []byte(value), message)
}

// read reads the document into memory, and checks it.
func (v *jsonValidator) read(src io.Reader) error {
	limit := v.o.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	v.doc = document.Document{
		Kind: document.Kind{Format: "jsonfeed", Name: "a JSON Feed", Else: "not JSON"}, URL: v.o.Document,
		Report: func(_ document.Departure, _, _ int, value []byte, message string) {
			v.reports.Add(ruleJSONGzip, 0, 0, "", value, message)
		},
	}
	if err := v.doc.Open(src, limit); err != nil {
		return err
	}
	data, err := v.doc.All()
	if err != nil {
		return err
	}
	v.sum.Bytes = int64(len(data))
	text, marked := strings.CutPrefix(string(data), document.ByteOrderMark)
	v.Scanner, v.text = jsonscan.New(text), text
	switch {
	case marked:
		v.find(ruleJSONEncoding, "", "", "a byte-order mark")
	case !utf8.ValidString(text):
		for r, n := rune(0), 0; r != utf8.RuneError || n > 1; v.offset += n {
			r, n = utf8.DecodeRuneInString(text[v.offset:])
		}
		v.offset--
		v.find(ruleJSONEncoding, "", "", "a byte that is not UTF-8")
	}
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || start[0] != '{' {
		return v.doc.NotThis([]byte(text[:min(len(text), headSize)]))
	}
	if len(text) > 1e6 {
		v.find(ruleJSONSize, "", "", fmt.Sprintf("%d bytes", len(text)))
	}
	v.Fault = func(offset int) {
		v.offset = offset
		v.find(ruleJSONCharacter, "", "", "what is no character, or none that XML has")
	}
	v.object(&jsonFeed)
	if err := v.End(); err != nil {
		line, column := v.Position(v.Offset())
		return v.doc.Fail(line, column, "", err)
	}
	switch {
	case !v.isFeed:
		return v.doc.Fail(1, 1, "", v.doc.Not("JSON that is no JSON Feed"))
	case !v.isList:
		return v.doc.Fail(1, 1, "", v.doc.Not("a JSON Feed without items"))
	}
	for _, name := range slices.Sorted(maps.Keys(v.custom)) {
		if x := v.custom[name]; x.uses > 1 && !x.about {
			v.offset = x.offset
			v.find(ruleJSONAbout, name, "", "used twice, and nowhere with an about")
		}
	}
	return nil
}

// A jsonObject is what an object of JSON Feed has.
type jsonObject struct {
	members map[string]jsonMember
	end     func(v *jsonValidator, stated map[string]string) // checks the whole
}

// A jsonMember is what a value must be.
type jsonMember struct {
	kind   byte // as jsonscan.Scanner.Kind has it; 't' for both booleans
	check  func(v *jsonValidator, name, text string)
	object *jsonObject
	of     *jsonMember // of an array
}

var (
	anyText   = jsonMember{kind: '"'}
	plainText = jsonMember{kind: '"', check: (*jsonValidator).plain}
	anyURL    = jsonMember{kind: '"', check: (*jsonValidator).url}
	date      = jsonMember{kind: '"', check: (*jsonValidator).date}
	language  = jsonMember{kind: '"', check: func(v *jsonValidator, name, text string) {
		if fault := syntax.LanguageFault(text); fault != "" {
			v.find(ruleJSONLanguage, name, text, fault)
		}
	}}
	number = jsonMember{kind: '0', check: func(v *jsonValidator, name, text string) {
		if text[0] == '-' || name == "size_in_bytes" && strings.ContainsAny(text, ".eE") {
			v.find(ruleJSONNumber, name, text, "negative, or not a whole number")
		}
	}}
	author = jsonMember{kind: '{', object: &jsonObject{
		members: map[string]jsonMember{"name": plainText, "url": anyURL, "avatar": anyURL},
		end: func(v *jsonValidator, stated map[string]string) {
			if stated["name"]+stated["url"]+stated["avatar"] == "" {
				v.find(ruleJSONAuthor, "authors", "", "neither name nor url nor avatar")
			}
		},
	}}
	authors = jsonMember{kind: '[', of: &author}
	hubs    = jsonMember{kind: '[', of: &jsonMember{kind: '{', object: &jsonObject{
		members: map[string]jsonMember{"type": anyText, "url": anyURL},
		end: func(v *jsonValidator, stated map[string]string) {
			v.require(ruleJSONHub, "hubs", stated, "type", "url")
			v.hasHub = v.hasHub || strings.EqualFold(stated["type"], "WebSub")
		},
	}}}
	attachments = jsonMember{kind: '[', of: &jsonMember{kind: '{', object: &jsonObject{
		members: map[string]jsonMember{"url": anyURL, "title": plainText, "size_in_bytes": number, "duration_in_seconds": number,
			"mime_type": {kind: '"', check: func(v *jsonValidator, name, text string) {
				if fault := syntax.MediaTypeFault(text); fault != "" {
					v.find(ruleJSONMedia, name, text, fault)
				}
			}}},
		end: func(v *jsonValidator, stated map[string]string) {
			v.require(ruleJSONAttached, "attachments", stated, "url", "mime_type")
		},
	}}}
	tags     = jsonMember{kind: '[', of: &plainText}
	jsonItem = jsonObject{
		members: map[string]jsonMember{"id": anyText, "url": anyURL, "external_url": anyURL, "title": plainText,
			"content_html": anyText, "content_text": anyText, "summary": plainText, "image": anyURL, "banner_image": anyURL,
			"date_published": date, "date_modified": date, "author": author, "authors": authors, "tags": tags,
			"language": language, "attachments": attachments},
		end: (*jsonValidator).item,
	}
	jsonFeed = jsonObject{
		members: map[string]jsonMember{"version": anyText, "title": plainText, "home_page_url": anyURL, "feed_url": anyURL,
			"description": plainText, "user_comment": anyText, "next_url": anyURL, "icon": anyURL, "favicon": anyURL,
			"author": author, "authors": authors, "language": language, "expired": {kind: 't'}, "hubs": hubs,
			"items": {kind: '[', of: &jsonMember{kind: '{', object: &jsonItem}}},
		end: (*jsonValidator).feed,
	}
)

// object checks an object.
func (v *jsonValidator) object(o *jsonObject) {
	start, first := v.Offset(), true
	stated := map[string]string{}
	for name := range v.Members() {
		v.offset = v.Offset()
		if _, twice := stated[name]; twice {
			v.find(ruleJSONTwice, name, "", "a second member of the name")
			continue
		}
		switch m, known := o.members[name]; {
		case known:
			stated[name] = v.value(name, m)
			if name == "version" && !first {
				v.find(ruleJSONFirst, name, "", "not the first member")
			}
		case strings.HasPrefix(name, "_"):
			stated[name] = ""
			v.extension(name)
		default:
			stated[name] = ""
			v.find(ruleJSONName, name, "", "a member that JSON Feed does not have")
		}
		first = false
	}
	v.offset = start
	o.end(v, stated)
}

// value checks a value, and returns it if it is neither an array nor an object; of an
// array, its bracket.
func (v *jsonValidator) value(name string, m jsonMember) string {
	from := v.Offset()
	v.offset = from
	kind := v.Kind()
	if kind == 'f' {
		kind = 't'
	}
	text := ""
	switch {
	case kind != m.kind:
		v.find(ruleJSONType, name, "", "a value of another type than the specification states")
		if v.Skip(); kind == '0' {
			text = v.Since(from)
		}
		return text
	case kind == '[':
		for range v.Elements() {
			v.value(name, *m.of)
		}
		return "["
	case kind == '{':
		v.object(m.object)
		return text
	case kind == '"':
		text, _ = v.Text()
		if strings.ContainsFunc(v.text[from:v.Offset()], func(r rune) bool { return r < ' ' }) {
			v.find(ruleJSONCharacter, name, "", "a control character without an escape")
		}
	default:
		v.Skip()
		text = v.Since(from)
	}
	if v.offset = from; m.check != nil {
		m.check(v, name, text)
	}
	return text
}

// require reports each of the names that is not stated.
func (v *jsonValidator) require(rule websync.Rule, element string, stated map[string]string, names ...string) {
	for _, name := range names {
		if stated[name] == "" {
			v.find(rule, element, "", "no "+name)
		}
	}
}

var markup = regexp.MustCompile(`</?[A-Za-z][^<>]*>|&(?:[A-Za-z]+|#[0-9]+);`)

// plain checks plain text.
func (v *jsonValidator) plain(name, text string) {
	if found := markup.FindString(text); found != "" {
		v.find(ruleJSONMarkup, name, found, "looks like HTML in what is plain text")
	}
}

func (v *jsonValidator) url(name, text string) {
	if fault := syntax.IRIFault(text); fault != "" {
		v.find(ruleJSONURL, name, text, fault)
	}
}

func (v *jsonValidator) date(name, text string) {
	d, err := websync.ParseDatetime(text)
	switch {
	case err != nil || d.Precision() < websync.PrecisionSecond:
		v.find(ruleJSONDate, name, text, "not a date and time of RFC 3339")
	case !v.o.Now.IsZero() && d.Time().After(v.o.Now.Add(24*time.Hour)):
		v.find(ruleJSONFuture, name, text, "more than a day ahead")
	}
}

var extensionName = regexp.MustCompile(`^_\pL[^.]*$`)

// extension checks an extension, and what is in it.
func (v *jsonValidator) extension(name string) {
	x := v.custom[name]
	if x == nil {
		x = new(extension)
		v.custom[name] = x
	}
	if x.uses++; x.uses == 2 {
		x.offset = v.offset
	}
	if !extensionName.MatchString(name) {
		v.find(ruleJSONCustom, name, "", "not _ and a letter, or a name with a dot")
	}
	if v.Kind() != '{' {
		v.within()
		return
	}
	for member := range v.Members() {
		x.about = x.about || member == "about"
		v.key(member)
	}
}

// within checks the names in a value of an extension.
func (v *jsonValidator) within() {
	if v.Kind() == '[' {
		for range v.Elements() {
			v.within()
		}
		return
	}
	for member := range v.Members() {
		v.key(member)
	}
}

var alphanumeric = regexp.MustCompile(`^[0-9A-Za-z_]*$`)

// key checks a name in an extension, and its value.
func (v *jsonValidator) key(name string) {
	v.offset = v.Offset()
	switch {
	case strings.HasPrefix(name, "_"), strings.Contains(name, "."):
		v.find(ruleJSONCustom, name, "", "a name in an extension that starts with _, or has a dot")
	case !alphanumeric.MatchString(name):
		v.find(ruleJSONKey, name, "", "not alphanumeric")
	}
	v.within()
}

// item checks an item as a whole.
func (v *jsonValidator) item(stated map[string]string) {
	id := strings.TrimSpace(stated["id"])
	if id == "" {
		if stated["url"] == "" {
			v.reports.Skipped++
		}
		v.find(ruleJSONID, "id", "", "no id")
	} else {
		line, _ := v.Position(v.offset)
		if earlier, twice := v.ids[id]; twice {
			v.find(ruleJSONIDTwice, "id", id, fmt.Sprintf("the item in line %d has this id, too", earlier))
		} else {
			v.ids[id] = line
		}
		if syntax.IRIFault(id) != "" && !v.isNamed {
			v.isNamed = true
			v.find(ruleJSONIDURL, "id", id, "not a URL; further ones are not reported")
		}
	}
	v.sum.Entries++
	if stated["url"] == "" {
		v.find(ruleJSONItemURL, "url", "", "no url")
	}
	if stated["content_html"]+stated["content_text"] == "" {
		v.find(ruleJSONContent, "items", id, "neither content_html nor content_text")
	}
	v.deprecated(stated)
}

// deprecated reports an author of version 1.0, unless there are authors, too.
func (v *jsonValidator) deprecated(stated map[string]string) {
	_, isOne := stated["author"]
	if _, several := stated["authors"]; isOne && !several {
		v.find(ruleJSONDeprecated, "author", "", "author, and no authors")
	}
}

var jsonVersion = regexp.MustCompile(`^https://jsonfeed\.org/version/1(\.1)?$`)

// feed checks the feed as a whole.
func (v *jsonValidator) feed(stated map[string]string) {
	_, _, v.isFeed = strings.Cut(stated["version"], "//jsonfeed.org/version/")
	v.isList = stated["items"] == "["
	if !v.isFeed || !v.isList {
		return
	}
	self, next := stated["feed_url"], stated["next_url"]
	v.sum.Kind, v.sum.ID, v.sum.Self, v.sum.Next = atom.FeedDocument, self, self, next
	if version := stated["version"]; !jsonVersion.MatchString(version) {
		v.find(ruleJSONVersion, "version", version, "neither https://jsonfeed.org/version/1 nor https://jsonfeed.org/version/1.1")
	}
	v.require(ruleJSONTitle, "title", stated, "title")
	v.require(ruleJSONHome, "home_page_url", stated, "home_page_url")
	v.require(ruleJSONSelf, "feed_url", stated, "feed_url")
	v.require(ruleJSONIcon, "icon", stated, "icon", "favicon")
	if self != "" && v.o.URL != "" && self != v.o.URL {
		v.find(ruleJSONSelf, "feed_url", self, "the feed has another URL")
	}
	if self != "" && self == next {
		v.find(ruleJSONNext, "next_url", next, "the feed_url")
	}
	if v.hasHub && self == "" {
		v.find(ruleJSONTopic, "hubs", "", "a hub of WebSub, and no feed_url")
	}
	v.deprecated(stated)
}
