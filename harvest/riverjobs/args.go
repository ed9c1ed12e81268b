package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Queue is the name of the queue of all jobs.
const Queue = "websync"

// Args are a job: the source that is to be brought in step.
type Args struct {
	// Protocol names a function of the Registry.
	Protocol string `json:"protocol"`
	// URL is where the source begins.
	URL string `json:"url"`
	// Key is that of the Source. [Registry.Args] sets it.
	Key string `json:"key" river:"unique"`
	// Options are settings of the Source; the function of the Registry reads them.
	Options map[string]string `json:"options,omitempty"`
	// Slice, if it is not zero, replaces that of the Worker.
	Slice time.Duration `json:"slice,omitempty"`
}

// Kind implements [river.JobArgs].
func (Args) Kind() string { return "websync_harvest" }

// InsertOpts implements [river.JobArgsWithInsertOpts]: a source has one job until that
// has ended.
func (Args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: Queue,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
			rivertype.JobStateScheduled,
		}},
	}
}

// A Registry makes the Sources of jobs, by protocol. All machines have the same. Its
// functions are called once a slice, do no I/O, and return equal Sources for equal Args.
type Registry map[string]func(ctx context.Context, args Args) (harvest.Source, error)

// Args checks args and returns them with the Key of their Source.
func (r Registry) Args(ctx context.Context, args Args) (Args, error) {
	if args.Slice < 0 {
		return args, fmt.Errorf("riverjobs: Args.Slice %v must be at least 0", args.Slice)
	}
	src, err := r.source(ctx, args)
	if err != nil {
		return args, err
	}
	args.Key = src.Key()
	return args, nil
}

// source makes the Source of args.
func (r Registry) source(ctx context.Context, args Args) (harvest.Source, error) {
	make, ok := r[args.Protocol]
	if !ok {
		return nil, fmt.Errorf("riverjobs: Args.Protocol %q must be one of the Registry: %s",
			args.Protocol, strings.Join(slices.Sorted(maps.Keys(r)), ", "))
	}
	src, err := make(ctx, args)
	if err == nil && src == nil {
		err = errors.New("its function returned neither a Source nor an error")
	}
	if err == nil {
		if c, ok := src.(interface{ Check() error }); ok {
			err = c.Check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("riverjobs: %s %s: %w", args.Protocol, websync.RedactURL(args.URL), err)
	}
	return src, nil
}
