package core_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"slices"
	"testing"
)

// These are the sizes beyond which a package, a type or a file is to be split. They do not apply to
// tests, generated files and packages that are for tests only.
const (
	maxPackageLines = 6000
	maxMethods      = 100
	maxFileLines    = 400
)

// beyond has the packages and types that are larger, each with a size that it may not exceed.
// After making one smaller, write down the new size or remove the entry.
var beyond = map[string]int{}

// builders are types with a method for each thing that they build: an operation of a graph, a
// kernel in assembly.
var builders = []string{"core/op.Graph", "core/device/cpu/kernel/gen.gen"}

func TestNothingGrowsTooLarge(t *testing.T) {
	lines, methods := map[string]int{}, map[string]int{}
	eachFile(t, parser.ParseComments, func(file, name string, text []byte, parsed *ast.File) {
		if forTests(name) || ast.IsGenerated(parsed) {
			return
		}
		n := bytes.Count(text, []byte("\n"))
		if n > maxFileLines {
			t.Errorf("%s has %d lines, want at most %d", file, n, maxFileLines)
		}
		lines[name] += n
		for _, decl := range parsed.Decls {
			if f, is := decl.(*ast.FuncDecl); is && f.Recv != nil {
				methods[name+"."+typeName(f.Recv.List[0].Type)]++
			}
		}
	})
	for _, kind := range []struct {
		sizes map[string]int
		most  int
		unit  string
	}{{lines, maxPackageLines, "lines"}, {methods, maxMethods, "methods"}} {
		for name, n := range kind.sizes {
			most, known := beyond[name]
			switch {
			case slices.Contains(builders, name):
			case known && n <= kind.most:
				t.Errorf("%s has %d %s, which is no longer beyond %d: take it out of the list", name, n, kind.unit, kind.most)
			case known && n > most:
				t.Errorf("%s has %d %s, and had %d: take it apart", name, n, kind.unit, most)
			case !known && n > kind.most:
				t.Errorf("%s has %d %s, want at most %d", name, n, kind.unit, kind.most)
			}
		}
	}
}

// typeName returns the name of the type of a receiver.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
