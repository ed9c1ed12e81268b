package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest/discover"
)

// TestActs: the flags about legislation reach the Source of what is named, and of what is
// found, and wrong ones are refused.
func TestActs(t *testing.T) {
	var flags SourceFlags
	parse := func(args ...string) ([]Target, error) {
		flags = SourceFlags{}
		l := NewLine("test", "usage: test")
		flags.Declare(l)
		var targets []Target
		err := l.Parse(append(args, "https://law.example/sitemap.xml"), func(names []string) (err error) {
			if err = flags.Check(); err == nil {
				targets, err = flags.Targets(names)
			}
			return err
		})
		return targets, err
	}
	targets, err := parse("-protocol=eli", "-languages=pt,FRA", "-all-languages", "-formats=pdf,text/html", "-linked", "-resync-every=8760h")
	require.NoError(t, err)
	targets[0].Feed = "https://law.example/feed.atom"
	named, _, err := new(Opener).Sources(t.Context(), targets[0])
	require.NoError(t, err)
	found := new(Opener).offered(targets[0], choice{Protocol: discover.ELI, URL: "https://law.example/sitemap.xml"})
	for _, src := range []any{named[0], found} {
		s, ok := src.(*eli.Source)
		require.True(t, ok, "%T", src)
		assert.Equal(t, eli.Preferences{Languages: []string{"pt", "FRA"}, AllLanguages: true, Formats: []string{"pdf", "text/html"}}, s.Preferences)
		assert.True(t, s.Linked)
		assert.Equal(t, 8760*time.Hour, s.ResyncEvery)
	}
	for _, test := range []struct{ args, want string }{
		{"-languages=French", "-languages French: not language tags, or codes of three letters, such as fr,nld"},
		{"-languages=", "-languages : not language tags"},
		{"-formats=paper", "-formats paper: not media types, or file types, such as html,application/pdf"},
		{"-resync-every=yearly", `-resync-every yearly: not a time such as "8760h"`},
		{"-resync-every=-1h", `-resync-every -1h: not a time such as "8760h"`},
	} {
		_, err := parse("-protocol=eli", test.args)
		assert.ErrorContains(t, err, test.want)
	}
	for _, flag := range []string{"-languages=fr", "-formats=pdf", "-all-languages", "-linked", "-resync-every=1h"} {
		_, err := parse("-protocol=sitemap", flag)
		assert.ErrorContains(t, err, "only for protocol eli")
	}
}
