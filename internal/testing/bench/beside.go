package bench

import (
	"slices"
	"testing"
	"time"
)

// A Side is one side of a comparison. Do does the work once and returns the time it took.
type Side struct {
	Name string
	Do   func() (time.Duration, error)
}

// CPU returns a Side whose time is the processor time of this process.
func CPU(name string, do func() error) Side {
	return Side{name, func() (time.Duration, error) {
		before := CPUTime()
		err := do()
		return CPUTime() - before, err
	}}
}

// Beside lets the sides work in turns, and reports how many times the time of the first
// one each other takes: the median over the turns. size is that of what all of them read
// or write.
func Beside(b *testing.B, size int, ours Side, peers ...Side) {
	b.SetBytes(int64(size))
	ratios := make([][]float64, len(peers))
	var total time.Duration
	turns := 0
	for b.Loop() {
		own := ours.measure(b)
		total += own
		turns++
		for i, p := range peers {
			ratios[i] = append(ratios[i], float64(p.measure(b))/float64(max(own, 1)))
		}
	}
	for i, p := range peers {
		slices.Sort(ratios[i])
		b.ReportMetric(ratios[i][len(ratios[i])/2], "x-"+p.Name)
	}
	b.ReportMetric(float64(size)*float64(turns)/total.Seconds()/1e6, "own-MB/s")
}

func (s Side) measure(b *testing.B) time.Duration {
	took, err := s.Do()
	if err != nil {
		b.Fatal(s.Name, err)
	}
	return took
}
