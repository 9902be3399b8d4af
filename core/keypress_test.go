package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxFiles is the largest number of files on the way from a key press to the sampler.
const maxFiles = 12

// docs/key-press.md agrees with the code: its functions exist, in an item each function calls the
// next where an arrow says so, and the way to the sampler is short.
func TestTheWayOfAKeyPress(t *testing.T) {
	text, err := os.ReadFile("../docs/key-press.md")
	if err != nil {
		t.Fatal(err)
	}
	arrow := regexp.MustCompile("`([a-z/]+\\.[\\w.]+)` → `([a-z/]+\\.[\\w.]+)`")
	single := regexp.MustCompile("`((?:tui|core)[a-z/]*\\.[\\w.]+)`")
	there, back, found := strings.Cut(string(text), "## From the sampler")
	if !found {
		t.Fatal("docs/key-press.md has no second part")
	}
	functions := functionsOf(t, "../tui", "../tui/pane/knobs", "../tui/steer", "../tui/remote", "lab", "replica", "redo", "knob", "generative")
	files := map[string]bool{}
	for i, part := range []string{there, back} {
		for _, m := range single.FindAllStringSubmatch(part, -1) {
			f, known := functions[m[1]]
			if !known {
				t.Errorf("docs/key-press.md: there is no function %s", m[1])
			} else if i == 0 {
				files[f.file] = true
			}
		}
		for rest := part; ; { // overlapping: the end of an arrow is the beginning of the next
			at := arrow.FindStringSubmatchIndex(rest)
			if at == nil {
				break
			}
			from, to := rest[at[2]:at[3]], rest[at[4]:at[5]]
			rest = rest[at[4]-1:]
			if f, known := functions[from]; known && !f.mentions[to[strings.LastIndexByte(to, '.')+1:]] {
				t.Errorf("docs/key-press.md: %s does not call %s", from, to)
			}
		}
	}
	if len(files) > maxFiles || len(files) == 0 {
		t.Errorf("the way to the sampler goes through %d files, want at most %d: %v", len(files), maxFiles, files)
	}
}

// function has the file of a function, and the names in its body.
type function struct {
	file     string
	mentions map[string]bool
}

// functionsOf returns the functions of packages, by package, type and name.
func functionsOf(t *testing.T, dirs ...string) map[string]function {
	t.Helper()
	all := map[string]function{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		name, err := filepath.Rel("..", filepath.Join("..", "core", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is || f.Body == nil {
					continue
				}
				mentions := map[string]bool{}
				ast.Inspect(f.Body, func(n ast.Node) bool {
					if id, is := n.(*ast.Ident); is {
						mentions[id.Name] = true
					}
					return true
				})
				all[filepath.ToSlash(name)+"."+receiver(f)+f.Name.Name] = function{file, mentions}
			}
		}
	}
	return all
}

// receiver returns the type of a method and a dot; "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, is := of.(*ast.StarExpr); is {
		of = p.X
	}
	if id, is := of.(*ast.Ident); is {
		return id.Name + "."
	}
	return ""
}
