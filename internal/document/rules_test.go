package document

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

func TestRules(t *testing.T) {
	rules := NewRules("x")
	empty := rules.Warning("empty", "§1", "no entries")
	size := rules.Error("size", "§2", "more than 10 bytes")
	doctype := rules.Info("doctype", "§3", "a DOCTYPE")
	assert.Equal(t, websync.Rule{Name: "x-empty", Section: "§1", Severity: websync.SeverityWarning, Summary: "no entries"}, empty)
	assert.Equal(t, []websync.Rule{empty, size, doctype}, rules.All())
	assert.Equal(t, websync.SeverityError, size.Severity)
	assert.Equal(t, websync.SeverityInfo, doctype.Severity)

	rules.All()[0].Name = "changed"
	assert.Equal(t, "x-empty", rules.All()[0].Name, "All returns a copy")
	assert.Panics(t, func() { rules.Error("size", "§4", "again") }, "a name stands for one rule")
}
