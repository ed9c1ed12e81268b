package suite

import (
	"bytes"
	"fmt"
	"reflect"
	"time"
)

// Diff returns where got differs from want; "" if it does not. An empty slice and a nil
// one are the same, and so are a key of a map that is missing and one with the zero
// value. Times are equal if they are the same instant in UTC.
func Diff(want, got any) string {
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

// opaque reports whether a struct has unexported fields. It is then compared with ==.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

func diffList(path string, want, got reflect.Value) string {
	if w, ok := want.Interface().([]byte); ok && bytes.Equal(w, got.Bytes()) {
		return "" // an element at a time takes seconds for a megabyte
	}
	for i := range min(want.Len(), got.Len()) {
		if d := diffAt(fmt.Sprintf("%s[%d]", path, i), want.Index(i), got.Index(i)); d != "" {
			return d
		}
	}
	if want.Len() != got.Len() {
		return fmt.Sprintf("%s: got %d elements, want %d", path, got.Len(), want.Len())
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

// Copy returns a copy of v that shares nothing with it.
func Copy[V any](v V) V {
	var c V
	copyInto(reflect.ValueOf(&c).Elem(), reflect.ValueOf(&v).Elem())
	return c
}

func copyInto(dst, src reflect.Value) {
	dst.Set(src)
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			copyInto(dst.Elem(), src.Elem())
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				copyInto(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Map:
		if !src.IsNil() {
			dst.Set(reflect.MakeMap(src.Type()))
			for _, key := range src.MapKeys() {
				value := reflect.New(src.Type().Elem()).Elem()
				copyInto(value, src.MapIndex(key))
				dst.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		if !opaque(src.Type()) {
			for i := range src.NumField() {
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	}
}

// Scribble changes everything that can be reached from *p through pointers, slices and
// maps, as a careless caller may.
func Scribble(p any) { scribble(reflect.ValueOf(p).Elem()) }

func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			scribble(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if opaque(v.Type()) {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.String:
		v.SetString("scribbled " + v.String())
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	}
}

func valueOf(m, key reflect.Value) reflect.Value {
	if v := m.MapIndex(key); v.IsValid() {
		return v
	}
	return reflect.Zero(m.Type().Elem())
}
