package sac

import (
	"errors"
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// pair is the learner max: two agents in one world, after MAX (Shyam et al. 2019) with REDQ in place of
// its SAC. The embedded one is the exploiter, the other one the explorer.
//
// The explorer learns from D_syn alone, with F of each row, as it was when the row was generated, in place
// of the reward (replay.Note.F; with F "ensemble" that is the utility of MAX). It acts in training. The
// exploiter learns from batches of D_real and D_syn and their rewards, as an Agent alone does. It is what is
// evaluated, shown, saved as a policy, and asked for values: a return of the explorer would say how much
// there is to find out, not how well the task is done. Rollouts are of each in equal parts (both): what the
// exploiter believes of its own actions is then compared with the model, as it never acts.
//
// In MAX itself a fresh explorer is trained after every fit, and an exploiter only for an evaluation, in
// the model and for a reward that is known. Here both go on from refit to refit, and the reward is learned.
type pair struct {
	*Agent
	explorer *Agent
	mixer    replay.Mixer // of the explorer's batches

	rows  *replay.Ring // of the source, with F as their rewards; nil: not made yet
	from  *replay.Ring // the D_syn that rows are of
	total uint64       // its Total then
}

func newPair(c Config, d agent.Deps) (*pair, error) {
	stream := rng.New(d.Seed, "agent")
	exploiter, err := create(c, d.Device, stream)
	if err != nil {
		return nil, err
	}
	stream = stream.Sub("explorer")
	explorer, err := create(c, d.Device, stream)
	if err != nil {
		return nil, errors.Join(err, exploiter.Close())
	}
	return &pair{Agent: exploiter, explorer: explorer, mixer: replay.NewMixer(stream.Sub("replay"))}, nil
}

// Act is the explorer's in training, the exploiter's otherwise.
func (p *pair) Act(a *agent.Acting) error {
	if a.Mode == agent.Explore {
		return p.explorer.Act(a)
	}
	return p.Agent.Act(a)
}

// both is the policy of rollouts: the explorer acts in the first half of the rows of a call, the exploiter in
// the others, so that a rollout, which keeps its row, has one of them.
type both struct{ *pair }

// Act splits the rows.
func (p both) Act(a *agent.Acting) error {
	if err := a.Check(p.config.Obs, p.config.Act, 0); err != nil {
		return err
	}
	n := (a.Copies + 1) / 2
	for i, of := range []*Agent{p.explorer, p.Agent} {
		part, first := *a, i*n
		if part.Copies = min(n, a.Copies-first); part.Copies == 0 {
			continue
		}
		part.Obs, part.Actions = a.Obs[first*p.config.Obs:][:part.Copies*p.config.Obs], a.Actions[first*p.config.Act:][:part.Copies*p.config.Act]
		if err := of.Act(&part); err != nil {
			return err
		}
	}
	return nil
}

// UpdateN makes n updates of the exploiter and, if there are synthetic rows, as many of the explorer, on
// batches of the same size.
func (p *pair) UpdateN(n int, from agent.BatchSource, rates agent.Rates, last bool) ([]agent.UpdateResult, error) {
	made, err := p.Agent.UpdateN(n, from, rates, last)
	if err != nil || from.Synthetic == nil || from.Synthetic.Len() == 0 {
		return made, err
	}
	p.follow(from.Synthetic)
	found, err := p.explorer.UpdateN(n, agent.BatchSource{
		Mixer: p.mixer, Synthetic: p.rows, Mix: replay.Mix{Synthetic: from.Mix.Size()}, First: from.First,
	}, rates, last)
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	for i := range made {
		l := found[i].Losses
		made[i].Losses.Explorer = agent.ExplorerLosses{Critic: l.Critic, Actor: l.Actor, Alpha: l.AlphaValue, QMean: l.QMean}
		if err := found[i].Err; err != nil {
			made[i].Err = errors.Join(made[i].Err, fmt.Errorf("explorer: %w", err))
		}
	}
	return made, nil
}

// follow copies D_syn with F as its rewards, unless it is the one that was copied last.
func (p *pair) follow(syn *replay.Ring) {
	if p.from == syn && p.total == syn.Total() {
		return
	}
	shape, row := syn.Shape(), []float32(nil)
	p.from, p.total, p.rows = syn, syn.Total(), replay.NewRing(shape, syn.Len())
	for _, slot := range syn.Oldest(0, syn.Len()) {
		row = append(row[:0], syn.Row(slot)...)
		row[shape.Obs+shape.Act] = syn.Note(slot).F
		p.rows.AddRows(row)
	}
}

// Fused says whether both make all updates of an env step in one launch each.
func (p *pair) Fused() bool { return p.Agent.Fused() && p.explorer.Fused() }

// Prepare compiles what these uses need of both.
func (p *pair) Prepare(u agent.Uses) error {
	if err := p.Agent.Prepare(u); err != nil {
		return err
	}
	own := agent.Uses{Copies: u.Copies}
	for _, m := range u.Mixes {
		if m.Synthetic > 0 {
			own.Mixes = append(own.Mixes, replay.Mix{Synthetic: m.Size()})
		}
	}
	if u.Source != nil {
		own.Source = &agent.SourceSize{Updates: u.Source.Updates, Mixer: p.mixer, Synthetic: u.Source.Synthetic}
	}
	return p.explorer.Prepare(own)
}

// Save writes both.
func (p *pair) Save(w io.Writer) error { return plan.SaveAll(w, p.Agent, p.explorer) }

// Load reads both. SavePolicy and LoadPolicy are the exploiter's.
func (p *pair) Load(r io.Reader) error {
	p.rows, p.from = nil, nil
	return plan.LoadAll(r, p.Agent, p.explorer)
}

// Close frees the programs of both.
func (p *pair) Close() error { return errors.Join(p.Agent.Close(), p.explorer.Close()) }
