// Package suite is the frame of the suites that check a Store, a Source or a Catalog:
// cases, what a check works with, and broken implementations which prove that each case
// can fail. It uses the standard library only.
package suite
