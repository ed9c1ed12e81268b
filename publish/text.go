package publish

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/websync-go/websync"
)

// Text returns a Publisher of one plain text in UTF-8, for example lines of /robots.txt
// that [Join] adds to those of the other Publishers.
func Text(path, text string) websync.Publisher {
	return &fixedText{path, text, websync.SHA256([]byte(text))}
}

type fixedText struct {
	path, text string
	digest     websync.Digest
}

// Document implements [websync.Publisher].
func (t *fixedText) Document(_ context.Context, path string) (*websync.Document, error) {
	if path != t.path {
		return nil, websync.ErrNotFound
	}
	return &websync.Document{
		Type:    "text/plain; charset=utf-8",
		ETag:    digestTag(t.digest),
		Digests: websync.Digests{t.digest},
		Open: func(context.Context) (io.ReadSeekCloser, error) {
			return textReader{strings.NewReader(t.text)}, nil
		},
	}, nil
}

// Documents implements [websync.Publisher].
func (t *fixedText) Documents(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield(t.path, nil) }
}

type textReader struct{ *strings.Reader }

func (textReader) Close() error { return nil }
