package interop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// fields are those of rows, in the order of the page.
var fields = []string{"id", "link", "title", "summary", "updated", "published", "author", "lang", "enclosure", "sha256", "again"}

// A comparison is of what one tool reads or writes.
type comparison struct {
	differs map[string]string
	wrongs  map[string]bool // fields that are different
}

// wrong fails the test unless it is known that a field differs.
func (c *comparison) wrong(t *testing.T, field, reason string) {
	if c.wrongs == nil {
		c.wrongs = map[string]bool{}
	}
	c.wrongs[field] = true
	if c.differs[field] == "" {
		assert.Fail(t, field+": "+reason)
	}
}

// end checks that what is known to differ does.
func (c *comparison) end(t *testing.T) {
	for field := range c.differs {
		assert.True(t, c.wrongs[field], "%s does not differ", field)
	}
}

// lost compares the rows of a document, and returns what has not arrived.
func (c *comparison) lost(t *testing.T, document string, fields []string, want, got []row) string {
	index := map[string]row{}
	for _, w := range want {
		for _, key := range keys(w) {
			index[key] = w
		}
	}
	arrived, missing, wrong := map[string]bool{}, map[string]bool{}, map[string]string{}
	seen := map[string]bool{}
	for _, g := range got {
		var w row
		for _, key := range slices.Backward(keys(g)) {
			if found := index[key]; found != nil {
				w = found
			}
		}
		if w == nil {
			wrong["id"] = fmt.Sprintf("%v is not published", g)
			continue
		}
		name := keys(w)[0]
		if seen[name] {
			wrong["id"] = name + " comes twice"
		}
		seen[name] = true
		for _, field := range fields {
			switch {
			case w[field] == "":
			case g[field] == "":
				missing[field] = true
			case !equal(field, w[field], g[field]):
				wrong[field] = fmt.Sprintf("%s: got %q, want %q", name, g[field], w[field])
			default:
				arrived[field] = true
			}
		}
	}
	for _, w := range want {
		if name := keys(w)[0]; !seen[name] && wrong["id"] == "" {
			wrong["id"] = fmt.Sprintf("%d of %d entries, not %s", len(seen), len(want), name)
		}
	}
	var lost []string
	for _, field := range fields {
		if missing[field] && arrived[field] && wrong[field] == "" {
			wrong[field] = "is missing in some entries"
		}
		if missing[field] || wrong[field] != "" {
			lost = append(lost, field)
		}
		if wrong[field] != "" {
			c.wrong(t, field, document+": "+wrong[field])
		}
	}
	if len(lost) == 0 {
		return "all"
	}
	return "no " + strings.Join(lost, ", ")
}

// keys are what identifies an entry.
func keys(r row) (all []string) {
	for _, field := range []string{"id", "link", "sha256"} {
		if r[field] != "" {
			all = append(all, field+" "+r[field])
		}
	}
	return all
}

// equal compares the values of a field: times to two seconds, which is what ZIP has.
func equal(field, want, got string) bool {
	if field != "updated" && field != "published" {
		return want == strings.TrimSpace(got)
	}
	w, ok := instant(want)
	g, ok2 := instant(got)
	return ok && ok2 && w.Sub(g).Abs() < 2*time.Second
}

func instant(s string) (time.Time, bool) {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Unix(int64(seconds), 0), true
	}
	for _, layout := range []string{time.RFC3339, time.RFC1123, time.RFC1123Z, time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
