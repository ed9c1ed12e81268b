// House counts what the product's code consists of, without tests, comments, blank lines
// and what is below internal/testing, and prints a line for each count:
//
//	go run ./internal/testing/house
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the folder of the module")
	functions := flag.Bool("functions", false, "print the functions that are too complex or too long")
	flag.Parse()
	h := &house{files: token.NewFileSet(), dirs: map[string]bool{}, uses: map[string]int{}, printAll: *functions}
	if err := filepath.WalkDir(*root, h.visit); err != nil {
		log.Fatal(err)
	}
	h.print()
}

// The bounds above which a function is counted.
const (
	maxComplexity = 15
	maxLines      = 80
	maxColumns    = 130
)

// A house has the counts.
type house struct {
	files    *token.FileSet
	printAll bool

	lines, wide      int
	dirs             map[string]bool
	functions        []function
	uses             map[string]int // of identifiers, by name, in a package
	complex, long    int
	exported, fields int
}

// A function is an unexported one that is no method.
type function struct{ in, name string }

// visit counts a file.
func (h *house) visit(path string, entry fs.DirEntry, err error) error {
	name := entry.Name()
	switch {
	case err != nil:
		return err
	case entry.IsDir() && (name == "testdata" || name == ".git" || filepath.ToSlash(path) == "internal/testing" ||
		strings.HasSuffix(filepath.ToSlash(path), "/internal/testing")):
		return fs.SkipDir
	case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
		return nil
	}
	f, err := parser.ParseFile(h.files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	h.dirs[dir] = true
	h.scan(path)
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			h.uses[dir+" "+id.Name]++
		}
		return true
	})
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			h.function(dir, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				h.spec(s)
			}
		}
	}
	return nil
}

// scan counts the lines that have a token, and those that are too wide.
func (h *house) scan(path string) {
	src, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var s scanner.Scanner
	own := token.NewFileSet().AddFile(path, -1, len(src))
	s.Init(own, src, nil, 0)
	has := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		first := own.Line(pos)
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		for n := range strings.Count(text, "\n") + 1 {
			has[first+n] = true
		}
	}
	h.lines += len(has)
	for i, line := range strings.Split(string(src), "\n") {
		columns := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
		if has[i+1] && columns > maxColumns {
			h.wide++
		}
	}
}

// function counts a function or method.
func (h *house) function(dir string, d *ast.FuncDecl) {
	if !d.Name.IsExported() && d.Name.Name != "main" && d.Name.Name != "init" {
		h.functions = append(h.functions, function{dir, d.Name.Name})
	}
	if d.Recv == nil && d.Name.IsExported() {
		h.exported++
	}
	complexity := 1
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			complexity++
		case *ast.CaseClause:
			if n.List != nil {
				complexity++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				complexity++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				complexity++
			}
		}
		return true
	})
	from, to := h.files.Position(d.Pos()), h.files.Position(d.End())
	lines := to.Line - from.Line + 1
	if complexity > maxComplexity {
		h.complex++
	}
	if lines > maxLines {
		h.long++
	}
	if h.printAll && (complexity > maxComplexity || lines > maxLines) {
		fmt.Printf("%s:%d: %s: complexity %d, %d lines\n", from.Filename, from.Line, d.Name.Name, complexity, lines)
	}
}

// spec counts the exported names of a declaration, and the exported fields of its structs.
func (h *house) spec(s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				h.exported++
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		h.exported++
		if t, ok := s.Type.(*ast.StructType); ok {
			for _, field := range t.Fields.List {
				for _, name := range field.Names {
					if name.IsExported() {
						h.fields++
					}
				}
			}
		}
	}
}

func (h *house) print() {
	once := 0
	for _, f := range h.functions {
		if h.uses[f.in+" "+f.name] == 2 { // its declaration, and one more
			once++
		}
	}
	for _, row := range []struct {
		what  string
		count int
	}{
		{"lines of code", h.lines},
		{fmt.Sprintf("of them over %d columns", maxColumns), h.wide},
		{"folders with Go files", len(h.dirs)},
		{"unexported functions", len(h.functions)},
		{"of them named at one place, percent", 100 * once / max(1, len(h.functions))},
		{fmt.Sprintf("functions with a cyclomatic complexity over %d", maxComplexity), h.complex},
		{fmt.Sprintf("functions over %d lines", maxLines), h.long},
		{"exported names", h.exported},
		{"exported fields of exported structs", h.fields},
	} {
		fmt.Printf("%6d %s\n", row.count, row.what)
	}
}
