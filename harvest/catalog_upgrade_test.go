package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// states is how many States the Store that is upgraded has: some pages of them.
const states = 700

// A dying one is a Store that is dead after some Updates: before the last one is applied,
// or after it.
type dying struct {
	harvest.Store
	left  int
	after bool
}

var errKilled = errors.New("killed")

func (m *dying) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if m.left--; m.left > 0 {
		return m.Store.Update(ctx, fn)
	}
	if m.left == 0 && m.after {
		if err := m.Store.Update(ctx, fn); err != nil {
			return err
		}
	}
	return errKilled
}

// older returns a Store of an older layout, in which each State ends with "old", and what
// readers of it should see after its upgrade.
func older(t *testing.T) (store harvest.Store, want string) {
	store = memstore.New()
	c := harvest.NewCatalog(store)
	fillToMove(t, c, 20)
	want = everything(t, c)
	for i := range states {
		require.NoError(t, c.Swap(t.Context(), fmt.Sprint("s", i), nil, []byte("value old")))
	}
	value, err := c.State(t.Context(), "any")
	require.NoError(t, err)
	require.NoError(t, c.Swap(t.Context(), "any", value, append(value, " old"...)))
	require.NoError(t, store.Update(t.Context(), func(tx harvest.Tx) error {
		head, err := tx.Get([]byte("h"))
		require.NoError(t, err)
		return tx.Set([]byte("h"), append([]byte{head[0] - 1}, head[1:]...))
	}))
	return store, want
}

// upgrades returns a Catalog that can upgrade what older makes. A page that is upgraded
// twice fails the test.
func upgrades(t *testing.T, store harvest.Store) *harvest.Catalog {
	c := harvest.NewCatalog(store)
	harvest.UpgradeAlso(c, func(value []byte) []byte {
		assert.NotEqual(t, "value", string(value), "it was upgraded before")
		return bytes.TrimSuffix(value, []byte(" old"))
	})
	return c
}

// A Store of an older layout is upgraded by the first thing that is done with it. A
// process may be killed in each of its Updates, before it is applied or after: the next
// one goes on, and meanwhile nobody takes the Store for whole.
func TestUpgrade(t *testing.T) {
	for _, after := range []bool{false, true} {
		store, want := older(t)
		kills := 0
		for {
			_, err := upgrades(t, &dying{store, kills%2 + 1, after}).Head(t.Context())
			if err == nil {
				break
			}
			kills++
			require.ErrorIs(t, err, errKilled)
			require.ErrorIs(t, err, harvest.ErrUnfinished)
			if _, err = harvest.NewCatalog(store).Head(t.Context()); err == nil && after {
				break // it died after the last one
			}
			require.Error(t, err, "this one can't upgrade")
			_, err = (&harvest.Harvester{Catalog: upgrades(t, store)}).Plan(t.Context(), harvest.Of("x"), nil)
			require.ErrorIs(t, err, harvest.ErrUnfinished, "a plan changes nothing")
		}
		require.GreaterOrEqual(t, kills, 2)
		c := harvest.NewCatalog(store)
		isWhole(t, want, c)
		for i := range states {
			value, err := c.State(t.Context(), fmt.Sprint("s", i))
			require.NoError(t, err)
			require.Equal(t, "value", string(value))
		}
	}
}

// Two processes that find the Store at the same time upgrade it together.
func TestUpgradeTogether(t *testing.T) {
	store, want := older(t)
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			_, err := upgrades(t, store).Head(context.Background())
			done <- err
		}()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
	isWhole(t, want, harvest.NewCatalog(store))
}

// An older version refuses a Store that a newer one is upgrading.
func TestUpgradeByNewer(t *testing.T) {
	store, _ := older(t)
	_, err := upgrades(t, &dying{store, 1, true}).Head(t.Context())
	require.ErrorIs(t, err, errKilled)
	require.NoError(t, store.Update(t.Context(), func(tx harvest.Tx) error {
		head, err := tx.Get([]byte("h"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(head), "\xff"))
		head = bytes.Clone(head)
		head[1]++ // the layout of who upgrades
		return tx.Set([]byte("h"), head)
	}))
	_, err = harvest.NewCatalog(store).Head(t.Context())
	require.ErrorIs(t, err, harvest.ErrNewer)
}
