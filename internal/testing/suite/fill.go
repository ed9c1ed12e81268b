package suite

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/websync-go/websync"
)

// Fill sets every exported field of *p, however deep, to a value of its own, so that a
// Store which forgets a field is caught, even a field added later. Another n gives other
// values.
func Fill(t testing.TB, n int, p any) {
	t.Helper()
	(&filler{t, n}).value(reflect.ValueOf(p).Elem())
}

type filler struct {
	t testing.TB
	n int
}

func (f *filler) value(v reflect.Value) {
	f.n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMicro(1_700_000_000_000_001 + int64(f.n)).UTC()))
		return
	case websync.Datetime:
		v.Set(reflect.ValueOf(f.datetime()))
		return
	case websync.ChangeKind:
		v.Set(reflect.ValueOf(websync.Created))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d ä<&>\"'\t\n€ \xff\x00", 1_000_000-f.n)) // not in byte order
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(uint64(f.n % 100))
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		f.each(v)
	case reflect.Array:
		f.each(v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.value(v.Elem())
	case reflect.Struct:
		f.fields(v)
	default:
		f.t.Fatalf("cannot fill a %s", v.Type())
	}
}

func (f *filler) each(v reflect.Value) {
	for i := range v.Len() {
		f.value(v.Index(i))
	}
}

func (f *filler) fields(v reflect.Value) {
	if opaque(v.Type()) {
		f.t.Fatalf("cannot fill a %s", v.Type())
	}
	for i := range v.NumField() {
		f.value(v.Field(i))
	}
}

// datetime returns another Datetime, with another precision, each time.
func (f *filler) datetime() websync.Datetime {
	d := websync.NewDatetime(time.Unix(1_600_000_000+int64(f.n)*90061, 123_456_789).In(time.FixedZone("", 5*3600+1800)))
	return d.WithPrecision(websync.Precision(1 + f.n%int(websync.PrecisionNanosecond)))
}
