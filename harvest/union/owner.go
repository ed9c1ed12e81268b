package union

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Member is one of the sets of a [Source]: one source of a Catalog.
type Member struct {
	Catalog websync.Catalog // required
	Source  string          // required

	// Scope are the ids that the member may state: those that begin with one of these,
	// such as "https://example.org/laws/" or "urn:isbn:"; those that it states besides are
	// not in the union. With [Everything] it may state all. Ids below a host end with the
	// slash after it, or go on behind it.
	//
	// If Scope is empty, the member may state every id, and those on the host of URL are
	// in its scope: they are its own if it states them, even if others do, too.
	Scope []string

	// URL is what a person has named, if Source is a document to which that has led: a
	// page may lead to any host. If empty, it is Source.
	URL string

	// Rank decides between members that state one id, if it is in the scope of all of them
	// or of none: the higher one owns it.
	Rank int
}

// Everything, in a Scope, is every id.
const Everything = "*"

// CheckScope returns what is wrong with an element of a Scope.
func CheckScope(prefix string) error {
	if host, end := syntax.SplitHTTP(prefix); prefix == "" || host > 0 && end == len(prefix) {
		const format = "the scope %.200q must be %q, or what ids begin with, with the slash after the host"
		return fmt.Errorf(format, prefix, Everything)
	}
	return nil
}

// failed names the member that an error comes from.
func (m *Member) failed(err error) error {
	return fmt.Errorf("member %s: %w", websync.RedactURL(m.Source), err)
}

// members decide which of them owns an id.
type members struct {
	list []member
	// oneCatalog is set if all are in one Catalog, which numbers their ids as they come.
	oneCatalog bool
}

type member struct {
	*Member
	host string // its home
	tags string // what the ids begin with that stand for those that are no IRIs
}

// prepare returns the members of u.
func (u *Source) prepare() *members {
	ms := &members{oneCatalog: true}
	for i := range u.Members {
		m := &u.Members[i]
		first := u.Members[0].Catalog
		ms.oneCatalog = ms.oneCatalog && reflect.TypeOf(first).Comparable() && m.Catalog == first
		ms.list = append(ms.list, member{m, m.home(), websync.TagURI(m.Source, "")})
	}
	return ms
}

// home returns the host whose ids are the member's own; "" if there is none.
func (m *Member) home() string { return httpHost(cmp.Or(m.URL, m.Source)) }

// httpHost returns the host of an http or https URL, with its port unless that is the
// default one; otherwise "".
func httpHost(id string) string {
	from, end := syntax.SplitHTTP(id)
	if from == 0 {
		return ""
	}
	host := strings.ToLower(id[from:end])
	host = host[strings.LastIndexByte(host, '@')+1:]
	port := ":443"
	if strings.EqualFold(id[:len("http:")], "http:") {
		port = ":80"
	}
	return strings.TrimSuffix(host, port)
}

// published returns the id in the union of what a member calls id, and false if it can't
// be there, because it looks like one that the union gives.
func (ms *members) published(m *member, id string) (string, bool) {
	if syntax.IRIFault(id) != "" {
		return websync.TagURI(m.Source, id), true
	}
	_, given := ms.giver(id)
	return id, !given
}

// giver returns the member whose ids that are no IRIs have ids such as this one, and
// whether there is one.
func (ms *members) giver(id string) (i int, given bool) {
	if !strings.HasPrefix(id, "tag:") {
		return 0, false
	}
	for i := range ms.list {
		if strings.HasPrefix(id, ms.list[i].tags) {
			return i, true
		}
	}
	return 0, false
}

// known returns what a member calls an id of the union, and false if it can't have it.
func (ms *members) known(i int, id string) (string, bool) {
	giver, given := ms.giver(id)
	if !given || giver != i {
		return id, !given
	}
	own, err := url.PathUnescape(strings.TrimPrefix(id, ms.list[i].tags))
	return own, err == nil && syntax.IRIFault(own) != "" && websync.TagURI(ms.list[i].Source, own) == id
}

// records are the members' records of some ids: by member, then by id. The zero Item stands
// for none.
type records [][]websync.Item

// lookup returns the members' records of ids of the union.
func (ms *members) lookup(ctx context.Context, ids []string) (records, error) {
	all := make(records, len(ms.list))
	for i := range ms.list {
		var err error
		if all[i], err = ms.lookupIn(ctx, i, ids); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// lookupIn returns the records of a member.
func (ms *members) lookupIn(ctx context.Context, i int, ids []string) ([]websync.Item, error) {
	m := &ms.list[i]
	var asked []string
	var of []int
	for n, id := range ids {
		if own, ok := ms.known(i, id); ok {
			asked, of = append(asked, own), append(of, n)
		}
	}
	found := make([]websync.Item, len(ids))
	if len(asked) == 0 {
		return found, nil
	}
	items, err := m.Catalog.Get(ctx, m.Source, asked)
	if err == nil && len(items) != len(asked) {
		err = fmt.Errorf("Catalog.Get returned %d records for %d ids", len(items), len(asked))
	}
	if err != nil {
		return nil, m.failed(err)
	}
	for k, n := range of {
		found[n] = items[k]
	}
	return found, nil
}

// owner returns the member that owns an id of the union, by the members' records with a
// number; -1 if none does.
func (ms *members) owner(id string, all records, n int) int {
	owner, scoped := -1, false
	for i := range ms.list {
		m, item := &ms.list[i], &all[i][n]
		if item.Seq == 0 || !m.mayState(id) {
			continue
		}
		inScope := m.hasInScope(id)
		if inScope && !scoped {
			owner, scoped = -1, true
		}
		if inScope == scoped && item.Kind != websync.Deleted && (owner < 0 || ms.precedes(i, owner, all, n)) {
			owner = i
		}
	}
	return owner
}

// mayState reports whether a member may own an id, if nobody else does.
func (m *member) mayState(id string) bool { return len(m.Scope) == 0 || m.hasInScope(id) }

// hasInScope reports whether an id is in the scope of a member.
func (m *member) hasInScope(id string) bool {
	if strings.HasPrefix(id, m.tags) {
		return true
	}
	if len(m.Scope) == 0 {
		return m.host != "" && httpHost(id) == m.host
	}
	for _, prefix := range m.Scope {
		if prefix == Everything || strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// precedes reports whether the member i, which has an id live, owns it rather than the
// member k before it in the list.
func (ms *members) precedes(i, k int, all records, n int) bool {
	if ri, rk := ms.list[i].Rank, ms.list[k].Rank; ri != rk {
		return ri > rk
	}
	return ms.oneCatalog && all[i][n].Born < all[k][n].Born
}
