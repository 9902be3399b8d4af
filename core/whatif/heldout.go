package whatif

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"pgrlab/core/rng"
)

// heldOut holds episodes that the checkpoint's policy has played, and the returns that follow from
// them.
type heldOut struct {
	rows           int
	obs, act       []float32 // [rows,O], [rows,A]
	next, nextAct  []float32 // s' and the action that was taken there
	reward         []float32
	done, cut      []bool    // the episode ended with the row, by itself or by its time limit
	entropy        []float64 // −α·log π of the action taken in s'; 0 in an episode's last row
	judged         []int     // rows whose future is practically complete
	returns        []float64 // G of the judged rows
	spread         float64   // standard deviation of G
	undiscounted   []float64 // return of each episode, without entropy
	episodes, ends int
}

// horizon is how many steps account for all but 1 % of a discounted sum.
func horizon(gamma float64) int {
	if gamma == 0 {
		return 1
	}
	return int(math.Ceil(math.Log(0.01) / math.Log(gamma)))
}

// step is one lockstep step of all copies.
type step struct {
	obs, act, logp, next []float32
	reward               []float64
	over                 []bool // the episode was over before the step
	end                  []bool // the episode ended with the step, before the time limit
}

// hold plays the held-out episodes with the stochastic policy of the checkpoint.
func (x *study) hold() (*heldOut, error) {
	l, err := x.Learner(x.plan.Seed)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	n := x.plan.Episodes
	envs, err := x.Episodes(n, rng.New(x.plan.Seed, "held-out episodes").At(0).Uint64())
	if err != nil {
		return nil, err
	}
	defer envs.Close()
	now := make([]float32, n*envs.ObsSize())
	if err := envs.Reset(0, now); err != nil {
		return nil, fmt.Errorf("held-out episodes: %w", err)
	}
	var steps []step
	over := make([]bool, n)
	cuts, _ := envs.(truncating)
	for t := 0; t < x.EpisodeSteps && slices.Contains(over, false); t++ {
		s := step{
			obs: slices.Clone(now), act: make([]float32, n*envs.ActSize()), logp: make([]float32, n),
			reward: make([]float64, n), over: slices.Clone(over), end: make([]bool, n),
		}
		if err := l.Sample(s.act, s.logp, s.obs, n, uint64(t)); err != nil {
			return nil, err
		}
		if err := envs.Step(s.act, now, s.reward, over); err != nil {
			return nil, fmt.Errorf("held-out episodes: %w", err)
		}
		s.next = slices.Clone(now)
		for i := range n {
			s.end[i] = over[i] && t+1 < x.EpisodeSteps && (cuts == nil || !cuts.Truncated(i))
		}
		steps = append(steps, s)
		if err := x.count(n * costStep); err != nil {
			return nil, err
		}
	}
	h := x.follow(steps, l.Alpha())
	if len(h.judged) == 0 {
		return nil, fmt.Errorf("held-out episodes: none of %d transitions has a whole future: with gamma %g it takes %d steps, and an episode has %d: take a run with a smaller agent.gamma", h.rows, x.Gamma, horizon(x.Gamma), x.EpisodeSteps)
	}
	return h, nil
}

// follow collects the rows of what was played and computes their returns.
func (x *study) follow(steps []step, alpha float64) *heldOut {
	n := x.plan.Episodes
	o, a := len(steps[0].obs)/n, len(steps[0].act)/n
	h := &heldOut{episodes: n, undiscounted: make([]float64, n)}
	for i := range n {
		first, ended := h.rows, false
		for t, s := range steps {
			if s.over[i] {
				break
			}
			h.obs, h.act = append(h.obs, s.obs[i*o:(i+1)*o]...), append(h.act, s.act[i*a:(i+1)*a]...)
			h.next, h.reward = append(h.next, s.next[i*o:(i+1)*o]...), append(h.reward, float32(s.reward[i]))
			h.undiscounted[i] += s.reward[i]
			h.rows, ended = h.rows+1, s.end[i]
			cut := !ended && (t+1 == len(steps) || steps[t+1].over[i])
			h.done, h.cut = append(h.done, ended), append(h.cut, cut)
			if ended || cut {
				h.nextAct, h.entropy = append(h.nextAct, make([]float32, a)...), append(h.entropy, 0)
				continue
			}
			h.nextAct = append(h.nextAct, steps[t+1].act[i*a:(i+1)*a]...)
			h.entropy = append(h.entropy, -alpha*float64(steps[t+1].logp[i]))
		}
		if ended {
			h.ends++
		}
		h.sum(first, ended, x.Gamma)
	}
	h.spread = stat.PopStdDev(h.returns, nil)
	return h
}

// sum computes G backwards through the episode that begins with row first. Of an episode that was cut off, rows are
// judged whose complete future it has.
func (h *heldOut) sum(first int, ended bool, gamma float64) {
	returns := make([]float64, h.rows-first)
	ahead := 0.0
	for t := len(returns) - 1; t >= 0; t-- {
		returns[t] = float64(h.reward[first+t]) + gamma*(h.entropy[first+t]+ahead)
		ahead = returns[t]
	}
	for t, g := range returns {
		if ended || t <= len(returns)-horizon(gamma) {
			h.judged, h.returns = append(h.judged, first+t), append(h.returns, g)
		}
	}
}

// measure returns the TD error, the value error and the bias of a learner's critics.
func (h *heldOut) measure(l Learner, gamma float64) (td, value, bias float64, err error) {
	q, ahead := make([]float32, h.rows), make([]float32, h.rows)
	if err := l.Value(q, h.obs, h.act, h.rows); err != nil {
		return 0, 0, 0, err
	}
	if err := l.Value(ahead, h.next, h.nextAct, h.rows); err != nil {
		return 0, 0, 0, err
	}
	known := 0
	for i := range h.rows {
		if h.cut[i] {
			continue // the next action is not known
		}
		target := float64(h.reward[i])
		if !h.done[i] {
			target += gamma * (float64(ahead[i]) + h.entropy[i])
		}
		known++
		td += (target - float64(q[i])) * (target - float64(q[i]))
	}
	for k, i := range h.judged {
		d := float64(q[i]) - h.returns[k]
		value, bias = value+d*d, bias+d
	}
	n := float64(len(h.judged))
	return math.Sqrt(td / float64(known)), math.Sqrt(value / n), bias / n, nil
}
