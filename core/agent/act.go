package agent

import (
	"fmt"
	"math/bits"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// MaxRows is the largest program of ActMean and Activations; more rows take
// several runs.
const MaxRows = 4096

// acting samples one stochastic action.
type acting struct {
	program     *plan.Program
	obs, action []float32
}

// Act samples an action for one observation obs [O] into dst [A]: a ~ π(s), or under
// ExploreBootstrap the one of several that the episode's critic values most. The
// same env step has the same noise.
func (s *SAC) Act(dst, obs []float32, step, episode uint64) error {
	if len(obs) != s.config.Obs || len(dst) != s.config.Act {
		return fmt.Errorf("act: %d observations and %d actions, want %d and %d", len(obs), len(dst), s.config.Obs, s.config.Act)
	}
	if err := s.compileActing(); err != nil {
		return err
	}
	if s.config.Exploration == ExploreBootstrap {
		return s.actByHead(dst, obs, step, episode)
	}
	copy(s.acting.obs, obs)
	if err := s.acting.program.Run(step); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	copy(dst, s.acting.action)
	return nil
}

func (s *SAC) compileSample() error {
	x := &acting{}
	var in, out *op.Node
	program, err := s.compile("act", func(g *op.Graph) plan.Spec {
		in = g.Input("s", 1, s.config.Obs)
		noise := g.Input("noise", 1, s.config.Act)
		out, _ = s.nets.sample(g, in, noise)
		return plan.Spec{Outputs: []*op.Node{out}, Fills: []plan.Fill{{Node: noise, Stream: s.actNoise}}}
	})
	if err != nil {
		return err
	}
	x.program, x.obs, x.action = program, program.Data(in), program.Data(out)
	s.acting = x
	return nil
}

// meanActing computes actions without noise, a fixed number of rows at a time.
type meanActing struct {
	program     *plan.Program
	obs, action []float32
}

// ActMean writes tanh μ(s) of rows observations obs [rows,O] to dst [rows,A].
func (s *SAC) ActMean(dst, obs []float32, rows int) error {
	o, a := s.config.Obs, s.config.Act
	if err := enough("act", rows, size{"observations", len(obs), o}, size{"actions", len(dst), a}); err != nil {
		return err
	}
	for first := 0; first < rows; first += MaxRows {
		n := min(MaxRows, rows-first)
		m, err := s.meanActing(padded(n))
		if err != nil {
			return err
		}
		copy(m.obs, obs[first*o:(first+n)*o])
		if err := m.program.Run(0); err != nil {
			return fmt.Errorf("act: %w", err)
		}
		copy(dst[first*a:(first+n)*a], m.action)
	}
	return nil
}

func (s *SAC) meanActing(rows int) (*meanActing, error) {
	if m, ok := s.means[rows]; ok {
		return m, nil
	}
	var in, out *op.Node
	program, err := s.compile("act without noise", func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, s.config.Obs)
		out = s.nets.mean(g, in)
		return plan.Spec{Outputs: []*op.Node{out}}
	})
	if err != nil {
		return nil, err
	}
	m := &meanActing{program: program, obs: program.Data(in), action: program.Data(out)}
	s.means[rows] = m
	return m, nil
}

// padded is the number of rows of the program that serves rows: a power of two,
// so that few programs serve all. What stands in the rows beyond does not matter.
func padded(rows int) int { return 1 << bits.Len(uint(rows-1)) }

// size is a slice that must hold a number of columns for each row.
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
