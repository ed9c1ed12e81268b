package publishing

import (
	"fmt"
	"reflect"
	"strings"
)

// A Word is a setting that [SettingsText] writes as it is.
type Word string

// SettingsText returns a text that identifies the values of all fields of a struct, in
// their order: the settings of a Publisher that change the bytes of its documents. Their
// hash is in URLs and ETags. A field with the tag settings:"omitzero" is left out if it
// is zero, so that a setting can be added without other URLs for those who don't use it.
func SettingsText(settings any) string {
	v := reflect.ValueOf(settings)
	var texts []string
	for i := range v.NumField() {
		field := v.Field(i)
		if v.Type().Field(i).Tag.Get("settings") == "omitzero" && field.IsZero() {
			continue
		}
		format := "%q"
		switch {
		case field.Type() == reflect.TypeFor[Word]():
			format = "%s"
		case field.CanInt(), field.CanUint():
			format = "%d"
		case field.Kind() == reflect.Bool:
			format = "%t"
		}
		texts = append(texts, fmt.Sprintf(format, field.Interface()))
	}
	return strings.Join(texts, " ")
}
