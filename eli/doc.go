// Package eli implements ELI Pillar IV 1.0, the protocol to synchronise the metadata of
// legislation that has European Legislation Identifiers.
//
// # Metadata
//
// [ReadPage] extracts the triples of a page. [Graph.Resource] returns the description of
// a legal resource with its expressions and formats, by the terms of the ELI ontology:
//
//	graph, err := eli.ReadPage(page, url, "text/html", extractors, report)
//	act, err := graph.Resource("https://law.example/eli/act/1")
//
// Pages are read as publishers write them. Other spellings of the namespace, a prefix
// that is not declared, links in the opposite direction, and languages and media types in
// other forms are accepted; each is a finding with one of the rules that [Rules] returns.
// What schema.org calls Legislation is a legal resource, too: its properties are those of
// the ontology that they stand for.
//
// The extractors are an rdfa.Extractor, a jsonld.Extractor, or another [Extractor]. This
// package does not import eli/jsonld, which links net/http though it does not use it.
//
// # Full text
//
// [LegalResource.FullText] returns the URLs of the full text in the order in which they
// are to be tried (annex 4.2), by [Preferences] for languages and formats.
//
// # Harvesting
//
// A [Source] harvests a publisher: the legal resources of a sitemap and its update feed,
// with their metadata and full text (annex 4.1), five seconds from one request to the
// next:
//
//	source := &eli.Source{
//		Sitemap: "https://law.example/eli/sitemap.xml",
//		Feed:    "https://law.example/eli/eli-update-feed.atom",
//	}
//	report, err := h.Run(ctx, source) // of a harvest.Harvester, once a day
//
// # Storing
//
// [Graph.WriteQuads] writes the triples of a page as the named graph of its legal
// resource, and [ReadGraph] reads them. A Source keeps them in the Catalog, and [Acts]
// yields the descriptions of all acts there:
//
//	for act, err := range eli.Acts(ctx, catalog) { … }
//
// # Publishing
//
// A [Publisher] publishes the acts of a Catalog as a sitemap of ELIs and an update feed:
//
//	own := []string{"acts"}
//	site := &publish.Site{Catalog: catalog, Base: "https://country.xy/", Own: own}
//	author := websync.Person{Name: "Country Legislation Service"}
//	handler := site.Handler(&eli.Publisher{Author: author})
//
// ELIs can be listed only on their own host and by their own publisher. Their pages are
// served from the Catalog or by another program.
//
// A [CSV] brings a Store in step with a list of acts, for publishers who have no record
// of what has changed:
//
//	report, err := h.Run(ctx, &eli.CSV{File: "acts.csv", Name: "acts"})
package eli
