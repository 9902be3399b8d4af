package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// eachFile calls do with every Go file of the program that is not a test, and the path of its package.
func eachFile(t *testing.T, mode parser.Mode, do func(file, pkg string, text []byte, parsed *ast.File)) {
	t.Helper()
	const root = ".."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, mode)
		if err != nil {
			return err
		}
		do(file, strings.TrimPrefix(path.Clean(filepath.ToSlash(rel)), "."), text, parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
