package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNext(t *testing.T) {
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	require.NoError(t, err)
	at := func(text string) time.Time {
		m, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return m
	}
	for name, tt := range map[string]struct {
		entry       Entry
		ended, want string
	}{
		"an interval":                     {Entry{Every: 6 * time.Hour}, "2026-03-01T10:00:00Z", "2026-03-01T16:00:00Z"},
		"the default":                     {Entry{}, "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"},
		"notices only":                    {Entry{Every: -1}, "2026-03-01T10:00:00Z", ""},
		"later today":                     {Entry{Daily: []time.Duration{3 * time.Hour, 15 * time.Hour}}, "2026-03-01T10:00:00Z", "2026-03-01T15:00:00Z"},
		"tomorrow":                        {Entry{Daily: []time.Duration{3 * time.Hour, 10 * time.Hour}}, "2026-03-01T10:00:00Z", "2026-03-02T03:00:00Z"},
		"in no order":                     {Entry{Daily: []time.Duration{22 * time.Hour, 11 * time.Hour}}, "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"},
		"midnight":                        {Entry{Daily: []time.Duration{0}}, "2026-12-31T10:00:00Z", "2027-01-01T00:00:00Z"},
		"in a zone":                       {Entry{Daily: []time.Duration{3*time.Hour + 30*time.Minute}, Zone: stockholm}, "2026-01-10T10:00:00Z", "2026-01-11T02:30:00Z"},
		"a day ahead in the zone":         {Entry{Daily: []time.Duration{time.Hour}, Zone: stockholm}, "2026-01-10T23:30:00Z", "2026-01-11T00:00:00Z"},
		"on a day of 23 hours":            {Entry{Daily: []time.Duration{4 * time.Hour}, Zone: stockholm}, "2026-03-28T12:00:00Z", "2026-03-29T02:00:00Z"},
		"on a day of 25 hours":            {Entry{Daily: []time.Duration{4 * time.Hour}, Zone: stockholm}, "2026-10-24T12:00:00Z", "2026-10-25T03:00:00Z"},
		"Daily counts, and Every doesn't": {Entry{Daily: []time.Duration{4 * time.Hour}, Every: -1}, "2026-10-24T12:00:00Z", "2026-10-25T04:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.entry.Jitter = -1
			next := tt.entry.next(at(tt.ended))
			if tt.want == "" {
				assert.Zero(t, next)
				return
			}
			assert.Equal(t, tt.want, next.UTC().Format(time.RFC3339))
		})
	}
}

func TestJitter(t *testing.T) {
	ended := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		entry Entry
		most  time.Duration
	}{
		"a tenth of Every": {Entry{Every: 10 * time.Hour}, time.Hour},
		"of the default":   {Entry{}, 6 * time.Minute},
		"with Daily":       {Entry{Daily: []time.Duration{11 * time.Hour}}, 5 * time.Minute},
		"stated":           {Entry{Every: time.Hour, Jitter: 2 * time.Hour}, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			exact := tt.entry
			exact.Jitter = -1
			first := exact.next(ended)
			different := false
			for range 100 {
				late := tt.entry.next(ended).Sub(first)
				assert.True(t, 0 <= late && late < tt.most, "%v", late)
				different = different || late > tt.most/4
			}
			assert.True(t, different)
		})
	}
}
