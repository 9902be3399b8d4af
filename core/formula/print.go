package formula

import (
	"math"
	"strconv"
	"strings"
)

// How tightly parts of a formula hold together, as the parser has it. A part in a place that needs
// it tighter gets brackets.
const (
	loosest  = 0 // a let, a choice
	tightest = 200
)

var tightness = map[string]int{
	"or": 10, "and": 15, "==": 20, "!=": 20, "<": 20, "<=": 20, ">": 20, ">=": 20,
	"+": 30, "-": 30, "*": 60, "/": 60, "%": 60, "^": 100,
}

// printer writes canonical text.
type printer struct{ strings.Builder }

// print writes a node, in brackets if it holds together less than wanted.
func (p *printer) print(n *node, wanted int) {
	if own := hold(n); own < wanted {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	switch n.kind {
	case number:
		p.WriteString(numeral(n.value))
	case truth:
		p.WriteString(strconv.FormatBool(n.value != 0))
	case text:
		p.WriteString(strconv.Quote(n.text))
	case name:
		p.WriteString(n.text)
	case call:
		p.WriteString(n.text)
		p.joined("(", n.args, ")")
	case list:
		p.joined("[", n.args, "]")
	case index:
		p.print(n.args[0], tightest)
		p.joined("[", n.args[1:], "]")
	case slice:
		p.print(n.args[0], tightest)
		p.WriteByte('[')
		p.maybe(n.args[1])
		p.WriteByte(':')
		p.maybe(n.args[2])
		p.WriteByte(']')
	case unary:
		p.WriteString(n.text)
		if n.text == "not" {
			p.WriteByte(' ')
		}
		p.print(n.args[0], tightest)
	case infix:
		own := tightness[n.text]
		left, right := own, own+1
		if n.text == "^" {
			left, right = tightest, tightest
		}
		p.print(n.args[0], left)
		p.WriteString(" " + n.text + " ")
		p.print(n.args[1], right)
	case between:
		for i, op := range append([]string{""}, strings.Fields(n.text)...) {
			if i > 0 {
				p.WriteString(" " + op + " ")
			}
			p.print(n.args[i], tightness["<"]+1)
		}
	case choice:
		p.print(n.args[0], tightness["or"])
		p.WriteString(" ? ")
		p.print(n.args[1], tightness["or"])
		p.WriteString(" : ")
		p.print(n.args[2], loosest)
	case let:
		p.WriteString("let " + n.text + " = ")
		p.print(n.args[0], tightness["or"])
		p.WriteString("; ")
		p.print(n.args[1], loosest)
	}
}

// hold says how tightly a node holds together.
func hold(n *node) int {
	switch n.kind {
	case let, choice:
		return loosest
	case between:
		return tightness["and"] // as what the parser makes of it
	case infix:
		return tightness[n.text]
	case unary:
		return tightness["*"] // more than a product needs of its left, less than that of its right
	case number:
		if n.value < 0 || math.Signbit(n.value) {
			return tightness["*"]
		}
	}
	return tightest
}

func (p *printer) joined(open string, args []*node, end string) {
	p.WriteString(open)
	for i, a := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.print(a, tightness["or"])
	}
	p.WriteString(end)
}

func (p *printer) maybe(n *node) {
	if n != nil {
		p.print(n, tightness["or"])
	}
}

// numeral is how a number is written in a formula: the shortest text that is read as the same.
func numeral(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
