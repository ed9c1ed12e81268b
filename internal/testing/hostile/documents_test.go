package hostile

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest/fetch"
)

// attack harvests the honest site, then the site under attack, then the honest site of a
// later month: what was there must stay, and later changes must come through.
func attack(t *testing.T, s *shape, v verdict, arm func(w *world)) {
	w := newWorld(t)
	held := w.prepare(s)
	delete(held, w.url+"/doc/hostile") // of the entry that the attack replaces
	delete(held, w.url+"/eli/hostile")
	w.publish(s, 4, document{})
	arm(w)
	o := w.run(s.source(w.url), requestLimit)
	w.expect(v, o)
	now := w.live(s.source(w.url))
	for id := range held {
		assert.Contains(t, now, id, "deleted by the attack")
	}

	w.mu.Lock()
	w.answers = map[string]http.HandlerFunc{}
	w.mu.Unlock()
	w.publish(s, 5, document{})
	w.renew(func(*fetch.Client) {})
	w.run(s.source(w.url), requestLimit)
	now = w.live(s.source(w.url))
	for id := range held {
		if assert.Contains(t, now, id, "deleted after the attack") {
			assert.Equal(t, "2026-05-01", now[id].Time().Format("2006-01-02"), "%s: a later change was missed", id)
		}
	}
}

func TestHonest(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			inputs.Add(-1)
			attack(t, &s, harmless, func(*world) {})
		})
	}
}
