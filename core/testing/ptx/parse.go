package ptx

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Limits that keep an invalid text from using much memory.
const (
	maxVariable  = 1 << 28 // bytes
	maxFamily    = 1 << 20 // registers
	maxNesting   = 64
	maxStatement = 1 << 22 // statements of a function
)

type parser struct {
	tokens []token
	at     int
	m      *Module
	module *scope
	f      *function
	scope  *scope
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept takes the next token if it is the given character or word.
func (p *parser) accept(text string) bool {
	t := p.peek()
	if t.kind == quoted || t.kind == end || t.text != text {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) token {
	t := p.next()
	if t.kind == quoted || t.kind == end || t.text != text {
		fail(t.line, "expected %q, found %q", text, t.text)
	}
	return t
}

func (p *parser) name() token {
	t := p.next()
	if t.kind != word || t.text[0] == '.' {
		fail(t.line, "expected a name, found %q", t.text)
	}
	return t
}

// parse reads a whole text.
func (p *parser) parse() {
	for {
		t := p.next()
		switch t.text {
		case "":
			if t.kind == end {
				return
			}
			fail(t.line, "a string stands where a directive should")
		case ".version":
			p.m.Version = p.next().text
		case ".target":
			for {
				if n := p.next(); strings.HasPrefix(n.text, "sm_") {
					p.m.Target = n.text
					p.m.sm, _ = strconv.Atoi(strings.TrimRight(n.text[3:], "af"))
				}
				if !p.accept(",") {
					break
				}
			}
		case ".address_size":
			if n := p.next(); n.text != "64" {
				fail(n.line, "addresses of %s bits: only 64 are supported", n.text)
			}
		case ".visible", ".weak", ".common", ";":
		case ".extern":
			p.declaration(p.next(), true)
		case ".file", ".loc":
			p.skipLine(t.line)
		case ".section":
			p.skipSection()
		default:
			p.declaration(t, false)
		}
	}
}

func (p *parser) skipLine(line int) {
	for t := p.peek(); t.kind != end && t.line == line; t = p.peek() {
		p.at++
	}
}

func (p *parser) skipSection() {
	for t := p.next(); t.text != "}"; t = p.next() {
		if t.kind == end {
			fail(t.line, "a section that does not end")
		}
	}
}

// declaration reads a variable or a function.
func (p *parser) declaration(t token, extern bool) {
	switch t.text {
	case ".global", ".const", ".shared":
		for _, v := range p.variables(t, extern) {
			if _, twice := p.module.names[v.name]; twice && !extern {
				fail(v.line, "%s is declared twice", v.name)
			}
			p.module.names[v.name] = v
			if v.space == global {
				if extern {
					fail(v.line, "%s is an external variable: modules are not linked", v.name)
				}
				p.m.globals = append(p.m.globals, v)
			}
		}
	case ".entry", ".func":
		p.function(t)
	default:
		fail(t.line, "%q is not a directive that is known here", t.text)
	}
}

// variables reads the rest of a declaration after ".global": attributes, type, names, values.
func (p *parser) variables(t token, extern bool) []*variable {
	v := variable{align: 0}
	switch t.text {
	case ".global", ".const":
		v.space = global
	case ".shared":
		v.space = shared
	case ".local":
		v.space, v.stack = local, true
	case ".param":
		v.space = param
	}
	lanes := p.variableType(&v)
	var out []*variable
	for {
		n := p.name()
		one := v
		one.name, one.line = n.text, n.line
		one.size = v.elem.bytes() * lanes * p.dimensions(&one, extern)
		if one.size > maxVariable {
			fail(n.line, "%s has %d bytes", n.text, one.size)
		}
		if p.accept("=") {
			one.data = make([]byte, one.size)
			at := 0
			p.value(&one, &at)
		}
		out = append(out, &one)
		if v.space == param || !p.accept(",") {
			break
		}
	}
	if v.space != param {
		p.expect(";")
	}
	return out
}

// variableType reads alignment and type, and returns the length of a vector.
func (p *parser) variableType(v *variable) int {
	lanes := 1
	for v.elem == noKind {
		a := p.next()
		switch {
		case a.text == ".align":
			v.align = p.size(1 << 12)
			if v.align&(v.align-1) != 0 || v.align == 0 {
				fail(a.line, "an alignment of %d bytes", v.align)
			}
		case a.text == ".v2" || a.text == ".v4":
			lanes = int(a.text[2] - '0')
		case a.text == ".attribute":
			p.expect("(")
			p.next()
			p.expect(")")
		case strings.HasPrefix(a.text, ".") && kinds[a.text[1:]] > pred:
			v.elem = kinds[a.text[1:]]
		default:
			fail(a.line, "expected the type of a variable, found %q", a.text)
		}
	}
	v.align = max(v.align, v.elem.bytes()*lanes)
	for p.peek().text == ".ptr" { // .param .u64 .ptr .global .align 4 x
		for p.next(); strings.HasPrefix(p.peek().text, "."); {
			if a := p.next(); a.text == ".align" {
				p.size(1 << 12)
			}
		}
	}
	return lanes
}

// dimensions reads [2][3] and returns the product.
func (p *parser) dimensions(v *variable, extern bool) int {
	n := 1
	for p.accept("[") {
		if p.accept("]") {
			if !extern || v.space != shared {
				fail(v.line, "%s has no size: only external shared memory may have none", v.name)
			}
			v.dynamic = true
			n = 0
			continue
		}
		n *= p.size(maxVariable)
		if n > maxVariable {
			fail(v.line, "%s has %d elements", v.name, n)
		}
		p.expect("]")
	}
	return n
}

func (p *parser) size(most int) int {
	t := p.next()
	n, err := strconv.ParseUint(strings.TrimSuffix(t.text, "U"), 0, 62)
	if t.kind != number || err != nil || n > uint64(most) {
		fail(t.line, "%q is not a number from 0 to %d", t.text, most)
	}
	return int(n)
}

// value reads an initial value, nested or not, into v.data from byte *at on.
func (p *parser) value(v *variable, at *int) {
	if p.accept("{") {
		if p.accept("}") {
			return
		}
		for {
			if p.depth++; p.depth > maxNesting {
				fail(p.peek().line, "braces are nested too deeply")
			}
			p.value(v, at)
			p.depth--
			if !p.accept(",") {
				break
			}
		}
		p.expect("}")
		return
	}
	t := p.peek()
	size := v.elem.bytes()
	if *at+size > len(v.data) {
		fail(t.line, "%s has more values than its %d bytes hold", v.name, v.size)
	}
	if t.kind == word {
		p.reference(v, *at)
	} else {
		bits := convertImmediate(p.immediate(), v.elem)
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], bits)
		copy(v.data[*at:*at+size], buf[:])
	}
	*at += size
}

// reference reads "generic(x)+4" or "x".
func (p *parser) reference(v *variable, at int) {
	t := p.name()
	if v.elem.bytes() != 8 {
		fail(t.line, "an address needs 8 bytes, %s has elements of %d", v.name, v.elem.bytes())
	}
	r := reference{at: at, name: t.text, line: t.line}
	if t.text == "generic" && p.accept("(") {
		r.generic = true
		r.name = p.name().text
		p.expect(")")
	}
	if p.accept("+") {
		r.off = int64(p.size(maxVariable))
	}
	v.refs = append(v.refs, r)
}

// immediate reads a number with its sign.
func (p *parser) immediate() operand {
	negative := p.accept("-")
	t := p.next()
	if t.kind != number {
		fail(t.line, "expected a number, found %q", t.text)
	}
	o := operand{kind: opImmediate}
	var err error
	switch s := t.text; {
	case len(s) == 10 && (s[:2] == "0f" || s[:2] == "0F"):
		o.real = 'f'
		o.bits, err = strconv.ParseUint(s[2:], 16, 32)
		if negative {
			o.bits ^= 1 << 31
		}
	case len(s) == 18 && (s[:2] == "0d" || s[:2] == "0D"):
		o.real = 'd'
		o.bits, err = strconv.ParseUint(s[2:], 16, 64)
		if negative {
			o.bits ^= 1 << 63
		}
	case strings.ContainsAny(s, ".eE") && !strings.HasPrefix(s, "0x"):
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		if negative {
			f = -f
		}
		o.real, o.bits = 'd', math.Float64bits(f)
	default:
		o.bits, err = strconv.ParseUint(strings.TrimRight(s, "U"), 0, 64)
		if negative {
			o.bits = -o.bits
		}
	}
	if err != nil {
		fail(t.line, "%q is not a number", t.text)
	}
	return o
}

// convertImmediate returns the bits of an immediate as a value of type k.
func convertImmediate(o operand, k kind) uint64 {
	switch {
	case o.real == 'f' && k == f64:
		return math.Float64bits(float64(math.Float32frombits(uint32(o.bits))))
	case o.real == 'd' && k.bits() == 32:
		return uint64(math.Float32bits(float32(math.Float64frombits(o.bits))))
	}
	if n := k.bits(); n < 64 && n > 0 {
		return o.bits & (1<<n - 1)
	}
	return o.bits
}
