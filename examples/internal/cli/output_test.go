package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutput(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode \U0001f600\n\tand more": "plain, ünïcode \U0001f600\n\tand more",
		"\x1b]0;title\x07":                      `\u001b]0;title\u0007`,
		"\x1b[2J\r\b\x7f\x00":                   `\u001b[2J\u000d\u0008\u007f\u0000`,
		"\u009b31m":                             `\u009b31m`,
		"\u202egpj.exe\u2066\u2028\u200f":       `\u202egpj.exe\u2066\u2028\u200f`,
		"a\x9bb\xff":                            `a\x9bb\xff`,
		"\ufffd":                                "\ufffd",
	} {
		var b bytes.Buffer
		n, err := NewOutput(&b).Write([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, len(text), n)
		assert.Equal(t, want, b.String())
	}
	assert.Equal(t, `a\u000ab\u0009c\u001b`, OneLine("a\nb\tc\x1b"))

	var b bytes.Buffer
	NewOutput(&b).Control("\r\x1b[K")
	assert.Equal(t, "\r\x1b[K", b.String())
}

// JSON stays JSON, with the same strings in it.
func TestOutputOfJSON(t *testing.T) {
	var b bytes.Buffer
	const text = "a\x1b\u009b\u202e\n\u2028\x7fb"
	require.NoError(t, json.NewEncoder(NewOutput(&b)).Encode(text))
	assert.NotContains(t, b.String(), "\u009b")
	var got string
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	assert.Equal(t, text, got)
}

type full struct{ n int }

func (w *full) Write([]byte) (int, error) {
	w.n++
	return 0, errors.New("no space")
}

func TestFullOutput(t *testing.T) {
	w := new(full)
	o := NewOutput(w)
	require.NoError(t, o.Err())
	for range 3 {
		_, err := o.Write([]byte("x"))
		require.EqualError(t, err, "no space")
	}
	require.EqualError(t, o.Err(), "no space")
	assert.Equal(t, 1, w.n)
}

func TestAsked(t *testing.T) {
	for args, want := range map[string]bool{
		"": false, "-json": true, "--json": true, "-rate x -json": true, "-json=false": false, "-json=true": true, "-jsonx": false,
		"-- -json": false, "json": false, "-json=maybe": true,
	} {
		assert.Equal(t, want, Asked(strings.Fields(args), "json"), args)
	}
}

func TestGiven(t *testing.T) {
	for args, want := range map[string]string{
		"": "", "-report a": "a", "--report=b": "b", "-x -report a -report=c y": "c", "-report": "", "-reporter a": "", "-- -report a": "", "report a": "",
	} {
		assert.Equal(t, want, Given(strings.Fields(args), "report"), args)
	}
}
