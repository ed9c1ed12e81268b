package syntax

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDecodeHex compares decodeHex with hex.Decode, for each byte at each position.
func TestDecodeHex(t *testing.T) {
	const text = "0123456789abcdefABCDEF0123456789"
	for i := range text {
		for c := range 256 {
			changed := []byte(text)
			changed[i] = byte(c)
			want, got := make([]byte, len(text)/2), make([]byte, len(text)/2)
			_, err := hex.Decode(want, changed)
			assert.Equal(t, err == nil, decodeHex(got, changed), "%q", changed)
			if err == nil {
				assert.Equal(t, want, got)
			}
		}
	}
	for _, size := range []int{16, 20, 32, 64} {
		sum := make([]byte, size)
		assert.True(t, decodeHex(sum, []byte(strings.Repeat("5a", size))))
		assert.Equal(t, strings.Repeat("5a", size), fmt.Sprintf("%x", sum))
	}
}
