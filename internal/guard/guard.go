// Package guard makes errors of panics.
//
// The engine has a guard around each Getter and each Source (harvest). These libraries
// have one of their own, because functions that a program may call without the engine
// give them the bytes of strangers, and they have panicked, or may:
//
//   - gofeed and goxpp: in anyfeed.Parse, around each piece that they parse
//   - json-gold: in jsonld.Extractor, around each node that it expands
//   - the parser of x/net/html: in rdfa.Extractor, around the parsing of a page
//   - etree, and jsonpatch: in resourcesync, around each patch
//
// Not so the Tokenizer and the character sets of x/net/html, which are small and tested,
// and archive/zip and encoding/xml of the standard library.
package guard

import (
	"fmt"
	"runtime/debug"

	"github.com/websync-go/websync"
)

// Call calls f. If f panics, it returns a [*websync.PanicError] after the name of what
// panicked. What ends the goroutine or the process, such as a stack that is full, passes.
func Call(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: %w", name, Caught(v))
		}
	}()
	return f()
}

// Caught returns the error for what recover has returned in the same goroutine. The stack
// is that of the first panic, if v is a [Again].
func Caught(v any) *websync.PanicError {
	if again, ok := v.(*Again); ok {
		return again.PanicError
	}
	return &websync.PanicError{Value: v, Stack: debug.Stack()}
}

// An Again is the value of a panic that goes on in another goroutine. Its text has the
// stack of the first.
type Again struct{ *websync.PanicError }

func (a *Again) Error() string { return fmt.Sprintf("%v\n\n%s", a.Value, a.Stack) }
