// Package histories holds the tests that harvest random histories of publishers and of
// the caches before them. It has tests only.
package histories
