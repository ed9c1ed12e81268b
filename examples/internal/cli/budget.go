package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
)

// ParseBudget reads a budget such as "time=1h30m,requests=5000,bytes=2GB".
func ParseBudget(text string) (b harvest.Budget, err error) {
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "time":
			b.Time, err = time.ParseDuration(value)
		case "requests":
			b.Requests, err = strconv.ParseInt(value, 10, 64)
		case "bytes":
			b.Bytes, err = parseBytes(value)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || min(b.Time, time.Duration(b.Requests), time.Duration(b.Bytes)) < 0 || b == (harvest.Budget{}) {
			return b, fmt.Errorf(`-budget %q: not of the form time=1h30m,requests=5000,bytes=2GB, or a part of that`, text)
		}
	}
	return b, nil
}

// parseBytes reads a number of bytes, perhaps with a unit: kB, MB, GB or TB.
func parseBytes(text string) (int64, error) {
	unit := 1.0
	for i, name := range []string{"kB", "MB", "GB", "TB"} {
		if number, ok := strings.CutSuffix(text, name); ok {
			text, unit = number, math.Pow10(3*(i+1))
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if n *= unit; err == nil && !(n >= 0 && n < math.MaxInt64) {
		err = strconv.ErrRange
	}
	return int64(n), err
}
