// Package document opens what the protocols call documents. It undoes compression, keeps
// to a limit, tells what is no document of the kind that is asked for, and reads the rest
// as XML, with the name of the document and a place in every error.
package document
