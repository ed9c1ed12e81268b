package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBaseOf(t *testing.T) {
	for addr, want := range map[string]string{
		"localhost:8080": "http://localhost:8080/", "127.0.0.1:80": "http://127.0.0.1/", "0.0.0.0:1": "http://localhost:1/", ":1": "http://localhost:1/",
		"[::]:1": "http://localhost:1/", "[::1]:1": "http://[::1]:1/", "[::1]:80": "http://[::1]/",
	} {
		assert.Equal(t, want, BaseOf(addr), addr)
	}
}
