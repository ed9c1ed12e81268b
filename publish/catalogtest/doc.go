// Package catalogtest checks a [websync.Catalog] against the contract that package
// websync gives. It is for Catalogs other than the Stores of this module. It uses the
// standard library only.
//
//	func TestCatalog(t *testing.T) {
//		catalogtest.Run(t, catalogtest.Options{
//			Open:   func(t testing.TB) websync.Catalog { return filled(t) },
//			Change: func(c websync.Catalog, n int) error { return c.(*catalog).put(n) },
//		})
//	}
//
// Open fills the Catalog with at least two sources, resources that were created, changed
// and deleted, and bodies. The more it holds, the more is checked. A case that finds
// nothing to check is skipped and logs what is missing.
//
// Each rule of the contract is a subtest topic/name that logs the rule in one sentence.
// Package storetest runs them for a Catalog on the Store that it checks.
//
// Speed and memory are not checked.
package catalogtest
