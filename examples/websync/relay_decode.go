package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// A decoder reads a configuration file. It is stricter than package json: names must be
// fields, in the same letters, and each may be there once. It keeps the line of every
// field for messages.
type decoder struct {
	*json.Decoder
	file  string
	data  []byte
	lines map[string]int // by path, such as sources[1].every
}

// decode reads the text of a file into c, and returns the lines of its fields.
func decode(file string, data []byte, c *config) (lines map[string]int, err error) {
	d := &decoder{json.NewDecoder(bytes.NewReader(data)), file, data, map[string]int{}}
	d.UseNumber()
	if err := d.value(reflect.ValueOf(c).Elem(), ""); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, d.wrong("", "more follows after the end of the JSON object")
	}
	return d.lines, nil
}

// line returns the line of the last token.
func (d *decoder) line() int { return 1 + bytes.Count(d.data[:d.InputOffset()], []byte("\n")) }

func (d *decoder) wrong(path, format string, args ...any) error {
	if path != "" {
		path += ": "
	}
	return fmt.Errorf("%s:%d: %s%s", d.file, d.line(), path, fmt.Sprintf(format, args...))
}

// token returns the next token; what is what must be there.
func (d *decoder) token(path, what string) (json.Token, error) {
	tok, err := d.Token()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, d.wrong(path, "the file ends where %s must be", what)
	case err != nil:
		return nil, d.wrong(path, "not JSON: %v", err)
	}
	return tok, nil
}

// value reads a value into v.
func (d *decoder) value(v reflect.Value, path string) error {
	what := describeType(v.Type())
	tok, err := d.token(path, what)
	if err != nil {
		return err
	}
	d.lines[path] = d.line()
	fits := false
	switch kind := v.Kind(); tok := tok.(type) {
	case json.Delim:
		switch {
		case tok == '{' && kind == reflect.Struct:
			return d.object(v, path)
		case tok == '[' && kind == reflect.Slice:
			return d.array(v, path)
		}
	case string:
		if fits = kind == reflect.String; fits {
			v.SetString(tok)
		}
	case bool:
		if fits = kind == reflect.Bool; fits {
			v.SetBool(tok)
		}
	case json.Number:
		switch kind {
		case reflect.Int, reflect.Int64:
			n, err := strconv.ParseInt(tok.String(), 10, v.Type().Bits())
			fits = err == nil
			v.SetInt(n)
		case reflect.Float64:
			n, err := tok.Float64()
			fits = err == nil
			v.SetFloat(n)
		}
	}
	if !fits {
		return d.wrong(path, "%s: must be %s", showToken(tok), what)
	}
	return nil
}

// object reads the fields of an object, after its brace.
func (d *decoder) object(v reflect.Value, path string) error {
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.token(path, "a name")
		if err != nil {
			return err
		}
		name, _ := tok.(string) // package json accepts no other
		field, names := fieldOf(v, name)
		at := strings.TrimPrefix(path+"."+name, ".")
		switch {
		case !field.IsValid():
			return d.wrong(at, "there is no such field; the fields here are %s", strings.Join(names, ", "))
		case seen[name]:
			return d.wrong(at, "is there twice")
		}
		seen[name] = true
		if err := d.value(field, at); err != nil {
			return err
		}
	}
	_, err := d.token(path, "}")
	return err
}

// array reads the elements of an array, after its bracket.
func (d *decoder) array(v reflect.Value, path string) error {
	for d.More() {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		i := v.Len() - 1
		if err := d.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := d.token(path, "]")
	return err
}

// fieldOf returns the field of a struct that has a name in JSON, and the names of all.
func fieldOf(v reflect.Value, name string) (field reflect.Value, names []string) {
	for i := range v.NumField() {
		n := v.Type().Field(i).Tag.Get("json")
		if names = append(names, n); n == name {
			field = v.Field(i)
		}
	}
	return field, names
}

// describeType returns what a value of a type must be.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a text"
}

// showToken returns a token as it is in the file.
func showToken(tok json.Token) string {
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return "an array"
		}
		return "an object"
	case string:
		return strconv.Quote(tok)
	case nil:
		return "null"
	}
	return fmt.Sprint(tok)
}
