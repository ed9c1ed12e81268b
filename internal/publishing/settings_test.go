package publishing_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// settings has a field of each kind that Publishers have, and two where texts may run
// into each other.
type settings struct {
	Rendering int
	URL, Path string
	Sources   []string
	Author    websync.Person
	Size      websync.Seq
	MD5       bool
	Period    time.Duration   `settings:"omitzero"`
	Profile   string          `settings:"omitzero"`
	Latest    publishing.Word `settings:"omitzero"`
}

func someSettings() settings {
	return settings{
		Rendering: 3, URL: "https://example.org/a b", Path: "c", Sources: []string{"d e", "f"},
		Author: websync.Person{Name: "G"}, Size: 1000, MD5: true, Period: time.Second, Profile: "h", Latest: "latest",
	}
}

// TestSettingsTextHasEachField changes one field after the other: no two of the texts may
// be equal, or a change of that field would leave URLs and ETags as they are.
func TestSettingsTextHasEachField(t *testing.T) {
	s := someSettings()
	texts := map[string]string{publishing.SettingsText(s): "no field"}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		for _, other := range []any{
			4, "other", publishing.Word("other"), []string{"d", "e", "f"}, websync.Person{Name: "G", URI: "https://example.org/"},
			websync.Seq(1001), false, time.Minute,
		} {
			if reflect.TypeOf(other) != field.Type {
				continue
			}
			changed := someSettings()
			reflect.ValueOf(&changed).Elem().Field(i).Set(reflect.ValueOf(other))
			text := publishing.SettingsText(changed)
			assert.Empty(t, texts[text], "the text of another %s is the text with another value of this", field.Name)
			texts[text] = field.Name
		}
	}
	assert.Len(t, texts, 1+reflect.TypeFor[settings]().NumField())
}

func TestSettingsTextKeepsFieldsApart(t *testing.T) {
	for name, pair := range map[string][2]settings{
		"texts":                   {{URL: `a" "b`}, {URL: "a", Path: "b"}},
		"texts of one list":       {{Sources: []string{"a b"}}, {Sources: []string{"a", "b"}}},
		"a text and a list of it": {{Path: "a"}, {Sources: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NotEqual(t, publishing.SettingsText(pair[0]), publishing.SettingsText(pair[1]))
		})
	}
}

// TestSettingsTextStays has the texts that the URLs of published documents depend on.
func TestSettingsTextStays(t *testing.T) {
	s := someSettings()
	const required = `3 "https://example.org/a b" "c" ["d e" "f"] {"G" "" ""} 1000 true`
	assert.Equal(t, required+` 1000000000 "h" latest`, publishing.SettingsText(s))
	s.Period, s.Profile, s.Latest = 0, "", ""
	assert.Equal(t, required, publishing.SettingsText(s), "a setting with omitzero must leave no trace where it is not used")
	assert.Equal(t, `0 "" "" [] {"" "" ""} 0 false`, publishing.SettingsText(settings{}))
}
