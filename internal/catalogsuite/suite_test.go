package catalogsuite_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/internal/catalogsuite"
)

func modelOptions() catalogsuite.Options {
	return catalogsuite.Options{
		Open:      func(testing.TB) catalogsuite.Store { return newModel(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) catalogsuite.Store { return newModel(now) },
		Reopen:    func(_ testing.TB, s catalogsuite.Store) catalogsuite.Store { return s },
	}
}

func TestModel(t *testing.T) { catalogsuite.Run(t, modelOptions()) }
