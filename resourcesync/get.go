package resourcesync

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
)

var _ harvest.Getter = (*Source)(nil)

// maxMirrors limits how many mirrors of a resource are tried.
const maxMirrors = 5

// A hint is what a change says of how to get the resource (Z39.99 §14.4).
type hint struct {
	Patch  string          `json:"patch"` // URL
	Type   string          `json:"type"`
	Length int64           `json:"length,omitzero"`
	Hash   websync.Digests `json:"hash,omitempty"`
}

// hintOf returns the Hint of an event: the first patch that can be applied; nil if there
// is none.
func hintOf(e *Entry) []byte {
	for i := range e.Links {
		l := &e.Links[i]
		if l.Rel == RelationPatch && canPatch(l.Type) && syntax.HTTPHost(l.Href) > 0 && l.Length <= maxPatched {
			// a struct of texts and numbers can always be encoded
			data, _ := json.Marshal(hint{l.Href, l.Type, l.Length, l.Digests})
			return data
		}
	}
	return nil
}

// Get implements [harvest.Getter]. It obtains the content of a resource: by a patch of
// what the Store holds, if the change came with one and states a digest to verify the
// result by (Z39.99 §14.4); else from its mirrors on the web, in the order of their pri
// (§14.2); else from its URI. What fails is passed over, but for the last.
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	if came, err := job.Came(); err == nil {
		return errors.Join(came.Close(), job.Content(ctx))
	}
	if patched(ctx, job) {
		return nil
	}
	for _, link := range mirrors(&job.Resource) {
		err := job.Obtain(ctx, harvest.ContentName, link)
		if err == nil || ctx.Err() != nil || errors.Is(err, harvest.ErrNotYet) {
			return err
		}
	}
	return job.Content(ctx)
}

// mirrors returns the content of a resource at its mirrors, the first to be tried first.
func mirrors(r *websync.Resource) (links []websync.Link) {
	for i := range r.Links {
		if l := r.Links[i]; l.Rel == "duplicate" && syntax.HTTPHost(l.Href) > 0 {
			links = append(links, l)
		}
	}
	const least = 999_999 // that of a link without pri
	slices.SortStableFunc(links, func(a, b websync.Link) int { return cmp.Compare(cmp.Or(a.Priority, least), cmp.Or(b.Priority, least)) })
	links = links[:min(len(links), maxMirrors)]
	for i := range links {
		at := links[i]
		links[i] = r.Content
		links[i].Href = at.Href
		if len(links[i].Digests) == 0 && links[i].Length == 0 {
			links[i].Digests, links[i].Length = at.Digests, at.Length
		}
	}
	return links
}

// patched reports whether the content could be made of what the Store holds.
func patched(ctx context.Context, job *harvest.Job) bool {
	var h hint
	content := job.Resource.Content
	if len(content.Digests) == 0 || job.Held == nil || json.Unmarshal(job.Hint, &h) != nil {
		return false
	}
	held, err := job.Open(ctx, harvest.ContentName)
	if err != nil {
		return false
	}
	defer held.Close()
	link := websync.Link{Href: h.Patch, Type: h.Type, Length: h.Length, Digests: h.Hash}
	resp, err := job.Fetch(ctx, &harvest.Request{URL: h.Patch, Accept: h.Type, Identity: link.Verifiable(), MaxBytes: maxPatched})
	if err != nil || resp.NotModified {
		return false
	}
	defer resp.Body.Close()
	var after bytes.Buffer
	if applyPatch(&after, held, link.Verify(resp.Body), h.Type) != nil {
		return false
	}
	_, err = job.Keep(ctx, harvest.ContentName, content, &after)
	return err == nil
}
