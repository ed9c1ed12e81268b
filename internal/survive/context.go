package survive

import (
	"context"
	"time"
)

// Cancel returns a context with the values of ctx that ends some time after ctx, or when
// cancel is called. All calls that get the same one have that time together.
func Cancel(ctx context.Context, by time.Duration) (_ context.Context, cancel context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return longer, func() {
		stop()
		end()
	}
}
