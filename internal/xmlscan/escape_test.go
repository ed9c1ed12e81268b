package xmlscan_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

func TestAppendText(t *testing.T) {
	got, err := xmlscan.AppendText([]byte("x"), "<\t\r\n&>\"é")
	require.NoError(t, err)
	assert.Equal(t, "x&lt;\t&#13;\n&amp;&gt;\"é", string(got))
	got, err = xmlscan.AppendAttr([]byte("x"), ` a="`, "<\t\r\n&>\"é")
	require.NoError(t, err)
	assert.Equal(t, `x a="&lt;&#9;&#13;&#10;&amp;>&quot;é"`, string(got))
	got, err = xmlscan.AppendText([]byte("x"), "long enough text\x02")
	require.Error(t, err)
	assert.Equal(t, "x", string(got))
	assert.False(t, errors.Is(err, io.EOF))
}
