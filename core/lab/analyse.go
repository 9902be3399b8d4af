package lab

import (
	"errors"
	"io"
	"time"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// view is the member as it is now, to be looked at.
func (x *experiment) view(m *member) inspect.View {
	v := inspect.View{
		Step: x.Step, Settings: x.Settings, Task: inspect.Task{Name: x.config.Task, Terminates: x.task.Terminates},
		Real: m.real, Syn: m.synthetic, Prompts: x.Asked, F: m.f, Learned: m.built(m.f.Name()),
		Gen: m.gen, Fitted: x.Fitted, Scratch: m.scoring, Stream: m.streams.preview, Simulator: &m.simulator,
	}
	if x.config.Has()&knob.UseDiffusion != 0 {
		v.Chunk = max(1, x.config.Generator.Chunk)
	}
	return v
}

// viewAs is the member under settings that may have changed since.
func (x *experiment) viewAs(m *member, s knob.Settings) (v inspect.View, err error) {
	v = x.view(m)
	v.Settings = s
	v.F, err = x.parts.function(s.Relevance, m)
	v.Learned = m.built(s.Relevance)
	return v, err
}

// simulator is an environment of its own that the member's transitions are held to.
func (x *experiment) simulator(m *member) inspect.Simulator {
	if x.parts.fills { // with rows that no environment can be set to
		return inspect.Simulator{Start: func() (io.Closer, error) { return io.NopCloser(nil), nil }}
	}
	return inspect.Simulator{Start: func() (io.Closer, error) { return x.task.New(m.seed) }}
}

// describeGeneration describes the new D_syn of every member before it comes into
// force; found gets what it finds of each, or nothing where the run makes no analyses.
func (x *experiment) describeGeneration(found []*event.Generated) inspect.Pieces {
	return func(yield func(error) bool) {
		if !x.config.Analyses() {
			return
		}
		for i, m := range x.members {
			v, err := x.viewAs(m, x.Analysing)
			if err != nil {
				yield(err)
				return
			}
			v.Syn = m.fresh
			v.Prompts = inspect.Prompts{Knobs: x.Generating, Occasion: x.Generations - 1, Known: true}
			found[i] = &event.Generated{}
			for err := range inspect.Describe(v, x.config.Evaluation.AnalysedRows, found[i]) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// describing is how many pieces describeGeneration has.
func (x *experiment) describing() (n int) {
	if !x.config.Analyses() {
		return 0
	}
	for _, m := range x.members {
		n += inspect.DescribePieces(min(x.config.Evaluation.AnalysedRows, m.fresh.Cap()), m.fresh.Cap(), m.real.Len())
	}
	return n
}

// analysisDue says whether the present env step ends with an examination.
func (x *experiment) analysisDue() bool {
	every := x.config.Evaluation.AnalyseEvery
	return every > 0 && x.Step%every == 0 && x.first().real.Len() >= inspect.MinRows
}

// analyse examines every member, in pieces that a command does not wait for long, and
// writes the lines. Knobs that change meanwhile are for what comes after: the parts that
// are looked at stay as they are.
func (x *experiment) analyse() phase {
	var found []*event.Examined
	return phase{
		Phase: knob.Analyse, doing: "analyse",
		due: x.analysisDue,
		begin: func() error {
			x.Analysing = x.Settings
			x.total = 0
			for _, m := range x.members {
				x.total += inspect.ExaminePieces(x.view(m), inspect.DefaultExamination())
			}
			x.dropAside(errAnalysing)
			return nil
		},
		slice: func(int) (n int, complete bool, err error) { return 0, true, nil }, // all of it are pieces
		pieces: func() inspect.Pieces {
			found = make([]*event.Examined, len(x.members))
			return x.examineAll(found)
		},
		behind: func() int { return 0 },
		end: func() error {
			for i, m := range x.members { // together: a run that is saved before has written none
				x.emit(event.TypeExamined, m.index, found[i])
			}
			return nil
		},
	}
}

// examineAll examines every member with the knobs as they were when the analysis began.
func (x *experiment) examineAll(found []*event.Examined) inspect.Pieces {
	return func(yield func(error) bool) {
		for i, m := range x.members {
			v, err := x.viewAs(m, x.Analysing)
			if err != nil {
				yield(err)
				return
			}
			found[i] = &event.Examined{}
			for err := range inspect.Examine(v, inspect.DefaultExamination(), nil, found[i]) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// errAnalysing answers previews: both draw from the generator.
var errAnalysing = errors.New("an analysis is under way: ask again when it is done")

// reportScores describes F over a sample of real transitions.
func (x *experiment) reportScores(m *member, number uint64) error {
	v := x.view(m)
	if v.Settings.Relevance == relevance.None || !v.Learned || m.real.Len() == 0 {
		return nil
	}
	f, err := v.Sample(m.real, m.streams.scores.At(number).IntN)
	if err != nil {
		return err
	}
	s := analysis.Summarise(f)
	x.emit(event.TypeScores, m.index, event.Scores{
		Relevance: v.Settings.Relevance, Min: run.Float(s.Min), Max: run.Float(s.Max), Mean: run.Float(s.Mean),
		Quantiles: run.Floats([]float64{s.Q10, s.Median, s.Q90}),
	})
	return nil
}

// value takes the critics' value of an evaluation's first states, where critics take
// observations.
func (x *experiment) value(m *member, t *evaluation) error {
	values, has := m.agent.(relevance.Values)
	if !has || x.parts.fills {
		return nil
	}
	t.q = make([]float32, len(t.ended))
	return values.Q(t.q, t.obs, len(t.q))
}

// reportBias writes the line of an evaluation about the critics' bias.
func (x *experiment) reportBias(m *member, t *evaluation) {
	if len(t.q) == 0 {
		return
	}
	bias, q := make([]float64, len(t.q)), 0.0
	for i, v := range t.q {
		bias[i] = float64(v) - t.discounted[i]
		q += float64(v) / float64(len(t.q))
	}
	mean, std := meanStd(bias)
	x.emit(event.TypeQBias, m.index, event.QBias{Q: run.Float(q), Return: run.Float(q - mean), Bias: run.Float(mean), Std: run.Float(std)})
}

// showMap answers a Map.
func (x *experiment) showMap(c event.Map) {
	out := &event.Mapped{X: c.X, Y: c.Y, Step: x.Step}
	err := x.gate.absent()
	if err == nil {
		err = x.guarded(func() error {
			found, err := inspect.Map(x.view(x.first()), c.X, c.Y)
			out = found
			return err
		})
	}
	if err != nil {
		out.Unknown = err.Error()
	}
	x.mapped = out
}

// showMoment answers a Watch.
func (x *experiment) showMoment() {
	m := x.first()
	if x.gate.absent() != nil || x.parts.fills { // what is asked is about observations
		x.moment = inspect.Moment(inspect.View{Step: x.Step}, m.action, nil)
		return
	}
	var value func(dst, obs []float32, rows int) error
	if values, has := m.agent.(relevance.Values); has && m.Updates > 0 {
		value = values.Q
	}
	// What cannot be computed stays unknown: nobody asked for an error.
	_ = x.guarded(func() error {
		x.moment = inspect.Moment(x.view(m), m.action, value)
		return nil
	})
}

// source is what a preview asks of a member.
type source struct {
	x *experiment
	m *member
}

func (s source) Function(name string) (relevance.Function, error) {
	return s.x.parts.function(name, s.m)
}

func (s source) Learned(name string) bool { return s.m.built(name) }

func (s source) NewModel(name string) (relevance.Model, error) {
	return s.x.parts.build(name, s.m.seed)
}

func (s source) Owed(name string) int { return s.x.owed(s.m, name) }

func (s source) NextRefit() int { return s.x.nextRefit() }

func (s source) CostRefit() time.Duration { return s.x.meter.RefitTakes(&s.x.Settings, s.m.real.Len()) }

func (s source) Now() time.Time { return s.x.now() }
