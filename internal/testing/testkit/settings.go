package testkit

import (
	"reflect"
	"testing"
)

// SetAll gives each exported field of a struct that has none a value that is not zero:
// texts, numbers, flags and lists of texts.
func SetAll(settings any) {
	v := reflect.ValueOf(settings).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if field.CanSet() && v.Type().Field(i).Anonymous {
			SetAll(field.Addr().Interface())
		}
		if !field.CanSet() || !field.IsZero() {
			continue
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(v.Type().Field(i).Name)
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int, reflect.Int64:
			field.SetInt(int64(1000 + i))
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{v.Type().Field(i).Name}))
		}
	}
}

// PassesOn checks that one struct of settings has the values of another in all exported
// fields of the same name, and that none of them is zero. Of functions it checks only
// that they are there.
func PassesOn(t testing.TB, from, to any) {
	t.Helper()
	a, b := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for i := range a.NumField() {
		field := a.Type().Field(i)
		passed := b.FieldByName(field.Name)
		switch {
		case !field.IsExported() || !passed.IsValid():
		case field.Anonymous:
			PassesOn(t, a.Field(i).Addr().Interface(), passed.Addr().Interface())
		case a.Field(i).IsZero():
			t.Errorf("%s is not set", field.Name)
		case field.Type.Kind() == reflect.Func && !passed.IsNil():
		case field.Type.Kind() == reflect.Func || !reflect.DeepEqual(a.Field(i).Interface(), passed.Interface()):
			t.Errorf("%s is %v, not %v", field.Name, passed, a.Field(i))
		}
	}
}
