package endtoend

import (
	"crypto/md5"
	"fmt"

	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/rinfo"
)

// legal is the profile of the Swedish legal information system: each entry has a primary
// representation and RDF data, both with digests.
var legal = dialect{
	name: "rinfo, ",
	open: func(url string) harvest.Source { return &rinfo.Source{URL: url} },
	documents: func(e edition, n int) string {
		body, data := e.body(n), rdfOf(e, n)
		return fmt.Sprintf(`<published>2026-01-01T00:00:00Z</published><content type="text/plain" src="%s" hash="md5:%x"/>
  <link rel="alternate" type="application/rdf+xml" href="%s" length="%d" hash="md5:%x"/>`,
			escape(origin+path(n)), md5.Sum([]byte(body)), escape(origin+path(n)+"&rdf"), len(data), md5.Sum([]byte(data)))
	},
	deletion: plainAtom.deletion,
	more:     func(s *site, e edition, n int) { s.files[path(n)+"&rdf"] = rdfOf(e, n) },
}

func rdfOf(e edition, n int) string { return "<!-- metadata of " + e.body(n) + "-->" }

// metadata is Atom-PMH: each entry has alternate links, and a deletion is an entry
// without them.
var metadata = dialect{
	name: "Atom-PMH, ",
	open: func(url string) harvest.Source { return &atompmh.Source{URL: url, AllFormats: true} },
	documents: func(_ edition, n int) string {
		href := escape(origin + path(n))
		return fmt.Sprintf(`<link type="text/plain" href="%s"/><link rel="alternate" type="application/rdf+xml" href="%s"/>`, href, href+"&amp;rdf")
	},
	deletion: `<entry><id>%s</id><title>gone</title><updated>2026-09-15T00:00:00Z</updated><content/></entry>`,
	more:     legal.more,
}
