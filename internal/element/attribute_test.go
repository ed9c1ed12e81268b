package element_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/internal/element"
)

func TestNamesOfAttributes(t *testing.T) {
	for _, s := range []string{"a", "_a", "a-1.b", "é", "aé", "xml", "ns1"} {
		assert.True(t, element.IsLocal(s), s)
	}
	for _, s := range []string{"", "1a", "-", "a:b", "a b", "a/", "é:a", "é b", "aé/>", "\xff"} {
		assert.False(t, element.IsLocal(s), s)
		assert.False(t, element.IsPrefix(s), s)
	}
	for s, want := range map[string]bool{"dct": true, "ns": true, "nsx": true, "ns1": false, "ns12a": false, "xml": false, "XMLns": false} {
		assert.Equal(t, want, element.IsPrefix(s), s)
	}
	for space, want := range map[string]bool{"urn:x": true, "": false, "urn:own": false, "http://www.w3.org/XML/1998/namespace": false, "http://www.w3.org/2000/xmlns/": false} {
		assert.Equal(t, want, element.IsAttrSpace(space, "urn:own"), space)
	}
}
