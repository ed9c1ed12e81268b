package harvest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The example of the paper, appendix A: key and input are the bytes 0, 1, 2 …
func TestSipHash(t *testing.T) {
	var key printKey
	for i := range key {
		key[i] = byte(i)
	}
	assert.Equal(t, uint64(0xa129ca6149be45e5), sipHash(&key, string(key[:15])))
}

func BenchmarkSipHash(b *testing.B) {
	const id = "https://www.example.org/catalogue/items/0000000000000/document.html"
	b.SetBytes(int64(len(id)))
	for i := range b.N {
		sipHash(&printKey{byte(i)}, id)
	}
}
