package lab

import (
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/testing/allocs"
	"pgrlab/core/testing/tiny"
)

// An update that the loop makes in slices, with what the loop does around them, allocates nothing: of
// one member, and of two that take turns.
func TestAnUpdateInSlicesDoesNotAllocate(t *testing.T) {
	for name, c := range map[string]config.Config{"drqv2": tiny.Pixels(), "drqv2 with a generator": tiny.Latents()} {
		for members := 1; members <= 2; members++ {
			dev := testDevice(t)
			c.Members, c.Steps, c.Evaluation.Every, c.Knobs.RefitEvery = members, 1<<20, 0, 1<<19
			l := framesOn(t, c, tiny.Task(), dev, nil)
			defer l.Close()
			x := l.x
			x.published = x.now().AddDate(1, 0, 0) // snapshots are limited by time
			a := x.pgr()
			learn := func() (slices int) {
				for _, p := range a.phases {
					if !p.Phase.Before(knob.Score) || !p.due() {
						continue
					}
					for done, complete := 0, false; !complete; slices++ {
						if over, err := x.between(t.Context(), p, done); over || err != nil {
							t.Fatal(err)
						}
						n, last, err := p.slice(done)
						if err != nil {
							t.Fatal(err)
						}
						done, complete = done+n, last
					}
					if err := p.end(); err != nil {
						t.Fatal(err)
					}
				}
				return slices
			}
			for range 24 {
				if err := x.makeStep(t.Context(), a.step); err != nil {
					t.Fatal(err)
				}
				learn()
			}
			slices := 0
			if n := allocs.Least(10, func() { slices = learn() }); n > 0 || slices < 3 {
				t.Errorf("%s, %d members: %v allocations in %d slices", name, members, n, slices)
			}
		}
	}
}
