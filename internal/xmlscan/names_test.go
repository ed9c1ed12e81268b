package xmlscan_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

func TestRawNamesAndDeclarations(t *testing.T) {
	r := xmlscan.NewReader(strings.NewReader(`<p:a xmlns:p="u:p" x="1" p:y="2" xmlns="u:d" xml:lang="sv" xmlns:xml="http://www.w3.org/XML/1998/namespace"><b xmlns=""/><c/></p:a>`))
	var got []string
	for {
		k, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		got = append(got, k.String()+" "+r.RawName())
		for i := range r.Attrs() {
			got = append(got, r.RawAttrName(i))
		}
		if k == xmlscan.Start {
			for prefix, space := range r.Declarations() {
				got = append(got, prefix+"="+space)
			}
		}
	}
	assert.Equal(t, []string{
		"Start p:a", "x", "p:y", "xml:lang", "p=u:p", "=u:d", "Start b", "=", "End b", "Start c", "End c", "End p:a",
	}, got)
	for range r.Declarations() {
		break
	}
}
