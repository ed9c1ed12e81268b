// Package memstore is a [harvest.Store] in memory, for tests, for benchmarks, and for
// programs that need no file. Its content is lost when the process ends.
//
//	catalog := harvest.NewCatalog(memstore.New())
//
// It is an ordered map. Readers never block: they see the state after the last Update.
package memstore
