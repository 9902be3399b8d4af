package ptx

// lowerBranch is bra.
func lowerBranch(l *lowering, s *statement, m *mods) {
	m.drop("uni")
	l.need(1)
	if s.args[0].kind != opName {
		l.fail("bra goes to a label")
	}
	l.fixed = append(l.fixed, fix{len(l.code), s.scope.label(s.args[0].name)})
	l.emit(blank(classBranch))
}

func (l *lowering) callee(s *statement) *function {
	for _, a := range s.args {
		if a.kind == opName {
			f := l.m.functions[a.name]
			if f == nil || !f.defined || f.entry {
				l.fail("call of %s, which is no function of this module", a.name)
			}
			return f
		}
	}
	l.fail("a call through a pointer is not supported")
	return nil
}

// lowerCall is call: arguments and results are copied between the parameters of the caller
// and the callee, which are both in local memory.
func lowerCall(l *lowering, s *statement, m *mods) {
	m.drop("uni")
	f := l.callee(s)
	var results, args []operand
	seen := false
	for _, a := range s.args {
		switch {
		case a.kind == opName:
			seen = true
		case a.kind != opList:
			l.fail("an operand of call is not a list in parentheses")
		case seen:
			args = a.list
		default:
			results = a.list
		}
	}
	l.copyParameters(args, f.params, true)
	in := blank(classCall)
	in.target = l.entry[f]
	in.imm = uint64(l.number[f])
	l.emit(in)
	l.copyParameters(results, f.results, false)
}

// copyParameters copies actual to formal parameters, or back.
func (l *lowering) copyParameters(actual []operand, formal []*variable, in bool) {
	if len(actual) != len(formal) {
		l.fail("%d parameters where the function has %d", len(actual), len(formal))
	}
	for i, a := range actual {
		if a.kind != opVariable || a.v.space != local || a.v.size != formal[i].size {
			l.fail("parameter %d of the call does not fit the function's %s", i, formal[i].name)
		}
		from, to, n := int(a.v.offset), int(formal[i].offset), a.v.size
		if !in {
			from, to = to, from
		}
		c := blank(classDo)
		c.do = func(w *warp, _ *inst, at uint32) error {
			w.each(at, func(lane int) {
				mem := w.local(lane)
				copy(mem[to:to+n], mem[from:from+n])
				if written := w.localWritten(lane); written != nil {
					copy(written[to:to+n], written[from:from+n])
				}
			})
			return nil
		}
		l.emit(c)
	}
}

// lowerReturn is ret, which ends a kernel.
func lowerReturn(l *lowering, _ *statement, m *mods) {
	m.drop("uni")
	l.need(0)
	in := blank(classReturn)
	in.target = l.number[l.f]
	if l.f.entry {
		in.class = classExit
	}
	l.emit(in)
}

// lowerFence is membar and fence.proxy.async, which do nothing because this emulator keeps
// memory in order.
func lowerFence(l *lowering, s *statement, m *mods) {
	l.need(0)
	if s.op == "membar" {
		if m.one("cta", "gl", "sys") == "" {
			l.fail("unknown opcode %s", s.text)
		}
		return
	}
	if !m.take("proxy") || !m.take("async") {
		l.fail("unknown opcode %s", s.text)
	}
	l.requires(90)
	m.one("global", "shared::cta", "shared::cluster")
}
