package ptx

// lowerShuffle is shfl.sync: each lane gets a value of another one.
func lowerShuffle(l *lowering, s *statement, m *mods) {
	if !m.take("sync") {
		l.fail("shfl without .sync does not exist on sm_70 and later")
	}
	mode := m.one("up", "down", "bfly", "idx")
	k := m.kind()
	if mode == "" || k != b32 {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(5)
	in := blank(classWarp)
	d := s.args[0]
	if d.pair != nil {
		in.q = l.predicate(*d.pair)
		d.pair = nil
	}
	in.d = l.dest(d, k)
	in.a, in.b = l.value(s.args[1], k), l.value(s.args[2], b32)
	in.ins = []slot{l.value(s.args[3], b32)}
	in.c = l.value(s.args[4], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		var t vec
		var valid uint32
		a, b, c := w.at(in.a), w.at(in.b), w.at(in.ins[0])
		for i := range lanes {
			j, ok := shuffleSource(mode, i, int(b[i]), int(c[i]))
			if ok {
				valid |= 1 << i
			}
			t[i] = garbage32 // value of a lane that does not take part
			if at>>j&1 != 0 {
				t[i] = a[j]
			}
		}
		w.put(in.d, &t, at)
		w.setPredicate(in.q, valid, at)
		return nil
	}
	l.emit(in)
}

const garbage32 = 0xffffffff

// shuffleSource returns the lane that lane i reads, and whether it is in range. b is the
// lane or distance, c the clamp and segment mask (PTX ISA, shfl).
func shuffleSource(mode string, i, b, c int) (int, bool) {
	b, clamp, segment := b&31, c&31, c>>8&31
	most := i&segment | clamp&^segment
	least := i & segment
	var j int
	var ok bool
	switch mode {
	case "up":
		j = i - b
		ok = j >= most
	case "down":
		j = i + b
		ok = j <= most
	case "bfly":
		j = i ^ b
		ok = j <= most
	default:
		j = least | b&^segment
		ok = j <= most
	}
	if !ok {
		j = i
	}
	return j, ok
}
