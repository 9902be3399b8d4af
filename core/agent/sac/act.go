package sac

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// actor computes the actions of a fixed number of rows in one mode.
type actor struct {
	*plan.Program
	obs, action []float32
}

// actorKey is what an actor is compiled for; it may have room for more rows than are asked for.
type actorKey struct {
	mode agent.Mode
	rows int
}

// StateSize is 0: the policy sees the whole state in one observation.
func (s *Agent) StateSize() int { return 0 }

// Act writes an action for each copy: tanh μ(s) under agent.Mean, otherwise a ~ π(s). When
// it explores under ExploreBootstrap, it takes the one of several samples that the critic
// of the copy's episode values most.
func (s *Agent) Act(a *agent.Acting) error {
	if err := a.Check(s.config.Obs, s.config.Act, 0); err != nil {
		return err
	}
	switch {
	case a.Mode == agent.Explore && s.config.Exploration == ExploreBootstrap:
		return s.actByHeads(a)
	case a.Mode != agent.Mean && a.Copies > agent.MaxRows:
		return fmt.Errorf("act: %d copies, want at most %d", a.Copies, agent.MaxRows)
	}
	for first := 0; first < a.Copies; first += agent.MaxRows {
		n := min(agent.MaxRows, a.Copies-first)
		x, err := s.actors.Of(actorKey{a.Mode, agent.Padded(n)})
		if err != nil {
			return err
		}
		copy(x.obs, a.Obs[first*s.config.Obs:(first+n)*s.config.Obs])
		if err := x.Run(a.Step); err != nil {
			return fmt.Errorf("act: %w", err)
		}
		copy(a.Actions[first*s.config.Act:(first+n)*s.config.Act], x.action)
	}
	return nil
}

func (s *Agent) newActor(key actorKey) (*actor, error) {
	var in, out *op.Node
	build := func(g *op.Graph) (spec plan.Spec) {
		in = g.Input("s", key.rows, s.config.Obs)
		if key.mode == agent.Mean {
			out = s.nets.mean(g, in)
		} else {
			noise := g.Input("noise", key.rows, s.config.Act)
			out, _ = s.nets.sample(g, in, noise)
			spec.Fills = []plan.Fill{{Node: noise, Stream: s.noiseOf(key.mode)}}
		}
		spec.Outputs = []*op.Node{out}
		return spec
	}
	name := "act"
	if key.mode == agent.Mean {
		name = "act without noise"
	}
	program, err := plan.Build(name, s.dev, build)
	if err != nil {
		return nil, err
	}
	return &actor{program, program.Data(in), program.Data(out)}, nil
}

// noiseOf returns the stream of a mode's samples: evaluations have one of their own.
func (s *Agent) noiseOf(mode agent.Mode) rng.Stream {
	if mode == agent.Sample {
		return s.sampleNoise
	}
	return s.actNoise
}

// size describes a slice that must hold a number of columns for each row.
type size struct {
	what      string
	have, row int
}

func enough(what string, rows int, slices ...size) error {
	if rows < 1 {
		return fmt.Errorf("%s: %d rows, want at least 1", what, rows)
	}
	for _, s := range slices {
		if s.have < rows*s.row {
			return fmt.Errorf("%s: %d %s for %d rows of %d", what, s.have, s.what, rows, s.row)
		}
	}
	return nil
}
