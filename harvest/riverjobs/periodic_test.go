package riverjobs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	const every = time.Hour
	begin := time.Date(2026, 3, 1, 10, 17, 3, 5, time.UTC)
	quarters := map[int]int{}
	for i := range 1000 {
		s := newSpread(every, fmt.Sprint("https://example.org/", i))
		first := s.Next(begin)
		assert.True(t, first.After(begin) && first.Sub(begin) <= every, "%v", first)
		assert.Equal(t, first.Add(every), s.Next(first), "once in each interval")
		assert.Equal(t, first, s.Next(first.Add(-1)), "whoever leads, and since when")
		quarters[int(first.Sub(begin)/(15*time.Minute))]++
	}
	for q := range 4 {
		assert.InDelta(t, 250, quarters[q], 60, "quarter %d", q)
	}
}

func TestPeriodic(t *testing.T) {
	args := Args{Protocol: "atom", URL: "https://example.org/", Key: "https://example.org/"}
	jobs, err := Periodic(time.Hour, args, args)
	require.NoError(t, err)
	assert.Len(t, jobs, 2)

	_, err = Periodic(time.Millisecond, args)
	assert.ErrorContains(t, err, "the interval 1ms of periodic jobs must be at least 1s")
	_, err = Periodic(time.Hour, args, Args{URL: "https://example.org/"})
	assert.ErrorContains(t, err, "periodic job 1, https://example.org/: Args.Key must be set")
}
