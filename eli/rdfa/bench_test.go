package rdfa_test

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/net/html"

	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/bench"
)

// lawPage returns a page like those of publishers of law: about 200 KB, 500 triples in
// the head, in the text and around it, and a text of chapters and paragraphs with links,
// classes and ids.
func lawPage() []byte {
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html>
<html lang="sv" prefix="eli: http://data.europa.eu/eli/ontology#">
<head>
<meta charset="utf-8">
<title>Lag (2018:218) med kompletterande bestämmelser</title>
<link rel="stylesheet" href="/assets/main.css"><script src="/assets/main.js" defer></script>
<meta name="viewport" content="width=device-width, initial-scale=1">
`)
	const eli = "https://law.example/eli/sfs/2018/218"
	for i := range 100 {
		fmt.Fprintf(&b, "<meta about=%q property=\"eli:is_about\" resource=\"https://law.example/terms/%d\">\n", eli, i)
		fmt.Fprintf(&b, "<meta about=%q property=\"eli:title\" content=\"Rubrik nummer %d\" lang=\"sv\">\n", eli, i)
	}
	b.WriteString("</head>\n<body class=\"page page--law\">\n<nav class=\"menu\"><ul>")
	for i := range 100 {
		fmt.Fprintf(&b, "<li class=\"menu__item\"><a class=\"menu__link\" href=\"/lagar/%d\" title=\"Till lag %d\"><span>Lag %d</span></a></li>\n", i, i, i)
	}
	b.WriteString("</ul></nav>\n<main id=\"main\" typeof=\"eli:LegalResource\" about=\"" + eli + "\">\n")
	for i := range 99 {
		fmt.Fprintf(&b, `<section class="chapter" id="K%[1]d" resource="%[2]s/art_%[1]d" typeof="eli:LegalResourceSubdivision">
<h2 class="chapter__title"><span property="eli:title">%[1]d kap. Tillämpningsområde</span></h2>
<a rel="eli:is_part_of" href="%[2]s" class="visually-hidden">Lagen</a>
`, i, eli)
		for j := range 4 {
			fmt.Fprintf(&b, `<p class="paragraph" id="K%[1]dP%[2]d"><a class="anchor" href="#K%[1]dP%[2]d">%[2]d §</a>   Bestämmelserna i EU:s dataskyddsförordning, i den ursprungliga lydelsen, och denna lag ska gälla i tillämpliga delar också vid behandling av personuppgifter som utgör ett led i en verksamhet, med undantag för <a href="/eli/sfs/1991/%[1]d">lagen (1991:%[1]d)</a> &amp; <em>annat</em>.</p>
`, i, j)
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Bytes()
}

// BenchmarkExtract compares an extraction with the parsing that it contains. The bar is 1.3 times its time: x-html.Parse of 0.77.
func BenchmarkExtract(b *testing.B) {
	const times = 5 // in a turn
	page := lawPage()
	extract := func() error {
		_, err := new(rdfa.Extractor).Extract(bytes.NewReader(page), base, "text/html", nil)
		return err
	}
	parse := func() error {
		_, err := html.Parse(bytes.NewReader(page))
		return err
	}
	repeated := func(do func() error) func() error {
		return func() error {
			for range times {
				if err := do(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	bench.Beside(b, times*len(page), bench.CPU("Extract", repeated(extract)), bench.CPU("html.Parse", repeated(parse)))
	allocs := func(do func() error) float64 { return testing.AllocsPerRun(1, func() { _ = do() }) }
	b.ReportMetric(allocs(extract)/allocs(parse), "x-allocs")
}
