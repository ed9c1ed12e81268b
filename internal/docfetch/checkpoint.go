package docfetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/websync-go/websync/harvest"
)

// Checkpoint returns v, which can't fail to be JSON, as a Checkpoint.
func Checkpoint(version int, v any) harvest.Checkpoint {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return harvest.Checkpoint{Version: version, Data: data}
}

// ReadCheckpoint reads a Checkpoint into v. It reports whether it could: one of another
// version, or one that is damaged, means a full pass.
func ReadCheckpoint(c harvest.Checkpoint, version int, v any) bool {
	return c.Version == version && json.Unmarshal(c.Data, v) == nil
}

// Fingerprint returns a short text that stands for the formatted values.
func Fingerprint(format string, values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, values...))
	return hex.EncodeToString(sum[:8])
}
