package op

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/recipes/operations.md")

const preface = `# The operations of a graph

What a network, a loss or a score can be made of: the methods of ` + "`op.Graph`" + ` that return a node. This page is made from package core/op by ` + "`make docs`" + `; shapes are [rows, columns], and [members, rows, columns] for ensembles. [A relevance function](relevance.md) and [a learner](learner.md) show graphs at work, ` + "`core/nn`" + ` has the layers.

| operation | what it is |
|---|---|
`

// The list of operations is generated from this package, so that a new operation is on it.
func TestTheReferenceIsUpToDate(t *testing.T) {
	const path = "../../docs/recipes/operations.md"
	got := preface + strings.Join(operations(t), "")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		t.Errorf("docs/recipes/operations.md does not describe the code (%v): run make docs", err)
	}
}

// operations are the lines of the table, in the order of the files: related ones stand together.
func operations(t *testing.T) (lines []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv == nil || !f.Name.IsExported() || !oneNode(f.Type.Results) || star(f.Recv.List[0].Type) != "Graph" {
				continue
			}
			text := strings.Join(strings.Fields(f.Doc.Text()), " ")
			text = strings.ReplaceAll(strings.TrimPrefix(text, f.Name.Name+" "), "|", `\|`)
			lines = append(lines, fmt.Sprintf("| `%s(%s)` | %s |\n", f.Name.Name, strings.Join(arguments(f.Type.Params), ", "), text))
		}
	}
	return lines
}

// oneNode says whether what a function returns is one node.
func oneNode(results *ast.FieldList) bool {
	return results != nil && len(results.List) == 1 && star(results.List[0].Type) == "Node"
}

// star is the name of T of a type *T.
func star(e ast.Expr) string {
	p, is := e.(*ast.StarExpr)
	if !is {
		return ""
	}
	name, _ := p.X.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// arguments are the names of the arguments; those of a list end in ….
func arguments(params *ast.FieldList) (names []string) {
	for _, p := range params.List {
		for _, n := range p.Names {
			name := n.Name
			if _, is := p.Type.(*ast.Ellipsis); is {
				name += "…"
			}
			names = append(names, name)
		}
	}
	return names
}
