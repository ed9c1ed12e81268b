package main

import (
	"context"
	"io"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/rinfo"
)

// validateFeed checks a document of Atom, an RSS feed or a JSON Feed. If it is an archived
// feed of Atom at a URL, it checks the whole chain of its documents.
func (p *checkCommand) validateFeed(ctx context.Context, in *input) (fileReport, error) {
	src, err := in.start()
	if err != nil {
		return fileReport{}, err
	}
	validate := atom.Validate
	switch {
	case in.validate != nil:
		validate = in.validate
	case p.spec == "atompmh":
		validate = atompmh.Validate
	case p.spec == "rinfo":
		validate = rinfo.Validate
	}
	o := atom.ValidateOptions{Document: in.name, URL: in.url, ContentType: in.contentType, Now: p.now, Lenient: p.lenient}
	sum, err := validate(src, o)
	if err == nil && in.url != "" && sum.PrevArchive != "" {
		return p.validateChain(ctx, in)
	}
	if src, err = in.start(); err != nil {
		return fileReport{}, err
	}
	o.Report = p.finding
	if verifier := p.verifier(ctx, in); verifier != nil {
		o.Item, o.Feed = verifier.Item, verifier.Feed
	}
	sum, err = validate(src, o)
	return fileReport{Kind: sum.Kind.String(), Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, err
}

func (p *checkCommand) validateChain(ctx context.Context, in *input) (fileReport, error) {
	chain := new(atom.ChainValidator)
	switch p.spec {
	case "atompmh":
		chain = atompmh.NewChainValidator()
	case "rinfo":
		chain = rinfo.NewChainValidator()
		if verifier := p.verifier(ctx, in); verifier != nil {
			verifier.Follow(chain)
		}
	}
	chain.Report, chain.Now, chain.Lenient = p.finding, p.now, p.lenient
	sum := chain.Walk(in.url, p.opener(ctx, in))
	kind := atom.FeedDocument.String()
	return fileReport{Kind: kind, Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, ctx.Err()
}

// verifier returns what verifies the documents that the entries of an input link to; nil
// if they are not to be verified.
func (p *checkCommand) verifier(ctx context.Context, in *input) *rinfo.Verifier {
	if !p.verify {
		return nil
	}
	return &rinfo.Verifier{Open: p.opener(ctx, in)}
}

// opener returns a function that opens the documents that an input leads to, and itself.
func (p *checkCommand) opener(ctx context.Context, in *input) func(url string) (io.ReadCloser, error) {
	return func(url string) (io.ReadCloser, error) {
		if url == in.url {
			src, err := in.start()
			return io.NopCloser(src), err
		}
		// The links of a document may be hostile: the client requests an address that is
		// not public only if it is on the host of the document.
		resp, err := p.client.Fetch(ctx, &harvest.Request{URL: url, Root: in.root, Spool: true})
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
}
