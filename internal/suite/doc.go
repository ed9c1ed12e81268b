// Package suite is the frame of the suites that check anybody's Store, Source or Catalog:
// cases, what a check works with, and how a suite shows by broken implementations that
// each of its cases can fail. It uses the standard library only.
package suite
