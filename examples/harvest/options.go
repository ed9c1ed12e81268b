package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/examples/internal/protocols"
)

const usage = "usage: harvest [flags] [URL...]"

const aboutText = `Harvest brings a store in step with each URL, whatever it offers: a sitemap, an index of sitemaps, a plain-text sitemap,
the robots.txt of a site, whose Sitemap lines it follows, an Atom feed, with all its archive documents, an RSS or JSON feed,
ResourceSync, or legislation by ELI Pillar IV. The URL of a page or a host may lead to one of them. What a URL offers is
found out once, and kept in the store; -full finds it out anew. If it leads to several that are equally good, or only its
host offers something, nothing of it is harvested: the choices are listed, each with the -protocol and the URL to name, and
the exit status is 2.
With -protocol eli a URL names a sitemap of legislation, its update feed, or a page or a host that leads to them; of two
URLs of which one is that of a feed, the other is its sitemap. The metadata of each act is got as N-Quads, and its full
text. Five seconds pass between two requests to a host, unless -rate says otherwise.
With -protocol rinfo a URL names a feed of the Swedish legal information system: all documents of an entry are got.
With -protocol resourcesync a URL names a document of ResourceSync, or a page or a host that leads to one; each set of
resources that it offers is a source. With -protocol dir it names a directory; hidden files, the store and the export are
left out. A user name and password in a URL are sent only to its origin, and are not stored. Without a URL, Harvest starts
a demonstration site on this machine and harvests that.
`

const afterText = `With -export each live body of the named sources becomes the file DIR/host/path. A path that ends in "/" gets the file name
index.html, a query becomes part of the name, and a port follows the host after "_". Bytes that a file system may not
accept are written as %XX. Long names are cut and end in a hash. Names that collide get "~" and a hash. DIR/INDEX has one
line for each body, in the order of the URIs: digest, URI, length in bytes and file below DIR, separated by tabs. Control
characters and white space in its URIs are written as %XX. A later export leaves unchanged files alone. It deletes the
file of a body only if the store holds that its resource was deleted, whichever source that was of, or no longer has the
body. Files of what the store does not know stay, with their lines in INDEX, and so do those of sources that are not named
or could not be read. DIR/.websync lists the files that exports have written. An export that would have to replace any
other file fails before it writes anything.

With -plan or -audit each difference is a line: an outcome and a URI. The outcome is created, updated, deleted, withheld,
failed (stored bytes are damaged), or ask (the source states neither a time nor a digest, so a run would ask the server).
"updated" is based on what the source states; the bytes may turn out to be the same. Both only read the store: of PostgreSQL, a
role that may only read or a standby is enough.

With -json the object is written in any case. It has store; in_step, true if the exit status is 0 and -plan finds nothing
to do; reports, one for each URL that was begun; export (with -export), which has dir, bodies, bytes, written, unchanged,
removed and kept; and error, if anything but a run failed. A report is a harvest.Report. It has error if an error ended the run,
left_behind, true if its URL no longer leads to the source, and, with -plan or -audit, decisions. A decision has outcome, id, and
get, which is true if the bodies would be fetched.

With -report FILE is a page of HTML that needs nothing but itself. It is written in any case, also if the exit status is 2:
at the start, every half minute, and at the end. A file of this name is replaced.

User names, passwords and the values of parameters that look like secrets (token, key, signature and the like) are removed
from URLs in the output, except from the ids of -plan and -audit, and from INDEX.

Exit status: 0 in step (-plan: the listing was complete and nothing is or would be withheld; -audit: nothing differs, and
no tasks are left); 1 tasks are left (failed, parked or withheld), the listing was incomplete, entries of it could not be
read, a URL no longer leads to a source, or the run was interrupted; 2 wrong usage, or a source or the store could not be
read, or the store or standard output could not be written. With several URLs it is the highest of theirs.

What a source states to be unchanged may have changed, so a run asks for a random sample of it: see -sample. If too much of
it had changed, all of it is asked for, and the exit status is 1 until that is done. If a server still sends the old bytes of
what its source states to have changed, later runs ask again; the exit status is 0 meanwhile.

A host that answers 429 or 503 to 5 requests in a row is left alone: the run gets no more of it, what is left stays to be done,
and the next run begins with one request to the host.

If a URL no longer leads to a source to which it led in an earlier run, such as a set that a Source Description no longer names, its
records stay, and it is harvested as before from its own URL. Each run says so, and the exit status is 1. If it is to go, -approve
removes it, once a run has said so. If what a URL leads to can't be found out, what an earlier run has found is harvested; the exit
status is 2.

Two processes never harvest one source into one store at the same time: each claims the source, and renews its claim. The
claim of a process that died without releasing it stands for at most a minute; on SQLite it ends at once. Until then the
exit status is 2, and the error states when the claim ends. With -wait the run waits, for a process that is alive, too.

A signal interrupts the run: what was got is stored, for which there are 10 seconds, and the next run goes on from there.
A second signal ends the program at once.

Beside an SQLite store named FILE there may be FILE-wal, FILE-shm, FILE.bodies and FILE.owners, which belong to it, and
FILE.pages, which holds documents of archived feeds until all of them are processed.
`

// options are the command line.
type options struct {
	protocol     string
	storeFlag    string
	exportDir    string
	plan         bool
	audit        bool
	approve      bool
	full         bool
	recheck      bool
	sample       int
	wait         bool
	complete     bool
	maxDelete    float64
	rate         float64
	concurrency  int
	allowPrivate bool
	json         bool
	report       string // file for the page; empty: none
	urls         []protocols.Target
	named        []protocols.Target // likewise, before those of one source were joined

	acceptSkipped bool

	temporary bool   // the store is removed at the end
	pagesDir  string // for documents of archives, until they are dealt with
}

func parseOptions(args []string) (options, error) {
	var o options
	fs := cli.New("harvest", usage, aboutText, afterText)
	fs.StringVar(&o.protocol, "protocol", "auto", "`protocol` of the URLs: auto, which finds it out, sitemap, atom, atompmh, resourcesync, rinfo, eli, or dir for directories")
	fs.StringVar(&o.storeFlag, "store", "", "`where` everything is kept: mem, sqlite:FILE, postgres:DSN (default sqlite:websync.db, for the demonstration a temporary file)")
	fs.StringVar(&o.exportDir, "export", "", "at the end, write every live body to a file below `DIR`")
	fs.BoolVar(&o.plan, "plan", false, "print what would be done, a line each, and write nothing")
	fs.BoolVar(&o.audit, "audit", false, "compare everything, stored bytes included, and print what differs; get and write nothing")
	fs.BoolVar(&o.approve, "approve", false, "carry out the deletions that were withheld, accept the bodies that were, harvest, and remove the sources to which the URLs no longer lead")
	fs.BoolVar(&o.full, "full", false, "make a full pass, ignoring the checkpoint, and find out anew what the URLs offer")
	fs.BoolVar(&o.recheck, "recheck", false, "send conditional requests for unchanged entries, too: for publishers that do not state changes")
	fs.IntVar(&o.sample, "sample", 0, "when everything is listed, ask for one in `N` of what seems unchanged, 10 at least and 1,000 at most; 0: 200; negative: none, and what a server still sends in its old form is not asked for again")
	fs.BoolVar(&o.wait, "wait", false, "wait while another process has the claim of a source, also one that has died: see below")
	fs.BoolVar(&o.acceptSkipped, "accept-skipped", false, "be in step, and carry out deletions, although entries of a listing cannot be read")
	fs.BoolVar(&o.complete, "complete", false, "the sitemap lists everything: what it no longer lists is deleted")
	fs.Float64Var(&o.maxDelete, "max-delete", defaultMaxDelete, "the `share` of records that one run may delete because they are no longer listed, 0 to 1; above it, all deletions are withheld; the default applies only above ten records")
	fs.Float64Var(&o.rate, "rate", 0, "`requests` a second and host; 0: the client's default, 5, and one in five seconds for legislation")
	fs.IntVar(&o.concurrency, "concurrency", 0, "`number` of resources got at once, of one host too; 0: the defaults, 8 and 4")
	fs.BoolVar(&o.allowPrivate, "allow-private", false, "allow private and loopback addresses for all hosts, not only for those of the URLs")
	fs.StringVar(&o.report, "report", "", "write a page of HTML about the runs to `FILE`: in step or not, what to do, pictures, numbers")
	fs.BoolVar(&o.json, "json", false, "write one JSON object to standard output, and everything else to standard error")

	if err := fs.Parse(args, o.check); err != nil {
		return o, err
	}
	return o, nil
}

// check returns an error for the first invalid value, and keeps the URLs.
func (o *options) check(urls []string) error {
	if err := cli.OneOf("protocol", o.protocol, protocols.Harvested); err != nil {
		return err
	}
	switch {
	case !(o.maxDelete >= 0 && o.maxDelete <= 1):
		return fmt.Errorf("-max-delete %v: not a share from 0 to 1", o.maxDelete)
	case !(o.rate >= 0 && o.rate <= math.MaxFloat64):
		return fmt.Errorf("-rate %v: not a number of requests a second", o.rate)
	case o.concurrency < 0:
		return fmt.Errorf("-concurrency %d: not a number of resources, 0 or more", o.concurrency)
	case o.plan && o.audit, o.plan && o.approve, o.audit && o.approve:
		return errors.New("-plan, -audit and -approve: one at a time")
	case (o.dry() || o.approve) && len(urls) == 0:
		return errors.New("-plan, -audit and -approve need a URL")
	case o.dry() && o.exportDir != "":
		return errors.New("-plan and -audit write nothing, so -export can't go with them")
	}
	if err := cli.CheckPage(o.report); err != nil {
		return err
	}
	if o.storeFlag != "" {
		if _, err := cli.ParseStore(o.storeFlag); err != nil {
			return err
		}
	}
	if o.temporary = o.storeFlag == "" && len(urls) == 0; o.storeFlag == "" && !o.temporary {
		o.storeFlag = "sqlite:websync.db"
	}
	for _, raw := range urls {
		t, err := protocols.ParseTarget(o.protocol, raw)
		if err != nil {
			return err
		}
		t.Complete = o.complete
		if !slices.ContainsFunc(o.urls, func(u protocols.Target) bool { return u.URL == t.URL }) {
			o.urls = append(o.urls, t)
		}
	}
	if o.named = o.urls; o.protocol == "eli" {
		o.urls = protocols.Paired(o.urls)
	}
	return nil
}

// dry reports whether nothing is to be written.
func (o *options) dry() bool { return o.plan || o.audit }

// deleteLimit returns Harvester.MaxDelete for the flag. There 0 is the default, which
// applies only above ten records.
func (o *options) deleteLimit() float64 {
	switch o.maxDelete {
	case 0:
		return math.SmallestNonzeroFloat64
	case defaultMaxDelete:
		return 0
	}
	return o.maxDelete
}

const defaultMaxDelete = 0.5
