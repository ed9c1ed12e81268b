package main

import "github.com/websync-go/websync/examples/internal/cli"

const defaultStore = "sqlite:websync.db"

// storeSpec returns the store to use, and what to do when it is closed. The demonstration
// has one of its own.
func (p *program) storeSpec() (_ cli.Store, remove func(), err error) {
	name := p.storeFlag
	if name == "" && len(p.urls) == 0 {
		return cli.TemporaryStore()
	}
	if name == "" {
		name = defaultStore
	}
	s, err := cli.ParseStore(name)
	return s, func() {}, err
}

// lasts reports whether the store is there after the process has ended.
func (p *program) lasts() bool {
	return p.storeFlag != "mem" && (p.storeFlag != "" || len(p.urls) > 0)
}
