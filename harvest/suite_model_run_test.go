package harvest_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/internal/testing/racing"
)

func modelOptions() suiteOptions {
	return suiteOptions{
		Open:      func(testing.TB) checkedCatalog { return newModel(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) checkedCatalog { return newModel(now) },
		Reopen:    func(_ testing.TB, s checkedCatalog) checkedCatalog { return s },
	}
}

func TestModel(t *testing.T) {
	racing.Skip(t)
	runSuite(t, modelOptions())
}
