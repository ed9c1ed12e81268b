package document

import (
	"time"

	"github.com/websync-go/websync"
)

// AppendSchemaDate appends d in a form that XML Schema 1.0 allows, and returns the date
// that it wrote: a full date, or a time with seconds and an offset of at most 14 hours. A
// year or a month becomes its first day, a leap second the second after it, and another
// offset UTC. The zero Datetime is left out.
func AppendSchemaDate(b []byte, d websync.Datetime) ([]byte, websync.Datetime) {
	switch p := d.Precision(); {
	case p == websync.PrecisionUnstated:
		return b, d
	case p < websync.PrecisionDay:
		d = d.WithPrecision(websync.PrecisionDay)
	case p > websync.PrecisionDay && p < websync.PrecisionSecond:
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	from := len(b)
	b, _ = d.AppendText(b)
	if len(b)-from <= len("2006-01-02T15:04:05") {
		return b, d
	}
	if text := b[from:]; text[len(text)-1] != 'Z' && string(text[len(text)-5:]) > "14:00" {
		d = d.UTC()
		b, _ = d.AppendText(b[:from])
	}
	if b[from+len("2006-01-02T15:04:")] == '6' {
		d = websync.NewDatetime(d.Time().Truncate(time.Second))
		b, _ = d.AppendText(b[:from])
	}
	return b, d
}

// AppendSchemaTime is AppendSchemaDate for elements that must have a time. A date becomes
// the first second of its period.
func AppendSchemaTime(b []byte, d websync.Datetime) []byte {
	if d.Precision() < websync.PrecisionSecond {
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	b, _ = AppendSchemaDate(b, d)
	return b
}

// SchemaDate returns d as AppendSchemaDate writes it.
func SchemaDate(d websync.Datetime) websync.Datetime {
	var buf [64]byte
	_, d = AppendSchemaDate(buf[:0], d)
	return d
}
