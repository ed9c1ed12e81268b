package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/examples/internal/protocols"
)

const usage = "usage: publish [flags] (-dir DIR | -store STORE)"

const aboutText = `Publish lets others stay in step with a directory of files, or with the contents of a store. It serves the files or bodies
over HTTP, or writes them as static files, with the documents of a protocol that list them. It prints the URL at which a
reader begins.
`

const afterText = `With -dir, each file has the URL of its path below -base. Hidden files and symbolic links are left out. Changes to the files
appear as changes: the directory is scanned again every -rescan, and also before a list is served if a scan is fast enough.
With -dir and -store the store holds the catalogue of the directory, so that a restarted program need not read the files
again; with -dir alone the catalogue is in a temporary file.

With -store alone, all sources in the store are published as one set; no id may be in two of them. What another program
harvests into the store appears at once. With -out it appears in the next export: all files are of the moment when the export
begins. An export that fails leaves the lists and files of the one before. With -dumps or -hub the program writes to the store,
otherwise it only reads: of PostgreSQL, a role that may only read or a standby is enough.

Files below -dir, and the resources of sources that -own names, keep their ids if these are URLs under -base; but not if
the URL has a query or unusual escapes, names a hidden file (except below /.well-known/), or is the URL of one of the lists.
Everything else has a URL below r/ under -base: the ids of harvested resources come from other sites, which must not choose
what this site serves. Never name a source with -own that you do not control. When served, pages run no scripts, because a
script could act in the name of this site. A server of the files that -out writes should send "Content-Security-Policy:
sandbox" and "X-Content-Type-Options: nosniff" with everything below r/. If -dir has a robots.txt, the Sitemap line of the
lists is added to it.

With -protocol resourcesync, robots.txt names the Resource List. When served, each file has a Link header that names the
Capability List. With -dumps, readers can also get all files, or those that have changed, in ZIP packages. These are made
before the first answer or the export and then, if something has changed, every -repack. They are kept in a directory of
their own, with a record of them in the store: with -dir, use -store so that a restarted program goes on with them. Dumps
need the content of every resource; without it, there are none, and a message says why.

With -protocol eli, the pages below eli/ under -base are listed as legislation, in eli/sitemap.xml and in the update feed
eli/eli-update-feed.atom, which the sitemap names. Only the HTML pages of your own work can be listed, at their own URLs: a
message says why something else is left out. With -store alone, -own is required; pages that the store lacks must be served
by another server of the same host.

Exit status: 0 done, or stopped by a signal; 1 with -out, some documents have no file (all others are written), or some
files could not be read: the catalogue keeps their last known state, and without -store an export deletes nothing that
earlier ones have written; 2 wrong usage, or the directory, the store or the address could not be used.
`

// options are the command line.
type options struct {
	protocol string
	addr     string
	out      string
	base     string
	rescan   time.Duration
	dir      string
	store    string
	own      []string
	hubs     []string
	dumps    string
	repack   time.Duration
	listSize int
	maxLists int
}

func parseOptions(args []string) (options, error) {
	var o options
	l := cli.New("publish", usage, aboutText, afterText)
	l.StringVar(&o.protocol, "protocol", "sitemap", "`protocol` of the documents: sitemap, atom, atompmh, resourcesync, eli or rinfo")
	l.StringVar(&o.addr, "addr", "", "`address` to serve at (default "+cli.DefaultAddr+"; port 0: any that is free)")
	l.StringVar(&o.out, "out", "", "write static files below `DIR` instead")
	l.StringVar(&o.base, "base", "", "`URL` that readers find the documents under, with -out that of the server they are for (default http:// and the address)")
	l.DurationVar(&o.rescan, "rescan", 2*time.Second, "with -dir, `how long` to wait before it is scanned again")
	l.StringVar(&o.dir, "dir", "", "publish the files below `DIR`")
	l.StringVar(&o.store, "store", "", "`what` to publish, or with -dir where to keep its catalogue: mem, sqlite:FILE, postgres:DSN")
	l.Func("own", "with -store alone, a `SOURCE` in it that is your own work: its resources keep their URLs; may be given several times", func(source string) error {
		o.own = append(o.own, source)
		return nil
	})
	l.Func("hub", "with -protocol resourcesync, the `URL` of a WebSub hub that is posted what has changed; may be given several times", func(hub string) error {
		o.hubs = append(o.hubs, hub)
		return nil
	})
	l.StringVar(&o.dumps, "dumps", "", "with -protocol resourcesync, also publish dumps, whose packages are kept in `DIR`")
	l.DurationVar(&o.repack, "repack", time.Minute, "with -dumps, `how long` to wait before packages of what has changed are made again")
	l.IntVar(&o.listSize, "list-size", 0, "with -protocol resourcesync, after how many changes a Change List is closed (default 10000)")
	l.IntVar(&o.maxLists, "max-lists", 0, "with -protocol resourcesync, how many closed Change Lists, and packages of changes, are listed: the latest (default all)")
	if err := l.Parse(args, o.check); err != nil {
		return o, err
	}
	return o, nil
}

// check returns an error for the first invalid value.
func (o *options) check(names []string) error {
	if err := cli.OneOf("protocol", o.protocol, protocols.Published); err != nil {
		return err
	}
	switch {
	case len(names) > 0:
		return fmt.Errorf("unexpected argument %q: use -dir for a directory", names[0])
	case o.dir == "" && o.store == "":
		return errors.New("nothing to publish: use -dir or -store")
	case o.dir == "" && o.store == "mem":
		return errors.New("-store mem is empty: there is nothing to publish")
	case o.out != "" && o.addr != "":
		return errors.New("-addr serves and -out writes files: one at a time")
	case o.protocol == "eli" && o.dir == "" && len(o.own) == 0:
		return errors.New("-protocol eli lists your own work only: name its sources with -own")
	case o.dir != "" && len(o.own) > 0:
		return errors.New("-own names sources of a -store; the files below -dir are your own already")
	case len(o.hubs) > 0 && (o.protocol != "resourcesync" || o.out != ""):
		return errors.New("-hub is for -protocol resourcesync, and not for -out: a file notifies nobody")
	case o.rescan <= 0:
		return fmt.Errorf("-rescan %v: not a time above 0", o.rescan)
	case o.repack <= 0:
		return fmt.Errorf("-repack %v: not a time above 0", o.repack)
	case o.listSize < 0 || o.maxLists < 0:
		return fmt.Errorf("-list-size %d, -max-lists %d: neither may be below 0", o.listSize, o.maxLists)
	case o.protocol != "resourcesync" && (o.dumps != "" || o.listSize != 0 || o.maxLists != 0):
		return fmt.Errorf("-dumps, -list-size and -max-lists are for -protocol resourcesync; %s has no dumps and no Change Lists", o.protocol)
	}
	if o.store != "" {
		if _, err := cli.ParseStore(o.store); err != nil {
			return err
		}
	}
	if o.addr != "" {
		if err := cli.CheckAddr(o.addr); err != nil {
			return fmt.Errorf("-addr %q: %w", o.addr, err)
		}
	}
	if o.base != "" {
		base, err := cli.CheckBase(o.base)
		if err != nil {
			return fmt.Errorf("-base %q: %w", o.base, err)
		}
		o.base = base
	}
	return nil
}
