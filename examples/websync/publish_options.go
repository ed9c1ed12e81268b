package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"time"

	"github.com/websync-go/websync/examples/internal/cli"
)

//go:embed help/publish.txt
var publishHelp string

// publishOptions are the command line.
type publishOptions struct {
	cli.SiteFlags
	protocol  string
	dir       string
	csv       string
	netrc     string
	storeFlag string
	out       string
	own       []string
	hubs      []string
	rescan    time.Duration
	dumps     string
	repack    time.Duration
	listSize  int
	maxLists  int
	inline    int
}

func (o *publishOptions) line() *cli.Line {
	l := cli.NewLine("publish", publishHelp)
	o.SiteFlags.Declare(l)
	l.StringVar(&o.protocol, "protocol", "sitemap", "")
	l.StringVar(&o.dir, "dir", "", "")
	l.StringVar(&o.csv, "csv", "", "")
	l.StringVar(&o.netrc, "netrc", "", "")
	l.StringVar(&o.storeFlag, "store", "", "")
	l.StringVar(&o.out, "out", "", "")
	l.List(&o.own, "own")
	l.List(&o.hubs, "hub")
	l.DurationVar(&o.rescan, "rescan", 2*time.Second, "")
	l.StringVar(&o.dumps, "dumps", "", "")
	l.DurationVar(&o.repack, "repack", time.Minute, "")
	l.IntVar(&o.listSize, "list-size", 0, "")
	l.IntVar(&o.maxLists, "max-lists", 0, "")
	l.IntVar(&o.inline, "inline", 0, "")
	return l
}

// check returns an error for the first invalid value.
func (o *publishOptions) check(names []string) error {
	err := cli.OneOf("protocol", o.protocol, cli.Published)
	if len(names) > 0 {
		err = cmp.Or(err, fmt.Errorf("unexpected argument %q: use -dir for a directory", names[0]))
	}
	err = cmp.Or(err, o.checkContents(), o.checkLists(), cli.CheckStore(o.storeFlag))
	if err == nil && o.Addr != "" {
		if err := cli.CheckAddr(o.Addr); err != nil {
			return fmt.Errorf("-addr %q: %w", o.Addr, err)
		}
	}
	if err == nil && o.Base != "" {
		base, err := cli.CheckBase(o.Base)
		if err != nil {
			return fmt.Errorf("-base %q: %w", o.Base, err)
		}
		o.Base = base
	}
	return err
}

// stored reports whether what a store holds is published.
func (o *publishOptions) stored() bool { return o.dir == "" && o.csv == "" }

// checkContents checks what is published, and whether it is served or written.
func (o *publishOptions) checkContents() error {
	stored := o.stored()
	return cmp.Or(
		cli.Refuse(o.dir != "" && o.csv != "", "-dir and -csv: one at a time"),
		cli.Refuse(o.csv != "" && o.protocol != "eli", "-csv is a list of acts, for -protocol eli"),
		cli.Refuse(o.netrc != "" && o.csv == "", "-netrc needs -csv: nothing else is fetched"),
		cli.Refuse(stored && o.storeFlag == "", "nothing to publish: use -dir, -csv or -store"),
		cli.Refuse(stored && o.storeFlag == "mem", "-store mem is empty: there is nothing to publish"),
		cli.Refuse(o.out != "" && o.Addr != "", "-addr serves and -out writes files: one at a time"),
		cli.Refuse(stored && o.protocol == "eli" && len(o.own) == 0,
			"-protocol eli lists your own work only: name its sources with -own"),
		cli.Refuse(!stored && len(o.own) > 0,
			"-own names sources of a -store; the files below -dir and the acts of -csv are your own already"),
	)
}

// checkLists checks how it is listed.
func (o *publishOptions) checkLists() error {
	synced := o.protocol == "resourcesync"
	return cmp.Or(
		cli.Refuse(len(o.hubs) > 0 && (!synced || o.out != ""),
			"-hub is for -protocol resourcesync, and not for -out: a file notifies nobody"),
		cli.Refuse(o.rescan <= 0, "-rescan %v: not a time above 0", o.rescan),
		cli.Refuse(o.repack <= 0, "-repack %v: not a time above 0", o.repack),
		cli.Refuse(o.listSize < 0 || o.maxLists < 0,
			"-list-size %d, -max-lists %d: neither may be below 0", o.listSize, o.maxLists),
		cli.Refuse(o.inline < 0, "-inline %d: not a number of bytes, 0 or more", o.inline),
		cli.Refuse(o.inline > 0 && o.protocol != "atom", "-inline is for -protocol atom"),
		cli.Refuse(!synced && (o.dumps != "" || o.listSize != 0 || o.maxLists != 0),
			"-dumps, -list-size and -max-lists are for -protocol resourcesync; %s has no dumps and no Change Lists", o.protocol),
	)
}
