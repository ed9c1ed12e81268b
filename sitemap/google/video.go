package google

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/sitemap"
)

const maxDuration = 28_800 * time.Second

// A Video is a <video:video> of a [sitemap.Entry]: a video on its page. Thumbnail, Title,
// Description, and Content or Player are required. Elements that Google no longer uses
// (price, category, gallery_loc and others) have no field. They are in Entry.Elements.
type Video struct {
	Thumbnail   string // URL of a picture
	Title       string // at most 100 characters
	Description string // at most 2,048 characters
	Content     string // URL of the media file
	Player      string // URL of a player

	Duration  time.Duration // whole seconds, from 1 second to 8 hours; 0 if not stated
	Expires   websync.Datetime
	Published websync.Datetime
	// from 0 to 5; zero if not stated, websync.StatedZero if stated as zero
	Rating float32
	Views  int64    // zero if not stated, websync.StatedZero if stated as zero
	Tags   []string // at most 32

	FamilyFriendly       Answer
	RequiresSubscription Answer
	Live                 Answer

	Countries Limit // codes of ISO 3166, e.g. "DE"
	Platforms Limit // "web", "mobile" or "tv"

	Uploader     string // at most 255 characters
	UploaderInfo string // URL, on the host of the page
}

// An Answer is "yes", "no", or empty if not stated.
type Answer string

// The values of an Answer.
const (
	Yes Answer = "yes"
	No  Answer = "no"
)

// A Limit restricts where a video can be played: if Allow is set, only in the countries
// or on the platforms in Of, otherwise everywhere else. If Of is empty, there is no
// limit.
type Limit struct {
	Allow bool
	Of    []string
}

var videoFormat = format{
	space: VideoNamespace, local: "video", child: ruleVideoChild, value: ruleVideoValue, length: ruleVideoLength,
	also: checkVideo,
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
		{name: "restriction", empty: true, attrs: checkRelationship,
			check: checkWords(checkCountry)},
		{name: "platform", empty: true, attrs: checkRelationship, check: checkWords(checkOneOf("web", "mobile", "tv"))},
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

func checkRelationship(n *element.Node) string {
	if r := n.Attr("relationship"); r != "allow" && r != "deny" {
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
func checkPriceKind(n *element.Node) string {
	for _, a := range []struct {
		name  string
		check func(string) string
	}{
		{"currency", checkCurrency},
		{"type", checkOneOf("rent", "RENT", "purchase", "PURCHASE")},
		{"resolution", checkOneOf("hd", "HD", "sd", "SD")},
	} {
		if value := n.Attr(a.name); value != "" {
			if message := a.check(value); message != "" {
				return a.name + ": " + message
			}
		}
	}
	return ""
}

func checkUploader(n *element.Node) string {
	if info := n.Attr("info"); info != "" {
		if message := checkURL(info); message != "" {
			return "info: " + message
		}
	}
	return ""
}

// Videos returns the videos of e. If some can't be read, it returns the others, and an
// error that joins a [*websync.EntryError] for each.
func Videos(e *sitemap.Entry) ([]Video, error) {
	return read(e, &videoFormat, func(v *values, n *element.Node) Video {
		video := Video{
			Thumbnail:            v.required(n, "thumbnail_loc"),
			Title:                v.required(n, "title"),
			Description:          v.required(n, "description"),
			Content:              n.Child("content_loc").Text,
			Player:               n.Child("player_loc").Text,
			Expires:              v.date(n, "expiration_date"),
			Published:            v.date(n, "publication_date"),
			Rating:               v.rating(n),
			Views:                v.whole(n, "view_count"),
			FamilyFriendly:       v.answer(n, "family_friendly"),
			RequiresSubscription: v.answer(n, "requires_subscription"),
			Live:                 v.answer(n, "live"),
			Countries:            limitOf(n.Child("restriction")),
			Platforms:            limitOf(n.Child("platform")),
			Uploader:             n.Child("uploader").Text,
			UploaderInfo:         n.Child("uploader").Attr("info"),
		}
		if seconds := v.whole(n, "duration"); seconds > int64(maxDuration/time.Second) {
			v.fail(n.Child("duration"), "more than 8 hours")
		} else if seconds > 0 {
			video.Duration = time.Duration(seconds) * time.Second
		}
		for _, c := range n.Children {
			if c.Local == "tag" && c.Space == n.Space && c.Text != "" {
				video.Tags = append(video.Tags, c.Text)
			}
		}
		return video
	})
}

func (v *values) rating(n *element.Node) float32 {
	c := n.Child("rating")
	if c.Text == "" {
		return 0
	}
	f, ok := parseDecimal(c.Text, 5)
	if !ok {
		v.fail(c, "not a number from 0.0 to 5.0")
	}
	if f == 0 {
		return websync.StatedZero
	}
	return float32(f)
}

func (v *values) answer(n *element.Node, local string) Answer {
	c := n.Child(local)
	a := Answer(strings.ToLower(c.Text))
	if a != Yes && a != No && a != "" {
		v.fail(c, "neither yes nor no")
	}
	return a
}

func limitOf(c *element.Node) Limit {
	l := Limit{Of: strings.Fields(c.Text)}
	if len(l.Of) == 0 {
		return Limit{}
	}
	l.Allow = c.Attr("relationship") == "allow"
	return l
}

// Element returns the video for [sitemap.Entry] Elements. If the video breaks a rule of
// severity error, it returns a [*websync.EntryError].
func (v Video) Element() (websync.Element, error) {
	m := element.New("video", VideoNamespace, "video")
	m.Child("thumbnail_loc", v.Thumbnail)
	m.Child("title", v.Title)
	m.Child("description", v.Description)
	m.Child("content_loc", v.Content)
	m.Child("player_loc", v.Player)
	if v.Duration != 0 {
		m.Child("duration", strconv.FormatInt(int64(v.Duration/time.Second), 10))
	}
	m.Child("expiration_date", document.SchemaDate(v.Expires).String())
	switch {
	case v.Rating == websync.StatedZero:
		m.Child("rating", "0.0")
	case v.Rating != 0:
		m.Child("rating", strconv.FormatFloat(float64(v.Rating), 'f', -1, 32))
	}
	m.Child("view_count", number(v.Views))
	m.Child("publication_date", document.SchemaDate(v.Published).String())
	for _, tag := range v.Tags {
		m.Child("tag", tag)
	}
	m.Child("family_friendly", string(v.FamilyFriendly))
	limit(m, "restriction", v.Countries)
	m.Child("requires_subscription", string(v.RequiresSubscription))
	if v.Uploader != "" {
		m.Start("uploader")
		m.Attr("info", v.UploaderInfo)
		m.End(v.Uploader)
	}
	limit(m, "platform", v.Platforms)
	m.Child("live", string(v.Live))
	return videoFormat.build(m)
}

func limit(m *element.Builder, local string, l Limit) {
	if len(l.Of) == 0 {
		return
	}
	m.Start(local)
	if l.Allow {
		m.Attr("relationship", "allow")
	} else {
		m.Attr("relationship", "deny")
	}
	m.End(strings.Join(l.Of, " "))
}
