package harvest

import (
	"reflect"
	"slices"

	"github.com/websync-go/websync"
)

// saysLess reports whether all that r states, its times apart, is what known states, too:
// a description of the same moment that states less is not another one. Whether there is
// content at all is not for this to judge.
func saysLess(r, known *websync.Resource) bool {
	return emptyOr(r.Title, known.Title) && emptyOr(r.Summary, known.Summary) && emptyOr(r.Lang, known.Lang) &&
		emptyOr(r.Published, known.Published) && linkSaysLess(&r.Content, &known.Content) &&
		(len(r.Authors) == 0 || slices.Equal(r.Authors, known.Authors)) &&
		(len(r.Links) == 0 || slices.EqualFunc(r.Links, known.Links, func(a, b websync.Link) bool { return linkSaysLess(&a, &b) })) &&
		(len(r.Elements) == 0 || slices.Equal(r.Elements, known.Elements)) &&
		(r.Origin == nil || reflect.DeepEqual(r.Origin, known.Origin))
}

func linkSaysLess(l, known *websync.Link) bool {
	for _, d := range l.Digests {
		if !slices.Contains(known.Digests, d) {
			return false
		}
	}
	return l.Href == known.Href && emptyOr(l.Rel, known.Rel) && emptyOr(l.Type, known.Type) && emptyOr(l.Lang, known.Lang) &&
		emptyOr(l.Title, known.Title) && emptyOr(l.Encoding, known.Encoding) && emptyOr(l.Length, known.Length) &&
		emptyOr(l.Modified, known.Modified) && emptyOr(l.Priority, known.Priority) &&
		(len(l.Attrs) == 0 || slices.Equal(l.Attrs, known.Attrs))
}

func emptyOr[T comparable](v, known T) bool { return v == *new(T) || v == known }

// supplement gives r what it lacks of a description of the same moment. Of the bytes
// nothing is taken over unless they are the same.
func supplement(r, known *websync.Resource, sameBytes bool) {
	fillEmpty(&r.Title, known.Title)
	fillEmpty(&r.Summary, known.Summary)
	fillEmpty(&r.Lang, known.Lang)
	fillEmpty(&r.Published, known.Published)
	fillEmpty(&r.Origin, known.Origin)
	fillSlice(&r.Authors, known.Authors)
	fillSlice(&r.Links, known.Links)
	fillSlice(&r.Elements, known.Elements)
	if sameBytes && r.Content.Href == known.Content.Href {
		fillLink(&r.Content, &known.Content)
	}
}

func fillLink(l, known *websync.Link) {
	fillEmpty(&l.Type, known.Type)
	fillEmpty(&l.Lang, known.Lang)
	fillEmpty(&l.Title, known.Title)
	fillEmpty(&l.Encoding, known.Encoding)
	fillEmpty(&l.Length, known.Length)
	fillEmpty(&l.Modified, known.Modified)
	fillEmpty(&l.Priority, known.Priority)
	fillSlice(&l.Attrs, known.Attrs)
	l.Digests = slices.Clone(l.Digests)
	for _, d := range known.Digests {
		if _, ok := l.Digests.Get(d.Algorithm); !ok {
			l.Digests = append(l.Digests, d)
		}
	}
}

func fillEmpty[T comparable](v *T, known T) {
	if *v == *new(T) {
		*v = known
	}
}

func fillSlice[T any](v *[]T, known []T) {
	if len(*v) == 0 {
		*v = known
	}
}
