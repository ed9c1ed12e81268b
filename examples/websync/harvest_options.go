package main

import (
	"cmp"
	_ "embed"
	"math"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
)

//go:embed help/harvest.txt
var harvestHelp string

// harvestOptions are the command line.
type harvestOptions struct {
	cli.SourceFlags
	storeFlag   string // empty: a temporary one, for the demonstration
	exportDir   string
	report      string // file for the page; empty: none
	json        bool
	maxDelete   float64
	sample      int
	concurrency int
	budget      harvest.Budget

	plan, audit, approve bool // at most one
	full, recheck, wait  bool
	acceptSkipped        bool

	named   []cli.Target
	targets []cli.Target // likewise, but those of one source are one
}

func (o *harvestOptions) line() *cli.Line {
	l := cli.NewLine("harvest", harvestHelp)
	o.SourceFlags.Declare(l)
	l.StringVar(&o.storeFlag, "store", "", "")
	l.StringVar(&o.exportDir, "export", "", "")
	l.StringVar(&o.report, "report", "", "")
	l.BoolVar(&o.json, "json", false, "")
	l.Float64Var(&o.maxDelete, "max-delete", defaultMaxDelete, "")
	l.IntVar(&o.sample, "sample", 0, "")
	l.IntVar(&o.concurrency, "concurrency", 0, "")
	l.Func("budget", "", func(text string) (err error) {
		o.budget, err = cli.ParseBudget(text)
		return err
	})
	l.BoolVar(&o.plan, "plan", false, "")
	l.BoolVar(&o.audit, "audit", false, "")
	l.BoolVar(&o.approve, "approve", false, "")
	l.BoolVar(&o.full, "full", false, "")
	l.BoolVar(&o.recheck, "recheck", false, "")
	l.BoolVar(&o.wait, "wait", false, "")
	l.BoolVar(&o.acceptSkipped, "accept-skipped", false, "")
	return l
}

// check returns an error for the first invalid value, and keeps what is named.
func (o *harvestOptions) check(names []string) error {
	err := cmp.Or(
		cli.OneOf("protocol", o.Protocol, cli.Harvested),
		cli.Refuse(!(o.maxDelete >= 0 && o.maxDelete <= 1), "-max-delete %v: not a share from 0 to 1", o.maxDelete),
		o.SourceFlags.Check(),
		cli.Refuse(o.concurrency < 0, "-concurrency %d: not a number of resources, 0 or more", o.concurrency),
		cli.Refuse(o.dry() && o.approve || o.plan && o.audit, "-plan, -audit and -approve: one at a time"),
		cli.Refuse((o.dry() || o.approve) && len(names) == 0, "-plan, -audit and -approve need a URL"),
		cli.Refuse(o.dry() && o.exportDir != "", "-plan and -audit write nothing, so -export can't go with them"),
		cli.CheckPage(o.report),
		cli.CheckStore(o.storeFlag),
	)
	if err != nil {
		return err
	}
	if o.storeFlag == "" && len(names) > 0 {
		o.storeFlag = "sqlite:websync.db"
	}
	o.named, err = o.Targets(names)
	if o.targets = o.named; o.Protocol == "eli" {
		o.targets = cli.Paired(o.named)
	}
	return err
}

// dry reports whether nothing is to be written.
func (o *harvestOptions) dry() bool { return o.plan || o.audit }

// deleteLimit returns Harvester.MaxDelete for the flag. There 0 is the default, which
// applies only above ten records.
func (o *harvestOptions) deleteLimit() float64 {
	switch o.maxDelete {
	case 0:
		return math.SmallestNonzeroFloat64
	case defaultMaxDelete:
		return 0
	}
	return o.maxDelete
}

const defaultMaxDelete = 0.5
