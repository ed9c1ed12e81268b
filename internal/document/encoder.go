package document

import (
	"strconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

// SectionXML is the section of a value with a character that XML cannot carry.
const SectionXML = "XML 1.0 §2.2"

// An Encoder appends elements to B. Its methods go on after a refusal.
type Encoder struct {
	B       []byte
	refused *websync.EntryError // the first reason
}

// Refuse records why an element can't be written. Only the first reason counts.
func (c *Encoder) Refuse(element, section string, err error) {
	if c.refused == nil {
		c.refused = &websync.EntryError{Element: element, Section: section, Err: err}
	}
}

// Refusal returns the first reason, for what has an id in a document of a format; nil if
// there is none. The Encoder forgets it.
func (c *Encoder) Refusal(format, id string) *websync.EntryError {
	refused := c.refused
	if refused != nil {
		refused.Format, refused.ID, c.refused = format, id, nil
	}
	return refused
}

// Date appends an attribute with a date and a time, unless d is zero. start is all that
// precedes its value. A less precise d is the first second of its period.
func (c *Encoder) Date(start string, d websync.Datetime) {
	if d.IsZero() {
		return
	}
	c.B = append(AppendSchemaTime(append(c.B, start...), d), '"')
}

// Number appends an attribute with a number, unless n is zero. start is all that precedes
// its value. It writes [websync.StatedZero] as zero.
func (c *Encoder) Number(start string, n int64) {
	if n == 0 {
		return
	}
	c.B = append(strconv.AppendInt(append(c.B, start...), max(n, 0), 10), '"')
}

// Hash appends the attribute hash, unless there are no digests.
func (c *Encoder) Hash(digests websync.Digests) {
	for i, d := range digests {
		if i == 0 {
			c.B = append(c.B, ` hash="`...)
		} else {
			c.B = append(c.B, ' ')
		}
		if d.Known() {
			c.B = AppendHex(append(append(c.B, d.Algorithm...), ':'), d.Sum)
		} else {
			b, _ := xmlscan.AppendAttr(c.B, "", d.String())
			c.B = b[:len(b)-1] // another digest may follow
		}
	}
	if len(digests) > 0 {
		c.B = append(c.B, '"')
	}
}
