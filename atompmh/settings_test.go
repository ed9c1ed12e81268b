package atompmh

import (
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestSettings: what a Publisher and a Source share with those of package atom reaches
// these.
func TestSettings(t *testing.T) {
	p := &Publisher{
		Place: websync.Place{Catalog: testkit.NewStore(t), Locator: websync.PathLocator{Base: "https://example.org/"}, Base: "https://example.org/", Report: func(websync.Finding) {}}, Author: websync.Person{Name: "A"},
	}
	testkit.SetAll(p)
	testkit.PassesOn(t, p, p.open())

	s := &Source{}
	testkit.SetAll(s)
	testkit.PassesOn(t, s, s.feed())
}
