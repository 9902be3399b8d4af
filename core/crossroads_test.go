package core_test

import (
	"go/ast"
	"slices"
	"testing"
)

// maxReplicaMethods is how many methods the type has in which all parts of a member meet.
const maxReplicaMethods = 60

// A member of a run composes any learner, relevance function and generator without looking at what kind
// it is: what a part can do is a field that may be nil. A new kind then touches its own package only.
func TestAMemberLooksAtNoKinds(t *testing.T) {
	methods := 0
	eachFile(t, 0, func(file, name string, _ []byte, parsed *ast.File) {
		if !slices.Contains([]string{"core/replica", "core/inspect", "core/offline"}, name) {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if a, is := n.(*ast.TypeAssertExpr); is && a.Type != nil {
				if kind := partOf(a.Type); kind != "" {
					t.Errorf("%s asserts %s: make what it can do a field of the struct that New returns", file, kind)
				}
			}
			return true
		})
		for _, d := range parsed.Decls {
			f, is := d.(*ast.FuncDecl)
			switch {
			case !is || name != "core/replica":
			case f.Recv != nil:
				if typeName(f.Recv.List[0].Type) == "Replica" {
					methods++
				}
			default:
				for _, p := range f.Type.Params.List {
					if typeName(p.Type) == "Replica" {
						t.Errorf("%s: %s takes a *Replica: make it a method of what it works on", file, f.Name.Name)
					}
				}
			}
		}
	})
	if methods == 0 || methods > maxReplicaMethods {
		t.Errorf("core/replica.Replica has %d methods, want 1 to %d", methods, maxReplicaMethods)
	}
}

// partOf returns a type of a package of parts; "" for other types.
func partOf(e ast.Expr) string {
	if s, is := e.(*ast.SelectorExpr); is {
		if p, is := s.X.(*ast.Ident); is && slices.Contains([]string{"agent", "relevance", "generative"}, p.Name) {
			return p.Name + "." + s.Sel.Name
		}
	}
	if i, is := e.(*ast.InterfaceType); is && len(i.Methods.List) > 0 {
		return "an interface without a name"
	}
	return ""
}
