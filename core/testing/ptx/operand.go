package ptx

// operand reads one operand.
func (p *parser) operand(depth int) operand {
	t := p.peek()
	if depth > 4 {
		fail(t.line, "operands are nested too deeply")
	}
	switch {
	case p.accept("["):
		return p.address()
	case p.accept("{"):
		return operand{kind: opVector, list: p.operands("}", depth)}
	case p.accept("("):
		return operand{kind: opList, list: p.operands(")", depth)}
	case p.accept("!"):
		o := p.operand(depth + 1)
		o.not = !o.not
		return o
	case t.kind == number || t.kind == '-':
		return p.immediate()
	case t.kind != word || t.text[0] == '.':
		fail(t.line, "expected an operand, found %q", t.text)
	}
	o := p.named(p.next())
	if p.accept("|") {
		q := p.operand(depth + 1)
		o.pair = &q
	}
	if o.kind == opVariable {
		o.off += p.offset()
	}
	return o
}

// named returns the operand that a word stands for.
func (p *parser) named(t token) operand {
	if t.text == "_" {
		return operand{kind: opSink}
	}
	if t.text == "WARP_SZ" {
		return operand{kind: opImmediate, bits: 32}
	}
	switch x := p.lookup(t.text).(type) {
	case *register:
		return operand{kind: opRegister, reg: x}
	case *variable:
		return operand{kind: opVariable, v: x}
	}
	if id, ok := specials[t.text]; ok {
		return operand{kind: opSpecial, id: id, name: t.text}
	}
	if t.text[0] == '%' {
		fail(t.line, "%s is neither a register that was declared nor a special one that is known", t.text)
	}
	return operand{kind: opName, name: t.text}
}

func (p *parser) operands(until string, depth int) []operand {
	var out []operand
	if p.accept(until) {
		return nil
	}
	for {
		out = append(out, p.operand(depth+1))
		if p.accept(until) {
			return out
		}
		p.expect(",")
	}
}

// address reads "base+offset]" with a register, a variable or a number as base.
func (p *parser) address() operand {
	o := operand{kind: opAddress}
	if t := p.peek(); t.kind == number || t.kind == '-' {
		o.list = []operand{p.immediate()}
	} else {
		base := p.named(p.name())
		if base.kind != opRegister && base.kind != opVariable {
			fail(t.line, "%s is not an address", t.text)
		}
		o.list = []operand{base}
		o.off = p.offset()
	}
	for p.accept(",") { // the coordinates of a tensor, read but not supported
		o.list = append(o.list, p.operand(1))
	}
	p.expect("]")
	return o
}

// offset reads "+4", "+-4", "-4" or nothing.
func (p *parser) offset() int64 {
	switch {
	case p.accept("+"):
		return int64(p.immediate().bits)
	case p.peek().kind == '-':
		return int64(p.immediate().bits)
	}
	return 0
}
