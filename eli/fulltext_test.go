package eli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/eli"
)

// candidates returns lists of candidates in a short form.
func candidates(lists [][]eli.Candidate) []string {
	var all []string
	for _, list := range lists {
		var b strings.Builder
		for _, c := range list {
			fmt.Fprintf(&b, "%s %s; ", strings.TrimPrefix(c.URL, "https://law.example/"), c.Step)
		}
		all = append(all, strings.TrimSuffix(b.String(), "; "))
	}
	return all
}

// statements describes expressions, one of each language, whose formats have their types
// by an exact media_type: "en: html pdf".
func statements(tree ...string) []string {
	types := map[string]string{"html": "text/html", "xhtml": "application/xhtml+xml", "xml": "application/xml", "pdf": "application/pdf", "epub": "application/epub+zip"}
	var all []string
	for _, branch := range tree {
		lang, formats, _ := strings.Cut(branch, ":")
		all = append(all, "1 is_realized_by 1/"+lang, `1/`+lang+` language "`+lang+`"`)
		for f := range strings.FieldsSeq(formats) {
			all = append(all, "1/"+lang+" is_embodied_by 1/"+lang+"/"+f, "1/"+lang+"/"+f+" media_type https://www.iana.org/assignments/media-types/"+types[f])
		}
	}
	return all
}

// typed states the media type of a format.
func typed(format, media string) string { return "1/" + format + " media_type " + media }

func TestFullText(t *testing.T) {
	const iana = "https://www.iana.org/assignments/media-types/"
	none := []string(nil)
	for _, c := range []struct {
		name             string
		statements       []string
		tolerant, strict []string
	}{
		{"nothing", []string{"1 is_realized_by 1/en"}, none, none},
		{"the order of the annex", statements("en: pdf xml xhtml html"),
			[]string{"1/en/html 1(a), 2(b); 1/en/xhtml 1(b), 2(b); 1/en/xml 1(c), 2(b); 1/en/pdf 1(d), 2(b)"},
			[]string{"1/en/html 1(a), 2(b); 1/en/xhtml 1(b), 2(b); 1/en/xml 1(c), 2(b); 1/en/pdf 1(d), 2(b)"}},
		{"media_type before format", append(statements("en: pdf"), "1/en is_embodied_by 1/en/html", "1/en/html format "+iana+"text/html"),
			[]string{"1/en/pdf 1(d), 2(b); 1/en/html 1(e), 2(b)"}, []string{"1/en/pdf 1(d), 2(b); 1/en/html 1(e), 2(b)"}},
		{"the URLs of a format", append(statements("en: pdf"), "1/en/pdf is_exemplified_by a.pdf", "1/en/pdf is_exemplified_by b.pdf", "1/en/pdf is_exemplified_by a.pdf"),
			[]string{"a.pdf 1(d), 2(a); b.pdf 1(d), 2(a); 1/en/pdf tolerant"}, []string{"a.pdf 1(d), 2(a); b.pdf 1(d), 2(a)"}},
		{"an URL of several formats", append(statements("en: pdf html"), "1/en/pdf is_exemplified_by a", "1/en/html is_exemplified_by a"),
			[]string{"a 1(a), 2(a); 1/en/html tolerant; 1/en/pdf tolerant"}, []string{"a 1(a), 2(a)"}},
		{"URLs that are none", append(statements("en: pdf"), "1/en/pdf is_exemplified_by urn:x", `1/en/pdf is_exemplified_by "a.pdf"`, "1/en/pdf is_exemplified_by _:x"),
			[]string{"1/en/pdf 1(d), 2(b)"}, []string{"1/en/pdf 1(d), 2(b)"}},
		{"a format without a URI", []string{"1 is_realized_by 1/en", "1/en is_embodied_by _:f", "_:f media_type " + iana + "text/html", "_:f is_exemplified_by a.html"},
			[]string{"a.html 1(a), 2(a)"}, []string{"a.html 1(a), 2(a)"}},
		{"two of one type", append(statements("en: pdf"), "1/en is_embodied_by 1/en/pdf2", "1/en/pdf2 media_type "+iana+"application/pdf"),
			[]string{"1/en/pdf 1(d), 2(b); 1/en/pdf2 1(d), 2(b)"}, []string{"1/en/pdf 1(d), 2(b); 1/en/pdf2 1(d), 2(b)"}},
		{"other spellings", []string{"1 is_realized_by 1/en", "1/en is_embodied_by 1/en/a", "1/en/a media_type http://www.iana.org/assignments/media-types/text/html", "1/en is_embodied_by 1/en/b", `1/en/b media_type "application/pdf"`},
			[]string{"1/en/a 1(a), 2(b); 1/en/b 1(d), 2(b)"}, none},
		{"no type", []string{"1 is_realized_by 1/en", "1/en is_embodied_by 1/en/file", "1/en is_embodied_by 1/en/pdf", "1/en is_embodied_by 1/en/act.xml"},
			[]string{"1/en/act.xml tolerant; 1/en/pdf tolerant; 1/en/file tolerant"}, none},
		{"a type that is not known", []string{"1 is_realized_by 1/en", "1/en is_embodied_by 1/en/pdf", `1/en/pdf media_type "paper"`}, none, none},
		{"a type that is not wanted", statements("en: epub"), none, none},
		{"XML of other names", append(statements("en: pdf"), typed("en/t", iana+"text/xml"), "1/en is_embodied_by 1/en/t", typed("en/akn", iana+"application/akn+xml"), "1/en is_embodied_by 1/en/akn",
			typed("en/x", iana+"application/vnd.formex+xml"), "1/en is_embodied_by 1/en/x", typed("en/xml", iana+"application/xml"), "1/en is_embodied_by 1/en/xml"),
			[]string{"1/en/xml 1(c), 2(b); 1/en/t tolerant; 1/en/akn tolerant; 1/en/x tolerant; 1/en/pdf 1(d), 2(b)"}, []string{"1/en/xml 1(c), 2(b); 1/en/pdf 1(d), 2(b)"}},
		{"HTML and PDF of other names, by format", []string{"1 is_realized_by 1/en", "1/en is_embodied_by 1/en/p", `1/en/p format "application/x-pdf"`, "1/en is_embodied_by 1/en/h", `1/en/h format "application/html"`,
			"1/en is_embodied_by 1/en/x", `1/en/x format "application/xhtml"`}, []string{"1/en/h tolerant; 1/en/x tolerant; 1/en/p tolerant"}, none},
		{"XML that is no act", append(statements("en: pdf"), typed("en/rdf", iana+"application/rdf+xml"), "1/en is_embodied_by 1/en/rdf", typed("en/svg", iana+"image/svg+xml"), "1/en is_embodied_by 1/en/svg",
			typed("en/feed", iana+"application/atom+xml"), "1/en is_embodied_by 1/en/feed"), []string{"1/en/pdf 1(d), 2(b)"}, []string{"1/en/pdf 1(d), 2(b)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resource(t, graph(t, nil, c.statements...))
			assert.Equal(t, c.tolerant, candidates(r.FullText(eli.Preferences{})))
			assert.Equal(t, c.strict, candidates(r.FullText(eli.Preferences{Strict: true})))
		})
	}
}

func TestPreferences(t *testing.T) {
	r := resource(t, graph(t, nil, statements("de: pdf", "fr-BE: html epub", "nl: html pdf", "nb: pdf", "en:")...))
	for _, c := range []struct {
		name string
		p    eli.Preferences
		want []string
	}{
		{"the first expression, then the others", eli.Preferences{}, []string{"1/de/pdf; 1/fr-BE/html; 1/nl/html; 1/nl/pdf; 1/nb/pdf"}},
		{"a language", eli.Preferences{Languages: []string{"NL"}}, []string{"1/nl/html; 1/nl/pdf; 1/de/pdf; 1/fr-BE/html; 1/nb/pdf"}},
		{"two languages", eli.Preferences{Languages: []string{"fra", "nl"}}, []string{"1/fr-BE/html; 1/nl/html; 1/nl/pdf; 1/de/pdf; 1/nb/pdf"}},
		{"a language that is not there", eli.Preferences{Languages: []string{"sv"}}, []string{"1/de/pdf; 1/fr-BE/html; 1/nl/html; 1/nl/pdf; 1/nb/pdf"}},
		{"the beginning of a language", eli.Preferences{Languages: []string{"n"}}, []string{"1/de/pdf; 1/fr-BE/html; 1/nl/html; 1/nl/pdf; 1/nb/pdf"}},
		{"codes of three letters, and URIs", eli.Preferences{Languages: []string{"http://publications.europa.eu/resource/authority/language/NOR", "NLD"}, AllLanguages: true}, []string{"1/nb/pdf", "1/nl/html; 1/nl/pdf"}},
		{"file types", eli.Preferences{Languages: []string{"nld"}, AllLanguages: true, Formats: []string{"PDF"}}, []string{"1/nl/pdf"}},
		{"Norwegian", eli.Preferences{Languages: []string{"no"}, AllLanguages: true}, []string{"1/nb/pdf"}},
		{"another region", eli.Preferences{Languages: []string{"fr-FR"}, AllLanguages: true}, nil},
		{"all languages", eli.Preferences{AllLanguages: true}, []string{"1/de/pdf", "1/fr-BE/html", "1/nl/html; 1/nl/pdf", "1/nb/pdf"}},
		{"some languages", eli.Preferences{Languages: []string{"nl", "fr"}, AllLanguages: true}, []string{"1/nl/html; 1/nl/pdf", "1/fr-BE/html"}},
		{"formats", eli.Preferences{Formats: []string{"application/pdf", "text/html"}, Languages: []string{"nl"}}, []string{"1/nl/pdf; 1/nl/html; 1/de/pdf; 1/fr-BE/html; 1/nb/pdf"}},
		{"XML that has a name of its own", eli.Preferences{Formats: []string{"application/akn+xml"}}, nil},
		{"another format", eli.Preferences{Formats: []string{"Application/EPUB+zip"}}, []string{"1/fr-BE/epub"}},
		{"all formats", eli.Preferences{AllFormats: true, Languages: []string{"nl"}}, []string{"1/nl/html; 1/fr-BE/html", "1/nl/pdf; 1/de/pdf; 1/nb/pdf"}},
		{"everything", eli.Preferences{AllFormats: true, AllLanguages: true}, []string{"1/de/pdf", "1/fr-BE/html", "1/nl/html", "1/nl/pdf", "1/nb/pdf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, list := range r.FullText(c.p) {
				var urls []string
				for _, candidate := range list {
					urls = append(urls, strings.TrimPrefix(candidate.URL, "https://law.example/"))
					assert.Equal(t, strings.Split(candidate.URL, "/")[4], candidate.Lang)
					assert.Equal(t, candidate.URL, candidate.Format)
					assert.True(t, strings.HasPrefix(candidate.URL, candidate.Expression+"/"))
				}
				got = append(got, strings.Join(urls, "; "))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestSeveralLanguages: an expression in several languages is in each of them.
func TestSeveralLanguages(t *testing.T) {
	const authority = "http://publications.europa.eu/resource/authority/language/"
	r := resource(t, graph(t, nil, append(statements("de: pdf"), "1 is_realized_by 1/x", "1/x language "+authority+"FRA", "1/x language "+authority+"NLD",
		"1/x is_embodied_by 1/x/pdf", "1/x/pdf media_type https://www.iana.org/assignments/media-types/application/pdf")...))
	for _, c := range []struct {
		p    eli.Preferences
		want string
	}{
		{eli.Preferences{}, "de 1/de/pdf, fr 1/x/pdf"},
		{eli.Preferences{Languages: []string{"nl", "fr"}}, "nl 1/x/pdf, de 1/de/pdf"},
		{eli.Preferences{Languages: []string{"fra"}, AllLanguages: true}, "fr 1/x/pdf"},
		{eli.Preferences{Languages: []string{"nl", "fr"}, AllLanguages: true}, "nl 1/x/pdf"},
		{eli.Preferences{AllLanguages: true}, "de 1/de/pdf; fr 1/x/pdf"},
	} {
		var lists []string
		for _, list := range r.FullText(c.p) {
			var all []string
			for _, candidate := range list {
				all = append(all, candidate.Lang+" "+strings.TrimPrefix(candidate.URL, "https://law.example/"))
			}
			lists = append(lists, strings.Join(all, ", "))
		}
		assert.Equal(t, c.want, strings.Join(lists, "; "), "%+v", c.p)
	}
}

func TestPreferencesCheck(t *testing.T) {
	for _, c := range []struct {
		p    eli.Preferences
		want string
	}{
		{eli.Preferences{}, ""},
		{eli.Preferences{Languages: []string{"fr", "POR", "sr-Latn-RS", "http://publications.europa.eu/resource/authority/language/FRA"}, Formats: []string{"pdf", "application/akn+xml"}}, ""},
		{eli.Preferences{Languages: []string{"fr", "French"}}, `eli: Preferences.Languages: "French" must be a language such as fr, fra or fr-BE`},
		{eli.Preferences{Languages: []string{""}}, `eli: Preferences.Languages: "" must be a language such as fr, fra or fr-BE`},
		{eli.Preferences{Formats: []string{"paper"}}, `eli: Preferences.Formats: "paper" must be a media type such as application/pdf, or a file type such as pdf`},
	} {
		err := (&eli.Source{Sitemap: sitemapURL, Preferences: c.p}).Check()
		if c.want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, c.want)
		}
	}
}
