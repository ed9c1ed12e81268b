// Package endtoend holds the tests of the whole: documents damaged in transit, servers
// that fail in every way at every request, and harvests that lose nothing and delete
// nothing that is still there. It has tests only.
package endtoend
