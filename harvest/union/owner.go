package union

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
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
	// logs are the members by Catalog. If there is one, it numbers their ids as they come.
	logs []memberLog
}

type member struct {
	*Member
	host string // its home
	tags string // what the ids begin with that stand for those that are no IRIs
}

// A memberLog is the log of the members that are in one Catalog.
type memberLog struct {
	catalog websync.Catalog
	members []int          // in their order
	of      map[string]int // the first of them, by Source
}

// prepare returns the members of u.
func (u *Source) prepare() *members {
	ms := &members{}
	for i := range u.Members {
		m := &u.Members[i]
		ms.list = append(ms.list, member{m, m.home(), websync.TagURI(m.Source, "")})
		ms.addTo(m.Catalog, i)
	}
	return ms
}

// addTo adds a member to the log of its Catalog.
func (ms *members) addTo(c websync.Catalog, i int) {
	at := slices.IndexFunc(ms.logs, func(l memberLog) bool { return reflect.TypeOf(c).Comparable() && l.catalog == c })
	if at < 0 {
		at = len(ms.logs)
		ms.logs = append(ms.logs, memberLog{catalog: c, of: map[string]int{}})
	}
	l := &ms.logs[at]
	l.members = append(l.members, i)
	if _, known := l.of[ms.list[i].Source]; !known {
		l.of[ms.list[i].Source] = i
	}
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

// An owned is who owns an id of the union.
type owned struct {
	owner  int          // among the members; -1 if none does
	item   websync.Item // of the owner
	scoped bool         // a member that has the id in its scope states it, or has done so
}

// lookup returns who owns some ids of the union, by the members' records of them, and
// calls see with each. listed are the records of the member i. Any member may state long
// descriptions of any ids: lookup holds the records of one member at a time.
func (ms *members) lookup(ctx context.Context, ids []string, i int, listed []websync.Item,
	see func(member, n int, item *websync.Item)) ([]owned, error) {
	all := make([]owned, len(ids))
	for n := range all {
		all[n].owner = -1
	}
	for k := range ms.list {
		items := listed
		if k != i {
			var err error
			if items, err = ms.lookupIn(ctx, k, ids); err != nil {
				return nil, err
			}
		}
		for n := range items {
			if see(k, n, &items[n]); items[n].Seq > 0 {
				ms.claim(k, ids[n], &items[n], &all[n])
			}
		}
	}
	return all, nil
}

// none, as the member whose records are listed, is none of them.
const none = -1

// owners is lookup for who needs only the owners.
func (ms *members) owners(ctx context.Context, ids ...string) ([]owned, error) {
	return ms.lookup(ctx, ids, none, nil, func(int, int, *websync.Item) {})
}

// lookupIn returns the records of a member; the zero Item stands for none.
func (ms *members) lookupIn(ctx context.Context, i int, ids []string) ([]websync.Item, error) {
	m := &ms.list[i]
	var asked []string
	var of []int
	for n, id := range ids {
		if own, ok := ms.known(i, id); ok {
			asked, of = append(asked, own), append(of, n)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	items, err := m.Catalog.Get(ctx, m.Source, asked)
	if err == nil && len(items) != len(asked) {
		err = fmt.Errorf("Catalog.Get returned %d records for %d ids", len(items), len(asked))
	}
	if err != nil {
		return nil, m.failed(err)
	}
	if len(asked) == len(ids) {
		return items, nil
	}
	found := make([]websync.Item, len(ids))
	for k, n := range of {
		found[n] = items[k]
	}
	return found, nil
}

// claim makes a member the owner of an id of the union, if it is that by its record
// rather than the members before it.
func (ms *members) claim(i int, id string, item *websync.Item, o *owned) {
	m := &ms.list[i]
	if !m.mayState(id) {
		return
	}
	inScope := m.hasInScope(id)
	if inScope && !o.scoped {
		*o = owned{owner: -1, scoped: true}
	}
	if inScope == o.scoped && item.Kind != websync.Deleted && (o.owner < 0 || ms.precedes(i, item, o)) {
		o.owner, o.item = i, *item
	}
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

// precedes reports whether the member i, which has an id live, owns it rather than one
// before it in the list.
func (ms *members) precedes(i int, item *websync.Item, o *owned) bool {
	if ri, ro := ms.list[i].Rank, ms.list[o.owner].Rank; ri != ro {
		return ri > ro
	}
	return len(ms.logs) == 1 && item.Born < o.item.Born
}
