package lab

import "pgrlab/core/relevance"

// bonusBlock is how many env steps are scored at once for the returns of the bonus:
// the length of a rollout in the code that Burda et al. 2019 released
// (openai/random-network-distillation: run_atari.py, nsteps = 128).
const bonusBlock = 128

// bonusReturn follows the discounted return of F over the transitions in the order in
// which they were collected, across the ends of episodes,
//
//	R_t = γ·R_{t−1} + F_t,
//
// and keeps its mean and variance: Burda et al. 2019, §2.4, divide their bonus by the
// standard deviation of these returns, which is several times that of F itself.
type bonusReturn struct {
	Return  float64 // R of the last transition scored
	Of      moments // of all R so far
	Pending int     // transitions collected since
}

// followBonus scores what was collected since the last time, in blocks, with the
// model of the bonus as it is now. A rest that does not fill a block waits, but for the
// first.
func (x *experiment) followBonus(m *member) error {
	state := &m.BonusReturn
	state.Pending = min(state.Pending, m.real.Len())
	for state.Pending >= bonusBlock || state.Of.N == 0 && state.Pending > 0 {
		n := min(bonusBlock, state.Pending)
		m.real.Gather(m.scoring, 0, m.real.Oldest(m.real.Len()-state.Pending, n))
		m.curious = resized(m.curious, n)
		model := m.models[x.config.Bonus.Function]
		if err := model.Score(m.curious, m.scoring, n); err != nil {
			return err
		}
		for _, f := range m.curious {
			state.Return = x.config.Agent.Gamma*state.Return + relevance.PaperScale(model)*float64(f)
			state.Of.add(state.Return)
		}
		state.Pending -= n
	}
	return nil
}
