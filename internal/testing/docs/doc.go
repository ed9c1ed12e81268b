// Package docs holds the Go code of the pages in the directory docs, and runs it. Each
// page shows the file of its name, which the tests write into the page. It has tests
// only.
package docs
