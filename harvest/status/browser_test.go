package status

import (
	"testing"
	"testing/synctest"

	"github.com/websync-go/websync/internal/testing/browser"
)

func TestPagesInABrowser(t *testing.T) {
	for name, tell := range map[string]func(*story){"nothing": func(*story) {}, "five": (*story).tell, "hostile": (*story).hostile} {
		t.Run(name, func(t *testing.T) {
			var html string
			synctest.Test(t, func(t *testing.T) {
				s := newStory(t)
				tell(s)
				html = s.html()
			})
			browser.Readable(t, name, []byte(html))
		})
	}
}

func TestSummaryInABrowser(t *testing.T) {
	for name, tell := range map[string]func(*telling){"nothing": func(*telling) {}, "three": (*telling).tell} {
		t.Run(name, func(t *testing.T) {
			var html []byte
			synctest.Test(t, func(t *testing.T) {
				s := newTelling()
				tell(s)
				html = s.html(t)
			})
			browser.Readable(t, name, html)
		})
	}
}
