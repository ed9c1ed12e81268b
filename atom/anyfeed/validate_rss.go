package anyfeed

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const (
	sectionChannel   = "RSS 2.0, Required and optional channel elements"
	sectionItem      = "RSS 2.0, Elements of item"
	sectionExtending = "RSS 2.0, Extending RSS"
	sectionComments  = "RSS 2.0, Comments"
	sectionCharacter = "RSS Profile, Character Data"
	sectionDates     = "RSS Profile, Date and Time"
	sectionSelf      = "RSS Profile, atom:link"
	sectionRDF       = "RSS 1.0 §5"
	sectionPodcast   = "Apple Podcasts, Podcast RSS feed requirements"
	sectionMedia     = "Media RSS 1.5.1"
)

var rssRules = document.NewRules("rss")

// XML and the document.
var (
	ruleRSSXML       = rssRules.Error("xml", "XML 1.0", "XML that is not well-formed")
	ruleRSSTruncated = rssRules.Error("truncated", "XML 1.0", "the document ends too early")
	ruleRSSDocument  = rssRules.Error("document", "RSS 2.0, What is RSS?", "a document that is not RSS, or that can't be read")
	ruleRSSPrologue  = rssRules.Error("prologue", "XML 1.0 §2.8", "a line before the XML declaration")
	ruleRSSEncoding  = rssRules.Info("encoding", "XML 1.0 §4.3.3", "another encoding than UTF-8")
	ruleRSSDoctype   = rssRules.Info("doctype", "XML 1.0 §2.8", "a DOCTYPE, which some readers refuse")
	ruleRSSGzip      = rssRules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
	ruleRSSNamespace = rssRules.Error("namespace", "XML Namespaces 1.0 §2.3",
		"a namespace that is almost that of RSS or of an extension")
)

// rssDocumentRules are the rules that departures break.
var rssDocumentRules = [...]websync.Rule{
	document.Compression: ruleRSSGzip,
	document.Preamble:    ruleRSSPrologue,
	document.Fault:       ruleRSSXML,
	document.Encoding:    ruleRSSEncoding,
	document.Doctype:     ruleRSSDoctype,
}

// Elements and their values.
var (
	ruleRSSVersion = rssRules.Error("version", "RSS 2.0, What is RSS?", "rss without a version, or with an unknown one")
	ruleRSSRoot    = rssRules.Error("root", "RSS 2.0, What is RSS?", "a root element without a channel")
	ruleRSSChannel = rssRules.Error("channel-child", sectionChannel, "a channel without title, link or description")
	ruleRSSItem    = rssRules.Error("item-child", sectionItem, "an item without title and description")
	ruleRSSTwice   = rssRules.Error("element-twice", sectionItem, "a second one of an element that may be there once")
	ruleRSSUnknown = rssRules.Error("unknown-element", sectionExtending,
		"an element without a namespace that its parent does not have")
	ruleRSSAttribute = rssRules.Error("unknown-attribute", sectionExtending, "an attribute that its element does not have")
	ruleRSSBetween   = rssRules.Error("text-between", sectionExtending, "text between the elements")
	ruleRSSInside    = rssRules.Error("value-element", sectionCharacter, "an element inside a value")
	ruleRSSMarkup    = rssRules.Warning("markup", sectionCharacter, "what looks like HTML where only plain text may be")
	ruleRSSURL       = rssRules.Error("url", sectionComments, "what must be a URL and is not an absolute one")
	ruleRSSScheme    = rssRules.Warning("url-scheme", sectionComments, "a URL whose scheme is not registered")
	ruleRSSDate      = rssRules.Error("date", sectionDates, "a date that is not one of RFC 822")
	ruleRSSDateForm  = rssRules.Warning("date-form", sectionDates,
		"a year of two digits, a military time zone, a comment, or another weekday than that of the date")
	ruleRSSFuture   = rssRules.Warning("date-future", "RSS Profile, pubDate", "a date more than a day ahead")
	ruleRSSLanguage = rssRules.Error("language", sectionChannel, "a language that is not one of RFC 5646")
	ruleRSSPerson   = rssRules.Error("person", sectionChannel, "a person who is not an e-mail address with or without a name")
	ruleRSSName     = rssRules.Warning("person-form", "RSS Profile, E-mail Addresses",
		"a person who is not in the form address (name)")
)

// The channel.
var (
	ruleRSSCloud = rssRules.Error("cloud", "RSS 2.0, cloud",
		"a cloud without one of its attributes, or whose port or protocol is none")
	ruleRSSTTL       = rssRules.Error("ttl", "RSS 2.0, ttl", "a ttl that is not a positive number of minutes")
	ruleRSSImage     = rssRules.Error("image", "RSS 2.0, image", "an image without url, title or link")
	ruleRSSImageSize = rssRules.Error("image-size", "RSS 2.0, image",
		"a width that is not 1 to 144, or a height that is not 1 to 400")
	ruleRSSImageSame = rssRules.Warning("image-same", "RSS Profile, image",
		"an image whose title or link is not that of the channel")
	ruleRSSTextInput = rssRules.Error("text-input", "RSS 2.0, textInput", "a textInput without title, description, name or link")
	ruleRSSSkipHours = rssRules.Error("skip-hours", "RSS 2.0, skipHours", "an hour that is not 0 to 23, or that is there twice")
	ruleRSSSkipDays  = rssRules.Error("skip-days", "RSS 2.0, skipDays",
		"a day that is not the English name of one, or that is there twice")
	ruleRSSSelf     = rssRules.Warning("self", sectionSelf, "a feed without a link to itself, or with another than its own")
	ruleRSSSelfType = rssRules.Warning("self-type", sectionSelf,
		"a link to the feed itself whose type is not application/rss+xml")
	ruleRSSLink = rssRules.Error("atom-link", "RFC 4287 §4.2.7",
		"a link of Atom without href, or an attribute of it that is not of its form")
	ruleRSSHistory = rssRules.Error("history", "RFC 5005 §2, §4", "fh:complete or fh:archive that is not empty")
	ruleRSSOld     = rssRules.Error("version-091", "RSS 0.91",
		"an item of RSS 0.90 or 0.91 without title or link, or 0.91 without a language or with a text that is too long")
)

// Items.
var (
	ruleRSSGuid = rssRules.Error("guid", "RSS 2.0, guid",
		"a guid that is empty, isPermaLink that is neither true nor false, or a permanent link that is no URL")
	ruleRSSNoGuid    = rssRules.Warning("guid-missing", "RSS Profile, guid", "an item without a guid")
	ruleRSSGuidTwice = rssRules.Error("guid-duplicate", "RSS 2.0, guid", "two items of one guid")
	ruleRSSEnclosure = rssRules.Error("enclosure", "RSS 2.0, enclosure", "an enclosure without url, length or type")
	ruleRSSFile      = rssRules.Error("enclosure-value", "RSS 2.0, enclosure",
		"a url that is not one of HTTP, a length that is not a number of bytes, or a type that is not a media type")
	ruleRSSEnclosures = rssRules.Warning("enclosures", "RSS Profile, enclosure", "an item with more than one enclosure")
	ruleRSSSource     = rssRules.Error("source", "RSS 2.0, source", "a source without a url")
	ruleRSSRelative   = rssRules.Warning("relative", "RSS Profile, description", "HTML with a relative URL")
	ruleRSSEncoded    = rssRules.Warning("content", "RSS Profile, content:encoded",
		"content:encoded without a description, or before it")
	ruleRSSMeaning = rssRules.Warning("same-meaning", "RSS Profile, dc:creator", "two elements of one meaning")
	ruleRSSSlash   = rssRules.Error("slash-comments", "RSS Profile, slash:comments", "slash:comments that is not a number")
)

// RSS 1.0 and its modules.
var (
	ruleRDFChild = rssRules.Error("rdf-child", sectionRDF, "an element of RSS 1.0 without a child that it must have")
	ruleRDFAbout = rssRules.Error("rdf-about", sectionRDF, "rdf:about that is missing or not an absolute URI")
	ruleRDFTwice = rssRules.Error("rdf-about-duplicate", "RSS 1.0 §5.3, §5.5", "two elements of one rdf:about")
	ruleRDFItems = rssRules.Error("rdf-items", "RSS 1.0 §5.3.5", "items that are not those of the document")
	ruleRDFRefer = rssRules.Error("rdf-resource", "RSS 1.0 §5.3.4, §5.3.6",
		"an image or textinput of the channel that is not the one of the document")
	ruleRDFLink   = rssRules.Info("rdf-link", "RSS 1.0 §5.5", "an item whose link is not its rdf:about")
	ruleRDFLength = rssRules.Info("rdf-length", sectionRDF, "a text that is longer than is suggested, or more than 15 items")
	ruleRDFModule = rssRules.Error("syndication", "RSS 1.0 Syndication",
		"an element of the module with another value than it may have")
	ruleRSSDublin = rssRules.Error("dublin-core", "Dublin Core 1.1, date; DCMI Terms", "a date that is not a W3C date")
)

// Media RSS.
var (
	ruleMediaContent = rssRules.Error("media-content", "Media RSS 1.5.1, media:content",
		"content with neither url nor media:player")
	ruleMediaRequired = rssRules.Error("media-required", sectionMedia, "an element without an attribute that it must have")
	ruleMediaValue    = rssRules.Error("media-value", sectionMedia, "an attribute or a text that is not of its form")
	ruleMediaDefault  = rssRules.Error("media-default", "Media RSS 1.5.1, media:content", "a second default of one group")
	ruleMediaUnknown  = rssRules.Warning("media-unknown", sectionMedia,
		"an element or an attribute that Media RSS does not have, or not there")
	ruleMediaOld = rssRules.Warning("media-adult", "Media RSS 1.5.1, media:rating", "media:adult, which is deprecated")
)

// Podcasts.
var (
	rulePodcastMissing = rssRules.Error("itunes-missing", sectionPodcast, "a podcast without something that it must have")
	rulePodcastAdvised = rssRules.Warning("itunes-recommended", sectionPodcast,
		"a podcast without something that it should have")
	rulePodcastExplicit = rssRules.Error("itunes-explicit", sectionPodcast, "itunes:explicit that is neither true nor false")
	rulePodcastCategory = rssRules.Error("itunes-category", "Apple Podcasts, categories",
		"a category or a subcategory that is not one of the list")
	rulePodcastDuration = rssRules.Error("itunes-duration", sectionPodcast,
		"itunes:duration that is neither a number of seconds nor a time such as 1:02:03")
	rulePodcastNumber = rssRules.Error("itunes-number", sectionPodcast, "an episode or a season that is not a number from 1")
	rulePodcastType   = rssRules.Error("itunes-type", sectionPodcast,
		"itunes:type or itunes:episodeType with another value than it may have")
	rulePodcastFlag = rssRules.Warning("itunes-flag", sectionPodcast,
		"itunes:block or itunes:complete that is not Yes, which has no effect")
	rulePodcastMail = rssRules.Error("itunes-email", sectionPodcast, "an owner without an e-mail address")
	rulePodcastOld  = rssRules.Info("itunes-old", sectionPodcast, "an element or a value that is no longer described")
	rulePodcastElse = rssRules.Warning("itunes-unknown", sectionPodcast,
		"an element or an attribute that Apple does not describe, or not there")
)

// RSSRules returns every rule of [ValidateRSS], in the order of the source.
func RSSRules() []websync.Rule { return rssRules.All() }

// ValidateRSS reads one document, and reports every departure from RSS 2.0 and 0.9x with
// the RSS Board's profile, or from RSS 1.0, and from what Media RSS, Apple Podcasts, Atom,
// RFC 5005, Dublin Core and the modules of RSS 1.0 demand of their elements in it: see
// [RSSRules].
//
// The options are used as by [atom.Validate], but Item and Feed are not. The Summary has
// no times of items, no ID, and no links but Self and Next. The error is one of src, or
// that the document is not RSS, is cut short, damaged or too long, which is reported, too.
//
// It needs memory for one item, of which it checks the first 8 MiB of each text, and
// about 100 bytes for each of the first million identifiers of items to find duplicates.
func ValidateRSS(src io.Reader, o atom.ValidateOptions) (atom.Summary, error) {
	if o.URL == "" && syntax.Scheme(o.Document) > 1 {
		o.URL = o.Document
	}
	v := &rssValidator{o: o, seed: maphash.MakeSeed(), ids: map[uint64]rssID{}, prefixes: map[string]string{xmlNamespace: "xml:"},
		old: map[string]bool{}}
	v.reports = document.Reports{Format: "rss", Document: o.Document, Lenient: o.Lenient}
	v.reports.To = document.Counting(&v.sum.Counts, o.Report)
	v.doc = document.Document{
		Kind: document.Kind{Format: "rss", Name: "an RSS feed", Else: "not XML"}, URL: o.Document,
		Report: func(d document.Departure, line, column int, value []byte, message string) {
			v.reports.Add(rssDocumentRules[d], line, column, "", value, message)
		},
	}
	source := &document.Source{Src: src}
	err := v.read(source)
	if parse, rule, ok := source.Blame(err, ruleRSSTruncated, ruleRSSDocument, ruleRSSXML); ok {
		v.reports.Loss(rule, parse.Line, parse.Column, parse.Element, nil, parse.Err.Error())
	}
	v.sum.Bytes, v.sum.Skipped = v.doc.Size(), v.reports.Skipped
	return v.sum, err
}

// An rssValidator makes the checks of ValidateRSS.
type rssValidator struct {
	o       atom.ValidateOptions
	doc     document.Document
	xml     *document.XML
	reports document.Reports
	sum     atom.Summary

	s        *rssScope         // the element that is checked
	attr     string            // its attribute that is checked, with a colon
	prefixes map[string]string // of the namespaces that RSS or an extension has

	isRDF   bool
	version string
	podcast bool            // there is an element of Apple Podcasts
	serial  bool            // whose episodes have numbers
	old     map[string]bool // elements that are no longer described, and were reported

	seed maphash.Seed
	ids  map[uint64]rssID
}

// An rssScope is an element that is open.
type rssScope struct {
	*rssElement
	parent *rssScope
	name   string // with the usual prefix of its namespace
	key    string // in rssElements
	position
	stated map[string]rssValue // the first of each attribute and child
}

type position struct{ line, column int }

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.line, o.line), cmp.Compare(p.column, o.column))
}

// An rssValue is an attribute or a child of an element.
type rssValue struct {
	position
	text  string
	isSet bool // it is there, and not the empty text of a child
}

// An rssID is a guid or an rdf:about.
type rssID struct {
	stated, listed position // where an element has it, and where the items of RSS 1.0 list it
	item           bool     // the element is an item
}

func whereStated(id *rssID) *position { return &id.stated }

func whereListed(id *rssID) *position { return &id.listed }

const (
	maxIDs    = 1 << 20
	maxText   = 8 << 20
	maxSpaces = 100 // namespaces that are almost known count, too
)

// find reports a departure of the element that is checked.
func (v *rssValidator) find(rule websync.Rule, value, message string) {
	v.findAt(rule, v.s.position, v.s.name, value, v.attr+message)
}

func (v *rssValidator) findAt(rule websync.Rule, at position, name, value, message string) {
	v.reports.Add(rule, at.line, at.column, name, []byte(value), message)
}

// read checks the document.
func (v *rssValidator) read(src io.Reader) (err error) {
	if err = v.doc.Open(src, v.o.MaxBytes); err != nil {
		return err
	}
	if v.xml, err = v.doc.XML(); err != nil {
		return err
	}
	at, root := v.at(), v.xml.Name()
	switch {
	case root.Local == "rss":
		v.sum.Kind = atom.FeedDocument
		v.prefixes[root.Space], v.prefixes[""] = "", ""
	case root == (xmlscan.Name{Space: rdfNamespace, Local: "RDF"}):
		v.isRDF, v.version = true, "1.0"
		for _, space := range v.xml.Declarations() {
			if space == rss09Namespace || space == rss09MyNamespace {
				v.version = "0.90"
			}
		}
	default:
		return v.doc.Fail(at.line, at.column, root.Local, v.doc.Not(document.WhatRoot(root)))
	}
	v.xml.CheckPrologue()
	v.s = &rssScope{rssElement: anyElement, stated: map[string]rssValue{}}
	if root.Space != "" && !v.isRDF {
		v.findAt(ruleRSSNamespace, at, root.Local, root.Space, "the elements of RSS have no namespace")
	}
	name := root.Local
	if v.version == "1.0" {
		name = "rdf:RDF"
	}
	if err = v.element(name); err != nil {
		return err
	}
	if v.sum.Kind == 0 {
		return v.doc.Fail(at.line, at.column, root.Local, v.doc.Not("an RDF document"))
	}
	return v.xml.End()
}

func (v *rssValidator) at() position {
	line, column := v.xml.Position()
	return position{line, column}
}

// element checks an element, up to its end.
func (v *rssValidator) element(name string) (err error) {
	parent := v.s
	key := name
	if rssElements[parent.key+"/"+name] != nil {
		key = parent.key + "/" + name
	}
	s := &rssScope{rssElement: cmp.Or(rssElements[key], anyElement), parent: parent, name: name, key: key, position: v.at(),
		stated: map[string]rssValue{}}
	v.s = s
	first, twice := parent.stated[name]
	if twice && parent.children[name] {
		v.find(ruleRSSTwice, "", fmt.Sprintf("%s has another one in line %d", parent.name, first.line))
	}
	for _, a := range v.xml.Attrs() {
		v.attribute(a.Name, string(xmlscan.Trim(a.Value)))
	}
	text, err := v.inside()
	if err != nil {
		return err
	}
	v.lacks(s.rule, s.needs...)
	isSet := text != "" || s.attrs != nil || s.children != nil
	if s.check != nil && (isSet || !slices.Contains(parent.needs, name)) {
		s.check(v, text)
	}
	v.length(text)
	if v.s = parent; !twice {
		parent.stated[name] = rssValue{s.position, text, isSet}
	}
	return nil
}

// inside checks the children of an element, up to its end, and returns its text if it has
// none.
func (v *rssValidator) inside() (string, error) {
	s, text := v.s, []byte(nil)
	for {
		kind, err := v.xml.NextTagAndText(func(line, column int, piece []byte) {
			if s.children == nil {
				text = append(text, piece[:min(len(piece), maxText-len(text))]...)
			} else {
				v.findAt(ruleRSSBetween, position{line, column}, s.name, string(piece), "text between the elements")
			}
		})
		if err != nil {
			return "", v.xml.Fail(err)
		}
		if kind == xmlscan.End {
			return string(text), nil
		}
		name := v.xml.Name()
		prefix := v.prefix(name.Space)
		key := prefix + name.Local
		switch _, known := s.children[key]; {
		case known:
			err = v.element(key)
		case s.children == nil:
			v.findAt(ruleRSSInside, v.at(), s.name, v.xml.RawName(), "an element inside a value")
			err = v.skip()
		default:
			v.unknown(prefix, ruleRSSUnknown, v.at(), "element "+key)
			err = v.skip()
		}
		if err != nil {
			return "", err
		}
	}
}

func (v *rssValidator) skip() error {
	if err := v.xml.Skip(); err != nil {
		return v.xml.Fail(err)
	}
	return nil
}

// unknown reports an element or attribute, at a position, that the element that is checked
// does not have, if its vocabulary is RSS or an extension that is known as a whole.
func (v *rssValidator) unknown(prefix string, rule websync.Rule, at position, what string) {
	switch prefix {
	case "media:":
		rule = ruleMediaUnknown
	case "itunes:":
		rule = rulePodcastElse
	case "":
	default:
		return
	}
	v.findAt(rule, at, v.s.name, "", v.s.name+" has no "+what)
}

// attribute checks an attribute.
func (v *rssValidator) attribute(name xmlscan.Name, value string) {
	key := name.Local
	if name.Space != "" {
		key = v.prefix(name.Space) + key
	}
	check, known := v.s.attrs[key]
	switch {
	case known:
	case key == "xml:lang" && value != "":
		check = rssLanguage
	case !strings.Contains(key, ":"):
		v.unknown(v.s.name[:strings.IndexByte(v.s.name, ':')+1], ruleRSSAttribute, v.s.position, "attribute "+key)
		return
	}
	v.s.stated["@"+key] = rssValue{v.s.position, value, true}
	if check != nil {
		v.attr = key + ": "
		check(v, value)
		v.attr = ""
	}
}

const foreignPrefix = "?:"

// extensions have the usual prefix and the namespace of each vocabulary.
var extensions = map[vocabulary][2]string{
	dublinCore:    {"dc:", dublinCoreNamespace},
	dublinTerms:   {"dcterms:", dublinTermsNamespace},
	contentModule: {"content:", contentNamespace},
	atomElements:  {"atom:", atom.Namespace},
	history:       {"fh:", atom.HistoryNamespace},
	media:         {"media:", mediaNamespace},
	itunes:        {"itunes:", itunesNamespace},
	slash:         {"slash:", slashNamespace},
	syndication:   {"sy:", syndicationNamespace},
}

// prefix returns the usual prefix of a namespace with a colon: empty for that of RSS,
// foreignPrefix for one that is not known. It reports one that is almost known.
func (v *rssValidator) prefix(space string) string {
	prefix, known := v.prefixes[space]
	if known {
		return prefix
	}
	right := ""
	switch {
	case space == rdfNamespace:
		prefix = "rdf:"
	case v.isRDF && slices.Contains(rssSpaces, space):
		if space == "" {
			right = rss10Namespace
		}
	default:
		of, found := extensions[nearVocabulary(space)]
		if !found {
			return foreignPrefix
		}
		if prefix = of[0]; space != of[1] {
			right = of[1]
		}
	}
	v.podcast = v.podcast || prefix == "itunes:"
	if len(v.prefixes) < maxSpaces {
		v.prefixes[space] = prefix
	}
	if right != "" {
		v.findAt(ruleRSSNamespace, v.at(), prefix+v.xml.Name().Local, space, "the namespace must be "+right)
	}
	return prefix
}

// nearVocabulary returns what a namespace stands for, or what it would stand for with the
// usual scheme and case, with or without a slash at its end.
func nearVocabulary(space string) vocabulary {
	if is := vocabularyOf(space); is != foreign {
		return is
	}
	_, rest, _ := strings.Cut(strings.ToLower(space), "://")
	near := "http://" + strings.TrimSuffix(rest, "/")
	return max(vocabularyOf(near), vocabularyOf(near+"/"))
}

// identify records a place of an identifier, and returns the earlier one.
func (v *rssValidator) identify(id string, place func(*rssID) *position) (first position) {
	key := maphash.String(v.seed, id)
	known, held := v.ids[key]
	first = *place(&known)
	if first == (position{}) && (held || len(v.ids) < maxIDs) {
		*place(&known) = v.s.position
		known.item = known.item || v.s.name == "item" || v.s.name == "guid"
		v.ids[key] = known
	}
	return first
}

// checkItems compares the items that the channel of RSS 1.0 lists with those that there
// are.
func (v *rssValidator) checkItems() {
	if len(v.ids) == maxIDs {
		return // some are not known
	}
	at := func(id rssID) position {
		if id.item {
			return id.stated
		}
		return id.listed
	}
	inOrder := func(a, b rssID) int { return at(a).compare(at(b)) }
	for _, id := range slices.SortedFunc(maps.Values(v.ids), inOrder) {
		switch {
		case id.item && id.listed == position{}:
			v.findAt(ruleRDFItems, id.stated, "item", "", "an item that is not among the items of the channel")
		case !id.item && id.listed != position{}:
			v.findAt(ruleRDFItems, id.listed, "rdf:li", "", "there is no item with this rdf:about")
		}
	}
}
