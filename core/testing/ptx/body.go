package ptx

import (
	"strconv"
	"strings"
)

// function reads what follows .entry or .func.
func (p *parser) function(t token) {
	f := &function{entry: t.text == ".entry", line: t.line}
	p.f, p.scope = f, newScope(p.module)
	if !f.entry && p.peek().text == "(" {
		f.results = p.parameters()
	}
	n := p.name()
	f.name = n.text
	if p.peek().text == "(" {
		f.params = p.parameters()
	}
	for p.peek().text != "{" && p.peek().text != ";" {
		p.attribute()
	}
	old := p.m.functions[f.name]
	if old != nil && old.entry != f.entry {
		fail(t.line, "%s is declared both as a kernel and as a function", f.name)
	}
	if p.accept(";") {
		if old == nil {
			p.m.functions[f.name] = f
		}
		return
	}
	if old != nil && old.defined {
		fail(t.line, "%s is defined twice", f.name)
	}
	f.defined = true
	p.m.functions[f.name] = f
	p.expect("{")
	p.statements()
	p.resolveLabels()
}

func (p *parser) parameters() []*variable {
	var out []*variable
	p.expect("(")
	if p.accept(")") {
		return nil
	}
	for {
		t := p.next()
		if t.text != ".param" {
			fail(t.line, "parameters are .param variables, not %q", t.text)
		}
		v := p.variables(t, false)[0]
		p.declare(v.name, v, v.line)
		out = append(out, v)
		if p.accept(")") {
			return out
		}
		p.expect(",")
	}
}

// attribute reads one performance directive of a function.
func (p *parser) attribute() {
	t := p.next()
	switch t.text {
	case ".maxntid", ".reqntid", ".reqnctapercluster":
		d := [3]int{1, 1, 1}
		for i := range d {
			d[i] = p.size(1 << 20)
			if !p.accept(",") {
				break
			}
		}
		if t.text == ".reqnctapercluster" {
			return
		}
		p.f.maxThread = d[0] * d[1] * d[2]
		if t.text == ".reqntid" {
			p.f.exact = [3]uint32{uint32(d[0]), uint32(d[1]), uint32(d[2])}
		}
	case ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank":
		p.size(1 << 20)
	case ".noreturn", ".explicitcluster":
	case ".pragma":
		p.next()
		p.expect(";")
	default:
		fail(t.line, "%q is not an attribute of a function that is known", t.text)
	}
}

func (p *parser) declare(name string, what any, line int) {
	if _, twice := p.scope.names[name]; twice {
		fail(line, "%s is declared twice", name)
	}
	p.scope.names[name] = what
}

// statements reads up to the closing brace.
func (p *parser) statements() {
	if p.depth++; p.depth > maxNesting {
		fail(p.peek().line, "braces are nested too deeply")
	}
	for {
		t := p.peek()
		switch {
		case t.kind == end:
			fail(t.line, "%s does not end", p.f.name)
		case p.accept("}"):
			p.depth--
			return
		case p.accept("{"):
			p.scope = newScope(p.scope)
			p.statements()
			p.scope = p.scope.up
		case p.accept(";"):
		case t.kind == word && t.text[0] == '.':
			p.local(p.next())
		case t.kind == word && p.tokens[p.at+1].kind == ':':
			p.label()
		default:
			p.instruction()
		}
		if len(p.f.body) > maxStatement {
			fail(t.line, "%s is too long", p.f.name)
		}
	}
}

// local reads a directive inside a function.
func (p *parser) local(t token) {
	switch t.text {
	case ".reg":
		p.registers()
	case ".local", ".shared", ".param":
		if t.text == ".param" {
			v := p.variables(t, false)[0]
			p.expect(";")
			p.declare(v.name, v, v.line)
			p.f.locals = append(p.f.locals, v)
			return
		}
		for _, v := range p.variables(t, false) {
			p.declare(v.name, v, v.line)
			if v.space == local {
				p.f.locals = append(p.f.locals, v)
			}
		}
	case ".loc", ".file":
		p.skipLine(t.line)
	case ".pragma":
		p.next()
		p.expect(";")
	default:
		fail(t.line, "%q is not a directive that is known inside a function", t.text)
	}
}

func (p *parser) registers() {
	t := p.next()
	k := kinds[strings.TrimPrefix(t.text, ".")]
	if k == noKind || t.text[0] != '.' {
		fail(t.line, "registers of type %q", t.text)
	}
	for {
		n := p.name()
		if p.accept("<") {
			p.scope.families[n.text] = family{k, p.size(maxFamily)}
			p.expect(">")
		} else {
			p.declare(n.text, p.f.register(n.text, k), n.line)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

func (f *function) register(name string, k kind) *register {
	r := &register{name: name, kind: k}
	if k == pred {
		r.id = f.preds
		f.preds++
	} else {
		r.id = f.registers
		f.registers++
	}
	return r
}

// label reads "name:".
func (p *parser) label() {
	t := p.name()
	p.expect(":")
	if p.scope.labels[t.text] != nil {
		fail(t.line, "the label %s stands twice", t.text)
	}
	l := &label{name: t.text}
	p.scope.labels[t.text] = l
	p.f.body = append(p.f.body, &statement{line: t.line, label: l})
}

// instruction reads "@p op.mods a, b;".
func (p *parser) instruction() {
	first := p.at
	s := &statement{line: p.peek().line, scope: p.scope}
	if p.accept("@") {
		s.not = p.accept("!")
		t := p.name()
		r, ok := p.lookup(t.text).(*register)
		if !ok || r.kind != pred {
			fail(t.line, "%s is not a predicate", t.text)
		}
		s.guard = r
	}
	op := strings.Split(p.name().text, ".")
	s.op, s.mods = op[0], op[1:]
	for p.peek().text != ";" {
		s.args = append(s.args, p.operand(0))
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	s.text = p.spell(first, p.at-1)
	p.f.body = append(p.f.body, s)
}

// spell joins tokens into one line as a person would write them.
func (p *parser) spell(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		t := p.tokens[i]
		if i > from && strings.IndexByte("],;)}|+", t.text[0]) < 0 {
			if prev := p.tokens[i-1].text; prev == "," || p.tokens[i-1].kind == word && strings.IndexByte("<>", t.text[0]) < 0 {
				b.WriteByte(' ')
			}
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// lookup finds a register or a variable by its name, nil if there is none.
func (p *parser) lookup(name string) any {
	stem := strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(stem):])
	for s := p.scope; s != nil; s = s.up {
		if x, ok := s.names[name]; ok {
			return x
		}
		if f, ok := s.families[stem]; ok && err == nil && n < f.count {
			r := p.f.register(name, f.kind)
			s.names[name] = r
			return r
		}
	}
	return nil
}

// resolveLabels points every name of a branch at its label.
func (p *parser) resolveLabels() {
	for _, s := range p.f.body {
		if s.op != "bra" {
			continue
		}
		for i := range s.args {
			if a := &s.args[i]; a.kind == opName && s.scope.label(a.name) == nil {
				fail(s.line, "there is no label %s", a.name)
			}
		}
	}
}
