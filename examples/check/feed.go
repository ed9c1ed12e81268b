package main

import (
	"context"
	"io"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
)

// validateFeed checks an Atom document. If it is an archived feed at a URL, it checks the
// whole chain of its documents.
func (p *program) validateFeed(ctx context.Context, in *input) (report, error) {
	src, err := in.start()
	if err != nil {
		return report{}, err
	}
	o := atom.ValidateOptions{Document: in.name, URL: in.url, Now: p.now, Lenient: p.lenient}
	sum, err := atom.Validate(src, o)
	if err == nil && in.url != "" && sum.PrevArchive != "" {
		return p.validateChain(ctx, in)
	}
	if src, err = in.start(); err != nil {
		return report{}, err
	}
	o.Report = p.finding
	sum, err = atom.Validate(src, o)
	return report{Kind: sum.Kind.String(), Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, err
}

func (p *program) validateChain(ctx context.Context, in *input) (report, error) {
	chain := &atom.ChainValidator{Report: p.finding, Now: p.now, Lenient: p.lenient}
	sum := chain.Walk(in.url, p.opener(ctx, in))
	return report{Kind: atom.FeedDocument.String(), Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, ctx.Err()
}

// opener returns a function that opens the documents that an input leads to, and itself.
func (p *program) opener(ctx context.Context, in *input) func(url string) (io.ReadCloser, error) {
	return func(url string) (io.ReadCloser, error) {
		if url == in.url {
			src, err := in.start()
			return io.NopCloser(src), err
		}
		// The links of a document may be hostile: the client requests an address that is
		// not public only if it is on the host of the document.
		resp, err := p.client.Fetch(ctx, &harvest.Request{URL: url, Root: in.name, Spool: true})
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
}
