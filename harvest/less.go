package harvest

import (
	"reflect"
	"slices"

	"github.com/websync-go/websync"
)

// saysLess reports whether known states everything that r states, except times: of the
// same moment, a description that states less is not a different one.
func saysLess(r, known *websync.Resource) bool {
	c := *r
	return all(supplement(&c, known), supplementLink(&c.Content, &known.Content))
}

// supplement fills the empty fields of r, but for the content, from a known description
// of the same moment, and reports whether they are equal then.
func supplement(r, known *websync.Resource) bool {
	return all(fillEmpty(&r.Title, known.Title), fillEmpty(&r.Summary, known.Summary), fillEmpty(&r.Lang, known.Lang),
		fillEmpty(&r.Published, known.Published),
		fillSlice(&r.Authors, known.Authors, slices.Equal),
		fillSlice(&r.Links, known.Links, func(links, known []websync.Link) bool {
			return slices.EqualFunc(links, known, func(l, known websync.Link) bool { return supplementLink(&l, &known) })
		}),
		fillSlice(&r.Elements, known.Elements, slices.Equal),
		fillEmpty(&r.Origin, known.Origin) || reflect.DeepEqual(r.Origin, known.Origin))
}

// supplementLink does the same for two links to one URL.
func supplementLink(l, known *websync.Link) bool {
	return l.Href == known.Href && all(
		fillEmpty(&l.Rel, known.Rel), fillEmpty(&l.Type, known.Type), fillEmpty(&l.Lang, known.Lang),
		fillEmpty(&l.Title, known.Title), fillEmpty(&l.Encoding, known.Encoding), fillEmpty(&l.Length, known.Length),
		fillEmpty(&l.Modified, known.Modified), fillEmpty(&l.Priority, known.Priority),
		fillSlice(&l.Attrs, known.Attrs, slices.Equal), fillDigests(l, known))
}

// fillDigests adds the known digests of other algorithms.
func fillDigests(l, known *websync.Link) bool {
	less := !slices.ContainsFunc(l.Digests, func(d websync.Digest) bool { return !slices.Contains(known.Digests, d) })
	l.Digests = slices.Clip(l.Digests)
	for _, d := range known.Digests {
		if _, ok := l.Digests.Get(d.Algorithm); !ok {
			l.Digests = append(l.Digests, d)
		}
	}
	return less
}

// fillEmpty sets *v to known if it is empty, and reports whether they are equal then.
func fillEmpty[T comparable](v *T, known T) bool {
	if *v == *new(T) {
		*v = known
	}
	return *v == known
}

// fillSlice does the same for slices.
func fillSlice[S ~[]T, T any](v *S, known S, equal func(v, known S) bool) bool {
	if len(*v) == 0 {
		*v = known
	}
	return equal(*v, known)
}

func all(conditions ...bool) bool { return !slices.Contains(conditions, false) }
