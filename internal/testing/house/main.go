// House counts what the product's code consists of, without tests, comments, blank lines
// and what is below internal/testing, and prints a line for each count:
//
//	go run ./internal/testing/house
//
// With -examples it prints the exported names that no example in godoc reaches instead,
// and fails if there is one.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the folder of the module")
	functions := flag.Bool("functions", false,
		"print what is counted: functions that are too complex, too long or named at one place, bool parameters, wide lines")
	examples := flag.Bool("examples", false, "print the exported names that no example reaches, and fail if there is one")
	flag.Parse()
	if *examples {
		names, err := unreached(*root)
		if err != nil {
			log.Fatal(err)
		}
		if len(names) > 0 {
			log.Fatalf("no example reaches these:\n%s", strings.Join(names, "\n"))
		}
		return
	}
	h := newHouse()
	if err := filepath.WalkDir(*root, h.visit); err != nil {
		log.Fatal(err)
	}
	if *functions {
		h.list(os.Stdout)
	}
	h.print(os.Stdout)
}

// The bounds above which a function is counted.
const (
	maxComplexity = 15
	maxLines      = 80
	maxColumns    = 130
)

// A house has the counts.
type house struct {
	files *token.FileSet

	lines            int
	dirs             map[string]bool
	functions        []function
	uses             map[string]int // of identifiers, by folder and name
	literals         map[string]int // of true and false as arguments, by folder, name and index
	exported, fields int

	complex, long, wide []string // a line for each
}

func newHouse() *house {
	return &house{
		files:    token.NewFileSet(),
		dirs:     map[string]bool{},
		uses:     map[string]int{},
		literals: map[string]int{},
	}
}

// A function is one that is declared, or a method.
type function struct {
	in, name, at string
	bools        map[int]string // its bool parameters: their names by index
	params       int
}

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
		switch n := n.(type) {
		case *ast.Ident:
			h.uses[dir+" "+n.Name]++
		case *ast.CallExpr:
			h.call(dir, n)
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
			h.wide = append(h.wide, fmt.Sprintf("%s:%d: %d columns", path, i+1, columns))
		}
	}
}

// call counts the arguments of a call that are the identifiers true or false, by the
// name of what is called.
func (h *house) call(dir string, call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) { // the type arguments of a generic function
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var name string
	switch f := fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	for i, arg := range call.Args {
		if id, ok := arg.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
			h.literals[literalKey(dir, name, len(call.Args), i)]++
		}
	}
}

// literalKey is the key of one argument of the calls with so many of them.
func literalKey(dir, name string, args, index int) string {
	return fmt.Sprint(dir, " ", name, " ", args, " ", index)
}

// function counts a function or method.
func (h *house) function(dir string, d *ast.FuncDecl) {
	from, to := h.files.Position(d.Pos()), h.files.Position(d.End())
	f := function{in: dir, name: d.Name.Name, at: fmt.Sprintf("%s:%d", from.Filename, from.Line), bools: map[int]string{}}
	for _, field := range d.Type.Params.List {
		id, ok := field.Type.(*ast.Ident)
		names := field.Names
		if names == nil {
			names = []*ast.Ident{{Name: "_"}}
		}
		for _, name := range names {
			if ok && id.Name == "bool" {
				f.bools[f.params] = name.Name
			}
			f.params++
		}
	}
	h.functions = append(h.functions, f)
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
	lines := to.Line - from.Line + 1
	row := fmt.Sprintf("%s: %s: complexity %d, %d lines", f.at, f.name, complexity, lines)
	if complexity > maxComplexity {
		h.complex = append(h.complex, row)
	}
	if lines > maxLines {
		h.long = append(h.long, row)
	}
}

// spec counts the exported names of a declaration, and the exported fields of its
// structs.
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

// once returns the unexported functions and methods, and a line for each of them that is
// named at one place besides its declaration.
func (h *house) once() (unexported int, rows []string) {
	for _, f := range h.functions {
		if ast.IsExported(f.name) || f.name == "main" || f.name == "init" {
			continue
		}
		unexported++
		if h.uses[f.in+" "+f.name] == 2 {
			rows = append(rows, fmt.Sprintf("%s: %s is named at one place", f.at, f.name))
		}
	}
	return unexported, rows
}

// flags returns a line for each bool parameter for which a call in the same folder has
// the identifier true or false.
func (h *house) flags() (rows []string) {
	for _, f := range h.functions {
		for i := range f.params {
			if n := h.literals[literalKey(f.in, f.name, f.params, i)]; n > 0 && f.bools[i] != "" {
				rows = append(rows, fmt.Sprintf("%s: %s: the bool parameter %s is true or false in %d calls", f.at, f.name, f.bools[i], n))
			}
		}
	}
	return rows
}

// list prints what is counted, a line each.
func (h *house) list(w io.Writer) {
	_, once := h.once()
	for _, rows := range [][]string{h.complex, h.long, once, h.flags(), h.wide} {
		for _, row := range rows {
			fmt.Fprintln(w, row)
		}
	}
}

// print prints a line for each count.
func (h *house) print(w io.Writer) {
	unexported, once := h.once()
	for _, row := range []struct {
		what  string
		count int
	}{
		{"lines of code", h.lines},
		{fmt.Sprintf("of them over %d columns", maxColumns), len(h.wide)},
		{"folders with Go files", len(h.dirs)},
		{"unexported functions", unexported},
		{"of them named at one place, percent", 100 * len(once) / max(1, unexported)},
		{fmt.Sprintf("functions with a cyclomatic complexity over %d", maxComplexity), len(h.complex)},
		{fmt.Sprintf("functions over %d lines", maxLines), len(h.long)},
		{"bool parameters where a caller writes true or false", len(h.flags())},
		{"exported names", h.exported},
		{"exported fields of exported structs", h.fields},
	} {
		fmt.Fprintf(w, "%6d %s\n", row.count, row.what)
	}
}
