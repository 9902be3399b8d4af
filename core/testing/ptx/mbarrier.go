package ptx

import "math/bits"

// An mbarrier is a barrier in shared memory that counts arrivals and bytes of bulk copies. A phase is
// complete once all arrivals and bytes have come that it expects.
type mbarrier struct {
	number    int // in the order of initialisation
	count     int // arrivals of a phase
	left      int // arrivals that the present phase still expects
	bytes     int // bytes that it still expects: below 0 if more have come
	phase     uint64
	copies    []bulkCopy // on their way
	onTheWay  int        // their bytes
	arriving  clock      // what the present phase hands on
	completed clock      // what the phases that are complete hand on

	thread     int32 // +1: who initialised it, when and where
	by         agent
	now, inner uint32
	line       int32
}

// Limits of the hardware.
const (
	maxArrivals      = 1<<20 - 1
	maxExpectedBytes = 1<<20 - 1
)

// mbarrierBytes is the size of an mbarrier. What it holds is not documented; here it is mbarrierWord,
// to notice who overwrites it.
const (
	mbarrierBytes = 8
	mbarrierWord  = 0x7a6d_6261_7272_69ff
)

// mbarrierState is the mbarriers of a block.
type mbarrierState struct {
	at     map[uint64]*mbarrier // by shared address
	order  []*mbarrier
	events int // how often anything has happened to any of them
}

func (s *mbarrierState) reset() {
	clear(s.at)
	s.order, s.events = s.order[:0], 0
}

// initMbarrier makes an mbarrier at a shared address of a lane.
func (w *warp) initMbarrier(in *inst, lane int, address uint64, count uint32) error {
	if count < 1 || count > maxArrivals {
		return w.fault(in, 1<<lane, "an mbarrier for %d arrivals: from 1 to %d are possible", count, maxArrivals)
	}
	s := &w.block.mbarriers
	w.store[0] = mbarrierWord
	p, err := w.reach(in, &in.mem, lane, address, mbarrierBytes, writes)
	if err != nil {
		return err
	}
	if old := s.at[address]; old != nil {
		return w.fault(in, 1<<lane, "the mbarrier at shared address %d was initialised before, at line %d", address, old.line)
	}
	write(p, mbarrierBytes, mbarrierWord)
	if s.at == nil {
		s.at = map[uint64]*mbarrier{}
	}
	m := &mbarrier{
		number: len(s.order), count: int(count), left: int(count),
		thread: int32(w.index*lanes + lane + 1), by: agent(w.index), now: w.now, inner: w.inner, line: in.line,
	}
	s.at[address] = m
	s.order = append(s.order, m)
	s.events++
	return nil
}

// mbarrierAt returns the mbarrier at a shared address of a lane.
func (w *warp) mbarrierAt(in *inst, lane int, address uint64) (*mbarrier, error) {
	b := w.block
	if address%mbarrierBytes != 0 {
		return nil, w.fault(in, 1<<lane, "shared address %#x is not a multiple of %d, the bytes of an mbarrier", address, mbarrierBytes)
	}
	m := b.mbarriers.at[address]
	if m == nil {
		return nil, w.fault(in, 1<<lane, "there is no mbarrier at shared address %d", int64(address))
	}
	if read(b.shared[address:], mbarrierBytes) != mbarrierWord {
		return nil, w.fault(in, 1<<lane, "the mbarrier at shared address %d, initialised at line %d, was overwritten", address, m.line)
	}
	thread := int32(w.index*lanes + lane + 1)
	if b.launch.check.Races && m.thread != thread && !w.ordered(m.by, m.now, m.inner) {
		return nil, w.fault(in, 1<<lane, "race at shared address %d: thread %s initialised the mbarrier at line %d with no barrier between", address, b.thread(int(m.thread-1)), m.line)
	}
	return m, nil
}

// arriveMbarrier counts the arrival of a lane and, before it, expects some more bytes. It returns the
// phase of the arrival.
func (w *warp) arriveMbarrier(in *inst, lane int, address uint64, bytes uint32) (uint64, error) {
	m, err := w.mbarrierAt(in, lane, address)
	if err != nil {
		return 0, err
	}
	if uint64(bytes) > maxExpectedBytes || m.bytes+int(bytes) > maxExpectedBytes {
		return 0, w.fault(in, 1<<lane, "the mbarrier at shared address %d expects %d bytes and %d more: at most %d are possible", address, m.bytes, bytes, maxExpectedBytes)
	}
	if m.left == 0 {
		return 0, w.fault(in, 1<<lane, "more than %d arrivals in a phase of the mbarrier at shared address %d, which still expects %d bytes", m.count, address, m.bytes)
	}
	m.bytes += int(bytes)
	m.left--
	w.handOn(&m.arriving)
	phase := m.phase
	m.advance()
	w.block.mbarriers.events++
	return phase, nil
}

// advance ends the present phase if it is complete.
func (m *mbarrier) advance() {
	if m.left == 0 && m.bytes == 0 {
		m.phase++
		m.left, m.completed = m.count, m.arriving
	}
}

// pollMbarrier says whether the phase of a parity is complete. If it is not, copies that the mbarrier
// counts arrive now, when somebody waits for them.
func (w *warp) pollMbarrier(in *inst, lane int, address uint64, parity uint32) (bool, error) {
	m, err := w.mbarrierAt(in, lane, address)
	if err != nil {
		return false, err
	}
	if parity > 1 {
		return false, w.fault(in, 1<<lane, "parity %d: 0 and 1 are possible", parity)
	}
	complete := func() bool { return m.phase&1 != uint64(parity) }
	if !complete() && len(m.copies) > 0 {
		w.block.deliver(m)
	}
	if !complete() {
		return false, nil
	}
	w.takeOver(&m.completed)
	return true, nil
}

// pollMbarriers is try_wait and test_wait. A warp that has to wait lets the others run.
func pollMbarriers(w *warp, in *inst, at uint32) error {
	address, parity := *w.at(in.a), *w.at(in.b)
	var done uint32
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		ok, err := w.pollMbarrier(in, lane, address[lane]+in.mem.off, uint32(parity[lane]))
		if err != nil {
			return err
		}
		if ok {
			done |= 1 << lane
		}
	}
	w.setPredicate(in.q, done, at)
	if done != at {
		w.polled, w.polledAt, w.last = in, at&^done, w.steps
	}
	return nil
}

// maxIdle is how many rounds the warps of a block may only ask for mbarriers to which nothing happens.
const maxIdle = 1024

// idle counts rounds. A round is idle if every warp that could run has asked in vain for an mbarrier,
// and nothing has happened to any of them.
type idle struct {
	rounds, events int
}

// after is called after a round.
func (i *idle) after(b *block) error {
	var waits *warp
	for j := range b.warps {
		w := &b.warps[j]
		if w.alive == 0 || w.stopped {
			continue
		}
		if w.polled == nil {
			i.rounds = 0
			return nil
		}
		if waits == nil {
			waits = w
		}
	}
	if i.events != b.mbarriers.events || waits == nil {
		i.rounds, i.events = 0, b.mbarriers.events
		return nil
	}
	if i.rounds++; i.rounds > maxIdle {
		return waits.fault(waits.polled, waits.polledAt, "the thread waits for an mbarrier that nobody completes")
	}
	return nil
}
