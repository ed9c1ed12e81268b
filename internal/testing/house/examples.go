package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A godoc has the exported names of the packages that others can import, such as
// "harvest.Source", and what is part of each: the types of parameters, results, fields and
// methods, the constants of a type, the others of a group of constants.
type godoc struct {
	parts map[string][]string
	used  []string // by examples
}

// unreached returns the names that no example uses and that are no part of what one uses,
// in order.
func unreached(root string) ([]string, error) {
	d := &godoc{parts: map[string][]string{}}
	if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		return d.visit(path, filepath.ToSlash(name), entry)
	}); err != nil {
		return nil, err
	}
	for left := d.used; len(left) > 0; left = left[1:] {
		left = append(left, d.parts[left[0]]...)
		delete(d.parts, left[0])
	}
	return slices.Sorted(maps.Keys(d.parts)), nil
}

// visit reads a file: examples are functions, files of tests, and the programs below
// examples but for the large one.
func (d *godoc) visit(path, name string, entry fs.DirEntry) error {
	switch {
	case entry.IsDir() && (slices.Contains([]string{"testdata", "internal", "tools", ".git"}, entry.Name()) || name == "examples/websync"):
		return fs.SkipDir
	case entry.IsDir() || !strings.HasSuffix(name, ".go"):
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := f.Name.Name
	whole := strings.HasPrefix(name, "examples/") || strings.HasPrefix(entry.Name(), "example")
	for _, decl := range f.Decls {
		switch fn, ok := decl.(*ast.FuncDecl); {
		case whole || strings.HasSuffix(name, "_test.go") && ok && strings.HasPrefix(fn.Name.Name, "Example"):
			d.used = append(d.used, names(pkg, decl)...)
		case !strings.HasSuffix(name, "_test.go"):
			d.declare(pkg, decl)
		}
	}
	return nil
}

// declare adds the names of a declaration, and their parts.
func (d *godoc) declare(pkg string, decl ast.Decl) {
	add := func(name string, parts ...string) {
		if ast.IsExported(name) {
			d.parts[pkg+"."+name] = append(d.parts[pkg+"."+name], parts...)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		parts := names(pkg, decl.Type)
		switch {
		case !decl.Name.IsExported() || pkg == "main":
		case decl.Recv == nil:
			add(decl.Name.Name, parts...)
		default:
			_, receiver, _ := strings.Cut(names(pkg, decl.Recv)[0], ".")
			add(receiver, parts...)
		}
	case *ast.GenDecl:
		var group []string
		for _, s := range decl.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name.Name, names(pkg, s.Type)...)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					group = append(group, pkg+"."+id.Name)
					add(id.Name)
				}
				if id, ok := s.Type.(*ast.Ident); ok && ast.IsExported(id.Name) {
					group = append(group, pkg+"."+id.Name)
				}
			}
		}
		for _, name := range group {
			if _, exported := d.parts[name]; decl.Tok == token.CONST && exported {
				d.parts[name] = append(d.parts[name], group...)
			}
		}
	}
}

// names returns the names that a part of a file uses: those of other packages with their
// package, others with pkg.
func names(pkg string, n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				all = append(all, id.Name+"."+n.Sel.Name)
				return false
			}
			all = append(all, names(pkg, n.X)...)
			return false
		case *ast.Field: // whose own names are no uses
			all = append(all, names(pkg, n.Type)...)
			return false
		case *ast.Ident:
			all = append(all, pkg+"."+n.Name)
		}
		return true
	})
	return all
}
