package docfetch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

// TestTally: the order of the entries does not matter, everything else does.
func TestTally(t *testing.T) {
	day, later := websync.NewDatetime(time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)).WithPrecision(websync.PrecisionDay), websync.NewDatetime(time.Date(2025, 6, 2, 3, 4, 5, 6, time.UTC))
	sum := func(entries ...any) uint64 {
		var tally Tally
		for i := 0; i < len(entries); i += 2 {
			tally.Add([]byte(entries[i].(string)), entries[i+1].(websync.Datetime))
		}
		d := tally.Document("urn:x", time.Time{})
		assert.EqualValues(t, len(entries)/2, d.Entries)
		return d.Sum
	}
	all := sum("urn:document:1", day, "urn:document:2", later)
	assert.Equal(t, all, sum("urn:document:2", later, "urn:document:1", day))
	for name, other := range map[string]uint64{
		"another id": sum("urn:document:1", day, "urn:document:3", later), "a longer id": sum("urn:document:1", day, "urn:document:2\x00", later),
		"another time": sum("urn:document:1", day, "urn:document:2", day), "no time": sum("urn:document:1", day, "urn:document:2", websync.Datetime{}),
		"swapped times": sum("urn:document:1", later, "urn:document:2", day), "one less": sum("urn:document:1", day),
		"one twice": sum("urn:document:1", day, "urn:document:2", later, "urn:document:2", later), "none": sum(),
	} {
		assert.NotEqual(t, all, other, name)
	}
	var tally Tally
	for _, at := range []websync.Datetime{{}, day, later, day, {}} {
		tally.Add(nil, at)
	}
	assert.Equal(t, later, tally.Document("", time.Time{}).Newest)
}
