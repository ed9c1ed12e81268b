package chaos

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/websync-go/websync/internal/testing/racing"
)

var (
	kills = flag.Int("kills", racing.Some(5), "how many processes are killed for each protocol and Store")
	seed  = flag.Uint64("seed", 0, "what all choices are drawn from; 0: another each time")
)

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := new(reader).main(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	code := m.Run()
	if testing.Verbose() {
		fmt.Printf("-seed %d\n%s", *seed, &numbers)
	}
	os.Exit(code)
}

// A tally counts what the suites did, by a name.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

var numbers tally

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	if n > 0 {
		c.n[what] += n
	}
}

// String returns a line for each name.
func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c.n)) {
		fmt.Fprintf(&b, "%s: %d\n", what, c.n[what])
	}
	return b.String()
}
