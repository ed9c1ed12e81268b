package docfetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/websync-go/websync/harvest"
)

// Checkpoint returns v as a Checkpoint. v must be of a type that JSON can always encode.
func Checkpoint(version int, v any) harvest.Checkpoint {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return harvest.Checkpoint{Version: version, Data: data}
}

// ReadCheckpoint decodes a Checkpoint into v. It returns false if the Checkpoint has
// another version or is damaged; the Source then makes a full pass.
func ReadCheckpoint(c harvest.Checkpoint, version int, v any) bool {
	return c.Version == version && json.Unmarshal(c.Data, v) == nil
}

// Fingerprint returns a short hash of the formatted values.
func Fingerprint(format string, values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, values...))
	return hex.EncodeToString(sum[:8])
}
