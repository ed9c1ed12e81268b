// Package hostile holds the tests that give every door of the module what an attacker
// would: documents, answers, addresses, names and files. It has tests only.
package hostile
