// Package patch applies XML patches (RFC 5261) and JSON Patches (RFC 6902) to documents.
// If a patch can't be applied in full, nothing of it is.
//
// A JSON Patch is applied to the text of a document, in which only what the operations
// name changes: numbers, strings and member names stay as they are written, members keep
// their order, and only the space between them goes.
package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
)

// A JSON is a JSON Patch: a list of operations, which are applied in their order.
type JSON []operation

type operation struct {
	op    string
	path  pointer
	from  pointer // of move and copy
	value []byte  // of add, replace and test
}

// maxWork limits how many bytes of documents are looked at and moved while a patch is
// applied. Each operation may have to go through the whole document.
const maxWork = 64 << 20

// ParseJSON reads a JSON Patch.
func ParseJSON(patch []byte) (JSON, error) {
	patch, err := compact(patch)
	if err != nil {
		return nil, fmt.Errorf("jsonpatch: the patch is no JSON: %w", err)
	}
	if patch[0] != '[' {
		return nil, errors.New("jsonpatch: the patch is no array")
	}
	var p JSON
	for c := range children(patch) {
		o, err := parse(c.value(patch))
		if err != nil {
			return nil, fmt.Errorf("jsonpatch: operations[%d]: %w", len(p), err)
		}
		p = append(p, o)
	}
	return p, nil
}

// needs are the members that an operation has besides op and path (RFC 6902 §4).
var needs = map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}

// membersOf returns the members of an operation. Those that count must be there once.
func membersOf(object []byte) (map[string][]byte, error) {
	if object[0] != '{' {
		return nil, errors.New("it is no object")
	}
	members := map[string][]byte{}
	for c := range children(object) {
		name := unquote(c.name(object))
		if _, twice := members[name]; twice && slices.Contains([]string{"op", "path", "from", "value"}, name) {
			return nil, fmt.Errorf("two members %q", name)
		}
		members[name] = c.value(object)
	}
	return members, nil
}

func parse(object []byte) (o operation, err error) {
	members, err := membersOf(object)
	if err != nil {
		return o, err
	}
	text := func(name string) string {
		v := members[name]
		if err == nil && (len(v) == 0 || v[0] != '"') {
			err = fmt.Errorf("the member %q must be a string", name)
		}
		if err != nil {
			return ""
		}
		return unquote(v)
	}
	if o.op = text("op"); err != nil {
		return o, err
	}
	need, known := needs[o.op]
	if !known {
		return o, fmt.Errorf("no operation is called %.40q", o.op)
	}
	path, from := text("path"), ""
	switch need {
	case "from":
		from = text("from")
	case "value":
		if o.value = members["value"]; o.value == nil {
			err = errors.New(`the member "value" is missing`)
		}
	}
	if err != nil {
		return o, err
	}
	if o.path, err = parsePointer(path); err == nil {
		o.from, err = parsePointer(from)
	}
	return o, err
}

// Apply returns what a document becomes. If it becomes longer than maxBytes on the way,
// or the patch costs too much, the error matches [websync.ErrLimit]. The document is not
// changed.
func (p JSON) Apply(document []byte, maxBytes int) ([]byte, error) {
	text, err := compact(document)
	if err != nil {
		return nil, fmt.Errorf("jsonpatch: the document is no JSON: %w", err)
	}
	d := &patched{text: text}
	for i, o := range p {
		err := d.apply(o)
		switch {
		case err == nil && len(d.text) > maxBytes:
			err = fmt.Errorf("a document of more than %d bytes: %w", maxBytes, websync.ErrLimit)
		case d.work > maxWork:
			err = fmt.Errorf("too many operations for a document of %d bytes: %w", len(d.text), websync.ErrLimit)
		}
		if err != nil {
			return nil, fmt.Errorf("jsonpatch: operations[%d] (%s %.200q): %w", i, o.op, o.path, err)
		}
	}
	if !json.Valid(d.text) { // values may lie deeper in each other than it accepts
		return nil, fmt.Errorf("jsonpatch: the document is nested too deeply: %w", websync.ErrLimit)
	}
	return d.text, nil
}

// A patched is a document to which operations are applied.
type patched struct {
	text []byte // without space between the tokens
	work int
}

func (d *patched) apply(o operation) error {
	switch o.op {
	case "add":
		return d.add(o.path, o.value)
	case "remove":
		return d.remove(o.path)
	case "replace":
		at, err := d.find(o.path)
		if err == nil {
			d.replace(at.from, at.to, o.value)
		}
		return err
	case "test":
		at, err := d.find(o.path)
		if err == nil && !d.equal(at.value(d.text), o.value) {
			err = errors.New("the values differ")
		}
		return err
	}
	at, err := d.find(o.from)
	if err != nil {
		return fmt.Errorf("from %.200q: %w", o.from, err)
	}
	value := slices.Clone(at.value(d.text))
	if o.op == "move" {
		if inside := len(o.path) > len(o.from) && slices.Equal(o.path[:len(o.from)], o.from); inside {
			return fmt.Errorf("from %.200q: a value can't be moved into itself", o.from)
		}
		if slices.Equal(o.path, o.from) {
			return nil
		}
		if err := d.remove(o.from); err != nil {
			return err
		}
	}
	return d.add(o.path, value)
}

// replace puts bytes in the place of others.
func (d *patched) replace(from, to int, by ...[]byte) {
	d.work += len(d.text) / 16 // moving is cheaper than reading
	d.text = slices.Replace(d.text, from, to, bytes.Join(by, nil)...)
}

// find returns the value that a pointer names (RFC 6901 §4).
func (d *patched) find(p pointer) (at child, err error) {
	at = child{to: len(d.text)}
	for i, token := range p {
		within := at
		at, err = d.child(within, token)
		if err == nil && at.to == 0 {
			err = errMissing
		}
		if err != nil {
			return at, fmt.Errorf("%.200q: %w", p[:i+1], err)
		}
	}
	return at, nil
}

var errMissing = errors.New("there is no such value")

// child returns the child of a value that a token names. If there is none, but may be
// one, it returns where to add it: a child without an end.
func (d *patched) child(of child, token string) (child, error) {
	value := of.value(d.text)
	if value[0] != '{' && value[0] != '[' {
		return child{}, errors.New("what should have it is neither an object nor an array")
	}
	found := child{from: of.to - 1}
	if value[0] == '{' {
		d.work += len(value)
		for c := range children(value) {
			if unquote(c.name(value)) != token {
				continue
			}
			if found.to > 0 { // RFC 6901 §4: the evaluation fails
				return child{}, errors.New("the object has several such members")
			}
			found = c.plus(of.from)
		}
		return found, nil
	}
	index, err := arrayIndex(token)
	if err != nil {
		return child{}, err
	}
	n := 0
	for c := range children(value) {
		d.work += c.to - c.start
		if n == index {
			return c.plus(of.from), nil
		}
		n++
	}
	if index > n {
		return child{}, fmt.Errorf("the array has %d elements", n)
	}
	return found, nil
}

// end is the index that "-" stands for: after the last element.
const end = -1

// arrayIndex parses the token of an array (RFC 6901 §4).
func arrayIndex(token string) (int, error) {
	if token == "-" {
		return end, nil
	}
	if token == "" || len(token) > 9 || token[0] == '0' && token != "0" || strings.Trim(token, "0123456789") != "" {
		return 0, errors.New("not the index of an element")
	}
	return strconv.Atoi(token)
}

// add adds a value, or replaces that of a member (RFC 6902 §4.1).
func (d *patched) add(p pointer, value []byte) error {
	if len(p) == 0 {
		d.replace(0, len(d.text), value)
		return nil
	}
	last := len(p) - 1
	of, err := d.find(p[:last])
	if err != nil {
		return err
	}
	at, err := d.child(of, p[last])
	if err != nil {
		return err
	}
	var comma []byte
	if of.to-of.from > len("{}") {
		comma = []byte(",")
	}
	switch isObject := d.text[of.from] == '{'; {
	case isObject && at.to > 0:
		d.replace(at.from, at.to, value)
	case isObject:
		d.replace(at.from, at.from, comma, quote(p[last]), []byte(":"), value)
	case at.to > 0:
		d.replace(at.from, at.from, value, comma)
	default:
		d.replace(at.from, at.from, comma, value)
	}
	return nil
}

// remove removes a value, with the name of the member and a comma (RFC 6902 §4.2).
func (d *patched) remove(p pointer) error {
	if len(p) == 0 {
		return errors.New("the whole document can't be removed")
	}
	at, err := d.find(p)
	if err != nil {
		return err
	}
	from, to := at.start, at.to
	switch {
	case d.text[to] == ',':
		to++
	case d.text[from-1] == ',':
		from--
	}
	d.replace(from, to)
	return nil
}

// equal reports whether two values are equal (RFC 6902 §4.6). Objects that have a name
// twice are not.
func (d *patched) equal(a, b []byte) bool {
	d.work += len(a) + len(b)
	if d.work > maxWork || kind(a) != kind(b) {
		return false
	}
	switch kind(a) {
	case '{':
		return d.equalObjects(a, b)
	case '[':
		var elements [][]byte
		for c := range children(a) {
			elements = append(elements, c.value(a))
		}
		for c := range children(b) {
			if len(elements) == 0 || !d.equal(elements[0], c.value(b)) {
				return false
			}
			elements = elements[1:]
		}
		return len(elements) == 0
	case '"':
		return unquote(a) == unquote(b)
	case '0':
		return equalNumbers(string(a), string(b))
	}
	return true
}

func (d *patched) equalObjects(a, b []byte) bool {
	members, names := map[string][]byte{}, 0
	for c := range children(a) {
		members[unquote(c.name(a))] = c.value(a)
		names++
	}
	if len(members) < names {
		return false
	}
	for c := range children(b) {
		name := unquote(c.name(b))
		if v, ok := members[name]; !ok || !d.equal(v, c.value(b)) {
			return false
		}
		delete(members, name)
	}
	return len(members) == 0
}

// compact checks that data is JSON and returns it without space between the tokens.
func compact(data []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Compact(&b, data)
	return b.Bytes(), err
}
