package storetest_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
)

func modelOptions() storetest.Options {
	return storetest.Options{
		Open:      func(testing.TB) harvest.Store { return newModel(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) harvest.Store { return newModel(now) },
		Reopen:    func(_ testing.TB, s harvest.Store) harvest.Store { return s },
	}
}

func TestModel(t *testing.T) { storetest.Run(t, modelOptions()) }
