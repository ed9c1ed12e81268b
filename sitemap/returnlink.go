package sitemap

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// A linkChecker finds alternates that are in the same document as a page and do not have
// that page as an alternate. The pages of one group mostly have the same alternates, which
// are kept once.
type linkChecker struct {
	seed  maphash.Seed
	hrefs []string // of the current entry
	pages []linkedPage
	sets  []linkSet
	known map[uint64]int // the index in sets, by the sum of the hashes of the hrefs
	size  int            // estimate of the bytes that are kept
	full  bool           // later pages are not kept, and are not compared
}

// A linkedPage is an entry that has alternates for languages.
type linkedPage struct {
	hash uint64 // of loc
	at   position
	set  int
}

// A linkSet holds the alternates of a page, in the order of the hashes of their URLs.
type linkSet []linkTarget

type linkTarget struct {
	hash uint64
	href string
}

func (s linkSet) find(hash uint64) (int, bool) {
	return slices.BinarySearchFunc(s, hash, func(to linkTarget, hash uint64) int { return cmp.Compare(to.hash, hash) })
}

const maxLinks = 16 << 20 // bytes of a linkChecker

func (c *linkChecker) hash(url string) uint64 { return maphash.String(c.seed, syntax.Canonical(url)) }

// add adds the current entry, whose last alternate is at p.
func (c *linkChecker) add(loc string, p position) {
	if c.full || len(c.hrefs) == 0 {
		return
	}
	var sum uint64
	for _, href := range c.hrefs {
		sum += maphash.String(c.seed, href)
	}
	set, ok := c.known[sum]
	if !ok {
		var targets linkSet
		for _, href := range c.hrefs {
			hash := c.hash(href)
			if i, found := targets.find(hash); !found {
				targets = slices.Insert(targets, i, linkTarget{hash, strings.Clone(href)}) // a part of the element
				c.size += 32 + len(href)
			}
		}
		set = len(c.sets)
		c.sets, c.known[sum] = append(c.sets, targets), set
		c.size += 64
	}
	c.pages = append(c.pages, linkedPage{c.hash(loc), p, set})
	c.size += 64
	c.full = c.size > maxLinks
}

// check calls report with one alternate of each page that has such, and with their number.
// listed reports whether the document lists a URL.
func (c *linkChecker) check(listed func(url string) bool, report func(p position, href string, n int)) {
	const twice = -1
	pages := make(map[uint64]int, len(c.pages))
	for i, p := range c.pages {
		if _, ok := pages[p.hash]; ok {
			i = twice
		}
		pages[p.hash] = i
	}
	for _, p := range c.pages {
		first, n := "", 0
		_, self := c.sets[p.set].find(p.hash)
		for _, to := range c.sets[p.set] {
			i, ok := pages[to.hash]
			switch {
			case i == twice, !ok && (c.full || !listed(to.href)), ok && c.pages[i].set == p.set && self:
				continue
			case ok:
				if _, back := c.sets[c.pages[i].set].find(p.hash); back {
					continue
				}
			}
			if n++; n == 1 || to.href < first {
				first = to.href
			}
		}
		if n > 0 {
			report(p.at, first, n)
		}
	}
}

// returnLinks reports alternates that do not lead back.
func (v *validator) returnLinks() {
	listed := func(url string) bool { return v.seen[maphash.String(v.seed, url)] > 0 }
	v.links.check(listed, func(p position, href string, n int) {
		message := "this alternate is in the document, and does not have the page as an alternate"
		if n > 1 {
			message += fmt.Sprintf("; %d more", n-1)
		}
		v.report(ruleLangReturn, p, "link", []byte(href), message)
	})
}
