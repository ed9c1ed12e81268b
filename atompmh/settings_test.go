package atompmh

import (
	"testing"

	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestSettings: what a Source shares with that of package atom reaches it.
func TestSettings(t *testing.T) {
	s := &Source{}
	testkit.SetAll(s)
	testkit.PassesOn(t, s, s.feed())
}
