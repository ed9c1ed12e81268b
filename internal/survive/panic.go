// Package survive keeps work going that a panic or a cancelled context would end: [Panic]
// makes an error of a panic, and [Cancel] makes a context that outlives another one for
// some time, such as to release a claim.
//
// The engine (harvest) calls each Getter and each Source so that their panics become
// errors. These libraries are called by Panic too, because functions that a program may
// call without the engine give them the bytes of strangers, and they have panicked, or
// may:
//
//   - gofeed and goxpp: in anyfeed.Parse, around each piece that they parse
//   - json-gold: in jsonld.Extractor, around each node that it expands
//   - the parser of x/net/html: in rdfa.Extractor, around the parsing of a page
//   - etree, and package patch: in resourcesync, around each patch
//
// Not so the Tokenizer and the character sets of x/net/html, which are small and tested,
// and archive/zip and encoding/xml of the standard library.
package survive

import (
	"fmt"
	"runtime/debug"

	"github.com/websync-go/websync"
)

// Panic calls f. If f panics, it returns a [*websync.PanicError] after the name of what
// panicked. What ends the goroutine or the process, such as a stack that is full, passes.
func Panic(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: %w", name, Caught(v))
		}
	}()
	return f()
}

// Caught returns the error for what recover has returned in the same goroutine. The stack
// is that of the first panic, if v is a [Rethrown].
func Caught(v any) *websync.PanicError {
	if rethrown, ok := v.(*Rethrown); ok {
		return rethrown.PanicError
	}
	return &websync.PanicError{Value: v, Stack: debug.Stack()}
}

// A Rethrown is the value of a panic that goes on in another goroutine. Its text has the
// stack of the first.
type Rethrown struct{ *websync.PanicError }

func (r *Rethrown) Error() string { return fmt.Sprintf("%v\n\n%s", r.Value, r.Stack) }
