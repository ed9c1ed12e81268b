package interop

import "testing"

// A kind is one of documents, with those who read or write it.
type kind struct {
	name      string
	documents []document
	tools     []tool
}

// A document is one of a protocol.
type document struct {
	protocol string
	path     string
	want     func(t *testing.T, s *site) []row
}

var kinds = []kind{
	{
		name: "Sitemaps",
		documents: []document{
			{"sitemap", "sitemap.xml", listed},
			{"ResourceSync", "resourcelist.xml", listed},
			{"ELI", "eli/sitemap.xml", acts(listed)},
		},
		tools: []tool{
			{name: "sitemapper", npm: "sitemapper@4.1.6", script: "sitemapper.mjs"},
			{name: "sitemap.js", npm: "sitemap@9.0.1", script: "sitemap.mjs", differs: map[string]string{
				"updated": "times with a fraction of other than three digits are dropped. ResourceSync keeps all digits.",
			}},
			{name: "Scrapy", deb: "python3-scrapy", script: "scrapy_sitemap.py"},
			{name: "libxml2", deb: "libxml2-utils", script: "xmllint.sh"},
		},
	},
	{
		name: "Feeds",
		documents: []document{
			{"Atom", "feed.atom", entries},
			{"Atom-PMH", "pmh.atom", records},
			{"rinfo", "rinfo.atom", entries},
			{"ELI", "eli/eli-update-feed.atom", acts(updates)},
		},
		tools: []tool{
			{name: "feedparser (Python)", deb: "python3-feedparser", script: "feedparser.py", differs: map[string]string{
				"link": "an alternate is the link only if it is HTML; otherwise the id is.",
			}},
			{name: "feedparser (npm)", npm: "feedparser@2.6.0", script: "node-feedparser.mjs", differs: map[string]string{
				"title": "is read as HTML: what looks like a tag is lost.",
			}},
			{name: "rss-parser", npm: "rss-parser@3.13.0", script: "rss-parser.mjs"},
			{name: "feedsmith", npm: "feedsmith@3.0.1", script: "feedsmith.mjs"},
			{name: "feed-extractor", npm: "@extractus/feed-extractor@8.0.3", script: "feed-extractor.mjs"},
			{name: "feed-parser", npm: "@rowanmanning/feed-parser@2.1.5", script: "feed-parser.mjs"},
			{name: "feedme", npm: "feedme@2.0.2", script: "feedme.mjs"},
			{name: "gofeed", module: "github.com/mmcdole/gofeed", script: "gofeed.go", differs: map[string]string{
				"id": "letters of an IRI are percent-encoded. Compare ids without escapes.",
			}},
			{name: "Newsboat", deb: "newsboat", script: "newsboat.sh"},
			{name: "sfeed", deb: "sfeed", script: "sfeed.sh"},
			{name: "feedparser (Ruby)", deb: "ruby-feedparser", script: "ruby_feedparser.rb", differs: map[string]string{
				"link":    "is the last link, whatever its relation. Read the links from the XML of the item.",
				"summary": "where there is no content, is made a paragraph of HTML.",
				"title":   "is read as HTML: what looks like a tag becomes an asterisk.",
			}},
			{name: "rss (Ruby)", deb: "ruby", script: "ruby_rss.rb"},
			{name: "XML::Feed", deb: "libxml-feed-perl", script: "xml_feed.pl"},
			{name: "XML::Atom", deb: "libxml-atom-perl", script: "xml_atom.pl"},
			{name: "XML::FeedPP", deb: "libxml-feedpp-perl", script: "xml_feedpp.pl"},
			{name: "Raptor", deb: "raptor2-utils", script: "rapper.py"},
		},
	},
	{
		name:      "Packages",
		documents: []document{{"Resource Dump", "resourcedump.xml", members}},
		tools: []tool{
			{name: "Info-ZIP", deb: "unzip", script: "unpack.sh unzip"},
			{name: "libarchive", deb: "libarchive-tools", script: "unpack.sh bsdtar"},
			{name: "7-Zip", deb: "p7zip-full", script: "unpack.sh 7z"},
			{name: "zipfile (Python)", deb: "python3", script: "zipfile_reader.py"},
			{name: "rubyzip", deb: "ruby-zip", script: "rubyzip.rb"},
			{name: "Archive::Zip", deb: "libarchive-zip-perl", script: "archive_zip.pl"},
			{name: "node-stream-zip", npm: "node-stream-zip@1.16.0", script: "node-stream-zip.mjs"},
			{name: "yauzl", npm: "yauzl@3.4.0", script: "yauzl.mjs"},
			{name: "adm-zip", npm: "adm-zip@0.6.1", script: "adm-zip.mjs"},
			{name: "JSZip", npm: "jszip@3.10.2", script: "jszip.mjs"},
		},
	},
	{
		name:      "Bodies",
		documents: []document{{"HTTP", "sitemap.xml", bodies}},
		tools: []tool{
			{name: "curl", deb: "curl", script: "curl.sh"},
			{name: "Wget2", deb: "wget2", script: "wget2.sh", differs: map[string]string{
				"id": "an ampersand in an address of a sitemap stays escaped, so that what it names is not found.",
			}},
			{name: "LWP", deb: "libwww-perl", script: "lwp.pl"},
			{name: "Requests", deb: "python3-requests", script: "requests.py"},
		},
	},
	{
		name:      "Metadata of acts",
		documents: []document{{"RDFa", "eli/act/1", triples}},
		tools: []tool{
			{name: "rdfa-streaming-parser", npm: "rdfa-streaming-parser@3.0.2", script: "rdfa-streaming-parser.mjs"},
			{name: "pyRdfa", deb: "python3-pyrdfa", script: "rdfa.py"},
			{name: "RDF::RDFa::Parser", deb: "librdf-rdfa-parser-perl", script: "rdfa.pl"},
		},
	},
}

// clients lets each client read what is published for it, and compares.
func (p *page) clients(t *testing.T) {
	s := newSite(t)
	for _, k := range kinds {
		for _, client := range k.tools {
			t.Run(k.name+"/"+client.name, func(t *testing.T) {
				t.Parallel()
				c := comparison{differs: client.differs}
				for _, d := range k.documents {
					location := s.Base + d.path
					if k.name == "Packages" {
						location = s.download(t, d.path)
					}
					p.set(k.name, client, d.protocol, c.lost(t, d.protocol, fields, d.want(t, s), rows(t, client.run(t, location))))
				}
				c.end(t)
			})
		}
	}
}
