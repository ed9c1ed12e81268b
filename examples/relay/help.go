package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
)

//go:embed config.go
var configSource string

//go:embed sample.json
var sample string

// configText returns the reference of the configuration file, which is made of the doc
// comments of Config, and the sample.
func configText() string {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", configSource, parser.ParseComments)
	if err != nil {
		panic(err) // it has been compiled
	}
	var b strings.Builder
	b.WriteString("The configuration file, with -config:\n\n")
	for _, decl := range file.Decls {
		typ := decl.(*ast.GenDecl)
		b.WriteString(typ.Doc.Text() + "\n")
		for _, field := range typ.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
			name := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
			fmt.Fprintf(&b, "  %s\n", name)
			for line := range strings.Lines(field.Doc.Text()) {
				b.WriteString("    \t" + line)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("For example:\n\n")
	for line := range strings.Lines(sample) {
		b.WriteString("    " + line)
	}
	return b.String() + "\n"
}
