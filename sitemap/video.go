package sitemap

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
)

const maxDuration = 28_800 * time.Second

// A Video is a <video:video> of an [Entry]: a video on its page. Required are Thumbnail,
// Title, Description, and Content or Player. Elements that Google no longer uses (price,
// category, gallery_loc and others) have no field; they are in the entry's Elements.
type Video struct {
	Thumbnail   string // URL of a picture
	Title       string // at most 100 characters
	Description string // at most 2,048 characters
	Content     string // URL of the media file
	Player      string // URL of a player

	Duration  time.Duration // whole seconds, from 1 second to 8 hours; 0: not stated
	Expires   websync.Datetime
	Published websync.Datetime
	Rating    float32  // from 0 to 5; zero if not stated, websync.StatedZero if stated as zero
	Views     int64    // zero if not stated, websync.StatedZero if stated as zero
	Tags      []string // at most 32

	FamilyFriendly       Answer
	RequiresSubscription Answer
	Live                 Answer

	Countries VideoLimit // where it can be seen: codes of ISO 3166, e.g. "DE"
	Platforms VideoLimit // on what it can be seen: "web", "mobile", "tv"

	Uploader     string // at most 255 characters
	UploaderInfo string // URL, on the host of the page
}

// An Answer is "yes", "no", or empty: not stated.
type Answer string

// The values of an Answer.
const (
	Yes Answer = "yes"
	No  Answer = "no"
)

// A VideoLimit says where a video can be seen: only at one of Of if Allow is set, or else
// anywhere but there. Without Of there is no limit.
type VideoLimit struct {
	Allow bool
	Of    []string
}

var videoExtension = &extension{
	space: VideoNamespace, local: "video", child: ruleVideoChild, value: ruleVideoValue, length: ruleVideoLength,
	children: []childSpec{
		{name: "thumbnail_loc", required: true, check: checkURL},
		{name: "title", required: true, chars: 100},
		{name: "description", required: true, chars: 2048},
		{name: "content_loc", check: checkURL},
		{name: "player_loc", check: checkURL},
		{name: "duration", check: checkWhole(1, int64(maxDuration/time.Second))},
		{name: "expiration_date", check: checkDate},
		{name: "rating", check: checkRating},
		{name: "view_count", check: checkWhole(0, math.MaxInt64)},
		{name: "publication_date", check: checkDate},
		{name: "tag", max: 32, empty: true},
		{name: "family_friendly", check: checkYesNo},
		{name: "restriction", empty: true, attrs: checkRelationship, check: checkWords(isCountry, "not a country code of ISO 3166")},
		{name: "platform", empty: true, attrs: checkRelationship, check: checkWords(isPlatform, "none of web, mobile, tv")},
		{name: "requires_subscription", check: checkYesNo},
		{name: "uploader", empty: true, chars: 255, attrs: checkUploader},
		{name: "live", check: checkYesNo},
		{name: "content_segment_loc", max: math.MaxInt32, old: true},
		{name: "category", old: true, empty: true},
		{name: "gallery_loc", old: true, empty: true},
		{name: "price", max: math.MaxInt32, old: true, empty: true, check: checkPrice, attrs: checkPriceKind},
		{name: "tvshow", old: true, children: []childSpec{
			{name: "show_title", required: true},
			{name: "video_type", required: true, check: checkOneOf("full", "preview", "clip", "interview", "news", "other")},
			{name: "episode_title", empty: true},
			{name: "season_number", check: checkWhole(0, math.MaxInt64)},
			{name: "episode_number", check: checkWhole(0, math.MaxInt64)},
			{name: "premier_date", check: checkDate},
		}},
		{name: "id", max: math.MaxInt32, old: true, empty: true},
	},
}

func checkRating(text string) string {
	if _, ok := parseDecimal(text, 5); !ok {
		return "not a number from 0.0 to 5.0"
	}
	return ""
}

func checkRelationship(n *node) string {
	if r := n.attr("relationship"); r != "allow" && r != "deny" {
		return "the attribute relationship is neither allow nor deny"
	}
	return ""
}

func checkPrice(text string) string {
	if _, ok := parseDecimal(text, math.MaxFloat64); !ok {
		return "not a number"
	}
	return ""
}

var checkCurrency = checkPattern(`[A-Z]{3}`, "not a currency of ISO 4217")

// checkPriceKind checks the attributes of a price; there may be none.
func checkPriceKind(n *node) string {
	for _, a := range []struct {
		name  string
		check func(string) string
	}{
		{"currency", checkCurrency},
		{"type", checkOneOf("rent", "RENT", "purchase", "PURCHASE")},
		{"resolution", checkOneOf("hd", "HD", "sd", "SD")},
	} {
		if value := n.attr(a.name); value != "" {
			if message := a.check(value); message != "" {
				return a.name + ": " + message
			}
		}
	}
	return ""
}

func checkUploader(n *node) string {
	if info := n.attr("info"); info != "" {
		if message := checkURL(info); message != "" {
			return "info: " + message
		}
	}
	return ""
}

func isCountry(word string) bool { return letters(word, 2, 2) && word == strings.ToUpper(word) }

func isPlatform(word string) bool { return word == "web" || word == "mobile" || word == "tv" }

// Videos returns the videos of e. It returns those that can be read even if there is an
// error, which joins an [*EntryError] for each of the others.
func (e *Entry) Videos() ([]Video, error) {
	return extensionsOf(e, VideoNamespace, "video", func(n *node) (Video, error) {
		var v values
		video := Video{
			Thumbnail:            v.required(n, "thumbnail_loc"),
			Title:                v.required(n, "title"),
			Description:          v.required(n, "description"),
			Content:              n.child("content_loc").text,
			Player:               n.child("player_loc").text,
			Expires:              v.date(n, "expiration_date"),
			Published:            v.date(n, "publication_date"),
			Rating:               v.rating(n),
			Views:                v.whole(n, "view_count"),
			FamilyFriendly:       v.answer(n, "family_friendly"),
			RequiresSubscription: v.answer(n, "requires_subscription"),
			Live:                 v.answer(n, "live"),
			Countries:            limitOf(n.child("restriction")),
			Platforms:            limitOf(n.child("platform")),
			Uploader:             n.child("uploader").text,
			UploaderInfo:         n.child("uploader").attr("info"),
		}
		if seconds := v.whole(n, "duration"); seconds > int64(maxDuration/time.Second) {
			v.fail(n.child("duration"), "more than 8 hours")
		} else if seconds > 0 {
			video.Duration = time.Duration(seconds) * time.Second
		}
		for _, c := range n.children {
			if c.local == "tag" && c.space == n.space && c.text != "" {
				video.Tags = append(video.Tags, c.text)
			}
		}
		return video, v.err
	})
}

func (v *values) rating(n *node) float32 {
	c := n.child("rating")
	if c.text == "" {
		return 0
	}
	f, ok := parseDecimal(c.text, 5)
	if !ok {
		v.fail(c, "not a number from 0.0 to 5.0")
	}
	if f == 0 {
		return websync.StatedZero
	}
	return float32(f)
}

func (v *values) answer(n *node, local string) Answer {
	c := n.child(local)
	a := Answer(strings.ToLower(c.text))
	if a != Yes && a != No && a != "" {
		v.fail(c, "neither yes nor no")
	}
	return a
}

func limitOf(c *node) VideoLimit {
	l := VideoLimit{Of: strings.Fields(c.text)}
	if len(l.Of) == 0 {
		return VideoLimit{}
	}
	l.Allow = c.attr("relationship") == "allow"
	return l
}

// Element returns the video as an extension element, for [Entry] Elements. It refuses
// with an [*EntryError] what the rules call an error.
func (v Video) Element() (websync.Element, error) {
	m := newMarkup("video", VideoNamespace, "video")
	m.open()
	m.element("thumbnail_loc", v.Thumbnail)
	m.element("title", v.Title)
	m.element("description", v.Description)
	m.element("content_loc", v.Content)
	m.element("player_loc", v.Player)
	if v.Duration != 0 {
		m.element("duration", strconv.FormatInt(int64(v.Duration/time.Second), 10))
	}
	m.element("expiration_date", schemaDate(v.Expires).String())
	switch {
	case v.Rating == websync.StatedZero:
		m.element("rating", "0.0")
	case v.Rating != 0:
		m.element("rating", strconv.FormatFloat(float64(v.Rating), 'f', -1, 32))
	}
	m.element("view_count", number(v.Views))
	m.element("publication_date", schemaDate(v.Published).String())
	for _, tag := range v.Tags {
		m.element("tag", tag)
	}
	m.element("family_friendly", string(v.FamilyFriendly))
	m.limit("restriction", v.Countries)
	m.element("requires_subscription", string(v.RequiresSubscription))
	if v.Uploader != "" {
		m.begin("uploader")
		m.attr("info", v.UploaderInfo)
		m.end("uploader", v.Uploader)
	}
	m.limit("platform", v.Platforms)
	m.element("live", string(v.Live))
	m.close("video")
	return m.finish(VideoNamespace, "video")
}

func (m *markup) limit(local string, l VideoLimit) {
	if len(l.Of) == 0 {
		return
	}
	m.begin(local)
	if l.Allow {
		m.attr("relationship", "allow")
	} else {
		m.attr("relationship", "deny")
	}
	m.end(local, strings.Join(l.Of, " "))
}
