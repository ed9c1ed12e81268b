package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// An ending is what the last step of an ELI looks like.
type ending uint8

const (
	noEnding ending = iota
	languageEnding
	formatEnding
)

// String returns what a URL with the ending looks like.
func (e ending) String() string {
	if e == formatEnding {
		return "a format"
	}
	return "an expression"
}

// The last steps of formats, and of expressions: the languages of Europe's legislation,
// as ISO 639-1 and as the EU's authority table write them.
var (
	formatSteps = strings.Fields(`html xhtml xml pdf pdfa pdfa1a pdfa1b pdfa2a pdfx doc docx rtf txt epub odt json
		jsonld rdf ttl akn fmx4`)

	languageSteps = strings.Fields(`bg cs da de el en es et fi fr ga hr hu is it lb lt lv mt nb nl nn no pl pt ro sk sl
		sq sr sv tr uk bul ces dan deu ell eng spa est fin fra gle hrv hun isl ita ltz lit lav mlt nob nld nno nor pol
		por ron slk slv sqi srp swe tur ukr cat eus glg mkd`)
)

// An ending is found by the last step of the path.
func endingOf(path string) ending {
	path = strings.TrimSuffix(path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case slices.Contains(formatSteps, last):
		return formatEnding
	case slices.Contains(languageSteps, last):
		return languageEnding
	}
	return noEnding
}

// endings counts the URLs that look like expressions or formats.
type endings struct {
	counts [formatEnding + 1]int
	first  [formatEnding + 1]entryAt
	// URLs that have an ending, of which the shorter URL may be listed, too
	suspects []suspect
}

type suspect struct {
	ending
	url string
	at  position
}

// maxSuspects limits the URLs that are compared with the list.
const maxSuspects = 10_000

func (e *endings) add(url string, end int, at position) {
	kind := endingOf(url[end:][:syntax.IndexAny(url[end:], "?#")])
	if kind == noEnding {
		return
	}
	if e.counts[kind]++; e.counts[kind] == 1 {
		e.first[kind] = entryAt{url: url, at: at}
	}
	if len(e.suspects) < maxSuspects {
		e.suspects = append(e.suspects, suspect{kind, url, at})
	}
}

// check reports the URLs of expressions and formats: those whose legal resource is
// listed, too, and those with an ending that most others lack. If most URLs have it, it
// may belong to the legal resources: only their pages tell.
func (e *endings) check(k *check) {
	total := k.list.table.Len
	for _, s := range e.suspects {
		trimmed := strings.TrimSuffix(s.url, "/")
		shorter := trimmed[:strings.LastIndexByte(trimmed, '/')]
		switch {
		case k.list.table.Find(shorter) != nil || k.list.table.Find(shorter+"/") != nil:
			k.find(ruleResources, s.at, s.url, "the URL is that of "+s.ending.String()+": its legal resource is listed, too")
		case 2*e.counts[s.ending] < total:
			k.find(ruleResources, s.at, s.url,
				"the URL ends like that of "+s.ending.String()+", which the URLs of other legal resources don't")
		}
	}
	for _, kind := range []ending{languageEnding, formatEnding} {
		if n := e.counts[kind]; n > 0 && 2*n >= total {
			k.findAs(asWarn, ruleResources, e.first[kind].at, e.first[kind].url,
				fmt.Sprintf("%d of %d URLs end like that of %s", n, total, kind))
		}
	}
}
