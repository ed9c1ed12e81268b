package resourcesync

import (
	"slices"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// Namespace is the XML namespace of the elements md and ln.
const Namespace = "http://www.openarchives.org/rs/terms/"

// A Capability is the kind of a document, or of what an entry leads to. An index has the
// Capability of the documents that it lists.
type Capability string

// The capabilities of Z39.99 §7, and those of the archives.
const (
	Description          Capability = "description"
	CapabilityList       Capability = "capabilitylist"
	ResourceList         Capability = "resourcelist"
	ResourceDump         Capability = "resourcedump"
	ResourceDumpManifest Capability = "resourcedump-manifest"
	ChangeList           Capability = "changelist"
	ChangeDump           Capability = "changedump"
	ChangeDumpManifest   Capability = "changedump-manifest"

	ResourceListArchive Capability = "resourcelist-archive"
	ResourceDumpArchive Capability = "resourcedump-archive"
	ChangeListArchive   Capability = "changelist-archive"
	ChangeDumpArchive   Capability = "changedump-archive"
)

// Known reports whether c is one of the constants of this package.
func (c Capability) Known() bool { return formOf(documentKind{capability: c}) != nil }

// folded returns the known capability that c is but for case, or c.
func (c Capability) folded() Capability {
	for i := range forms {
		if known := forms[i].capability; syntax.EqualFold(string(c), string(known)) {
			return known
		}
	}
	return c
}

// inDoubt reports whether c, which is not known, may be meant for a known one: it is
// missing, or begins and ends as one does, of which it lacks at most two letters between.
// Any other is that of another specification (Z39.99 §6.1).
func (c Capability) inDoubt() bool {
	text := strings.ToLower(string(c))
	return c == "" || slices.ContainsFunc(forms[:], func(f form) bool {
		known, rest := string(f.capability), text
		for known != "" && rest != "" && known[0] == rest[0] {
			known, rest = known[1:], rest[1:]
		}
		for known != "" && rest != "" && known[len(known)-1] == rest[len(rest)-1] {
			known, rest = known[:len(known)-1], rest[:len(rest)-1]
		}
		return len(known) <= 2
	})
}

// A Change is what happened to a resource; empty if that is not stated.
type Change string

// The values of a Change.
const (
	Created Change = "created"
	Updated Change = "updated"
	Deleted Change = "deleted"
)

// A need is how a specification puts whether something is there.
type need uint8

const (
	forbidden need = iota
	optional
	recommended
	mandatory
)

// A form is what Z39.99 demands of one kind of document (§8 to §13 and table 4). Where at
// may be, completed may be, and where from may be, until may be.
type form struct {
	capability Capability
	index      bool
	name       string

	at, from           need // of the document
	entryAt, entryFrom need // of its entries
	up, describedBy    need // links of the document

	target   need // capability of the entries
	lastMod  need
	changes  bool // the entries are changes
	manifest bool // the entries are bitstreams in a package
	packages bool // the entries are packages
	ordered  bool // the entries are in the order of time
}

var forms = [...]form{
	{capability: Description, name: "a Source Description", describedBy: recommended, target: optional},
	{capability: Description, index: true, name: "a Source Description Index", target: optional, lastMod: optional},
	{capability: CapabilityList, name: "a Capability List", up: mandatory, describedBy: recommended, target: mandatory},
	{capability: ResourceList, name: "a Resource List", at: mandatory, up: mandatory, lastMod: optional},
	{capability: ResourceList, index: true, name: "a Resource List Index", at: mandatory, entryAt: optional, up: mandatory,
		target: optional, lastMod: optional},
	{capability: ResourceDump, name: "a Resource Dump", at: mandatory, entryAt: optional, up: mandatory, lastMod: optional,
		packages: true},
	{capability: ResourceDump, index: true, name: "a Resource Dump Index", at: mandatory, entryAt: optional, up: mandatory,
		target: optional, lastMod: optional},
	{capability: ResourceDumpManifest, name: "a Resource Dump Manifest", at: mandatory, up: mandatory, lastMod: optional,
		manifest: true},
	{capability: ChangeList, name: "a Change List", from: mandatory, up: mandatory, lastMod: optional, changes: true,
		ordered: true},
	{capability: ChangeList, index: true, name: "a Change List Index", from: mandatory, entryFrom: recommended, up: mandatory,
		target: optional, lastMod: optional, ordered: true},
	{capability: ChangeDump, name: "a Change Dump", from: mandatory, entryFrom: recommended, up: mandatory, lastMod: optional,
		packages: true, ordered: true},
	{capability: ChangeDump, index: true, name: "a Change Dump Index", from: mandatory, entryFrom: recommended, up: mandatory,
		target: optional, lastMod: optional, ordered: true},
	{capability: ChangeDumpManifest, name: "a Change Dump Manifest", from: mandatory, up: mandatory, lastMod: optional,
		changes: true, manifest: true, ordered: true},
	archive(ResourceListArchive, "a Resource List Archive"),
	archive(ResourceDumpArchive, "a Resource Dump Archive"),
	archive(ChangeListArchive, "a Change List Archive"),
	archive(ChangeDumpArchive, "a Change Dump Archive"),
}

// archiveSuffix ends the capability of an archive.
const archiveSuffix = "-archive"

func isArchive(c Capability) bool { return strings.HasSuffix(string(c), archiveSuffix) }

// archive returns the form of a list of past documents.
func archive(c Capability, name string) form {
	f := anyForm
	f.capability, f.name = c, name
	return f
}

// anyForm is the form of a document whose capability is not known: it demands nothing.
var anyForm = form{
	name: "a document", at: optional, from: optional, entryAt: optional, entryFrom: optional, up: optional,
	target: optional, lastMod: optional,
}

// A documentKind is a document of a capability, or an index of such documents.
type documentKind struct {
	capability Capability
	index      bool
}

// formOf returns the form of a kind of document; nil if there is none.
func formOf(k documentKind) *form {
	for i := range forms {
		if f := &forms[i]; f.capability == k.capability && f.index == k.index {
			return f
		}
	}
	return nil
}
