// Package catalogsuite checks a [harvest.Catalog] on a driver: what package harvest says
// of the Catalog's methods. Each rule is a subtest topic/name that logs the rule in one
// sentence. Two options open more of the cases: Reopen, what survives a process, and
// OpenClock, when claims expire and what happens when the clock steps back.
//
// Failures half-way through a Commit are caused from outside: a body that is missing in
// the last Put, an id that is not allowed in the last Task, a conflict, a context that
// ends after a number of calls. The case then checks that the failed Commit has left
// nothing. Where the contract leaves a choice, any answer passes. A call that does not
// return counts as blocked after Options.Patience.
//
// That the suite finds faults is checked with Stores that are broken in one way each.
package catalogsuite
