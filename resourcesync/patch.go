package resourcesync

import (
	"bytes"
	"fmt"
	"io"
	"mime"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/patch"
	"github.com/websync-go/websync/internal/survive"
)

// maxPatched limits the bytes of a representation that is patched, before and after, and
// of the patch: they are held in memory. What is longer is fetched in full.
const maxPatched = 4 << 20

// patchers are the media types of patches that can be applied (§14.4), with the types
// that came after the specification (RFC 6902 §6, RFC 7351).
var patchers = map[string]func(dst io.Writer, held, patch []byte) error{
	"application/json-patch":      patchJSON,
	"application/json-patch+json": patchJSON,
	patch.XMLMediaType:            patchXML,
	"application/xml-patch+xml":   patchXML,
}

// canPatch reports whether patches of a media type can be applied.
func canPatch(mediaType string) bool { return patcher(mediaType) != nil }

func patcher(mediaType string) func(io.Writer, []byte, []byte) error {
	base, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return nil
	}
	return patchers[base]
}

// applyPatch writes to dst what a held representation becomes by a patch. It is not known
// to be what the publisher has until its digest is compared: one value can be written in
// several ways. A patch that panics is a [websync.PanicError].
func applyPatch(dst io.Writer, held, patch io.Reader, mediaType string) error {
	apply := patcher(mediaType)
	if apply == nil {
		return fmt.Errorf("resourcesync: no patches of the type %.100q", mediaType)
	}
	before, err := readPatched("what is patched", held)
	if err != nil {
		return err
	}
	change, err := readPatched("the patch", patch)
	if err != nil {
		return err
	}
	return survive.Panic(fmt.Sprintf("resourcesync: a patch of the type %.100q", mediaType), func() error {
		return apply(&limitedWriter{dst, maxPatched}, before, change)
	})
}

func readPatched(what string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPatched+1))
	if err == nil && len(data) > maxPatched {
		err = fmt.Errorf("resourcesync: %s has more than %d bytes: %w", what, maxPatched, websync.ErrLimit)
	}
	return data, err
}

// A limitedWriter refuses what passes left bytes.
type limitedWriter struct {
	dst  io.Writer
	left int
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, fmt.Errorf("resourcesync: a patch that makes more than %d bytes: %w", maxPatched, websync.ErrLimit)
	}
	return w.dst.Write(b)
}

func patchXML(dst io.Writer, held, change []byte) error {
	return patch.ApplyXML(dst, bytes.NewReader(held), bytes.NewReader(change))
}

// patchJSON applies a JSON Patch (RFC 6902).
func patchJSON(dst io.Writer, held, change []byte) error {
	operations, err := patch.ParseJSON(change)
	if err != nil {
		return fmt.Errorf("resourcesync: the patch is no JSON Patch: %w", err)
	}
	after, err := operations.Apply(held, maxPatched)
	if err != nil {
		return fmt.Errorf("resourcesync: the patch does not fit: %w", err)
	}
	_, err = dst.Write(after)
	return err
}
