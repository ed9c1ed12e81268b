package runreport

import (
	"testing"
	"testing/synctest"

	"github.com/websync-go/websync/internal/testing/browser"
)

func TestPagesInABrowser(t *testing.T) {
	for name, tell := range map[string]func(*story){"nothing": func(*story) {}, "three": (*story).tell} {
		t.Run(name, func(t *testing.T) {
			var html []byte
			synctest.Test(t, func(t *testing.T) {
				s := newStory()
				tell(s)
				html = s.html(t)
			})
			browser.Readable(t, name, html)
		})
	}
}
