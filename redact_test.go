package websync_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

func TestRedactURL(t *testing.T) {
	for url, want := range map[string]string{
		"":                                     "",
		"feeds//a@b.xml":                       "feeds//a@b.xml",
		"feeds/a@b.xml":                        "feeds/a@b.xml",
		"https://example.com/a:b@c":            "https://example.com/a:b@c",
		"https://example.com?a:b@c":            "https://example.com?a:b@c",
		"https://me@example.com":               "https://example.com",
		"https://me:@example.com":              "https://example.com",
		"https://me:a@b@example.com#x":         "https://example.com#x",
		"https://me:pass word@example.com/%zz": "https://example.com/%zz",
		"//me:secret@example.com/a":            "//example.com/a",
		"https://h/?verb=x&api_key=1&X-Amz-Signature=2&p=": "https://h/?verb=x&api_key=xxxxx&X-Amz-Signature=xxxxx&p=",
		"https://h/?access_token=%20&a":                    "https://h/?access_token=xxxxx&a",
		"https://h/?TOKEN=1;sig=2;a=3":                     "https://h/?TOKEN=xxxxx;sig=xxxxx;a=3",
		"https://h/?%74oken=1":                             "https://h/?%74oken=xxxxx",
		"https://h/?auth[user]=1&p=a=b":                    "https://h/?auth[user]=xxxxx&p=a=b",
		"https://h/?password=a=b&passphrase=":              "https://h/?password=xxxxx&passphrase=xxxxx",
		"https://h/?a=1?token=2":                           "https://h/?a=1?token=xxxxx",
		"https://h/#access_token=1&state=2":                "https://h/#access_token=xxxxx&state=2",
		"https://h/?q=%zz&secret=%zz":                      "https://h/?q=%zz&secret=xxxxx",
	} {
		assert.Equal(t, want, websync.RedactURL(url), url)
	}
	long := "https://h/" + strings.Repeat("x", 2037)
	assert.Equal(t, long+"x", websync.RedactURL(long+"x"))
	assert.Equal(t, long+"…", websync.RedactURL(long+"ü"))
}
