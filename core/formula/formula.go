package formula

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// The limits of a formula.
const (
	MaxBytes = 4 << 10 // its text
	MaxDepth = 100     // brackets, operators and functions inside one another
	MaxNodes = 1000    // names, numbers, operators and functions
)

// Formula is what was written, read and not yet compiled.
type Formula struct {
	text string
	root *node
}

// Parse reads a formula. It covers the operators and functions, and not what the names
// mean. Errors are *Error.
func Parse(text string) (*Formula, error) {
	fail := func(at int, format string, args ...any) (*Formula, error) {
		return nil, &Error{What: fmt.Sprintf(format, args...), Formula: text, At: at}
	}
	switch {
	case len(text) > MaxBytes:
		return nil, &Error{What: fmt.Sprintf("the formula has %d bytes, want at most %d", len(text), MaxBytes), Formula: text[:64], At: 0}
	case !utf8.ValidString(text):
		return nil, &Error{What: "the formula is not text in UTF-8", Formula: strings.ToValidUTF8(text, "?")}
	case strings.TrimSpace(text) == "":
		return fail(0, "the formula is empty")
	}
	tree, err := parser.Parse(text)
	if err != nil {
		var e *file.Error
		if errors.As(err, &e) {
			what := plain(e.Message)
			if what == endsEarly {
				e.From = utf8.RuneCountInString(text)
			}
			return fail(e.From, "%s", what)
		}
		return fail(0, "%s", plain(err.Error()))
	}
	r := reader{text: text}
	root, err := r.read(tree.Node, 0)
	if err != nil {
		return nil, err
	}
	return &Formula{text: text, root: root}, nil
}

// unexpected is how the parser calls a token that it can not use.
var unexpected = regexp.MustCompile(`^unexpected token (?:EOF|\w+\((".*")\))$`)

const endsEarly = "the formula ends too early"

// plain says in our words what the parser says.
func plain(message string) string {
	m := unexpected.FindStringSubmatch(message)
	switch {
	case m != nil && m[1] == "":
		return endsEarly
	case m != nil:
		return m[1] + " is not expected here"
	case strings.Contains(message, "value out of range"), strings.Contains(message, "too large"):
		return "the number is too large: want at most 1e308, and an exponent from 20 digits on"
	case strings.HasPrefix(message, "invalid"):
		message, _, _ = strings.Cut(message, ":")
		return message
	}
	return strings.ToLower(message[:1]) + message[1:]
}

// Text is the formula as it was written.
func (f *Formula) Text() string { return f.text }

// String is the canonical text of a formula: two formulas that differ only in spaces, brackets
// without effect, comments and how numbers are written have the same.
func (f *Formula) String() string {
	var p printer
	p.print(f.root, loosest)
	return p.String()
}

// Uses lists the names that are used, each once, in the order of the text. Variables, functions and
// constants are none of them.
func (f *Formula) Uses() []string {
	var names []string
	f.visit(func(n *node) {
		_, function := functions[n.text]
		_, constant := constants[n.text]
		used := n.kind == name && !n.variable && !constant || n.kind == call && !function
		if used && !slices.Contains(names, n.text) {
			names = append(names, n.text)
		}
	})
	return names
}

// Whole says whether the formula has functions of a whole column.
func (f *Formula) Whole() (whole bool) {
	f.visit(func(n *node) {
		form := functions[n.text].form
		whole = whole || n.kind == call && (form == ofColumn || form == ofMix)
	})
	return whole
}

// visit calls do with every part, in the order of the text.
func (f *Formula) visit(do func(n *node)) {
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		do(n)
		for _, a := range n.args {
			visit(a)
		}
	}
	visit(f.root)
}
