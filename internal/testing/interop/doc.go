// Package interop proves with the programs and libraries of others that what is published
// is read rightly, and that what they write is harvested rightly. It has tests only.
//
// The tests install what they run, in versions that they name, with apt-get, npm and the
// go command. They run if WEBSYNC_INTEROP names the folder for that, which is kept:
//
//	WEBSYNC_INTEROP=/tmp/interop go test ./internal/testing/interop
//
// The page docs/clients.md is what they find; the flag -update writes it again.
package interop
