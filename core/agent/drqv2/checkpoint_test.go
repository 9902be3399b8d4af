package drqv2

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/testing/mirrortest"
)

// saved returns what Save writes.
func saved(t *testing.T, x *Agent) *bytes.Buffer {
	t.Helper()
	var file bytes.Buffer
	if err := x.Save(&file); err != nil {
		t.Fatal(err)
	}
	return &file
}

// An agent that was saved after any slice of an update goes on bit for bit, losses included, and
// can be saved again before it goes on.
func TestALoadedAgentGoesOnBitForBit(t *testing.T) {
	c := small()
	c.Slice = 3 // two parts, and the policy's step
	f, dev := newFilm(c, 30), newDevice(t, 1)
	for cut := range 3 {
		a := newAgent(t, c, dev)
		s := newSession(a, f, 6)
		for range 50 {
			s.update(t)
		}
		for range cut {
			if _, err := s.slice(); err != nil {
				t.Fatal(err)
			}
		}
		file := saved(t, a)
		file.WriteString("more")
		b := newAgent(t, c, dev)
		again := newSession(b, f, 6)
		for range 3 {
			again.update(t) // a state for Load to overwrite
		}
		if _, err := again.slice(); err != nil {
			t.Fatal(err)
		}
		if err := b.Load(file); err != nil {
			t.Fatal(err)
		}
		if file.String() != "more" {
			t.Errorf("%q is left of what came after", file)
		}
		if err := b.Load(saved(t, b)); err != nil {
			t.Fatal(err)
		}
		again.work, again.total, again.done = s.work, s.total, s.done
		for range 20 {
			one, other := s.update(t), again.update(t)
			if math.Float64bits(one.Losses.Critic) != math.Float64bits(other.Losses.Critic) || one.Losses != other.Losses && !math.IsNaN(one.Losses.Alpha) {
				t.Fatalf("saved after %d slices: losses %+v and %+v", cut, one.Losses, other.Losses)
			}
		}
		sameBits(t, a, b)
	}
}

// Rates that change while an update is under way are for the next one, also if the agent is saved and
// loaded after the change.
func TestAnUpdateKeepsItsRates(t *testing.T) {
	c := small()
	c.Slice = 3 // two parts, and the policy's step
	f, dev := newFilm(c, 30), newDevice(t, 1)
	for cut := 1; cut < 3; cut++ {
		for _, loaded := range []bool{false, true} {
			a, b := newAgent(t, c, dev), newAgent(t, c, dev)
			plain, changed := newSession(a, f, 6), newSession(b, f, 6)
			plain.update(t)
			changed.update(t)
			for range cut {
				if _, err := changed.slice(); err != nil {
					t.Fatal(err)
				}
			}
			changed.work.Rates = agent.Rates{LRCritic: 0.3, LRActor: 0.2, Tau: 0.9}
			if loaded {
				if err := b.Load(saved(t, b)); err != nil {
					t.Fatal(err)
				}
			}
			plain.update(t)
			changed.update(t)
			sameBits(t, a, b)
			plain.update(t)
			changed.update(t)
			for i, x := range [][2]*op.Tensor{ // moved by the critics' step, by the policy's, and with the targets
				{a.nets.valueParams()[0], b.nets.valueParams()[0]}, {a.nets.actorParams()[0], b.nets.actorParams()[0]}, {a.nets.targetParams()[0], b.nets.targetParams()[0]},
			} {
				if slices.Equal(x[0].Data, x[1].Data) {
					t.Errorf("rate %d has no effect on the next update either", i)
				}
			}
		}
	}
}

// A loaded agent that is prepared for updates of other mixes goes on with the update under way, in
// which the encoder's output from before its step is known to that update's programs alone.
func TestPreparingKeepsTheUpdateUnderWay(t *testing.T) {
	c := small()
	c.Slice = 3
	f, dev := newFilm(c, 30), newDevice(t, 1)
	a, b := newAgent(t, c, dev), newAgent(t, c, dev)
	s, again := newSession(a, f, 6), newSession(b, f, 6)
	s.dream(4)
	again.dream(4)
	for range 2 { // the critics have stepped
		if _, err := s.slice(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Load(saved(t, a)); err != nil {
		t.Fatal(err)
	}
	if err := b.Prepare(agent.Uses{Mixes: []replay.Mix{{Real: 10}, {Real: 8, Synthetic: 2}}}); err != nil {
		t.Fatal(err)
	}
	again.work, again.total, again.done = s.work, s.total, s.done
	if one, other := s.update(t), again.update(t); one.Losses.Actor != other.Losses.Actor {
		t.Errorf("the policy's loss is %v, and %v after a load", one.Losses.Actor, other.Losses.Actor)
	}
	sameBits(t, a, b)
}

// A truncated file, or one of another agent, is an error.
func TestAFileThatDoesNotFit(t *testing.T) {
	c := small()
	dev := newDevice(t, 1)
	x := newAgent(t, c, dev)
	whole := saved(t, x).Bytes()
	for _, n := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
		if newAgent(t, c, dev).Load(bytes.NewReader(whole[:n])) == nil {
			t.Errorf("%d of %d bytes are let pass", n, len(whole))
		}
	}
	c.Hidden = []int{8, 9}
	if newAgent(t, c, dev).Load(bytes.NewReader(whole)) == nil {
		t.Error("an agent of another width is let pass")
	}
}

// A policy saved alone acts as its agent does.
func TestAPolicyIsSavedAlone(t *testing.T) {
	c := small()
	dev, f := newDevice(t, 1), newFilm(c, 30)
	a, b := newAgent(t, c, dev), newAgent(t, c, dev)
	s := newSession(a, f, 6)
	for range 5 {
		s.update(t)
	}
	var file bytes.Buffer
	if err := a.SavePolicy(&file); err != nil {
		t.Fatal(err)
	}
	stacks := f.stacks(c, 4)
	want := act(t, a, stacks, agent.Mean, 1)
	if before := act(t, b, stacks, agent.Mean, 1); before[0] == want[0] {
		t.Fatal("five updates have changed nothing")
	}
	if err := b.LoadPolicy(&file); err != nil {
		t.Fatal(err)
	}
	for i, v := range act(t, b, stacks, agent.Mean, 1) {
		if v != want[i] {
			t.Fatalf("action %d is %v, want %v", i, v, want[i])
		}
	}
}

// A device with memory of its own computes the same numbers.
func TestAnAgentApart(t *testing.T) {
	for _, slice := range []int{3, 6} {
		c := small()
		c.Slice = slice
		f, dev := newFilm(c, 30), newDevice(t, 1)
		a, b := newAgent(t, c, dev), newAgent(t, c, mirrortest.New(dev))
		here, apart := newSession(a, f, 6), newSession(b, f, 6)
		for i := range 12 {
			one, other := here.update(t), apart.update(t)
			if one.Losses.Critic != other.Losses.Critic || one.Losses.Actor != other.Losses.Actor {
				t.Fatalf("update %d: losses %+v and, apart, %+v", i, one.Losses, other.Losses)
			}
		}
		for i := 0; i < 2; i++ { // into the middle of an update
			if _, err := here.slice(); err != nil {
				t.Fatal(err)
			}
			if _, err := apart.slice(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(saved(t, a).Bytes(), saved(t, b).Bytes()) {
				t.Fatalf("apart another file is written, slices of %d rows, %d after an update", slice, i+1)
			}
			if err := b.Load(saved(t, b)); err != nil {
				t.Fatal(err)
			}
		}
		if one, other := here.update(t), apart.update(t); one.Losses.Actor != other.Losses.Actor {
			t.Fatalf("after a load: losses %+v and, apart, %+v", one.Losses, other.Losses)
		}
	}
}
