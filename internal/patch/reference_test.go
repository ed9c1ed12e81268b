package patch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// The reference is RFC 6902 and RFC 6901 sentence by sentence, on trees that are made
// anew by each operation.

// A tree is an object, an array, a string, a json.Number, a bool or nil.
type (
	object []member
	array  []any
	member struct {
		name  string
		value any
	}
)

var errReference = errors.New("refused")

// readTree reads a JSON text.
func readTree(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	t, err := readValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errReference
	}
	return t, nil
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := readValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), value})
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		a := array{}
		for d.More() {
			value, err := readValue(d)
			if err != nil {
				return nil, err
			}
			a = append(a, value)
		}
		_, err := d.Token()
		return a, err
	}
	return token, nil
}

// writeTree writes a tree without space.
func writeTree(t any) string {
	switch t := t.(type) {
	case object:
		var all []string
		for _, m := range t {
			all = append(all, writeTree(m.name)+":"+writeTree(m.value))
		}
		return "{" + strings.Join(all, ",") + "}"
	case array:
		var all []string
		for _, v := range t {
			all = append(all, writeTree(v))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(t) != nil {
		panic("not JSON")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// index parses an array index: digits without leading zeros (RFC 6901 §4).
func index(token string) (int, bool) {
	n, err := strconv.Atoi(token)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == token
}

// tokens takes a pointer apart (RFC 6901 §3, §4).
func tokens(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, errReference
	}
	var all []string
	for _, t := range strings.Split(pointer, "/")[1:] {
		for i := range t {
			if t[i] == '~' && (i+1 == len(t) || t[i+1] != '0' && t[i+1] != '1') {
				return nil, errReference
			}
		}
		all = append(all, strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~"))
	}
	return all, nil
}

// only returns the position of the only member of that name, -1 if there is none.
func (o object) only(name string) (int, error) {
	found := -1
	for i, m := range o {
		if m.name == name {
			if found >= 0 {
				return 0, errReference
			}
			found = i
		}
	}
	return found, nil
}

// lookup returns the value at a path.
func lookup(t any, path []string) (any, error) {
	if len(path) == 0 {
		return t, nil
	}
	switch t := t.(type) {
	case object:
		i, err := t.only(path[0])
		if err != nil || i < 0 {
			return nil, errReference
		}
		return lookup(t[i].value, path[1:])
	case array:
		if i, ok := index(path[0]); ok && i < len(t) {
			return lookup(t[i], path[1:])
		}
	}
	return nil, errReference
}

// change returns the tree in which f has changed the parent of a path.
func change(t any, path []string, f func(parent any, last string) (any, error)) (any, error) {
	if len(path) == 1 {
		return f(t, path[0])
	}
	switch t := t.(type) {
	case object:
		i, err := t.only(path[0])
		if err != nil || i < 0 {
			return nil, errReference
		}
		v, err := change(t[i].value, path[1:], f)
		made := append(object{}, t...)
		made[i].value = v
		return made, err
	case array:
		i, ok := index(path[0])
		if !ok || i >= len(t) {
			return nil, errReference
		}
		v, err := change(t[i], path[1:], f)
		made := append(array{}, t...)
		made[i] = v
		return made, err
	}
	return nil, errReference
}

func add(t any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	return change(t, path, func(parent any, last string) (any, error) {
		switch parent := parent.(type) {
		case object:
			i, err := parent.only(last)
			if err != nil {
				return nil, err
			}
			if i < 0 {
				return append(append(object{}, parent...), member{last, value}), nil
			}
			made := append(object{}, parent...)
			made[i].value = value
			return made, nil
		case array:
			i, ok := index(last)
			if last == "-" {
				i, ok = len(parent), true
			}
			if !ok || i > len(parent) {
				return nil, errReference
			}
			made := append(array{}, parent[:i]...)
			return append(append(made, value), parent[i:]...), nil
		}
		return nil, errReference
	})
}

func remove(t any, path []string) (any, error) {
	if _, err := lookup(t, path); err != nil || len(path) == 0 {
		return nil, errReference
	}
	return change(t, path, func(parent any, last string) (any, error) {
		if o, ok := parent.(object); ok {
			i, _ := o.only(last)
			return append(append(object{}, o[:i]...), o[i+1:]...), nil
		}
		a := parent.(array)
		i, _ := index(last)
		return append(append(array{}, a[:i]...), a[i+1:]...), nil
	})
}

// same reports whether two values are equal (RFC 6902 §4.6).
func same(a, b any) bool {
	switch a := a.(type) {
	case object:
		o, ok := b.(object)
		if !ok || len(a) != len(o) {
			return false
		}
		for _, m := range a {
			if i, err := a.only(m.name); err != nil || i < 0 {
				return false
			}
			i, err := o.only(m.name)
			if err != nil || i < 0 || !same(m.value, o[i].value) {
				return false
			}
		}
		return true
	case array:
		o, ok := b.(array)
		if !ok || len(a) != len(o) {
			return false
		}
		for i := range a {
			if !same(a[i], o[i]) {
				return false
			}
		}
		return true
	case json.Number:
		o, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, _ := new(big.Rat).SetString(a.String())
		y, _ := new(big.Rat).SetString(o.String())
		return x.Cmp(y) == 0
	}
	return a == b
}

// reference applies a patch.
func reference(document, patch string) (string, error) {
	t, err := readTree(document)
	if err != nil {
		return "", err
	}
	p, err := readTree(patch)
	if err != nil {
		return "", err
	}
	operations, ok := p.(array)
	if !ok {
		return "", errReference
	}
	for _, o := range operations {
		o, ok := o.(object)
		if !ok {
			return "", errReference
		}
		if t, err = operate(t, o); err != nil {
			return "", err
		}
	}
	return writeTree(t), nil
}

func operate(t any, o object) (any, error) {
	get := func(name string) (any, bool) {
		i, err := o.only(name)
		if err != nil || i < 0 {
			return nil, false
		}
		return o[i].value, true
	}
	for _, name := range []string{"op", "path", "from", "value"} {
		if _, err := o.only(name); err != nil {
			return nil, err
		}
	}
	pathOf := func(name string) ([]string, error) {
		v, _ := get(name)
		text, ok := v.(string)
		if !ok {
			return nil, errReference
		}
		return tokens(text)
	}
	path, err := pathOf("path")
	if err != nil {
		return nil, err
	}
	op, _ := get("op")
	switch op {
	case "add", "replace", "test":
		value, ok := get("value")
		if !ok {
			return nil, errReference
		}
		if op == "add" {
			return add(t, path, value)
		}
		old, err := lookup(t, path)
		switch {
		case err != nil:
			return nil, err
		case op == "test" && !same(old, value):
			return nil, errReference
		case op == "test":
			return t, nil
		case len(path) == 0:
			return value, nil
		}
		return change(t, path, func(parent any, last string) (any, error) {
			if o, ok := parent.(object); ok {
				i, _ := o.only(last)
				made := append(object{}, o...)
				made[i].value = value
				return made, nil
			}
			i, _ := index(last)
			made := append(array{}, parent.(array)...)
			made[i] = value
			return made, nil
		})
	case "remove":
		return remove(t, path)
	case "move", "copy":
		from, err := pathOf("from")
		if err != nil {
			return nil, err
		}
		value, err := lookup(t, from)
		if err != nil {
			return nil, err
		}
		if op == "copy" {
			return add(t, path, value)
		}
		if slices.Equal(path, from) {
			return t, nil
		}
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return nil, errReference
		}
		if t, err = remove(t, from); err != nil {
			return nil, err
		}
		return add(t, path, value)
	}
	return nil, errReference
}
