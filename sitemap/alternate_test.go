package sitemap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// messages returns the findings of a document as "severity value: message".
func messages(t testing.TB, doc string) (found []string) {
	_, err := sitemap.Validate(strings.NewReader(doc), sitemap.ValidateOptions{Document: documentURL, Now: now, Report: func(f websync.Finding) {
		found = append(found, fmt.Sprintf("%v %s: %s", f.Severity, f.Value, f.Message))
	}})
	require.NoError(t, err)
	return found
}

func TestHreflang(t *testing.T) {
	for _, right := range strings.Fields("en en-GB EN-gb de-CH zh-Hant zh-hans-tw sr-Latn-RS x-default X-DEFAULT es-MX lo-LA uk be-BY fy-NL") {
		assert.Empty(t, messages(t, alternates(right+" https://www.example.com/maps/1")), right)
	}
	for wrong, message := range map[string]string{
		"en-UK":      `"UK" is not a country of ISO 3166-1, such as CH: perhaps en-GB`,
		"en-uk":      `"uk" is not a country of ISO 3166-1, such as CH: perhaps en-GB`,
		"en-EU":      `"EU" is not a country of ISO 3166-1, such as CH`,
		"en-XX":      `"XX" is not a country of ISO 3166-1, such as CH`,
		"es-419":     `"419" is not a country of ISO 3166-1, such as CH`,
		"es-LATAM":   `"LATAM" is not a country of ISO 3166-1, such as CH`,
		"el-EL":      `"EL" is not a country of ISO 3166-1, such as CH: perhaps el-GR`,
		"sr-Latn-YU": `"YU" is not a country of ISO 3166-1, such as CH: perhaps sr-Latn-RS`,
		"zh-Hanx":    `"Hanx" is not a script of ISO 15924`,
		"jp":         `"jp" is not a language of ISO 639-1, such as de: perhaps ja`,
		"jp-JP":      `"jp" is not a language of ISO 639-1, such as de: perhaps ja-JP`,
		"iw":         `"iw" is not a language of ISO 639-1, such as de: perhaps he`,
		"us-en":      `"us" is not a language of ISO 639-1, such as de: perhaps en-US`,
		"gb-EN":      `"gb" is not a language of ISO 639-1, such as de: perhaps EN-GB`,
		"xx":         `"xx" is not a language of ISO 639-1, such as de`,
		"fil":        `"fil" is not a language of ISO 639-1, such as de`,
		"en_GB":      `an underscore instead of a hyphen: perhaps en-GB`,
		"en_UK":      `"UK" is not a country of ISO 3166-1, such as CH: perhaps en-GB`,
		"de-":        `"" is not a country of ISO 3166-1, such as CH: perhaps de`,
		"zh-Hant-":   `"" is not a country of ISO 3166-1, such as CH: perhaps zh-Hant`,
		"de-CH-1996": `"CH-1996" is not a country of ISO 3166-1, such as CH`,
		"x-default-": `"x" is not a language of ISO 639-1, such as de`,
	} {
		got := messages(t, alternates(wrong+" https://www.example.com/maps/1"))
		assert.Equal(t, []string{"error " + wrong + ": hreflang: " + message}, got)
	}
}

func TestApps(t *testing.T) {
	in := func(href string) string {
		return inEntry(`<x:link rel="alternate" href="` + href + `"/>`)
	}
	for _, right := range strings.Fields("android-app://com.example.android/example/gizmos android-app://com.example/https/www.example.com/maps/1?a=%20 " +
		"ANDROID-APP://a.B_2/http/h ios-app://123456/example/gizmos ios-app://1/https/www.example.com/") {
		assert.Empty(t, messages(t, in(right)), right)
		_, err := sitemap.Alternate{Href: right}.Element()
		require.NoError(t, err)
	}
	for wrong, message := range map[string]string{
		"android-app:":                       "not the name of a package after android-app://",
		"android-app://":                     "not the name of a package after android-app://",
		"android-app:///http/h":              "not the name of a package after android-app://",
		"android-app://example/http/h":       "not the name of a package after android-app://",
		"android-app://com..x/http/h":        "not the name of a package after android-app://",
		"android-app://com.2x/http/h":        "not the name of a package after android-app://",
		"android-app://com.ex-ample/http/h":  "not the name of a package after android-app://",
		"android-app://com.exämple/http/h":   "not the name of a package after android-app://",
		"android-app://com.example":          "not a scheme and a path after the app: android-app://com.example/scheme/path",
		"android-app://com.example/http":     "not a scheme and a path after the app: android-app://com.example/scheme/path",
		"android-app://com.example/http/":    "not a scheme and a path after the app: android-app://com.example/scheme/path",
		"android-app://com.example/1p/h":     "not a scheme after the app",
		"android-app://com.example//h":       "not a scheme after the app",
		"android-app://com.example/http/a b": "white space inside",
		"android-app://com.example/http/%zz": "percent",
		"ios-app://com.example/http/h":       "not the number of an app after ios-app://",
		"ios-app:///http/h":                  "not the number of an app after ios-app://",
		"ios-app://1/http":                   "not a scheme and a path after the app: ios-app://1/scheme/path",
		"windows-app://1/http/h":             "not an absolute HTTP URL",
	} {
		got := messages(t, in(wrong))
		require.NotEmpty(t, got, wrong)
		assert.Contains(t, got[0], "error "+wrong+": href: ")
		assert.Contains(t, got[0], message)
	}
	page := alternates("de https://www.example.com/maps/1", "de android-app://com.example/http/h")
	assert.Empty(t, messages(t, page), "an app is not a second page")
}

// pagesOf returns a sitemap of pages with their alternates: "a: b c" is page a with the
// alternates b and c. The languages of the alternates are en-AD, en-AE, …
func pagesOf(pages ...string) string {
	url := func(name string) string {
		if strings.Contains(name, "/") {
			return name
		}
		return "https://www.example.com/maps/" + name
	}
	countries := strings.Fields("AD AE AF AG")
	var b strings.Builder
	b.WriteString(open)
	for _, page := range pages {
		name, links, _ := strings.Cut(page, ":")
		fmt.Fprintf(&b, "<url><loc>%s</loc>", url(name))
		for i, to := range strings.Fields(links) {
			fmt.Fprintf(&b, `<x:link rel="alternate" hreflang="en-%s" href="%s"/>`, countries[i], url(to))
		}
		b.WriteString("</url>\n")
	}
	return b.String() + "</urlset>"
}

func TestReturnLinks(t *testing.T) {
	const no = "error https://www.example.com/maps/%s: this alternate is in the document, and does not have the page as an alternate"
	for name, test := range map[string]struct {
		pages []string
		want  []string
	}{
		"a group":                       {pages: []string{"a: a b c", "b: a b c", "c: a b c"}},
		"in other orders":               {pages: []string{"a: a b c", "b: b a c", "c: c b a"}},
		"not in the document":           {pages: []string{"a: a b"}},
		"elsewhere":                     {pages: []string{"a: a https://example.org/b"}},
		"nothing leads back":            {pages: []string{"a: a b", "b:"}, want: []string{fmt.Sprintf(no, "b")}},
		"the other comes first":         {pages: []string{"b:", "a: a b"}, want: []string{fmt.Sprintf(no, "b")}},
		"only itself":                   {pages: []string{"a: a b", "b: b"}, want: []string{fmt.Sprintf(no, "b")}},
		"one of a group":                {pages: []string{"a: a b c", "b: a b c", "c: b c"}, want: []string{fmt.Sprintf(no, "c")}},
		"several":                       {pages: []string{"a: a b c d", "b:", "c: c", "d: a d"}, want: []string{fmt.Sprintf(no, "b") + "; 1 more"}},
		"one language twice":            {pages: []string{"a: a b b", "b: a b"}},
		"groups that overlap":           {pages: []string{"a: a b", "b: a b c", "c: b c"}},
		"spelled in another way":        {pages: []string{"a: a HTTPS://www.Example.com:443/maps/b", "b: https://www.example.com/m%61ps/./a b"}},
		"spelled in another way, wrong": {pages: []string{"a: a HTTPS://www.Example.com:443/maps/b", "b: b"}, want: []string{"error HTTPS://www.Example.com:443/maps/b" + no[len("error https://www.example.com/maps/%s"):]}},
		"listed twice":                  {pages: []string{"a: a b", "b: a b", "b: b"}, want: []string{"warning https://www.example.com/maps/b: listed before, in line 3"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, messages(t, pagesOf(test.pages...))) })
	}
	t.Run("the page itself is missing", func(t *testing.T) {
		assert.Equal(t, []string{"error https://www.example.com/maps/b: none of the alternates is the page itself", fmt.Sprintf(no, "b")},
			messages(t, pagesOf("a: a b", "b: c")))
	})
	t.Run("for media", func(t *testing.T) {
		assert.Empty(t, messages(t, inEntry(`<x:link rel="alternate" media="handheld" href="https://www.example.com/maps/2"/></url><url><loc>https://www.example.com/maps/2</loc>`)))
	})
	t.Run("more elements than are kept", func(t *testing.T) {
		big := "<y xmlns='urn:y'>" + strings.Repeat("x", 700<<10) + "</y>"
		doc := strings.Replace(pagesOf("b: a b", "a: a b"), "<x:link", big+big+"<x:link", 1)
		for _, message := range messages(t, doc) {
			assert.Contains(t, message, "more than 1 MiB", "of an alternate that is left out nothing is known")
		}
	})
}

// TestReturnLinksMemory: alternates that have nothing in common need no more memory than
// the documentation states.
func TestReturnLinksMemory(t *testing.T) {
	racing.Long(t)
	const pages, links = 4000, 100
	next := 0
	doc := testkit.Lines(open, pages, func(b []byte, i int) []byte {
		b = fmt.Appendf(b, "<url><loc>https://www.example.com/maps/%d</loc>", i)
		for range links {
			next++
			b = fmt.Appendf(b, `<x:link rel="alternate" hreflang="de" href="https://www.example.com/maps/page-%d-%s"/>`, next, strings.Repeat("x", 100))
		}
		return append(b, "</url>\n"...)
	}, "</urlset>")
	before := testkit.Heap()
	var most int64
	_, err := sitemap.Validate(testkit.AtEnd(doc, func() { most = testkit.Heap() }), sitemap.ValidateOptions{Document: documentURL})
	require.NoError(t, err)
	assert.Less(t, most-before, int64(24<<20))
}
