package formula

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/operator"
)

// node is a part of a formula. Parts that the text has once may be reached twice.
type node struct {
	kind     kind
	text     string // a name, an operator, a function; a text
	value    float64
	args     []*node
	variable bool // of a name: a let has defined it
	at       int  // its character in the formula, counted from 0
}

// kind is what a node is.
type kind int

const (
	number kind = iota
	truth       // true, false
	text
	name
	call    // text(args…)
	index   // args[0][args[1]]
	slice   // args[0][args[1]:args[2]], of which either may be nil
	unary   // text args[0]
	infix   // args[0] text args[1]
	between // args[0] < args[1] < args[2] …, with the operators in text
	choice  // args[0] ? args[1] : args[2]
	let     // let text = args[0]; args[1]
	list    // [args…]
)

// reader makes nodes from the parser's.
type reader struct {
	text  string
	nodes int
	names []string // of variables, the innermost last
}

func (r *reader) fail(at int, format string, args ...any) error {
	return &Error{What: fmt.Sprintf(format, args...), Formula: r.text, At: at}
}

// read makes a node from one of the parser's, depth below the root.
func (r *reader) read(from ast.Node, depth int) (*node, error) {
	if from == nil {
		return nil, r.fail(0, "the formula is not complete")
	}
	at := from.Location().From
	if depth > MaxDepth {
		return nil, r.fail(at, "the formula is nested deeper than %d: name parts of it by let", MaxDepth)
	}
	if r.nodes++; r.nodes > MaxNodes {
		return nil, r.fail(at, "the formula has more than %d parts", MaxNodes)
	}
	make := func(k kind, text string, args ...ast.Node) (*node, error) { return r.with(k, text, at, depth, args...) }
	switch n := from.(type) {
	case *ast.IntegerNode:
		return &node{kind: number, value: float64(n.Value), at: at}, nil
	case *ast.FloatNode:
		return &node{kind: number, value: n.Value, at: at}, nil
	case *ast.BoolNode:
		return &node{kind: truth, value: of(n.Value), at: at}, nil
	case *ast.StringNode:
		return &node{kind: text, text: n.Value, at: at}, nil
	case *ast.IdentifierNode:
		return &node{kind: name, text: n.Value, at: at, variable: slices.Contains(r.names, n.Value)}, nil
	case *ast.MemberNode:
		return r.member(n, at, depth)
	case *ast.SliceNode:
		return make(slice, "", n.Node, n.From, n.To)
	case *ast.BuiltinNode:
		return r.call(n.Name, n.Arguments, at, depth)
	case *ast.CallNode:
		callee, err := r.read(n.Callee, depth+1)
		if err != nil {
			return nil, err
		}
		if callee.kind != name || callee.variable {
			return nil, r.fail(at, "only a function has arguments in brackets")
		}
		return r.call(callee.text, n.Arguments, callee.at, depth)
	case *ast.UnaryNode:
		if n.Operator == "+" {
			return r.read(n.Node, depth+1)
		}
		return make(unary, spelled(n.Operator), n.Node)
	case *ast.BinaryNode:
		return r.binary(n, at, depth)
	case *ast.ConditionalNode:
		at = n.Cond.Location().From // the parser's own place is that of what follows
		return make(choice, "", n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return make(list, "", n.Nodes...)
	case *ast.VariableDeclaratorNode:
		return r.declaration(n, at, depth)
	}
	return nil, r.fail(at, "%s", refused(from))
}

// with makes a node with arguments. A nil argument stays nil.
func (r *reader) with(k kind, text string, at, depth int, args ...ast.Node) (*node, error) {
	n := &node{kind: k, text: text, at: at}
	for i, a := range args {
		if a == nil {
			n.args = append(n.args, nil)
			continue
		}
		below := depth + 1
		if k == infix && i == 0 {
			below = depth // a long sum is not deep
		}
		arg, err := r.read(a, below)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arg)
	}
	return n, nil
}

// call makes a call of a function with as many arguments as it takes, or of what only a caller defines.
func (r *reader) call(name string, args []ast.Node, at, depth int) (*node, error) {
	if f, known := functions[name]; known {
		if wrong := f.arity(name, len(args)); wrong != "" {
			return nil, r.fail(at, "%s", wrong)
		}
	}
	return r.with(call, name, at, depth, args...)
}

// member is x[i], or a name with a dot. The parser does not tell x["speed"] from x.speed; here the
// place does, which is that of the bracket in the one, and that of the name in the other.
func (r *reader) member(n *ast.MemberNode, at, depth int) (*node, error) {
	if n.Optional {
		return nil, r.fail(at, "?. is no operator of formulas")
	}
	property, is := n.Property.(*ast.StringNode)
	if !is || property.Location().From != at {
		return r.with(index, "", at, depth, n.Node, n.Property)
	}
	base, err := r.read(n.Node, depth+1)
	if err != nil {
		return nil, err
	}
	if base.kind != name || base.variable {
		return nil, r.fail(at, "only a name has parts: elements are in square brackets, as in obs[0]")
	}
	return &node{kind: name, text: base.text + "." + property.Value, at: base.at}, nil
}

func (r *reader) declaration(n *ast.VariableDeclaratorNode, at, depth int) (*node, error) {
	if _, taken := functions[n.Name]; taken {
		return nil, r.fail(at, "%s is a function: give the variable another name", n.Name)
	}
	if slices.Contains(r.names, n.Name) {
		return nil, r.fail(at, "%s is defined already: give the variable another name", n.Name)
	}
	value, err := r.read(n.Value, depth+1)
	if err != nil {
		return nil, err
	}
	r.names = append(r.names, n.Name)
	body, err := r.read(n.Expr, depth+1)
	r.names = r.names[:len(r.names)-1]
	if err != nil {
		return nil, err
	}
	return &node{kind: let, text: n.Name, args: []*node{value, body}, at: at}, nil
}

// binaryOperators are those of formulas.
var binaryOperators = []string{"or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^"}

func (r *reader) binary(n *ast.BinaryNode, at, depth int) (*node, error) {
	op := spelled(n.Operator)
	if !slices.Contains(binaryOperators, op) {
		return nil, r.fail(at, "%s is no operator of formulas", n.Operator)
	}
	if ops, operands := comparisons(n); len(ops) > 1 {
		return r.with(between, strings.Join(ops, " "), at, depth, operands...)
	}
	return r.with(infix, op, at, depth, n.Left, n.Right)
}

// comparisons takes a < b < c apart. The parser makes a < b and b < c of it, with one b: read as
// that, comparisons inside others would take a time that doubles with each level.
func comparisons(n ast.Node) (ops []string, operands []ast.Node) {
	b, is := n.(*ast.BinaryNode)
	if !is {
		return nil, nil
	}
	if operator.IsComparison(b.Operator) {
		return []string{b.Operator}, []ast.Node{b.Left, b.Right}
	}
	last, is := b.Right.(*ast.BinaryNode)
	if ops, operands = comparisons(b.Left); !is || len(ops) == 0 || last.Left != operands[len(ops)] {
		return nil, nil
	}
	return append(ops, last.Operator), append(operands, last.Right)
}

// spelled is how an operator is written that can be written in two ways.
func spelled(op string) string {
	switch op {
	case "&&":
		return "and"
	case "||":
		return "or"
	case "!":
		return "not"
	case "**":
		return "^"
	}
	return op
}

// refused says which part of the parser's language is none of formulas.
func refused(n ast.Node) string {
	switch n.(type) {
	case *ast.SequenceNode:
		return "a formula has one value: only let is followed by ;"
	case *ast.MapNode, *ast.PairNode:
		return "{} is not part of formulas"
	case *ast.NilNode:
		return "nil is no number"
	case *ast.PredicateNode, *ast.PointerNode:
		return "the function takes no predicate"
	}
	return "this is not part of formulas"
}

// of is a condition as a number.
func of(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
