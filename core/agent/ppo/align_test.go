package ppo

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/testing/allocs"
)

// encodedSession is an agent whose D_real was made after its second iteration, and the session in
// which it learns.
func encodedSession(t *testing.T, c Config, workers int) (*Latent, *session) {
	l := newLatentAgent(t, c, newDevice(t, workers))
	s := latentSession(l, dreamtRows(c, 40))
	for l.iterations < 2 {
		s.unit(t)
	}
	encodeAll(t, l, s.source)
	return l, s
}

// Before each epoch the generated latents are mapped to the present trunk, and the step learns from
// these. Their old values are those of latents mapped to the trunk that the iteration began with.
func TestGeneratedLatentsFollowTheTrunk(t *testing.T) {
	bothLatent(t, latentsFollow)
}

func latentsFollow(t *testing.T, c Config) {
	l, s := encodedSession(t, c, 1)
	for l.iterations < 4 {
		s.unit(t)
	}
	for !l.rollout.Full() {
		s.unit(t)
	}
	w := agent.Work{Step: s.step, Rates: s.rates, Source: s.source}
	learn := l.Phases()[0]
	if _, err := learn.Start(&w); err != nil {
		t.Fatal(err)
	}
	then := slices.Clone(l.aligned.then)
	var begun []float32
	for unit := range c.Epochs * c.Minibatches {
		if unit%c.Minibatches == 0 {
			now, err := l.encode(nil, len(then)/l.aligned.now.Size(), l.aligning)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.align(&w, unit/c.Minibatches); err != nil {
				t.Fatal(err)
			}
			if far, off := apart(then, now), apart(l.aligned.now.Apply(then), now); !(off <= far/10) || far == 0 {
				t.Errorf("unit %d: aligned latents are off by %g, others by %g", unit, off, far)
			}
			if unit == 0 {
				begun = slices.Clone(l.aligned.now.W.Data)
			} else if slices.Equal(begun, l.aligned.now.W.Data) {
				t.Errorf("unit %d: latents are those of the iteration's beginning", unit)
			}
		}
		if _, _, err := learn.Slice(&w, unit); err != nil {
			t.Fatal(err)
		}
		d := l.learnings.Newest().dreamt
		if want := l.aligned.now.Apply(d.columns.Obs); !(apart(limited(c, want), d.into.in) <= 1e-9) {
			t.Fatalf("unit %d: %v is read as %v", unit, want, d.into.in)
		}
		v, h := l.heads.value.B.Data[0], c.latents().Obs
		for j, z := range limited(c, l.aligned.begun.Apply(d.columns.Obs[:h])) {
			v += z * l.heads.value.W.Data[j]
		}
		if off := v - d.v[0]; off > 1e-5 || off < -1e-5 || !slices.Equal(begun, l.aligned.begun.W.Data) {
			t.Fatalf("unit %d: V_old is %v, want %v", unit, d.v[0], v)
		}
	}
}

// apart is the sum of the squared differences.
func apart(a, b []float32) (sum float64) {
	for i, v := range a {
		sum += float64((v - b[i]) * (v - b[i]))
	}
	return sum
}

// Rows to align by are spread evenly over D_real, and fewer than an alignment needs are refused
// beside a generator.
func TestRowsToAlignBy(t *testing.T) {
	c := smallLatent()
	h := c.latents().Obs
	for _, rows := range []int{4, 5, 8, 12, 20} {
		c.AlignRows = rows
		l := newLatentAgent(t, c, newDevice(t, 1))
		var all []experience.Met
		for i := range 12 {
			all = append(all, experience.Met{After: experience.Ref{Number: uint64(i + 1)}})
		}
		l.watch(all[:7], make([]float32, 7*h), 0, 12)
		l.watch(all[7:], make([]float32, 5*h), 7, 12)
		got, n := l.aligned.obs, min(rows, 12)
		if len(got) != n || len(l.aligned.then) != n*h {
			t.Errorf("%d rows of 12 are %v", rows, got)
		}
		for k, row := range got { // one of each of n equal stretches, at no fixed place of it
			if int(row.Number) != replay.OneOf(k, k*12/n, (k+1)*12/n) {
				t.Errorf("%d rows of 12 are %v", rows, got)
			}
		}
	}
	for rows, refused := range map[int]bool{1: true, h: true, h + 1: false} {
		c.AlignRows = rows
		for _, generates := range []bool{false, true} {
			d := agent.Deps{Config: agent.Config{Hidden: c.Hidden, Gamma: c.Gamma}, Settings: c.Settings, Shape: c.Shape, Copies: c.Copies, Generates: generates}
			if err := check(d); (err != nil) != (refused && generates) || err != nil && !strings.Contains(err.Error(), "latents of so many numbers cannot be aligned") {
				t.Errorf("%d rows, with a generator %v: %v", rows, generates, err)
			}
		}
	}
}

// Steady epochs with synthetic rows allocate nothing, with the alignments that they begin with.
func TestMixedUpdatesDoNotAllocate(t *testing.T) {
	bothLatent(t, mixedDoesNotAllocate)
}

func mixedDoesNotAllocate(t *testing.T, c Config) {
	l, s := encodedSession(t, c, 2)
	for l.iterations < 3 || s.total == 0 {
		s.unit(t)
	}
	w, phase := agent.Work{Step: s.step, Rates: s.rates, Source: s.source}, l.Phases()[0]
	aligned := make([]float32, len(l.aligned.now.W.Data))
	n := allocs.Least(6, func() {
		for unit := range c.Minibatches + 1 { // the first epoch's, and one of the second; never the last of all
			if _, _, err := phase.Slice(&w, unit); err != nil {
				t.Fatal(err)
			}
			if unit%c.Minibatches > 0 {
				continue
			}
			if slices.Equal(aligned, l.aligned.now.W.Data) {
				t.Fatalf("unit %d aligns nothing", unit)
			}
			copy(aligned, l.aligned.now.W.Data)
		}
	})
	if n > 0 {
		t.Errorf("an epoch allocates %v times", n)
	}
}
