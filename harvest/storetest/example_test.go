package storetest_test

import (
	"fmt"
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

// All that the author of a Store writes.
func Example() {
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		storetest.Run(t, storetest.Options{
			Open: func(t testing.TB) harvest.Store { return memstore.New() },
		})
	}
}

func ExampleCases() {
	for _, c := range storetest.Cases() {
		if c.Topic == "state" {
			fmt.Printf("%s: %s\n", c, c.Rule)
		}
	}
	// Output:
	// state/missing: A key without a value is nil.
	// state/swap: Swap creates, replaces and deletes; with another old value it is ErrConflict and changes nothing.
	// state/empty: An empty value and no value are the same.
	// state/keys: Keys are any bytes, and each has its own value.
	// state/one-winner: Of several Swaps at once from the same old value one succeeds.
	// state/batch: A Batch sets and deletes values whatever they are, together with the rest or not at all.
	// state/arguments: Neither the arguments nor the result are shared with the Store.
}
