// Package endtoend holds the tests of the whole: documents that were damaged on their
// way, servers that fail in every way at every request, and harvests that have to come
// through it with nothing lost and nothing deleted that is still there. It has no code
// but its tests.
package endtoend
