package config

import (
	"testing"

	"pgrlab/core/knob"
)

// In several copies of the environment an env step adds one step of each. What is due at a step that no
// env step ends at is due at the next end, once.
func TestStepsOfSeveralCopies(t *testing.T) {
	var c Config
	for _, c.Environment.Copies = range []int{0, 1, 3, 16} {
		k := c.Environment.InLockstep()
		for every := 1; every < 40; every++ {
			due := 0
			for step := k; step <= 40*k; step += k {
				reached := 0
				for n := step - k + 1; n <= step; n++ {
					if n%every == 0 {
						reached++
					}
				}
				if c.Reaches(step, every) != (reached > 0) {
					t.Fatalf("%d copies: step %d reaches a multiple of %d: %v", k, step, every, !(reached > 0))
				}
				due += reached
			}
			if due != 40*k/every {
				t.Fatalf("%d copies: %d multiples of %d", k, due, every)
			}
		}
		for step := range 100 {
			up := c.RoundUp(step)
			if up%k != 0 || up < step || up >= step+k || c.EnvSteps(up) != up/k {
				t.Errorf("%d copies: step %d is rounded up to %d, %d env steps", k, step, up, c.EnvSteps(up))
			}
			if p := c.Place(knob.At(step, knob.Learn, 3)); p != knob.At(up, knob.Learn, 3) {
				t.Errorf("%d copies: step %d is at %s", k, step, p)
			}
		}
	}
}
