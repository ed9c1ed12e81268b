// Package storetest checks a [harvest.Store] against the contract that package harvest
// gives. It is for whoever writes one. It uses the standard library only, so a Store's
// module takes on nothing by importing it in a test.
//
// # Use
//
// A test of the Store calls [Run] with a function that opens a new, empty one. Each rule
// of the contract is a subtest topic/name that logs the rule in one sentence, so
//
//	go test -run TestConformance/claim -v
//
// lists the rules about claims and which of them the Store keeps.
//
// # What else it can check
//
// Two more functions open more of the cases; without them these are skipped:
//
//   - Options.Reopen closes a Store and opens it again: what survives a process.
//   - Options.OpenClock opens a Store that reads a given clock: when claims expire, what
//     happens when the clock steps back.
//
// Compact, Drop and Vacuum are checked if the Store is a [harvest.Maintainer]. The cases
// of package publish/catalogtest are among those of this package.
//
// # How it checks a Store
//
// The cases use only the methods of a Store. Failures half-way through a Commit are
// caused from outside: a body that is missing in the last Put, an id that is not allowed
// in the last Task, a conflict, a context that ends after a number of calls. The case
// then checks that the failed Commit has left nothing. Where the contract leaves a
// choice, any answer passes.
//
// A call that does not return counts as blocked after Options.Patience.
//
// # What it does not check
//
// That a Commit outlives a power cut or kill -9, how fast the Store is, and that memory
// stays flat.
package storetest
