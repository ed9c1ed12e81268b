//go:build !unix

package sqlitestore_test

import "time"

func cpu() time.Duration { return 0 }
