// Package document holds what readers, validators and writers of all XML formats have in
// common. It opens a document: it decompresses it, limits its size, checks that it is of
// the expected kind, and reads it as XML. Every error has the name of the document and
// the position. A Buffer holds the values of what is read. The package also has the rules
// that findings name, passes findings on, and writes dates and bytes.
package document
