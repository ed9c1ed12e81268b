package websync

import "fmt"

// A PanicError is a panic that was caught: of a Source, or of a library that read a
// document. Its text does not have the stack.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine that panicked, as runtime/debug.Stack returns it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %.1000s", fmt.Sprint(e.Value)) }

// Unwrap returns the value of the panic if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
