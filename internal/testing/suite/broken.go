package suite

import (
	"strings"
	"testing"

	"github.com/websync-go/websync/internal/testing/racing"
)

// A Broken is an implementation with one fault, and the cases that are there to catch it.
type Broken[O any] struct {
	Name    string
	Caught  string // by these cases, separated by spaces
	Options func() O
}

// CatchAll checks that the cases named in Caught catch each broken implementation,
// without a panic, and that each case catches one. If matrix is true, it logs all cases
// that catch each.
func CatchAll[O any](t *testing.T, cases []Case[O], all []Broken[O], matrix bool) {
	byName := map[string]Case[O]{}
	for _, c := range cases {
		byName[c.String()] = c
	}
	catches := map[string]bool{}
	for i, b := range all {
		t.Run(b.Name, func(t *testing.T) {
			for name := range strings.FieldsSeq(b.Caught) {
				catches[name] = true
				c, ok := byName[name]
				if !ok {
					t.Fatalf("there is no case %s", name)
				}
				if !racing.Few() || i%5 == 0 {
					b.mustFail(t, c)
				}
			}
			if matrix {
				b.logMatrix(t, cases)
			}
		})
	}
	for _, c := range cases {
		if !catches[c.String()] {
			t.Errorf("%s catches nothing that is broken", c)
		}
	}
}

func (b Broken[O]) mustFail(t *testing.T, c Case[O]) {
	t.Helper()
	r := Record(t.Context(), c, b.Options())
	if !r.Failed() {
		t.Errorf("%s does not catch it:\n%s", c, r)
	}
	if r.Panicked() {
		t.Errorf("%s panics:\n%s", c, r)
	}
}

func (b Broken[O]) logMatrix(t *testing.T, cases []Case[O]) {
	var caught []string
	for _, c := range cases {
		r := Record(t.Context(), c, b.Options())
		if r.Panicked() {
			t.Logf("%s panics:\n%s", c, r)
		}
		if r.Failed() {
			caught = append(caught, c.String())
		}
	}
	t.Logf("%d: %s", len(caught), strings.Join(caught, " "))
}

// Passes checks that o passes every case and that every case has something to check, so
// that failures with broken implementations are not due to the frame.
func Passes[O any](t *testing.T, cases []Case[O], o O) {
	t.Helper()
	for _, c := range cases {
		if r := Record(t.Context(), c, o); r.Failed() || r.Skipped() {
			t.Errorf("%s:\n%s", c, r)
		}
	}
}
