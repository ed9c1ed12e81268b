package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
)

// crawlerAgent is the name under which pages are requested again that had no metadata: it
// is honest, and has the word that servers look for which send more to search engines.
const crawlerAgent = "Mozilla/5.0 (compatible; websync-check/" + websync.Version +
	"; like Googlebot/2.1; +https://github.com/websync-go/websync)"

// checkPublisher checks a sitemap and its feed by the rules of ELI Pillar IV.
func (p *checkCommand) checkPublisher(ctx context.Context) (code int, err error) {
	list, feed, page, err := p.pair()
	if err != nil {
		return exitFailed, err
	}
	c := &conformance.Checker{
		Sitemap: inputOf(list), Feed: inputOf(feed), Page: inputOf(page), Alone: len(p.inputs) == 1,
		Sample: p.eli.sample, Seed: p.eli.seed, Interval: p.eli.interval, Human: p.eli.human,
		Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}, Now: p.now, Report: p.finding, Progress: p.progress,
	}
	if c.Sample == 0 {
		c.Sample = -1
	}
	if c.Interval == 0 {
		c.Interval = -1
	}
	if page.isURL() {
		c.Page.Open = nil // it is requested as HTML
	}
	if list.isURL() || feed.isURL() || page.isURL() {
		p.crawler.UserAgent = crawlerAgent
		c.Fetcher, c.Crawler = p.client, p.crawler
	}
	if list != nil && !list.isURL() {
		c.Part = beside(list.name)
	}
	if err := p.readVisits(c); err != nil {
		return exitFailed, err
	}
	r, err := c.Check(ctx)
	if err != nil {
		return exitFailed, err
	}
	p.printResult(r)
	return exitOf(r), p.writeVisit(r)
}

func (in *input) isURL() bool { return in != nil && isURL(in.name) }

// pair returns which of the names is the sitemap and which the feed, by their root
// elements; nil if there is none. One that is neither takes the place that is free. A page
// of HTML that is the only name is one of a legal resource.
func (p *checkCommand) pair() (list, feed, page *input, err error) {
	var others []*input
	for _, in := range p.inputs {
		switch {
		case in.err == nil && in.kind != 0:
			if list != nil {
				return nil, nil, nil, errors.New("-spec eli needs a sitemap and a feed, and not two sitemaps")
			}
			list = in
		case in.feed:
			if feed != nil {
				return nil, nil, nil, errors.New("-spec eli needs a sitemap and a feed, and not two feeds")
			}
			feed = in
		default:
			others = append(others, in)
		}
	}
	if len(p.inputs) == 1 && len(others) == 1 && others[0].isPage() {
		return nil, nil, others[0], nil
	}
	for _, in := range others {
		if list == nil {
			list = in
		} else {
			feed = in
		}
	}
	return list, feed, nil, nil
}

// isPage reports whether an input is a page of HTML.
func (in *input) isPage() bool {
	if in.err != nil {
		return false
	}
	src, err := in.start()
	if err != nil {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(src, 4096))
	text := strings.ToLower(string(head))
	return err == nil && (strings.Contains(text, "<html") || strings.Contains(text, "<!doctype html") ||
		syntax.IsPage(in.contentType))
}

// validateList checks a list of acts.
func (p *checkCommand) validateList(ctx context.Context, in *input) (fileReport, error) {
	r := fileReport{Kind: "csv"}
	list := &eli.CSV{Name: in.name, Open: func(context.Context) (io.ReadCloser, error) {
		src, err := in.start()
		return io.NopCloser(src), err
	}}
	run := &harvest.Run{Report: func(f websync.Finding) {
		switch f.Severity {
		case websync.SeverityError:
			r.Errors++
		case websync.SeverityWarning:
			r.Warnings++
		}
		p.finding(f)
	}}
	for ev, err := range list.Events(ctx, run) {
		if err != nil {
			return fileReport{Kind: "unknown", Errors: r.Errors, Warnings: r.Warnings}, err
		}
		if ev.Kind == harvest.Put {
			r.Entries++
		}
	}
	return r, nil
}

// inputOf returns what a Checker reads of an input, which may be nil.
func inputOf(in *input) conformance.Input {
	if in == nil {
		return conformance.Input{}
	}
	open := func() (io.ReadCloser, error) {
		if in.err != nil {
			return nil, in.err
		}
		src, err := in.start()
		return io.NopCloser(src), err
	}
	return conformance.Input{Name: in.name, URL: in.url, ContentType: in.contentType, Modified: in.modified, Open: open}
}

// beside returns a function that opens the file with the name that ends a URL, in the
// directory of another file.
func beside(index string) func(loc string) (conformance.Input, error) {
	return func(loc string) (conformance.Input, error) {
		u, err := url.Parse(loc)
		if err != nil {
			return conformance.Input{}, websync.ErrNotFound
		}
		base := path.Base(u.Path)
		name := filepath.Join(filepath.Dir(index), base)
		if index == "-" || !filepath.IsLocal(base) || base != filepath.Base(name) {
			return conformance.Input{}, websync.ErrNotFound
		}
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			return conformance.Input{}, websync.ErrNotFound
		}
		if err != nil {
			return conformance.Input{}, withoutName(err)
		}
		if !info.Mode().IsRegular() {
			return conformance.Input{}, errors.New("not a regular file")
		}
		return conformance.Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}, nil
	}
}

// readVisits reads the profile of the last visit and the registry.
func (p *checkCommand) readVisits(c *conformance.Checker) error {
	if p.eli.profile != "" {
		f, err := os.Open(p.eli.profile)
		if err == nil {
			c.Last, err = conformance.ReadProfile(f)
			f.Close()
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("-profile %s: %w", p.eli.profile, withoutName(err))
		}
	}
	if p.eli.registry != "" {
		f, err := os.Open(p.eli.registry)
		if err == nil {
			c.Registry, err = conformance.ReadRegistry(f)
			f.Close()
		}
		if err != nil {
			return fmt.Errorf("-registry %s: %w", p.eli.registry, withoutName(err))
		}
	}
	return nil
}

// writeVisit writes the report and the profile of this visit.
func (p *checkCommand) writeVisit(r *conformance.Result) error {
	if p.eli.report != "" {
		if err := writeFile(p.eli.report, r.WriteHTML); err != nil {
			return fmt.Errorf("-report %s: %w", p.eli.report, withoutName(err))
		}
	}
	if p.eli.profile != "" && r.Profile != nil {
		if err := writeFile(p.eli.profile, r.Profile.Write); err != nil {
			return fmt.Errorf("-profile %s: %w", p.eli.profile, withoutName(err))
		}
	}
	return nil
}

// writeFile replaces a file in one step: it is never half written.
func writeFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// progress announces the visit of pages.
func (p *checkCommand) progress(done, total int, _ string) {
	if done == 0 {
		// A page and its full text are two requests.
		about := time.Duration(2*total) * p.eli.interval
		p.Complainf("visiting %d pages, which takes about %v", total, about)
	}
}

// exitOf returns the exit code for a result.
func exitOf(r *conformance.Result) int {
	switch {
	case r.Sitemap.Error != "" && r.Sitemap.Name != "", r.Feed.Error != "" && r.Feed.Name != "",
		r.Page != nil && r.Page.Error != "":
		return exitFailed
	case r.Failed > 0:
		return exitLeft
	}
	return exitDone
}

// printResult prints the documents and the outcome of the rules.
func (p *checkCommand) printResult(r *conformance.Result) {
	documents := append([]conformance.Document{r.Sitemap}, r.Parts...)
	if documents = append(documents, r.Feed); r.Page != nil {
		documents = append(documents, *r.Page)
	}
	for _, d := range documents {
		if d.Name == "" {
			continue
		}
		f := fileReport{File: d.Name, Kind: d.Kind, Entries: d.Entries, Errors: d.Errors, Warnings: d.Warnings, Error: d.Error}
		if f.Error != "" {
			p.Complain(cli.OneLine(f.File + ": " + f.Error))
		}
		p.print(f, fmt.Sprintf("%s: %s, entries %d, errors %d, warnings %d", f.File, f.Kind, f.Entries, f.Errors, f.Warnings))
	}
	if p.json {
		p.print(r, "")
		return
	}
	for _, row := range r.Rules {
		if row.Status == conformance.Fail || row.Status == conformance.Warn {
			counts := fmt.Sprintf("errors %d, warnings %d", row.Errors, row.Warnings)
			p.print(nil, fmt.Sprintf("%s: %s, %s: %s", row.ID, row.Status, counts, row.Rule))
		}
	}
	const outcome = "%d rules: pass %d, warn %d, fail %d, not checked %d"
	p.print(nil, fmt.Sprintf(outcome, len(r.Rules), r.Passed, r.Warned, r.Failed, r.Skipped))
}
