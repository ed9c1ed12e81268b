package conformance

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/websync-go/websync"
)

// A day is a calendar day as a document states it, in its own zone: days since 1970.
type day int32

// noDay means that no day is stated.
const noDay day = math.MinInt32

// dayOf returns the first day of d.
func dayOf(d websync.Datetime) day {
	if d.IsZero() {
		return noDay
	}
	t := d.Time()
	_, offset := t.Zone()
	return day(floorDiv(t.Unix()+int64(offset), 24*60*60))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// A dayTable is a hash table of URLs, each with a day. It keeps 64 bits of the hash of a
// URL: 16 to 24 bytes a URL in all, and 40 while it grows. In a table of ten million URLs
// one is mistaken for another with a chance of 1 in 350,000.
type dayTable struct {
	seed   maphash.Seed
	hashes []uint64 // 0: free
	days   []day
	count  int
}

func newDayTable() *dayTable {
	return &dayTable{seed: maphash.MakeSeed(), hashes: make([]uint64, 1024), days: make([]day, 1024)}
}

func (t *dayTable) hash(url []byte) uint64 { return max(1, maphash.Bytes(t.seed, url)) }

// slot returns the slot of a hash, or the free one where it belongs.
func (t *dayTable) slot(h uint64) int {
	at, _ := bits.Mul64(h, uint64(len(t.hashes)))
	i := int(at)
	for t.hashes[i] != 0 && t.hashes[i] != h {
		if i++; i == len(t.hashes) {
			i = 0
		}
	}
	return i
}

// add enters a URL, and reports whether it is new. A URL that is not keeps the later day.
func (t *dayTable) add(url []byte, d day) bool {
	if t.count >= len(t.hashes)/4*3 {
		t.grow()
	}
	h := t.hash(url)
	i := t.slot(h)
	if t.hashes[i] == h {
		t.days[i] = max(t.days[i], d)
		return false
	}
	t.hashes[i], t.days[i] = h, d
	t.count++
	return true
}

func (t *dayTable) grow() {
	old := *t
	size := len(old.hashes) / 2 * 3
	t.hashes, t.days = make([]uint64, size), make([]day, size)
	for i, h := range old.hashes {
		if h != 0 {
			at := t.slot(h)
			t.hashes[at], t.days[at] = h, old.days[i]
		}
	}
}

// find returns the day of a URL, and whether the table has it.
func (t *dayTable) find(url []byte) (day, bool) {
	h := t.hash(url)
	i := t.slot(h)
	return t.days[i], t.hashes[i] == h
}

// has reports whether the table has a URL.
func (t *dayTable) has(url string) bool {
	_, ok := t.find([]byte(url))
	return ok
}
