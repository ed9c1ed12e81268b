package main

import (
	"context"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// isResourceSync reports whether a sitemap that was read to its first entry is a document
// of ResourceSync.
func isResourceSync(r *sitemap.Reader) bool {
	return slices.ContainsFunc(r.Elements(), func(x websync.Element) bool {
		return x.Space == resourcesync.Namespace && x.Local == "md"
	})
}

// validateResourceSync checks a document of ResourceSync. If it is a Source Description
// or a Capability List at a URL, it checks all documents below it, too.
func (p *checkCommand) validateResourceSync(ctx context.Context, in *input) (fileReport, error) {
	src, err := in.start()
	if err != nil {
		return fileReport{}, err
	}
	o := resourcesync.ValidateOptions{
		Document: in.name, URL: in.url, ContentType: in.contentType, Now: p.now,
		Extensions: google.Extensions(), Lenient: p.lenient,
	}
	if in.url != "" {
		head, _ := resourcesync.NewReader(src).Head() // Validate reports an error
		switch c := head.Metadata.Capability; c {
		case resourcesync.Description, resourcesync.CapabilityList:
			sum := resourcesync.ValidateTree(in.url, p.opener(ctx, in), resourcesync.TreeOptions{
				Report: p.finding, Now: o.Now, Extensions: o.Extensions, Lenient: o.Lenient,
			})
			kind := kindOf(c, head.Index)
			return fileReport{Kind: kind, Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, ctx.Err()
		}
		if src, err = in.start(); err != nil {
			return fileReport{}, err
		}
	}
	o.Report = p.finding
	sum, err := resourcesync.Validate(src, o)
	kind := kindOf(sum.Capability, sum.Index)
	return fileReport{Kind: kind, Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, err
}

// kindOf returns the kind of a document: its capability, and whether it is an index.
func kindOf(c resourcesync.Capability, index bool) string {
	switch {
	case c == "":
		return "unknown"
	case index:
		return string(c) + " index"
	}
	return string(c)
}
