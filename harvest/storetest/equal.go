package storetest

import (
	"fmt"
	"reflect"
	"time"
)

// diff returns where got is not what was wanted, "" if it is. An empty slice and a nil one are the same, and so are a
// key of a map that is missing and one with the zero value. Times are equal if they are the same instant in UTC.
func diff(want, got any) string {
	return diffAt("", reflect.ValueOf(want), reflect.ValueOf(got))
}

func diffAt(path string, want, got reflect.Value) string {
	if want.Kind() == reflect.Interface {
		want, got = want.Elem(), got.Elem()
	}
	if want.IsValid() != got.IsValid() || want.IsValid() && want.Type() != got.Type() {
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	if !want.IsValid() {
		return ""
	}
	if w, ok := want.Interface().(time.Time); ok {
		return diffTime(path, w, got.Interface().(time.Time))
	}
	switch want.Kind() {
	case reflect.Struct:
		return diffStruct(path, want, got)
	case reflect.Slice, reflect.Array:
		return diffList(path, want, got)
	case reflect.Map:
		return diffMap(path, want, got)
	case reflect.Pointer:
		if want.IsNil() || got.IsNil() {
			if want.IsNil() != got.IsNil() {
				return fmt.Sprintf("%s: got nil %t, want nil %t", path, got.IsNil(), want.IsNil())
			}
			return ""
		}
		return diffAt(path, want.Elem(), got.Elem())
	case reflect.String:
		if want.String() != got.String() {
			return fmt.Sprintf("%s: got %.200q, want %.200q", path, got.String(), want.String())
		}
		return ""
	}
	if w, g := want.Interface(), got.Interface(); w != g {
		return fmt.Sprintf("%s: got %v, want %v", path, g, w)
	}
	return ""
}

func diffTime(path string, want, got time.Time) string {
	if !want.Equal(got) {
		return fmt.Sprintf("%s: got %s, want %s", path, got.Format(time.RFC3339Nano), want.Format(time.RFC3339Nano))
	}
	if got.Location() != time.UTC {
		return fmt.Sprintf("%s: %s is not in UTC", path, got)
	}
	return ""
}

func diffStruct(path string, want, got reflect.Value) string {
	if opaque(want.Type()) {
		if w, g := want.Interface(), got.Interface(); w != g {
			return fmt.Sprintf("%s: got %v, want %v", path, g, w)
		}
		return ""
	}
	for i := range want.NumField() {
		name := path + "." + want.Type().Field(i).Name
		if d := diffAt(name, want.Field(i), got.Field(i)); d != "" {
			return d
		}
	}
	return ""
}

// opaque reports whether a struct has fields that nobody else sees. It is compared with ==.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

func diffList(path string, want, got reflect.Value) string {
	for i := range min(want.Len(), got.Len()) {
		if d := diffAt(fmt.Sprintf("%s[%d]", path, i), want.Index(i), got.Index(i)); d != "" {
			return d
		}
	}
	if want.Len() != got.Len() {
		return fmt.Sprintf("%s: got %d of them, want %d", path, got.Len(), want.Len())
	}
	return ""
}

func diffMap(path string, want, got reflect.Value) string {
	for _, keys := range [][]reflect.Value{want.MapKeys(), got.MapKeys()} {
		for _, key := range keys {
			name := fmt.Sprintf("%s[%q]", path, key)
			if d := diffAt(name, valueOf(want, key), valueOf(got, key)); d != "" {
				return d
			}
		}
	}
	return ""
}

func valueOf(m, key reflect.Value) reflect.Value {
	if v := m.MapIndex(key); v.IsValid() {
		return v
	}
	return reflect.Zero(m.Type().Elem())
}
