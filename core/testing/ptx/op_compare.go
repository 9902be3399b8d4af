package ptx

// ordering compares two values: -1, 0, 1, or 2 if one is NaN.
func ordering(k kind) func(x, y uint64) int {
	e := extend(k)
	switch {
	case k == f32:
		return func(x, y uint64) int { return orderFloat(float64(single(x)), float64(single(y))) }
	case k == f64:
		return func(x, y uint64) int { return orderFloat(double(x), double(y)) }
	case k.signed():
		return func(x, y uint64) int { return order(int64(e(x)), int64(e(y))) }
	}
	return func(x, y uint64) int { return order(e(x), e(y)) }
}

func order[T int64 | uint64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func orderFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2
}

// relations holds the orderings that satisfy each comparison, as bits:
// 1 less, 2 equal, 4 greater, 8 unordered.
var relations = map[string]int{
	"eq": 2, "ne": 5, "lt": 1, "le": 3, "gt": 4, "ge": 6,
	"lo": 1, "ls": 3, "hi": 4, "hs": 6,
	"equ": 10, "neu": 13, "ltu": 9, "leu": 11, "gtu": 12, "geu": 14,
	"num": 7, "nan": 8,
}

func relation(m *mods) (string, int) {
	for i, s := range m.list {
		if r, ok := relations[s]; ok {
			m.used |= 1 << i
			return s, r
		}
	}
	m.l.fail("%s needs a comparison", m.l.s.op)
	return "", 0
}

// comparison makes the test of all lanes.
func comparison(l *lowering, name string, set int, k kind, ftz bool) func(a, b *vec) uint32 {
	switch name {
	case "lo", "ls", "hi", "hs":
		switch k { // unsigned, whatever the type says of signs
		case s16:
			k = u16
		case s32:
			k = u32
		case s64:
			k = u64
		}
	case "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan":
		if !k.float() {
			l.fail("%s.%s compares floats", l.s.op, name)
		}
	}
	if f := hotComparison(name, k); f != nil && !ftz { // k is unsigned for lo, ls, hi, hs
		return f
	}
	f := ordering(k)
	return func(a, b *vec) uint32 {
		var r uint32
		for i := range a {
			x, y := a[i], b[i]
			if ftz {
				x, y = flush(x), flush(y)
			}
			r |= uint32(set>>(f(x, y)+1)&1) << i
		}
		return r
	}
}

// lowerSetp is setp: one or two predicates, joined with a third.
func lowerSetp(l *lowering, s *statement, m *mods) {
	name, set := relation(m)
	join := m.one("and", "or", "xor")
	ftz := m.take("ftz")
	k := m.kind()
	if b8 <= k && k <= b128 && name != "eq" && name != "ne" || k == pred || k.short() {
		l.fail("setp.%s of type %s", name, k)
	}
	n := 3
	if join != "" {
		n = 4
	}
	l.need(n)
	in := blank(classCompare)
	in.cmp = comparison(l, name, set, k, ftz)
	d := s.args[0]
	in.q2 = -1
	if d.pair != nil {
		in.q2 = l.predicate(*d.pair)
		d.pair = nil
	}
	in.q = l.predicate(d)
	in.a, in.b = l.value(s.args[1], k), l.value(s.args[2], k)
	if join != "" {
		in.join = join[0]
		l.condition(&in, s.args[3])
	}
	l.emit(in)
}

func joined(w *warp, in *inst, r uint32) uint32 {
	switch in.join {
	case 'a':
		return r & w.condition(in.r, in.rNot)
	case 'o':
		return r | w.condition(in.r, in.rNot)
	case 'x':
		return r ^ w.condition(in.r, in.rNot)
	}
	return r
}

// lowerSelp is selp: a if the predicate holds, else b.
func lowerSelp(l *lowering, s *statement, m *mods) {
	k := m.kind()
	l.need(4)
	in := blank(classDo)
	in.d, in.a, in.b = l.dest(s.args[0], k), l.value(s.args[1], k), l.value(s.args[2], k)
	l.condition(&in, s.args[3])
	in.do = func(w *warp, in *inst, at uint32) error {
		var t vec
		a, b, p := w.at(in.a), w.at(in.b), w.condition(in.r, in.rNot)
		for i := range t {
			t[i] = b[i] ^ (a[i]^b[i])&-uint64(p>>i&1)
		}
		w.put(in.d, &t, at)
		return nil
	}
	l.emit(in)
}
