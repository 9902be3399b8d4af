package dreamer

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/experience"
)

// TestUpdatesKeepWhatTheySaw makes an update: its latents are kept for the looks they are of, and its sequences of
// new looks are not new again.
func TestUpdatesKeepWhatTheySaw(t *testing.T) {
	c := small()
	s := session{x: newAgent(t, c, filledLog(c, 400, 50), 1)}
	s.units(t, s.x.units())
	b, m := s.x.batch, s.x.memory
	deter, stoch := make([]float32, c.Deter), make([]float32, c.groups())
	want, chosen := b.latents()
	seen := map[experience.Ref]int{} // looks of several sequences have the latent of the last one
	for row, from := range b.refs {
		for at := range c.Length {
			seen[experience.Ref{Copy: from.Copy, Number: from.Number + uint64(at)}] = at*c.Sequences + row
		}
	}
	numbers := make([]float32, c.Shape.Obs)
	for look, at := range seen {
		held, _ := m.Log.Look(look)
		symlog(numbers, held.Numbers)
		if !slices.Equal(numbers, b.obs[at*c.Shape.Obs:][:c.Shape.Obs]) {
			t.Fatalf("row %d is not of look %v", at, look)
		}
		m.latents[look.Copy].get(look.Number, deter, stoch)
		if !slices.Equal(stoch, chosen[at*len(stoch):][:len(stoch)]) {
			t.Fatalf("look %v: the latent of another one is kept", look)
		}
		for j, v := range deter {
			if !(math.Abs(float64(v-want[at*len(deter)+j])) <= 1.0/math.MaxInt16) {
				t.Fatalf("look %v: the latent of another one is kept", look)
			}
		}
	}
	if looks := uint64(c.Length + 1); m.fresh[0] != min(uint64(c.Sequences), (m.Log.Last(0).Number+1)/looks) {
		t.Errorf("%d sequences of new looks were learned from", m.fresh[0])
	}
}

// TestBatchesAreOfTheLog compares a batch with the log, episodes that end truly, by time, or were given up among it.
func TestBatchesAreOfTheLog(t *testing.T) {
	c := small()
	log := experience.NewLog(experience.Shape{Numbers: 3, Act: 2, Copies: 1}, experience.Keep{Looks: 800, Steps: 400})
	for i := range 400 {
		if i%10 == 0 {
			log.Begin(0, experience.Look{Numbers: make([]float32, 3)})
		}
		end := experience.Continues
		if i%10 == 9 {
			end = []experience.End{experience.Terminated, experience.Truncated, experience.Continues}[i/10%3]
		}
		log.Add(0, experience.Step{Action: []float32{float32(i) / 400, -1}, Reward: float32(i), Next: experience.Look{Numbers: []float32{float32(i), 0, 1}}, End: end})
	}
	x := newAgent(t, c, log, 1)
	b := newBatch(c)
	if err := b.fill(x, make([]uint64, 1)); err != nil {
		t.Fatal(err)
	}
	ends := map[experience.End]int{}
	for row, from := range b.refs {
		for at := range c.Length {
			i, look := at*c.Sequences+row, experience.Ref{Copy: 0, Number: from.Number + uint64(at)}
			met, led := log.Met(look)
			_, more := log.Met(experience.Ref{Copy: 0, Number: look.Number + 1})
			_, held := log.Look(experience.Ref{Copy: 0, Number: look.Number + 1})
			given := held && !more && at+1 < c.Length // the next look begins an episode
			want := struct {
				first, last, terminal bool
				reward, continues     float32
			}{!led, given || led && met.End != experience.Continues, led && met.End == experience.Terminated, 0, 1 - 1.0/333}
			action := make([]float32, 2)
			if led {
				want.reward, action = met.Observed, met.Action
				ends[met.End]++
			}
			if want.terminal {
				want.continues = 0
			}
			if b.first[i] != want.first || b.last[i] != want.last || b.terminal[i] != want.terminal || b.reward[i] != want.reward || b.continues[i] != want.continues || !slices.Equal(b.action[i*2:][:2], action) {
				t.Fatalf("look %d: first %v, last %v, terminal %v, reward %v, continues %v, action %v; want %+v, %v", look.Number, b.first[i], b.last[i], b.terminal[i], b.reward[i], b.continues[i], b.action[i*2:][:2], want, action)
			}
		}
	}
	if ends[experience.Terminated] == 0 || ends[experience.Truncated] == 0 {
		t.Errorf("the batch has these ends: %v", ends)
	}
}
