package lab

import (
	"context"
	"errors"
)

// TypeExamined is the type of a line with an Examined.
const TypeExamined = "examined"

// analysisDue says whether the present env step ends with an examination.
func (x *experiment) analysisDue() bool {
	every := x.config.Evaluation.AnalyseEvery
	return every > 0 && x.Step%every == 0 && x.first().real.Len() >= leastExamined
}

// leastExamined is how many transitions an examination needs.
const leastExamined = 3

// analyse makes the dear analyses of every member, cut into pieces that a command
// does not wait for long, and writes their lines. Knobs that change meanwhile are for
// what comes after. A run that was saved in between does again what it had done: the
// parts that are looked at stay as they are.
func (x *experiment) analyse(ctx context.Context) error {
	first, done := x.enter(Analyse), 0
	if first == 0 {
		x.Analysing = x.Settings
		x.total = x.pieces(DefaultExamination())
		if x.previewing != nil {
			x.answerPreview(errAnalysing)
		}
	}
	if err := x.settle(ctx, Position{x.Step, Analyse, first}); err != nil {
		return err
	}
	begin := x.now()
	breathe := func() error {
		if done++; done <= first {
			return nil
		}
		x.meter.took(Analyse, x.now().Sub(begin))
		err := x.settle(ctx, Position{x.Step, Analyse, done})
		begin = x.now()
		return err
	}
	found := make([]*Examined, len(x.members))
	for i, m := range x.members {
		f, err := x.parts.function(x.Analysing.Relevance, m)
		if err != nil {
			return err
		}
		e := &examining{experiment: x, m: m, f: f, settings: x.Analysing, Examination: DefaultExamination(), breathe: breathe}
		if found[i], err = e.all(nil); err != nil {
			return err
		}
	}
	for i, m := range x.members { // together: a run that is saved before has written none
		x.emit(TypeExamined, m.index, found[i])
	}
	return nil
}

// errAnalysing answers previews: both draw from the generator.
var errAnalysing = errors.New("an analysis is under way: ask again when it is done")

// pieces is about how many pieces an examination of all members has.
func (x *experiment) pieces(e Examination) (n int) {
	parts := func(rows, of int) int { return (rows + of - 1) / of }
	for _, m := range x.members {
		real := min(e.Rows, m.real.Len())
		n += parts(real, scoreRows)
		if m.synthetic != nil && m.synthetic.Len() > 0 {
			rows := min(e.Rows, m.synthetic.Len())
			n += 2*parts(rows, scoreRows) + 1 + parts(rows, describedRows) + parts(min(rows, neighbours, m.real.Len()), describedRows) + 2*parts(rows, simulatedRows)
		}
		if x.Fitted && x.config.Generator.Kind == GeneratorDiffusion {
			n += 2 * (2*x.Settings.SamplerSteps - 1) * parts(e.Points, max(1, x.config.Generator.Chunk))
		}
	}
	return n
}
