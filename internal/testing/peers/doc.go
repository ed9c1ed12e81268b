// Package peers compares package xmlscan with other readers of XML, on the same
// documents. It is a module of its own, so that nobody who imports websync gets its
// dependencies:
//
//	go test -C internal/testing/peers -run '^$' -bench . -cpu 1
//
// libxml2 takes part if a C compiler and its headers are installed.
package peers
