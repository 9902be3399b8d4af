package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
)

// follow calls saw with what the copies met in each env step, before the learner works on it.
func follow(made *agent.Made, log *experience.Log, saw func([]experience.Met)) *agent.Made {
	p, steps := &made.Phases[0], log.Steps()
	due := p.Due
	p.Due = func(w *agent.Work) bool {
		for ; steps < log.Steps(); steps++ {
			all := make([]experience.Met, log.Shape().Copies)
			for i := range all {
				all[i], _ = log.Met(log.After(steps, i))
			}
			saw(all)
		}
		return due(w)
	}
	return made
}

// following makes learners as plain does, and follows what they meet.
func following(plain func(*experience.Log, uint64) (*agent.Made, error), saw func([]experience.Met)) func(*experience.Log, uint64) (*agent.Made, error) {
	return func(log *experience.Log, seed uint64) (*agent.Made, error) {
		made, err := plain(log, seed)
		if err != nil {
			return nil, err
		}
		return follow(made, log, saw), nil
	}
}

// recurrentBonusConfig is a run of the recurrent learner with a bonus from a model that learns in
// every env step.
func recurrentBonusConfig(copies int) config.Config {
	c := recurrentConfig()
	c.Steps, c.StartSteps, c.Environment.Copies = 35, 4, copies
	c.Bonus, c.Knobs.Bonus = config.Bonus{Function: "rnd", Scale: config.ScalePaper}, 0.1
	c.Schedule = []string{"30:bonus=0"}
	return c
}

// A learner of rollouts observes rewards that include the bonus of the transition just met, from
// the step on at which the model learns. D_real keeps the task's rewards.
func TestABonusForALearnerOfRollouts(t *testing.T) {
	for _, copies := range []int{1, 3} {
		w := learnsRecurrently(newWorld())
		var rewards []float32
		plain := w.learner
		w.learner = func(log *experience.Log, seed uint64) *agent.Made {
			return follow(plain(log, seed), log, func(all []experience.Met) {
				for _, m := range all {
					rewards = append(rewards, m.Observed)
				}
			})
		}
		l, _ := play(t, w, recurrentBonusConfig(copies))
		real := l.x.first().Real
		if len(rewards) != real.Len() {
			t.Fatalf("%d rewards observed, %d stored", len(rewards), real.Len())
		}
		updates := 0 // updates of the model before the first bonus
		for i, got := range rewards {
			row, step := real.Row(i), 1+i/copies
			reward, bonus := row[worldObs+worldAct], 0.0
			if first := 1 + 4/copies; step == first { // from here on more than StartSteps are stored
				bonus = 0.1 * 32 * blend(float64(row[0]), float64(updates))
			} else if step > first && step <= 30 {
				if got <= reward {
					t.Errorf("%d copies, row %d: %v observed of %v", copies, i, got, reward)
				}
				continue
			}
			if math.Abs(float64(got)-float64(reward)-bonus) > 1e-5 {
				t.Errorf("%d copies, row %d: %v observed, want %v and %v more", copies, i, got, reward, bonus)
			}
		}
		if n := count(w.log, fmt.Sprintf("score rnd %d", copies)); n != 30-4/copies {
			t.Errorf("%d copies: %d env steps have a bonus, want %d", copies, n, 30-4/copies)
		}
		lines, _ := bodies[event.Losses](l)
		if len(lines) == 0 || !slices.ContainsFunc(lines, func(e event.Losses) bool { return e.Bonus != nil && *e.Bonus > 0 }) {
			t.Errorf("no bonus in %+v", lines)
		}
	}
}

// A bonus is refused if the learner takes rewards neither in batches nor as it meets them.
func TestABonusThatALearnerWouldNotSee(t *testing.T) {
	w := learnsRecurrently(newWorld())
	w.keep = experience.Keep{}
	_, err := newLab(recurrentBonusConfig(1), w.task(), nil, w.parts(), "cpu", clock())
	if err == nil || !strings.Contains(err.Error(), `bonus.function is "rnd"`) || !strings.Contains(err.Error(), `want "none"`) {
		t.Errorf("%v", err)
	}
}
