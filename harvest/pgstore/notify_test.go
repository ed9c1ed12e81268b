package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A Store notices what another one appends to the log, also after it has lost the
// connection by which it is notified.
func TestNotified(t *testing.T) {
	dsn := pgtest.Server(t)
	waiting := reopen(t, dsn, pgtest.Schema(t, dsn))
	other := reopen(t, dsn, waiting.db.schema)
	waiting.LogChanged()
	for _, id := range []string{"1", "2", "3"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		listening := "select pid from pg_stat_activity where query = 'listen " + waiting.db.channel + "'"
		require.Eventually(t, func() bool { return len(pgtest.Ask(t, dsn, listening)) == 1 }, time.Minute, time.Millisecond)
		changed := waiting.LogChanged()
		testkit.Fill(t, other.Catalog, "a", nil, websync.Item{Resource: websync.Resource{ID: id}})
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("no notification")
		}
		head, err := waiting.Head(ctx)
		require.NoError(t, err)
		assert.Equal(t, id, string('0'+rune(head.Last)))
		pgtest.Ask(t, dsn, "select pg_terminate_backend(pid, 10000) from ("+listening+") as listening")
	}
}
