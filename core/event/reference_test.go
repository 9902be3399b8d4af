package event

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/run"
)

var update = flag.Bool("update", false, "write docs/journal.md")

// The reference of the journal is generated from this package: the types of lines, their structs,
// and their comments. The examples are lines of the run in docs/demo.
func TestTheReferenceIsUpToDate(t *testing.T) {
	const path = "../../docs/journal.md"
	got := newReference(t).write()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/journal.md does not describe the code: run make docs")
	}
}

const preface = `# The journal

%s in a run folder is the journal of the run: one JSON object a line, in the order in which things happened. This page is made from package core/event by %s.

Every line has %s and %s, the environment step that it belongs to (in mazes the last one of an env step of all copies, whose steps are counted together), and %s, seconds since the run began; in a cohort of several seeds a line about one of them has %s. A number that is not finite is one of the strings "NaN", "Inf" and "-Inf".

Two runs with the same preset, seed and device write the same journal but for what was *observed*: %s, every object %s, and whole lines of the types %s. %s prints what is left, %s the first difference.

| line | what it says |
|---|---|
`

// reference is the description of the lines in the source.
type reference struct {
	bodies   map[string]string // the struct of each type of line
	at       map[string]string // where the fields of a struct are described, for those that stand in several lines
	structs  map[string]*ast.StructType
	docs     map[string]string
	examples map[string]string
}

func newReference(t *testing.T) *reference {
	t.Helper()
	r := &reference{bodies: map[string]string{}, at: map[string]string{}, structs: map[string]*ast.StructType{}, docs: map[string]string{}, examples: examples(t)}
	for kind, decode := range decoders {
		body, err := decode(func(any) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		of := reflect.TypeOf(body)
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		r.bodies[kind] = of.Name()
		r.at[of.Name()] = fmt.Sprintf("[`%s`](#%s)", kind, kind)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				if fields, ok := spec.Type.(*ast.StructType); ok {
					r.structs[spec.Name.Name], r.docs[spec.Name.Name] = fields, flat(cmp.Or(spec.Doc.Text(), g.Doc.Text()))
				}
			}
		}
	}
	return r
}

// examples returns the last line of each type in the run of docs/demo.
func examples(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("../../docs/demo/" + run.JournalName)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var l struct{ Type string }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all[l.Type] = lines.Text()
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *reference) write() string {
	var b strings.Builder
	kinds := make([]string, 0, len(r.bodies))
	var observed []string
	for kind := range r.bodies {
		kinds = append(kinds, kind)
		if isObserved(kind) {
			observed = append(observed, code(kind))
		}
	}
	slices.Sort(kinds)
	slices.Sort(observed)
	fmt.Fprintf(&b, preface, code("events.jsonl"), code("make docs"), code("type"), code("step"), code("wall_s"), code("member"),
		code("wall_s"), code("obs"), strings.Join(observed, ", "), code("pgrlab journal canonical DIR"), code("pgrlab journal diff A B"))
	for _, kind := range kinds {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", kind, kind, firstSentence(r.said(kind)))
	}
	for _, kind := range kinds {
		fmt.Fprintf(&b, "\n## %s\n\n%s", kind, r.said(kind))
		if isObserved(kind) {
			b.WriteString(" *Observed.*")
		}
		b.WriteString("\n\n| field | value | |\n|---|---|---|\n")
		r.fields(&b, kind, r.bodies[kind], "")
		if line, ok := r.examples[kind]; ok {
			fmt.Fprintf(&b, "\n```json\n%s\n```\n", line)
		}
	}
	return b.String()
}

var (
	copula    = regexp.MustCompile(`^(is|are) `)
	goField   = regexp.MustCompile(`\b(Obs\.)?[A-Z][A-Za-z]*\b`)
	sentences = regexp.MustCompile(`^(.*?[^l][.]) [A-Z]`) // the point of "et al." does not end a sentence
)

// said returns the comment of a struct as a sentence about the line, with the journal's names of
// its fields.
func (r *reference) said(kind string) string {
	name := r.bodies[kind]
	names := map[string]string{}
	r.names(name, "", names)
	text := copula.ReplaceAllString(strings.TrimPrefix(r.docs[name], name+" "), "")
	text = goField.ReplaceAllStringFunc(text, func(word string) string {
		if field, ok := names[word]; ok {
			return code(field)
		}
		return word
	})
	return strings.ToUpper(text[:1]) + text[1:]
}

// names collects the journal's names of the fields of a struct.
func (r *reference) names(name, prefix string, all map[string]string) {
	for _, f := range r.structs[name].Fields.List {
		if len(f.Names) == 0 || f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		field, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		all[prefix+f.Names[0].Name] = strings.ToLower(prefix) + field
		if inner := structName(f.Type); f.Names[0].Name == "Obs" && r.structs[inner] != nil {
			r.names(inner, "Obs.", all)
		}
	}
}

// manyFields is the size from which a struct is described only where it stands first.
const manyFields = 4

// fields writes one row for each field of a struct in a line, and of the structs in it.
func (r *reference) fields(b *strings.Builder, kind, name, prefix string) {
	for _, f := range r.structs[name].Fields.List {
		tag := ""
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value)
			tag = reflect.StructTag(text).Get("json")
		}
		field, option, _ := strings.Cut(tag, ",")
		if field == "-" || field == "" && len(f.Names) > 0 {
			continue
		}
		inner := structName(f.Type)
		if len(f.Names) == 0 { // embedded
			r.fields(b, kind, inner, prefix)
			continue
		}
		comment := strings.TrimSuffix(flat(cmp.Or(f.Comment.Text(), f.Doc.Text())), ":")
		if strings.Contains(option, "omitempty") {
			comment = strings.TrimPrefix(comment+"; may be missing", "; ")
		}
		value, whole := worded(f.Type), r.structs[inner] != nil && inner != name
		if whole && r.at[inner] != "" {
			value, whole = value+", as "+r.at[inner], false
		} else if whole && len(r.structs[inner].Fields.List) >= manyFields {
			r.at[inner] = fmt.Sprintf("`%s%s` of [`%s`](#%s)", prefix, field, kind, kind)
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, field, value, strings.ReplaceAll(comment, "|", `\|`))
		if whole {
			r.fields(b, kind, inner, prefix+field+".")
		}
	}
}

// structName returns the struct of this package that a field holds, alone or in a collection; ""
// stands for none.
func structName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return structName(e.X)
	case *ast.ArrayType:
		return structName(e.Elt)
	case *ast.MapType:
		return structName(e.Value)
	}
	return ""
}

// worded describes a type as it appears in JSON.
func worded(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return worded(e.X)
	case *ast.ArrayType:
		return "list of: " + worded(e.Elt)
	case *ast.MapType:
		return "by name: " + worded(e.Value)
	case *ast.SelectorExpr:
		switch e.Sel.Name {
		case "Float":
			return "number"
		case "Position":
			return "position, as `20000` or `20000/fit:3`"
		case "Value":
			return "number or text"
		}
		return "text"
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "text"
		case "bool":
			return "true or false"
		case "int", "int64", "uint64", "float64", "float32":
			return "number"
		}
	}
	return "object"
}

// isObserved says whether canonical journals leave out lines of that type.
func isObserved(kind string) bool {
	var b strings.Builder
	if err := run.Canonical(strings.NewReader(fmt.Sprintf(`{"type":%q,"step":1}`+"\n", kind)), &b); err != nil {
		panic(err)
	}
	return b.Len() == 0
}

func code(s string) string { return "`" + s + "`" }

// flat joins the lines of a comment.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func firstSentence(s string) string {
	if m := sentences.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}
