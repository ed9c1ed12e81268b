package resourcesync

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement on a document of ResourceSync.
type Rule = websync.Rule

var rules = document.NewRules("resourcesync")

// Of what a Source reads.
var (
	ruleUnpack = rules.Warning("package-read", "Z39.99 §11.1, §13.1",
		"a package that can't be read: its resources are fetched one by one")
	ruleLoc   = rules.Error("loc-length", "Z39.99 §7", "a URI that is longer than any Store takes")
	ruleAhead = rules.Warning("time-ahead", sectionFormat,
		"an at that lies more than a day ahead of the server's clock: it is not believed")
	ruleContents = rules.Warning("package-contents", "Z39.99 §11.1, §13.1",
		"a manifest that lacks entries of the one in the package, or is not as the dump states, "+
			"or a list or package of before the whole")
	ruleTimeMap  = rules.Error("timemap", "RFC 7089 §5", "a TimeMap that can't be read, or names what it must not or too much")
	ruleUnlisted = rules.Warning("package-unlisted", "Z39.99 §11.2, §13.2", "files of a package that its manifest does not list")
)

// Of what a Publisher lists.
var (
	ruleNotListed = rules.Error("not-listed", sectionFormat, "a resource that no valid entry can list")
	ruleLeftOut   = rules.Warning("left-out", sectionFormat, "a part of a description that no valid entry can have")
)

// Rules returns every rule, in the order of the package's sources. Documents of
// ResourceSync are sitemaps: the rules of package sitemap apply, too.
func Rules() []Rule { return rules.All() }

// Sections of the standard: ANSI/NISO Z39.99-2014 (version 1.0) and Z39.99-2017 (version
// 1.1).
const (
	sectionFormat    = "Z39.99 §7"
	sectionTable3    = "Z39.99 §7, table 3"
	sectionTable4    = "Z39.99 appendix A, table 4"
	sectionNavigate  = "Z39.99 §6.2"
	sectionLists     = "Z39.99 §8, §9"
	sectionCapList   = "Z39.99 §9"
	sectionPackages  = "Z39.99 §11.1, §13.1"
	sectionManifests = "Z39.99 §11.2, §13.2"
	sectionChanges   = "Z39.99 §12.1, §13.2"
	sectionListIndex = "Z39.99 §12.2"
	section11        = "Z39.99-2017 §12.1, §13.2"
)

// Rules of sitemaps that do not hold for every document of ResourceSync.
const (
	sitemapEmpty     = "sitemap-empty"
	sitemapDuplicate = "sitemap-loc-duplicate"
)

// Of the elements and the syntax of their values, which a Reader reports.
var (
	ruleDocument         = rules.Error("document", sectionFormat, "a list of URLs in plain text")
	ruleMetadata         = rules.Error("md", sectionFormat, "a document without md")
	ruleMetadataRepeated = rules.Error("md-repeated", sectionFormat, "md twice in one entry, or in the document itself")
	ruleElement          = rules.Error("element", sectionFormat, "an element of the namespace other than md and ln")
	ruleNamespace        = rules.Error("namespace", "Z39.99 §4",
		"a namespace that is almost that of md and ln, or an undeclared prefix")
	ruleAttribute       = rules.Error("attribute", sectionTable3, "an attribute that md or ln does not have")
	ruleAttributePrefix = rules.Error("attribute-prefix", sectionFormat, "an attribute of the standard with a prefix")
	ruleSize            = rules.Error("size", sectionFormat, "more links or longer values than a Reader keeps")
	ruleCapability      = rules.Warning("capability", sectionFormat, "almost a capability that the standard defines")
	ruleCapabilityOther = rules.Info("capability-other", "Z39.99 §6.1", "a capability of another specification")
	ruleChange          = rules.Error("change", sectionFormat, "a change other than created, updated and deleted")
	ruleTime            = rules.Error("time", sectionFormat, "not a W3C datetime")
	ruleLength          = rules.Error("length", sectionFormat, "a length that is not a number of bytes")
	ruleHash            = rules.Error("hash", sectionFormat,
		"a hash that is not a list of algorithm:digest, in hex and of the right length")
	rulePath = rules.Error("path", sectionManifests,
		"a path that does not begin with a slash, or that may lead out of its package")
	rulePriority        = rules.Error("pri", sectionFormat, "a pri that is not an integer from 1 to 999,999")
	ruleRelationMissing = rules.Error("rel-missing", sectionFormat, "a link without rel")
	ruleRelation        = rules.Error("rel", sectionFormat, "a rel that is neither a registered relation nor a URI")
	ruleHrefMissing     = rules.Error("href-missing", sectionFormat, "a link without href")
	ruleHref            = rules.Error("href", sectionFormat, "an href that is not a URI")
)

// Of values.
var (
	ruleTimeForm      = rules.Warning("time-form", sectionFormat, "not a complete date and time in UTC")
	ruleMediaType     = rules.Error("type", sectionFormat, "a type that is not a media type")
	ruleEncoding      = rules.Error("encoding", sectionFormat, "an encoding that is not a list of content codings")
	ruleHashAlgorithm = rules.Warning("hash-algorithm", sectionFormat, "a hash of an algorithm that is not known")
	ruleHashRepeated  = rules.Error("hash-repeated", sectionFormat, "two different digests of one algorithm")
)

// Of documents.
var (
	ruleCapabilityMissing = rules.Error("capability-missing", sectionFormat, "a document whose md has no capability")
	ruleIndex             = rules.Error("index", "Z39.99 §9, §11.2, §13.2", "an index of Capability Lists or of manifests")
	ruleHeadAttribute     = rules.Error("document-attribute", sectionTable3,
		"md of a document with an attribute that only entries have")
	ruleUp          = rules.Error("up", sectionNavigate, "a document without a link up")
	ruleDescribedBy = rules.Warning("describedby", sectionLists,
		"a Source Description or Capability List, or an entry of a Source Description, without a link describedby")
	ruleNavigation = rules.Error("navigation-repeated", sectionNavigate,
		"two links up, or two links index, that lead to different documents")
	ruleHeadLink = rules.Warning("document-link", sectionTable3,
		"a link of a document with attributes other than rel and href")
)

// Of times.
var (
	ruleTimeMissing     = rules.Error("time-missing", sectionTable4, "no at or from, where one is mandatory")
	ruleTimeForbidden   = rules.Error("time-forbidden", sectionTable4, "at, completed, from or until where it is not used")
	ruleTimeRecommended = rules.Warning("time-recommended", sectionTable4, "an entry without the recommended from")
	ruleInterval        = rules.Error("interval", sectionFormat, "until before from, or completed before at")
	ruleIntervalStart   = rules.Warning("interval-start", sectionTable4, "completed without at, or until without from")
	ruleIntervalEntry   = rules.Error("interval-entry", sectionFormat,
		"an entry whose interval is not within that of its document")
	ruleUntilMissing = rules.Error("until-missing", sectionListIndex,
		"an entry without until that others follow, or in a closed document")
	ruleGap = rules.Warning("interval-gap", sectionListIndex,
		"an interval that begins after the end of the one before")
	ruleLastMod  = rules.Info("lastmod", sectionLists, "a lastmod in a Source Description or Capability List")
	ruleSnapshot = rules.Warning("lastmod-completed", sectionFormat,
		"a lastmod after the snapshot of the document was completed")
	ruleChangeFreqPlace = rules.Info("changefreq-place", "Z39.99 §8, §9, §11.1, §13.1",
		"a changefreq of a Capability List, of a capability or of a package")
	ruleChangeFreq = rules.Info("changefreq", sectionFormat,
		"never for a resource that was updated, always for one with a hash, or another value than never in an archive")
)

// Of what entries lead to.
var (
	ruleTarget = rules.Error("target", sectionLists,
		"an entry that does not state the capability that its document lists")
	ruleTargetRepeated = rules.Error("target-repeated", sectionCapList, "a Capability List with two entries of one capability")
	ruleTargetPlace    = rules.Warning("target-place", sectionFormat,
		"a capability of what is no document, or an index that lists other documents than its own capability's")
	rulePackage      = rules.Warning("package", sectionPackages, "a package without type or length")
	rulePackageTypes = rules.Warning("package-types", sectionPackages, "packages of different formats")
)

// Of changes.
var (
	ruleChangeMissing = rules.Error("change-missing", sectionChanges, "an entry without change in a list of changes")
	ruleChangePlace   = rules.Error("change-place", sectionFormat, "a change in a document that does not list changes")
	ruleOrder         = rules.Error("order", sectionChanges, "an entry that is older than the one before")
	ruleOrderLastMod  = rules.Warning("order-lastmod", sectionChanges,
		"an entry without datetime whose lastmod is before that of the entry before: in version 1.0 the time of the change")
	ruleOrderPackages   = rules.Warning("order-packages", "Z39.99 §13.1", "a package that is older than the one before")
	ruleDatetimePlace   = rules.Error("datetime-place", section11, "a datetime where there is no change")
	ruleDatetimeOutside = rules.Error("datetime-outside", section11, "a datetime that is not within the interval of the document")
	ruleLastModOutside  = rules.Info("lastmod-outside", sectionChanges,
		"an entry without datetime whose lastmod is not within the interval of the document")
	ruleChangeTime = rules.Info("change-time", section11, "a change without datetime and without lastmod")
	ruleDeleted    = rules.Warning("deleted-attributes", sectionTable3,
		"a resource that was deleted with a hash, length, type or encoding")
)

// Of bitstreams in packages.
var (
	rulePathMissing  = rules.Error("path-missing", sectionManifests, "a bitstream without path")
	rulePathPlace    = rules.Error("path-place", sectionFormat, "a path in a document that is no manifest")
	rulePathDeleted  = rules.Warning("path-deleted", "Z39.99 §13.2", "a path of a resource that was deleted")
	rulePathRepeated = rules.Error("path-repeated", sectionManifests, "two bitstreams with one path")
	ruleTypeMissing  = rules.Warning("type-missing", sectionManifests, "a bitstream without type")
)

// Of links to related resources.
var (
	ruleContentsPlace = rules.Warning("contents-place", sectionPackages, "a link contents of what is no package")
	ruleMirror        = rules.Info("duplicate-attributes", "Z39.99 §14.2", "a link duplicate that repeats what md states")
	ruleSameBytes     = rules.Warning("related-bytes", "Z39.99 §14.2, §14.6",
		"a link duplicate or memento with another hash, length or type than md states")
	ruleAlternateType  = rules.Warning("alternate-type", "Z39.99 §14.3", "a link alternate without type")
	rulePatchType      = rules.Error("patch-type", "Z39.99 §14.4", "a link patch without type")
	rulePatchPlace     = rules.Error("patch-place", "Z39.99 §14.4", "a link patch in a document that does not list changes")
	rulePatchChange    = rules.Warning("patch-change", "Z39.99 §14.4", "a link patch of a resource that was created or deleted")
	rulePatchPath      = rules.Error("patch-path", "Z39.99 §14.4", "a link patch without path in a Change Dump Manifest")
	ruleMemento        = rules.Warning("memento-repeated", "Z39.99 §14.6", "two links memento of one entry")
	ruleMementoLastMod = rules.Warning("memento-lastmod", "Z39.99 §14.6",
		"an entry with a link memento, timegate or timemap, and without lastmod")
	ruleTimegate = rules.Warning("timegate-attributes", "Z39.99 §14.6",
		"a link timegate with attributes other than rel and href")
	ruleVia = rules.Warning("via-repeated", "Z39.99 §14.8", "two links via of one entry")
)

// Of the documents of a Source together.
var (
	ruleTreeMissing    = rules.Error("tree-missing", "Z39.99 §6.1", "a document that can't be read")
	ruleTreeCapability = rules.Error("tree-capability", "Z39.99 §6.1",
		"a document whose capability is not the one that the document above states")
	ruleTreeUp    = rules.Error("tree-up", sectionNavigate, "a link up that does not lead to the document above")
	ruleTreeIndex = rules.Error("tree-index", sectionNavigate,
		"a link index that does not lead to the index that lists the document")
	ruleTreeNoIndex = rules.Warning("tree-index-missing", "Z39.99 §10.1, §11.1, §12.1, §13.1",
		"a document of an index without a link index")
	ruleTreeNested   = rules.Error("tree-nested", "Z39.99 §6.1", "an index that lists an index")
	ruleTreeRepeated = rules.Error("tree-repeated", "Z39.99 §6.1", "a document that is listed twice, or above itself")
	ruleTreeTimes    = rules.Error("tree-times", sectionFormat,
		"times of a document that are not those that the document above states")
	ruleTreeInterval = rules.Error("tree-interval", sectionFormat,
		"a document whose interval is not within that of its index or dump")
	ruleTreeUntil = rules.Warning("tree-until", sectionListIndex,
		"a closed document whose until the document above does not state")
	ruleTreePackage   = rules.Error("tree-package", sectionPackages, "a package that can't be read")
	ruleTreeManifest  = rules.Error("tree-manifest", sectionManifests, "a package without a manifest")
	ruleTreeContents  = rules.Error("tree-contents", sectionPackages, "a manifest beside a package that is not the one in it")
	ruleTreeBitstream = rules.Error("tree-bitstream", sectionManifests,
		"a path of a manifest at which its package has no file that can be read")
	ruleTreeBytes = rules.Error("tree-bytes", sectionFormat,
		"a package, or a file in it, that does not have its stated length or hash")
	ruleTreeSet = rules.Warning("tree-set", sectionCapList,
		"two lists of one set and one time that do not name the same resources or changes")
	ruleTreeGap = rules.Warning("tree-gap", sectionCapList,
		"a list of changes that begins after the at of a Resource List or Resource Dump of its set")
	ruleTreeLong = rules.Warning("tree-long", "Z39.99 §6.1", "more documents than are read")
)
