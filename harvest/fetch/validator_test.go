package fetch

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidatorOfTheSameSecond(t *testing.T) {
	const earlier, now, later = "Wed, 21 Oct 2026 07:27:59 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:01 GMT"
	for _, test := range []struct {
		name, modified, date, want string
	}{
		{"an earlier second", earlier, now, earlier},
		{"the same second", now, now, ""},
		{"a later one", later, now, ""},
		{"no Date", now, "", now},
		{"not a date", "yesterday", now, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{"Last-Modified": {test.modified}, "Date": {test.date}, "Etag": {`"1"`}}
			v := validator("https://example.org/", h)
			assert.Equal(t, test.want, v.LastModified)
			assert.Equal(t, `"1"`, v.ETag)
		})
	}
}
