package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The name of a folder is not a pattern: a run in a[12] has nothing to do with those in a1 and a2.
// Therefore no file of the program, except for tests, calls a function that reads patterns.
func TestNoPathIsAPattern(t *testing.T) {
	patterns := map[string][]string{
		"path/filepath": {"Glob", "Match"},
		"path":          {"Match"},
		"io/fs":         {"Glob"},
	}
	files := 0
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files++
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		forbidden := map[string][]string{} // by the name that the file gives to the package
		for _, spec := range parsed.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			name := target[strings.LastIndexByte(target, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if names, found := patterns[target]; found {
				forbidden[name] = names
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is {
				if of, plain := s.X.(*ast.Ident); plain && slices.Contains(forbidden[of.Name], s.Sel.Name) {
					t.Errorf("%s: %s.%s takes a path for a pattern: read the folder and compare names", positions.Position(s.Pos()), of.Name, s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files were read: %v", files, err)
	}
}
