package rinfo

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement of the specification.
type Rule = websync.Rule

var rules = document.NewRules("rinfo")

// Rules returns every rule, in the order of the package's sources. The documents are
// Atom: the rules of package atom apply, too.
func Rules() []Rule { return rules.All() }

// Feeds.
var (
	ruleFeedID = rules.Info("feed-id", "Atom-insamling §3.1.1",
		"a feed id that is an HTTP URL, which may lead nowhere one day")
	ruleOtherFeed   = rules.Error("other-feed", "Atom-insamling §7.1", "documents of one feed that have different ids")
	ruleFeedUpdated = rules.Error("feed-updated", "Atom-insamling §3.1.3",
		"a document that is older than one of its entries or deletions")
	ruleFeedAuthor = rules.Error("feed-author", "Atom-insamling §3.1.4", "a feed without an author")
	ruleEmail      = rules.Warning("author-email", "Atom-insamling §3.1.4",
		"an author of the feed without an e-mail address, to which faults can be reported")
	ruleComplete = rules.Error("complete", "Atom-insamling §5", "a complete feed that has archive documents or pages")
	ruleDeletion = rules.Info("complete-deletion", "Atom-insamling §4.2", "a deletion in a complete feed, which needs none")
	rulePages    = rules.Warning("pages", "Atom-insamling §6", "pages that are linked with next, and no archive documents")
	ruleLong     = rules.Info("long", "Atom-insamling §5, §6", "a document of more than a thousand entries and deletions")
	ruleOrder    = rules.Error("order", "Atom-insamling §3.2, §7.1, §8.3",
		"an archive document that has something later than an entry of the document after it")
	ruleIndex = rules.Info("index", "Atom-insamling §9",
		"an entry whose content is a feed: the document is an index of feeds")
)

// Entries.
var (
	ruleID        = rules.Warning("id", "Atom-insamling §3.3.1", "an id that is not an HTTP URL, as official URIs are")
	rulePublished = rules.Error("published", "Atom-insamling §3.3.2, §4.1", "an entry without a time of publication")
	ruleUpdated   = rules.Error("updated", "Atom-insamling §4.1", "an entry that is updated before it is published")
	ruleReused    = rules.Error("reused-id", "Atom-insamling §4.1",
		"a later state of an entry that does not state a later time than that of its publication")
	ruleContent = rules.Warning("content", "Atom-insamling §3.3.4",
		"an entry without content, which is tolerated if it has RDF data")
	ruleInline = rules.Error("inline", "Atom-insamling §3.3.4, §7.1", "content that is not linked to")
	ruleRDF    = rules.Error("rdf", "Atom-insamling §3.3.5, §7.1", "an entry without RDF data")
)

// Linked documents.
var (
	ruleLink = rules.Error("link", "Atom-insamling §3.3",
		"a document that is not collected, because its URL is not an HTTP URL, or because there are too many")
	ruleType   = rules.Error("type", "Atom-insamling §3.3.6", "a linked document without its media type")
	ruleLength = rules.Error("length", "Atom-insamling §3.3.6",
		"a linked document, other than the content, without its length")
	ruleDigest     = rules.Error("digest", "Atom-insamling §3.3.6, §7.1", "a linked document without a digest")
	ruleMD5        = rules.Warning("md5", "Atom-insamling §3.3.6, §7.1", "a linked document with other digests than MD5 only")
	ruleAttachment = rules.Error("attachment", "Atom-insamling §3.3.7",
		"an enclosure that has no URL below the id, or that of another document")
	ruleMismatch = rules.Error("mismatch", "Atom-insamling §7.1",
		"a linked document that can't be read, or is not as its link states")
)
