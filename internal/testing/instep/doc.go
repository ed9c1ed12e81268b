// Package instep holds the tests of one promise: a run that says "in step" is right about
// the publisher, and nothing is stale or deleted on doubt. It has tests only.
package instep
