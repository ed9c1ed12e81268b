package union_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	ofA = "https://a.example/feed"
	ofB = "https://b.example/feed"
	ofC = "names"
)

// ids are what sources state, as "a b c"; a minus before an id deletes it again.
type stated map[string]string

// catalog returns a Catalog that holds what sources state.
func (s stated) catalog(t require.TestingT) (*harvest.Catalog, *memstore.Store) {
	db := memstore.New()
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(db), Bodies: harvest.SkipBodies}
	for _, source := range []string{ofA, ofB, ofC} {
		var events []harvest.Event
		for id := range strings.FieldsSeq(s[source]) {
			id, gone := strings.CutPrefix(id, "-")
			if events = append(events, harvest.Event{Resource: websync.Resource{ID: id}}); gone {
				events = append(events, harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: id}})
			}
		}
		_, err := h.Run(context.Background(), harvest.Of(source, events...))
		require.NoError(t, err)
	}
	return h.Catalog, db
}

func membersOf(c websync.Catalog, sources ...string) *union.Source {
	u := &union.Source{Name: src}
	for _, source := range sources {
		u.Members = append(u.Members, union.Member{Catalog: c, Source: source})
	}
	return u
}

func TestConflicts(t *testing.T) {
	const a1, a2, b1 = "https://a.example/1", "https://a.example/2", "https://b.example/1"
	everything := func(u *union.Source) { u.Members[1].Scope = []string{union.Everything} }
	for name, test := range map[string]struct {
		stated stated
		set    func(*union.Source)
		want   []union.Conflict
	}{
		"none":                      {},
		"disjoint":                  {stated: stated{ofA: a1, ofB: b1, ofC: a2 + " urn:1"}},
		"of the host":               {stated: stated{ofA: a1 + " " + a2, ofB: a1 + " " + a2 + " " + b1}, want: []union.Conflict{{ofA, ofB, 2, a1}}},
		"two others":                {stated: stated{ofA: a1, ofB: a1, ofC: a1}, want: []union.Conflict{{ofA, ofB, 1, a1}, {ofA, ofC, 1, a1}}},
		"deleted by the owner":      {stated: stated{ofA: "-" + a1, ofB: a1}, want: []union.Conflict{{"", ofB, 1, a1}}},
		"deleted by the other":      {stated: stated{ofA: a1, ofB: "-" + a1}},
		"of nobody's host":          {stated: stated{ofB: "urn:1", ofC: "urn:1"}, want: []union.Conflict{{ofB, ofC, 1, "urn:1"}}},
		"by rank":                   {stated: stated{ofB: "urn:1", ofC: "urn:1"}, set: func(u *union.Source) { u.Members[2].Rank = 1 }, want: []union.Conflict{{ofC, ofB, 1, "urn:1"}}},
		"outside the scope":         {stated: stated{ofB: "urn:1 " + b1}, set: func(u *union.Source) { u.Members[1].Scope = []string{"https://b.example/"} }, want: []union.Conflict{{"", ofB, 1, "urn:1"}}},
		"everything, but not first": {stated: stated{ofA: a1, ofB: a1}, set: everything, want: []union.Conflict{{ofA, ofB, 1, a1}}},
		"everything, and deleted":   {stated: stated{ofA: "-" + a1, ofB: a1}, set: everything},
		"no IRIs":                   {stated: stated{ofA: "news-1", ofB: "news-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := test.stated.catalog(t)
			u := membersOf(c, ofA, ofB, ofC)
			if test.set != nil {
				test.set(u)
			}
			got, err := u.Conflicts(t.Context())
			require.NoError(t, err)
			if test.want == nil {
				test.want = []union.Conflict{}
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestConflictText(t *testing.T) {
	c := union.Conflict{Owner: "https://u:s3cret@a.example/", Other: base + "?key=s3cret", IDs: 2, Example: base + "x?token=s3cret"}
	assert.NotContains(t, c.String(), "s3cret")
	assert.Equal(t, `1 ids of "b" are those of "a", such as "x"`, union.Conflict{Owner: "a", Other: "b", IDs: 1, Example: "x"}.String())
	assert.Equal(t, `1 ids of "b" are not for it to state, such as "x"`, union.Conflict{Other: "b", IDs: 1, Example: "x"}.String())
}

// TestConflictsOfAStoreThatFails: the error names a source, whichever read fails.
func TestConflictsOfAStoreThatFails(t *testing.T) {
	_, db := stated{ofA: "urn:1", ofB: "urn:2"}.catalog(t)
	for n := 1; ; n++ {
		views := 0
		c := harvest.NewCatalog(&testkit.Watched{Store: db, Viewing: func(context.Context) error {
			if views++; views == n {
				return testkit.ErrCut
			}
			return nil
		}})
		_, err := membersOf(c, ofA, ofB).Conflicts(t.Context())
		if views < n {
			require.NoError(t, err)
			require.Greater(t, n, 3)
			break
		}
		require.ErrorIs(t, err, testkit.ErrCut)
		require.Regexp(t, "^union: member https://[ab]", err.Error())
	}
}

func TestScopeIsChecked(t *testing.T) {
	for scope, right := range map[string]bool{
		union.Everything: true, "https://a.example/": true, "https://a.example/laws": true, "urn:isbn:": true,
		"": false, "https://a.example": false, "http://a.example:8080": false,
	} {
		c, _ := stated{}.catalog(t)
		u := membersOf(c, ofA)
		u.Members[0].Scope = []string{"urn:", scope}
		_, err := u.Conflicts(t.Context())
		assert.Equal(t, right, err == nil, "%q: %v", scope, err)
	}
}

// TestIDsThatAreNoIRIs: each member's ids of that kind are its own, under ids that the union
// gives, and a member that states such an id gets nothing by it.
func TestIDsThatAreNoIRIs(t *testing.T) {
	given := websync.TagURI(ofA, "news-1")
	c, _ := stated{ofA: "news-1 urn:1", ofB: "news-1 " + given, ofC: given}.catalog(t)
	h := &harvest.Harvester{Sample: -1, Catalog: c}
	_, err := h.Run(t.Context(), membersOf(c, ofA, ofB, ofC))
	require.NoError(t, err)
	var got []string
	for item, err := range c.Resources(t.Context(), websync.Range{Sources: []string{src}}) {
		require.NoError(t, err)
		got = append(got, item.Resource.ID)
	}
	assert.ElementsMatch(t, []string{given, websync.TagURI(ofB, "news-1"), "urn:1"}, got)
}

// Two feeds list the same page. The one on whose host it is owns it.
func ExampleSource_Conflicts() {
	ctx := context.Background()
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}
	page := harvest.Event{Resource: websync.Resource{ID: "https://law.example/act/1"}}
	merged := &union.Source{Name: "merged"}
	for _, source := range []string{"https://news.example/feed", "https://law.example/feed"} {
		if _, err := h.Run(ctx, harvest.Of(source, page)); err != nil {
			fmt.Println(err)
		}
		merged.Members = append(merged.Members, union.Member{Catalog: h.Catalog, Source: source})
	}
	conflicts, err := merged.Conflicts(ctx)
	fmt.Println(conflicts, err)
	// Output:
	// [1 ids of "https://news.example/feed" are those of "https://law.example/feed", such as "https://law.example/act/1"] <nil>
}
