package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every type of line can be read back, since resume would take an unknown type for damage.
func TestEveryTypeOfLineCanBeReadBack(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Names) != 1 || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Type") {
				return true
			}
			if text, ok := v.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				kind, _ := strconv.Unquote(text.Value)
				if found++; decoders[kind] == nil && kind != TypeRefused && kind != TypePreviewed {
					t.Errorf("%s: lines of type %s have no decoder: add it to decode.go", v.Names[0].Name, kind)
				}
			}
			return true
		})
	}
	if found < 20 {
		t.Errorf("only %d types found", found)
	}
}
