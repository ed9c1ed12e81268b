// Package document holds what readers, validators and writers of all XML formats have in
// common. It opens documents: it decompresses them, keeps to a limit, refuses what is not
// of the expected kind, and reads the rest as XML, with the name of the document and the
// position in every error. It passes on findings. And it writes dates and bytes.
package document
