package harvest

import "time"

// SetPatience sets how long listing waits for getting.
func (h *Harvester) SetPatience(d time.Duration) { h.patience = d }
