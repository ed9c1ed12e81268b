package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/internal/display"
	"github.com/websync-go/websync/sitemap"
)

// demonstrate harvests the demonstration site several times and reports each run.
func (p *harvestCommand) demonstrate(ctx context.Context) int {
	site, err := newDemoSite()
	if err != nil {
		return p.fail(fmt.Errorf("demonstration site: %w", err))
	}
	defer site.close()
	var say io.Writer = p.Out
	if p.json {
		say = io.Discard
	} else {
		p.progress.w = cli.NewOutput(io.Discard) // story reports it
	}
	// without a rate, and without retries, so that a run reports the failure
	if p.Rate == 0 {
		p.client.Rate = -1
	}
	p.client.Attempts = -1
	src := &sitemap.Source{URL: site.url + "/sitemap.xml", Complete: true}
	h := p.newHarvester()
	h.Sample = -1 // so that the story has the same numbers each time

	const begin = "A demonstration. On this machine, at %s, runs a small site with %d pages and files.\n"
	fmt.Fprintf(say, begin, site.url, site.size())
	fmt.Fprintf(say, "Its sitemap %s lists them all in four parts.\nThe store is %s.\n", src.URL, p.summary.Store)

	var results []*result
	for i, act := range site.acts() {
		if ctx.Err() != nil {
			break
		}
		act.change()
		fmt.Fprintf(say, "\n%d. %s\n", i+1, act.title)
		r := p.harvest(ctx, h, fmt.Sprintf("%d. %s", i+1, act.title), src)
		results = append(results, r)
		fmt.Fprint(say, r.story())
	}
	if ctx.Err() == nil && !p.json {
		p.conclude(ctx, say)
	}
	code := exitLeft
	if len(results) > 0 {
		code = results[len(results)-1].code() // earlier failures are part of the demonstration
	}
	return p.finish(ctx, results, code)
}

// story describes a report in a few lines.
func (r *result) story() string {
	var b strings.Builder
	changes := cmp.Or(strings.Join(notZero(r.outcomes()), ", "), "nothing")
	fmt.Fprintf(&b, "   %d listed: %s.\n", r.Events, changes)
	fetched := "no body fetched"
	if r.Fetched > 0 {
		fetched = fmt.Sprintf("%s fetched (%s)", display.Plural(r.Fetched, "body", "bodies"), display.Bytes(r.Bytes))
	}
	fmt.Fprintf(&b, "   %s, %s, %s.\n", requestsStory(r.Requests), fetched, r.took())
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "   Failed: %s\n   The old copy stays in the store, and so does a task to try again.\n", about(f))
	}
	if r.Guard != nil {
		fmt.Fprintf(&b, "   %s.\n", r.Guard.Sentence())
	}
	run := r.run()
	fmt.Fprintf(&b, "   %s\n", run.Verdict())
	return b.String()
}

// requestsStory describes requests in half a sentence.
func requestsStory(byStatus map[int]int64) string {
	var total int64
	for _, n := range byStatus {
		total += n
	}
	text := display.Plural(total, "request", "requests")
	if n := byStatus[304]; n > 0 {
		text += fmt.Sprintf(", %d of them answered with \"not modified\"", n)
	}
	return text
}

// conclude writes what the store holds now, and what to do next.
func (p *harvestCommand) conclude(ctx context.Context, w io.Writer) {
	if head, err := p.store.Head(ctx); err == nil {
		fmt.Fprintf(w, "\nThe store holds %s and a log of %s.\n",
			display.Plural(head.Total(), "resource", "resources"), display.Plural(int64(head.Last), "change", "changes"))
	}
	if p.storeFlag == "" {
		fmt.Fprintln(w, "It is removed now; -store sqlite:FILE keeps it, -export DIR writes what it holds to files.")
	}
	fmt.Fprintln(w, "To harvest a real site, name its sitemap: websync harvest https://www.example.org/sitemap.xml")
}
