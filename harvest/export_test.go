package harvest

import "time"

// SetPatience sets how long listing waits for getting.
func (h *Harvester) SetPatience(d time.Duration) { h.patience = d }

// OverlayOn returns the Store of a dry run on another one.
func OverlayOn(store Store) Store { return (&Catalog{store: store}).overlaid().store }
