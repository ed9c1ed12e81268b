// Package storetest checks a [harvest.Store] against its contract. It is for whoever
// writes one. It uses the standard library only, so a Store's module takes on nothing by
// importing it in a test.
//
// # Use
//
// A test of the Store calls [Run] with a function that opens a new, empty one. Each rule
// of the contract is a subtest topic/name that logs the rule in one sentence, so
//
//	go test -run TestStore/update -v
//
// lists the rules about Update and View and which of them the Store keeps.
//
// # What else it can check
//
// Two more functions make the rules stricter, and open more of them:
//
//   - Options.Reopen closes a Store and opens it again: what survives a process.
//   - Options.Beside opens a Store once more while it is open: what several processes see
//     of each other.
//
// The optional interfaces are checked of a Store that has them.
//
// # How it checks a driver
//
// Most rules make random calls of View and Update, from one goroutine or several, and
// compare all that they return with a map. Functions fail, panic, and have contexts that
// end. The calls are the same in each run, but several goroutines take turns as they
// like. What a Reader returns is compared again when its function returns. Where the
// contract leaves a choice, any answer passes: a driver may call functions again, and a
// Scan in a Tx may see what the Tx has written, or not.
//
// The last rules harvest into a Store on the Store, tidy it, and run package catalogtest.
//
// A call that does not return counts as blocked after Options.Patience.
//
// # What it does not check
//
// That an Update outlives a power cut or kill -9, how fast the driver is, and that memory
// stays flat.
package storetest
