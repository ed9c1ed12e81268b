package status

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/internal/display"
)

func TestNiceCeiling(t *testing.T) {
	for n, want := range map[int64]int64{1: 2, 2: 2, 3: 4, 5: 6, 9: 10, 11: 20, 87: 100, 101: 200, 999: 1000, 5001: 6000, math.MaxInt64: math.MaxInt64} {
		assert.Equal(t, want, niceCeiling(n), n)
	}
}

func TestStack(t *testing.T) {
	classes := []countClass{{"ok", "good"}, {"broken", "bad"}}
	values := [][]int64{{1, 3}, {0, 0}, {2, 0}}
	name := func(i int) string { return string(rune('a' + i)) }
	c, most := stack(3, classes, func(i int) []int64 { return values[i] }, name, display.Number)
	assert.EqualValues(t, 4, most)
	assert.Equal(t, chart{
		Top: "4", Half: "2", Length: 12,
		Layers: []layer{
			{"ok", "good", "M0.07 75h.86v25h-.86zM2.07 50h.86v50h-.86z", "3"},
			{"broken", "bad", "M0.07 0h.86v75h-.86z", "3"},
		},
		Tips: []tip{{0, "a: 1 good, 3 bad"}, {2, "c: 2 good"}},
	}, c)
	_, most = stack(1, classes, func(int) []int64 { return []int64{0, 0} }, name, display.Number)
	assert.Zero(t, most, "there is nothing to draw")
}

func TestStatusNames(t *testing.T) {
	for status, want := range map[int]string{0: "no answer", 200: "200", 404: "404: not found", 503: "503: not available now"} {
		assert.Equal(t, want, statusName(status))
	}
}
