// Package foresight is for tests: a learner that acts at random and learns from sequences of what was
// observed to tell each look from the four before it.
package foresight

import (
	"encoding/binary"
	"errors"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

const (
	seen  = 4  // looks from which the next one is told
	steps = 40 // env steps that sequences are drawn from
	every = 8  // env steps between two times that it learns
	batch = 16
	units = 3 // updates at a time
)

func init() {
	agent.Register(agent.Spec{
		Name: "foresight", Doc: "random actions and a model of the next observation: a learner of the tests", Observes: true, Takes: agent.TakesEither, Knobs: []string{"lr_actor"},
		Describe: func(agent.Deps) (agent.Traits, error) {
			return agent.Traits{Reads: steps, Phases: []string{"learn"}}, nil
		},
		New: newLearner,
	})
}

type learner struct {
	agent.Deps
	numbers   int // of a look
	net       nn.MLP
	adam      *plan.Adam
	update    *plan.Program
	past, now []float32 // of update: [batch,seen·O], [batch,O]
	counts    []float32 // [batch], 0 where an episode begins after the first look
	sequences experience.Sequences
	one       *experience.Sequence
	noise     rng.Stream
	made      uint64 // updates
}

func newLearner(d agent.Deps) (*agent.Made, error) {
	l := &learner{Deps: d, numbers: d.Shape.Obs, noise: rng.New(d.Seed, "foresight").Sub("noise"), one: experience.NewSequence(seen + 1)}
	if d.Sees {
		l.numbers = d.Pixels.Side * d.Pixels.Side * agent.Colours
	}
	l.sequences = experience.Sequences{Log: d.Log, Looks: steps * d.Copies, Stream: rng.New(d.Seed, "foresight").Sub("sequences")}
	l.net = nn.NewMLP("foresight", []int{seen * l.numbers, 8, l.numbers}, nn.XavierUniform, nn.Tanh, rng.New(d.Seed, "foresight"))
	l.adam = plan.NewAdam(l.net.Params(), plan.DefaultAdam, op.NewTensor("rate", 1))
	var past, now, counts *op.Node
	update, err := plan.Build("foresight", d.Device, func(g *op.Graph) plan.Spec {
		past, now, counts = g.Input("past", batch, seen*l.numbers), g.Input("now", batch, l.numbers), g.Input("counts", batch, 1)
		return plan.Spec{Loss: g.WeightedSquaredError(l.net.Apply(g, past), now, counts, float64(batch*l.numbers)), Optimiser: l.adam}
	})
	if err != nil {
		return nil, err
	}
	l.update, l.past, l.now, l.counts = update, update.Data(past), update.Data(now), update.Data(counts)
	learn := agent.Phase{Name: "learn", Due: l.due, Start: func(*agent.Work) (int, error) { return units, nil }, Slice: l.learn}
	return &agent.Made{Learner: l, Phases: []agent.Phase{learn}}, plan.Push(d.Device, l.net.Params()...)
}

// due says whether there is something to learn from that was not learned from yet.
func (l *learner) due(*agent.Work) bool {
	return l.Log.Steps()%every == 0 && l.sequences.Len(seen+1) > 0
}

func (l *learner) learn(w *agent.Work, done int) (int, []agent.UpdateResult, error) {
	for row := range batch {
		if err := l.sequences.Draw(l.one, l.made, row); err != nil {
			return 0, nil, err
		}
		l.counts[row] = 1
		for i, look := range l.one.Looks {
			to := l.now[row*l.numbers:]
			if i < seen {
				to = l.past[(row*seen+i)*l.numbers:]
			}
			show(to, look)
			if i > 0 && l.one.First[i] {
				l.counts[row] = 0
			}
		}
	}
	l.made++
	l.adam.Rate.Data[0] = float32(w.Rates.LRActor)
	err := l.update.Run(0)
	return 1, []agent.UpdateResult{{Stepped: true, Losses: agent.ActorLoss(l.update.Loss()), Err: err}}, nil
}

// show writes a look as numbers.
func show(dst []float32, look experience.Look) {
	copy(dst, look.Numbers)
	for i, b := range look.Frame {
		dst[i] = float32(b) / 255
	}
}

// Act acts at random.
func (l *learner) Act(a *agent.Acting) error {
	l.noise.Sub(a.Mode.String()).FillUniform(a.Actions, a.Step, 0)
	for i, v := range a.Actions {
		a.Actions[i] = 2*v - 1
	}
	return nil
}

func (l *learner) StateSize() int                                 { return 0 }
func (l *learner) Activations(agent.Looks) ([]agent.Layer, error) { return nil, nil }
func (l *learner) SavePolicy(w io.Writer) error                   { return plan.Save(l.Device, w, l.net.Params()) }
func (l *learner) LoadPolicy(r io.Reader) error                   { return plan.Load(l.Device, r, l.net.Params()) }
func (l *learner) Save(w io.Writer) error {
	return errors.Join(binary.Write(w, binary.LittleEndian, l.made), l.SavePolicy(w), l.adam.Save(w))
}
func (l *learner) Load(r io.Reader) error {
	return errors.Join(binary.Read(r, binary.LittleEndian, &l.made), l.LoadPolicy(r), l.adam.Load(r))
}
func (l *learner) Close() error { return l.update.Close() }
