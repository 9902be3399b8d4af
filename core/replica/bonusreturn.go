package replica

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
	Return  float64   // R of the last transition scored, of copy 0 of the environment
	Others  []float64 // and of the other copies
	Of      moments   // of all R so far
	Pending int       // transitions collected since
}

// of returns R of copy i.
func (b *bonusReturn) of(i uint64) *float64 {
	if i == 0 {
		return &b.Return
	}
	for uint64(len(b.Others)) < i {
		b.Others = append(b.Others, 0)
	}
	return &b.Others[i-1]
}

// add takes the F of the next env step of a copy.
func (b *bonusReturn) add(i uint64, gamma, f float64) {
	sum := b.of(i)
	*sum = gamma**sum + f
	b.Of.add(*sum)
}

// followBonus scores the transitions collected since the last call, in blocks, with the model of
// the bonus as it is now. Transitions that do not fill a block wait, except for the first ones.
func (r *Replica) followBonus() error {
	state := &r.BonusReturn
	state.Pending = min(state.Pending, r.Real.Len())
	for state.Pending >= bonusBlock || state.Of.N == 0 && state.Pending > 0 {
		n := min(bonusBlock, state.Pending)
		r.Real.Gather(r.scratch, 0, r.Real.Oldest(r.Real.Len()-state.Pending, n))
		r.curious = resized(r.curious, n)
		model := r.Functions.fixed(r.Config.Bonus.Function)
		if err := model.Score(r.curious, r.scratch, n); err != nil {
			return err
		}
		for i, f := range r.curious { // transitions of an env step lie in the order of its copies
			copy := (r.Real.Total() - uint64(state.Pending-i)) % uint64(r.World.Copies)
			state.add(copy, r.Config.Agent.Gamma, model.Scale*float64(f))
		}
		state.Pending -= n
	}
	return nil
}
