// Package riverjobs spreads sources over many machines with River, a queue of jobs in
// PostgreSQL. A job brings one source in step with its publisher; whichever machine is
// free takes it, and another goes on with it if that machine dies.
//
// # Working
//
// The state is in a Store that all machines share, such as one of package pgstore. Every
// machine makes the same [Worker], adds it to the configuration of a River client, and
// starts the client:
//
//	worker := &riverjobs.Worker{
//		Harvester: &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)},
//		Registry: riverjobs.Registry{
//			"sitemap": func(_ context.Context, a riverjobs.Args) (harvest.Source, error) {
//				return &sitemap.Source{URL: a.URL}, nil
//			},
//		},
//	}
//	config := &river.Config{}
//	err := worker.Configure(config)
//	…
//	client, err := river.NewClient(riverpgxv5.New(pool), config)
//	err = client.Start(ctx)
//
// # Inserting
//
// [Registry.Args] makes the Args of a source. They are unique by their Key: while a
// source has a job that has not ended, River inserts no other for it. [Periodic] makes
// jobs that come back at an interval, each source at its own moment in it.
//
//	args := riverjobs.Args{Protocol: "sitemap", URL: "https://example.org/sitemap.xml"}
//	args, err := worker.Registry.Args(ctx, args)
//	…
//	config.PeriodicJobs, err = riverjobs.Periodic(time.Hour, args)   // before NewClient
//	_, err = client.Insert(ctx, args, nil)                           // now
//
// River keeps Args as JSON in its table: they are no place for passwords.
//
// # Slices
//
// A job runs for a slice of time, 10 minutes by default. A source that needs longer goes
// on in the next slice, perhaps on another machine. What was committed stays, and a
// Source goes on from its checkpoint. A listing that has no checkpoint within itself
// begins anew in each slice, and must fit into one: set Args.Slice for such a source.
//
// If a machine dies, River finds out after the slice, within about 45 seconds, and gives
// its jobs to others.
//
// # Hosts
//
// At most [Worker].PerHost jobs of one host run at a time, over all machines: each holds
// a slot, a claim "host/…" in the Store. A job without a slot waits in the queue. If a
// job loses its slot, because the Store can't be reached for example, it ends, and waits
// for another. The interval between the requests to a host is kept by package fetch,
// whose clients share their gates through the Store.
//
// # Failures
//
// A run that ends in an error is repeated after 1, 2, 4 … minutes, up to an hour, less a
// random part of up to a half. After as many attempts as River allows (25) the job is
// discarded; the next periodic one begins again. Waiting is no failure: while another
// holds the source, or its host is not to be asked yet, the job goes back to the queue.
// Tasks that a run leaves for later are carried out by the next job of the source.
package riverjobs
