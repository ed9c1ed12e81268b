package fetch

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// list gets a URL for the source at http://stranger.example/.
func list(t testing.TB, c *Client, url string) {
	t.Helper()
	resp, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Root: "http://stranger.example/"})
	require.NoError(t, err)
	_, err = read(resp)
	require.NoError(t, err)
}

// A source that lists more hosts than a State keeps makes it forget hosts of its own: not
// the Retry-After of another source, nor what that source lists besides.
func TestManyHostsAreOfOneSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		w.answers["http://example.org/"] = reply(503, "", "Retry-After: 3600")
		w.answers["http://cdn.example/"] = reply(503, "", "Retry-After: 3600")
		own := func(c *Client, url string) error {
			_, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Root: "http://example.org/"})
			return err
		}
		c := w.restart(s)
		c.Rate, c.Attempts, c.IgnoreRobots = -1, 1, true
		for i := range keptHosts + 10 {
			if i == 10 { // what both list is of the one that lists less
				require.Error(t, own(c, "http://cdn.example/"))
				require.Error(t, own(c, "http://example.org/"))
			}
			url := fmt.Sprintf("http://x%d.example/", i)
			w.answers[url] = reply(200, "x")
			list(t, c, url)
		}
		s.commit(c)
		assert.LessOrEqual(t, len(s.m), keptHosts+1)

		c = w.restart(s)
		c.MaxWait, c.IgnoreRobots = time.Minute, true
		for _, url := range []string{"http://cdn.example/", "http://example.org/"} {
			require.ErrorIs(t, own(c, url), harvest.ErrNotYet)
			assert.Len(t, w.times(url), 1)
		}
	})
}

// The same for the memory that a Client without a State has for hosts, which a few long
// robots.txt fill.
func TestLongRobotsAreOfOneSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = reply(503, "", "Retry-After: 3600")
		c := w.obedient()
		c.Attempts = 1
		_, err := get(t.Context(), c, "http://example.org/")
		require.ErrorIs(t, err, harvest.ErrTemporary)
		long := reply(200, "User-agent: *\n"+strings.Repeat("Disallow: /x\n", 36<<10))
		for i := range 40 {
			host := fmt.Sprintf("http://x%d.example/", i)
			w.answers[host+"robots.txt"], w.answers[host] = long, reply(200, "x")
			time.Sleep(time.Second)
			list(t, c, host)
		}
		assert.LessOrEqual(t, c.hosts.size, hostBudget)
		c.MaxWait = time.Minute
		_, err = get(t.Context(), c, "http://example.org/")
		require.ErrorIs(t, err, harvest.ErrNotYet)
		assert.Len(t, w.times("http://example.org/"), 1)
		assert.Len(t, w.times(robotsURL), 1)
	})
}

// A host that a State has forgotten and that is asked again is in its list again, so that
// it is forgotten again: a State does not grow.
func TestStateForgetsWhatIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		c := w.restart(s)
		c.IgnoreRobots = true
		for round := range 2 {
			for i := range keptHosts + keptHosts/4 {
				url := fmt.Sprintf("http://x%d.example/", i)
				w.answers[url] = reply(200, "x")
				list(t, c, url)
				if i%1000 == 0 {
					s.commit(c)
				}
			}
			s.commit(c)
			assert.LessOrEqual(t, len(s.m), keptHosts+1, "round %d", round)
			time.Sleep(time.Minute)
		}
	})
}

// A host that is forgotten and asked again before the next Commit keeps what the answer
// asks for.
func TestStateOfHostAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		c := w.restart(s)
		c.Rate, c.Attempts, c.IgnoreRobots = -1, 1, true
		w.answers["http://a.example/"] = then(reply(200, "x"), reply(503, "", "Retry-After: 3600"))
		list(t, c, "http://a.example/")
		for i := range keptHosts {
			url := fmt.Sprintf("http://x%d.example/", i)
			w.answers[url] = reply(200, "x")
			list(t, c, url)
		}
		require.Contains(t, c.saved.values, hostKey("http://a.example"))
		_, err := get(t.Context(), c, "http://a.example/")
		require.ErrorIs(t, err, harvest.ErrTemporary)
		s.commit(c)
		assert.Contains(t, s.m, hostKey("http://a.example"))
	})
}

// The list of hosts that earlier versions wrote has days alone.
func TestStateOfEarlierVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		today := time.Now().Unix() / (24 * 60 * 60)
		s := &memState{m: map[string][]byte{
			"fetch/hosts":                 fmt.Appendf(nil, `{"http://old.example":%d,"http://new.example":%d}`, today-31, today-1),
			hostKey("http://old.example"): []byte("{}"), hostKey("http://new.example"): []byte("{}"),
		}}
		c := w.restart(s)
		w.answers["http://a.example/"] = reply(200, "x")
		list(t, c, "http://a.example/")
		s.commit(c)
		assert.NotContains(t, s.m, hostKey("http://old.example"))
		assert.Contains(t, s.m, hostKey("http://new.example"))
	})
}
