package ptx

import "math/bits"

// lowerMbarrier is mbarrier: .init, .arrive, .arrive.expect_tx, .try_wait.parity and
// .test_wait.parity.
func lowerMbarrier(l *lowering, s *statement, m *mods) {
	l.requires(90)
	what := m.one("init", "arrive", "try_wait", "test_wait")
	expect := what == "arrive" && m.take("expect_tx")
	waits := what == "try_wait" || what == "test_wait"
	if what == "" || waits != m.take("parity") || m.one("shared", "shared::cta") == "" || m.kind() != b64 {
		l.fail("unknown opcode %s", s.text)
	}
	in := blank(classDo)
	address := 1 // the operand
	switch {
	case what == "init":
		l.need(2)
		address = 0
		in.b = l.value(s.args[1], b32)
		in.do = initMbarriers
	case waits:
		l.need(3)
		in.q = l.predicate(s.args[0])
		in.b = l.value(s.args[2], b32)
		in.do = pollMbarriers
	default:
		in.b = l.constant(0)
		if expect {
			l.need(3)
			in.b = l.value(s.args[2], b32)
		} else {
			l.need(2)
		}
		in.d = l.dest(s.args[0], b64)
		in.do = arriveMbarriers
	}
	l.reachOf(&in, s.args[address], access{space: shared, kind: b64, count: 1})
	if what == "init" {
		in.ins = []slot{l.constant(mbarrierWord)} // what it stores
	}
	l.emit(in)
}

func initMbarriers(w *warp, in *inst, at uint32) error {
	address, count := w.at(in.a), w.at(in.b)
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if err := w.initMbarrier(in, lane, address[lane]+in.mem.off, uint32(count[lane])); err != nil {
			return err
		}
	}
	return nil
}

func arriveMbarriers(w *warp, in *inst, at uint32) error {
	address, bytes := *w.at(in.a), *w.at(in.b)
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		phase, err := w.arriveMbarrier(in, lane, address[lane]+in.mem.off, uint32(bytes[lane]))
		if err != nil {
			return err
		}
		w.regs[in.d][lane] = phase
	}
	return nil
}
