package conformance

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Kind is how strongly the specification states a rule.
type Kind string

// The kinds of rules. The severity of a finding is that of its rule's kind, unless
// Checker states otherwise in the finding: a check that can only guess gives a warning.
const (
	Must      Kind = "M"   // MUST or MUST NOT: an error
	LowerMust Kind = "m"   // "must" in lower case, or "it is necessary": an error
	Should    Kind = "S"   // SHOULD: a warning
	Annex     Kind = "A"   // stated in an annex that is not normative
	AnnexMust Kind = "A/M" // MUST, in an annex that is not normative: an error
	May       Kind = "I"   // MAY, or for information: never fails by itself
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case Must:
		return "MUST"
	case LowerMust:
		return "must (in lower case)"
	case Should:
		return "SHOULD"
	case Annex:
		return "annex"
	case AnnexMust:
		return "MUST (in an annex)"
	case May:
		return "information"
	}
	return string(k)
}

func (k Kind) severity() websync.Severity {
	switch k {
	case Must, LowerMust, AnnexMust:
		return websync.SeverityError
	case Should:
		return websync.SeverityWarning
	}
	return websync.SeverityInfo
}

// A Rule is one rule of the specification. Its Name, such as "P4-001", never changes.
// Summary states what the rule demands.
type Rule struct {
	websync.Rule
	Kind   Kind
	Advice string // what a publisher does who breaks the rule

	number int // position in Rules
}

// Rules returns the 63 rules, by their names.
func Rules() []Rule {
	all := make([]Rule, len(ruleSet.rules))
	for i, r := range ruleSet.rules {
		all[i] = *r
	}
	return all
}

// A book is the rules in the order in which they are declared.
type book struct {
	table *document.Rules
	rules []*Rule
}

var ruleSet = book{table: document.NewRules("P4")}

func (b *book) add(number string, kind Kind, section, summary, advice string) *Rule {
	added := b.table.Add(number, "ELI Pillar IV §"+section, kind.severity(), summary)
	r := &Rule{Rule: added, Kind: kind, Advice: advice, number: len(b.rules)}
	b.rules = append(b.rules, r)
	return r
}

// between returns the rules from first to last.
func (b *book) between(first, last string) (some []*Rule) {
	for _, r := range b.rules {
		if first <= r.Name && r.Name <= last {
			some = append(some, r)
		}
	}
	return some
}

// The two channels (§3, §3.1).
var (
	ruleOffered = ruleSet.add("001", Must, "3", "The publisher offers both a sitemap and an update feed.",
		"Publish the one that is missing, or correct what makes it unreadable.")
	rulePillarIII = ruleSet.add("002", LowerMust, "3", "The pages hold structured metadata (Pillar III).",
		"Add the metadata to the pages that lack them: the rules on pages report what is missing.")
	ruleNotify = ruleSet.add("003", Must, "3.1",
		"The ELI registry and task force are notified of breaking changes, new locations, other frequencies, and "+
			"added or removed pairs.",
		"If that was not done yet, notify OP-ELI-MAILBOX@publications.europa.eu of the change.")
)

// The sitemap as the Sitemap protocol defines it (§3.2.2, "Conform to the Sitemap
// protocol").
var (
	ruleXML = ruleSet.add("010", Must, "3.2.2", "Each document of the sitemap is well-formed XML in UTF-8.",
		"Write the file with an XML library, in UTF-8, and declare that encoding or none.")
	ruleRoot = ruleSet.add("011", Must, "3.2.2",
		"The root element is urlset or sitemapindex in the namespace http://www.sitemaps.org/schemas/sitemap/0.9.",
		"Write the namespace exactly so: with http, not https, and without a slash at its end.")
	ruleLoc = ruleSet.add("012", Must, "3.2.2",
		"Each entry has exactly one loc: an absolute HTTP URL of fewer than 2,048 characters.",
		"Write the full URL, percent-encoded, once in each entry.")
	ruleValues = ruleSet.add("013", Must, "3.2.2",
		"changefreq is one of its seven values, priority is between 0.0 and 1.0, and an entry has each at most once.",
		"Correct the values, or leave both elements out: ELI clients do not need them.")
	ruleSize = ruleSet.add("014", Must, "3.2.2",
		"Each document has at most 50,000 entries and 52,428,800 bytes before compression.",
		"Split the sitemap into several files that an index lists.")
	ruleNested = ruleSet.add("015", Must, "3.2.2", "An index lists sitemaps, and no other indexes.",
		"List all sitemaps in one index, and check that each of them can be read.")
	ruleSite = ruleSet.add("016", Must, "3.2.2", "The sitemaps that an index lists are on the site of the index.",
		"Publish the files on the host of the index, under the same scheme.")
	ruleDoctype = ruleSet.add("017", Must, "3.2.2", "The sitemap has no DOCTYPE and declares no entities.",
		"Remove the DOCTYPE: the protocol has none, and readers refuse it for their security.")
	ruleTwice = ruleSet.add("018", May, "3.2.2", "No URL is listed twice.",
		"List each URL once, in one of the files.")
)

// The sitemap as a list of ELIs (§3.2.2).
var (
	ruleComplete = ruleSet.add("020", Must, "3.2", "The sitemap lists all legal resources.",
		"Generate the list from the whole database, and look for what left it since the last time.")
	ruleLocation = ruleSet.add("021", Should, "3.2.2", "The sitemap is published at …/eli/sitemap.xml.",
		"Publish the sitemap, or its index, at that path, or redirect it to there.")
	rulePrefix = ruleSet.add("022", Must, "3.2.2", "The sitemap lists only URLs of its own scheme, host and directory.",
		"Publish the sitemap where its ELIs are, or list the ELIs as they are published there.")
	ruleDomains = ruleSet.add("023", Must, "3.2.2", "ELIs of several domains have several sitemaps.",
		"Publish a sitemap and a feed of its own for each domain.")
	ruleCross = ruleSet.add("024", Must, "3.2.2",
		"If the sitemap is on another host than its ELIs, the robots.txt of their host names it.",
		"Add the line “Sitemap: ” with the URL of the sitemap to the robots.txt of the ELIs' host.")
	ruleResources = ruleSet.add("025", Must, "3.2.2", "The sitemap lists legal resources only, no expressions and no formats.",
		"Remove the URIs of languages and of files: the page of the legal resource describes them.")
	ruleELI = ruleSet.add("026", Must, "3.2.2", "The sitemap lists no URLs that are not ELIs.",
		"Move other pages to a sitemap of their own.")
	ruleVisit = ruleSet.add("027", Must, "3.2.2",
		"The list is the set of pages that a client has to visit: all that is needed, and nothing twice.",
		"Correct what the rules on completeness (P4-020) and synonyms (P4-029) report.")
	ruleOther = ruleSet.add("028", May, "3.2.2", "The publisher may have other sitemaps for search engines.",
		"Nothing.")
	ruleSynonym = ruleSet.add("029", Must, "3.2.2", "The sitemap lists no synonyms of an ELI.",
		"List only the canonical ELI: the one that the metadata of the page describe.")
	ruleFields = ruleSet.add("030", Must, "3.2.2", "Each entry has one loc and one lastmod.",
		"Write the date of the record's last change into each entry.")
	ruleDate = ruleSet.add("031", LowerMust, "3.2.2",
		"lastmod is a W3C datetime: YYYY, YYYY-MM, YYYY-MM-DD, or a date with a time and a zone.",
		"Write a date such as 2026-03-08, or a time with its zone such as 2026-03-08T16:20:00+01:00.")
	ruleChanged = ruleSet.add("032", Must, "3.2.2", "lastmod is the date of the record's last change.",
		"Take the date from the database, not from the moment at which the file is written.")
	ruleExtend = ruleSet.add("033", May, "3.2.2", "Further elements have other namespaces, and follow the standard ones.",
		"Give the elements a namespace of their own and write them after lastmod, changefreq and priority.")
	ruleRelation = ruleSet.add("034", May, "3.2.2", "dct:relation at the root, if it is there, is the URL of the feed.",
		"Write the URL of the feed, in full. Clients do not use it.")
	ruleSplit = ruleSet.add("035", Must, "3.2.2", "More than 50,000 entries are split into several files, with an index.",
		"Split the sitemap into files of at most 50,000 entries, and publish an index of them.")
	ruleIndexLocation = ruleSet.add("036", Must, "3.2.2",
		"Of a sitemap in several files, it is the index that is at …/eli/sitemap.xml.",
		"Publish the index at that path.")
	ruleNames = ruleSet.add("037", May, "3.2.2", "The files of an index may have any names.",
		"Nothing.")
	ruleMonthly = ruleSet.add("038", LowerMust, "3.2.2", "The sitemap is renewed at least every month.",
		"Let a program write the sitemap, for example every night.")
	ruleRegistered = ruleSet.add("039", Must, "3.2.2", "The location of the sitemap is advertised, and registered at EUR-Lex.",
		"Register the sitemap and its feed with the ELI registry.")
)

// The pages (§3.2.2, "Provide dereferenceable ELI URIs" and what follows).
var (
	rulePage = ruleSet.add("040", Must, "3.2.2", "Each ELI leads to an HTML page, redirects included.",
		"Answer a request for text/html with status 200 and the page, within 10 redirects.")
	ruleMetadata = ruleSet.add("041", Must, "3.2.2",
		"The page holds RDFa or JSON-LD with terms of the ELI ontology, for every client.",
		"Write the metadata into the HTML that the server sends. Clients do not run scripts.")
	ruleDescribes = ruleSet.add("042", Must, "3.2.2", "The metadata describe the URI that was requested.",
		"Use the URI of the sitemap as the subject of the metadata, byte for byte.")
	ruleTree = ruleSet.add("043", Must, "3.2.2", "The metadata describe at least one expression and one of its formats.",
		"Link the legal resource to an expression with is_realized_by, and that to a format with is_embodied_by.")
	ruleLanguages = ruleSet.add("044", May, "3.2.2", "The metadata may describe all expressions, or only link to them.",
		"Nothing.")
	ruleOntology = ruleSet.add("045", May, "2.1", "The terms are those of http://data.europa.eu/eli/ontology#, byte for byte.",
		"Declare the prefix eli with exactly this namespace, and write the properties in the ontology's direction.")
	ruleMediaType = ruleSet.add("046", May, "4.2", "The media_type of a format is an IRI of IANA's list, with https.",
		"Write https://www.iana.org/assignments/media-types/ and the media type, for example application/pdf.")
)

// The feed (§3.3.2).
var (
	ruleAtom = ruleSet.add("050", Must, "3.3.2", "The feed is valid Atom (RFC 4287).",
		"Correct what is reported. If it comes from a template, one correction is enough for all entries.")
	ruleTitle = ruleSet.add("051", Must, "3.3.2", "The feed has a title.",
		"Add a title, in any language.")
	ruleSelf = ruleSet.add("052", Must, "3.3.2", "The feed has a link with rel=\"self\" to its own URL.",
		"Write the URL at which the feed is published into the link.")
	ruleUpdated = ruleSet.add("053", Must, "3.3.2", "The feed's updated is that of its newest entry.",
		"Copy the newest updated of the entries.")
	ruleAuthor = ruleSet.add("054", Must, "3.3.2", "The feed names its author.",
		"Add author and name: the service that publishes the feed.")
	ruleFeedID = ruleSet.add("055", Must, "3.3.2", "The feed has an id that is unique, never changes, and is not its URL.",
		"Choose a URN once, and keep it when the feed moves.")
	ruleURN = ruleSet.add("056", Should, "3.3.2", "The id is urn:, the host with hyphens for dots, and :eli:eli-update-feed.",
		"Use this form for a new feed. Do not change the id of one that has readers.")
	ruleFeedOther = ruleSet.add("057", May, "3.3.2", "The feed may have other elements and namespaces.",
		"Nothing.")
	ruleEntryLink = ruleSet.add("060", Must, "3.3.2", "The link of an entry is the ELI, as the id and the sitemap have it.",
		"Write the ELI of the sitemap into link and id, byte for byte.")
	ruleEntryID = ruleSet.add("061", Must, "3.3.2", "The id of an entry is the ELI.",
		"Write the ELI into the id, and list each legal resource once, with its newest date.")
	ruleEntryTitle = ruleSet.add("062", Should, "3.3.2", "The title of an entry is that of the act; the ELI is allowed.",
		"Write the title of the act.")
	ruleEntryUpdated = ruleSet.add("063", Must, "3.3.2", "The updated of an entry is the time of its publication or last update.",
		"Write a date with a time and a zone, such as 2026-03-08T16:20:00Z.")
	ruleFeedLocation = ruleSet.add("064", Should, "3.3.2",
		"The feed is published at …/eli/eli-update-feed.atom, on the host of the sitemap.",
		"Publish the feed at that path, or register its location.")
	ruleDaily = ruleSet.add("065", Must, "3.3.2", "The feed is updated daily.",
		"Let a program write the feed every day.")
	ruleHistory = ruleSet.add("066", Must, "3.3.2", "The feed holds at least 60 days of history.",
		"Keep an entry in the feed for 60 days after its updated.")
	ruleOneFeed = ruleSet.add("067", Must, "3.3.2", "Each sitemap has a feed of its own.",
		"Publish one feed for each sitemap, with the entries of that sitemap.")
	ruleFeedRegistered = ruleSet.add("068", Must, "3.3.2",
		"The location of the feed is advertised, and registered at EUR-Lex together with the sitemap.",
		"Register both URLs as a pair with the ELI registry.")
	ruleSame = ruleSet.add("069", AnnexMust, "5", "The sitemap and the feed are about the same pages.",
		"Generate both from one table, with one date for each legal resource.")
	ruleMassive = ruleSet.add("070", May, "3.3.3", "The feed is not used to announce that everything was processed anew.",
		"Leave technical changes out of the feed, and let clients read the sitemap again.")
	ruleHuman = ruleSet.add("071", Should, "3.3.4", "A feed that people are to read has titles and content.",
		"Write the title of the act into title, and an abstract into content.")
)

// The full text (§3.4, annex 4.2).
var (
	ruleFullText = ruleSet.add("080", Should, "3.4", "Each ELI leads to a file with the full text.",
		"Check the address of the format in the metadata, and that the server sends the file and its media type.")
	ruleOwnURI = ruleSet.add("081", AnnexMust, "4.2", "A format without is_exemplified_by returns the document at its own URI.",
		"Let the URI of the format lead to the file, or state is_exemplified_by.")
	ruleOrder = ruleSet.add("082", Annex, "4.2", "A client looks for HTML, XHTML, XML and PDF by media_type, then by format.",
		"State the media_type of each format as the rule P4-046 says.")
	ruleClient = ruleSet.add("083", Annex, "4.1",
		"A client waits 5 seconds between pages, follows redirects, reads the feed daily, and from time to time "+
			"the whole sitemap.",
		"Nothing: this is for clients.")
)
