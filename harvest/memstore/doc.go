// Package memstore is a harvest.Store in memory, for tests, for benchmarks, and for
// programs that want no file. What it holds is lost with the process.
//
//	store := memstore.New()
//
// It is package kvstore on an ordered map. Readers never wait: they see the state that
// the last commit left.
package memstore
