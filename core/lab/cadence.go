package lab

import (
	"context"
	"errors"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

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
	first := x.enter(knob.Analyse)
	if first == 0 {
		x.Analysing = x.Settings
		x.total = x.examinePieces(DefaultExamination())
		if x.previewing != nil {
			x.answerPreview(errAnalysing)
		}
	}
	if err := x.settle(ctx, knob.At(x.Step, knob.Analyse, first)); err != nil {
		return err
	}
	breathe := x.breath(ctx, knob.Analyse, 0, first)
	found := make([]*event.Examined, len(x.members))
	for i, m := range x.members {
		f, err := x.parts.function(x.Analysing.Relevance, m)
		if err != nil {
			return err
		}
		if found[i], err = x.examining(m, f, x.Analysing, DefaultExamination(), breathe).all(nil); err != nil {
			return err
		}
	}
	for i, m := range x.members { // together: a run that is saved before has written none
		x.emit(event.TypeExamined, m.index, found[i])
	}
	return nil
}

// errAnalysing answers previews: both draw from the generator.
var errAnalysing = errors.New("an analysis is under way: ask again when it is done")

// examinePieces is about how many pieces an examination of all members has.
func (x *experiment) examinePieces(e Examination) (n int) {
	for _, m := range x.members {
		n += pieces(min(e.Rows, m.real.Len()), scoreRows)
		if m.synthetic != nil && m.synthetic.Len() > 0 {
			rows := min(e.Rows, m.synthetic.Len())
			n += pieces(rows, scoreRows) + describePieces(rows, m.synthetic.Len(), m.real.Len())
			n += 2*pieces(rows, fittedRows) + pieces(rows, simulatedRows) // the Gaussian
		}
		if x.Fitted && x.config.Generator.Kind == GeneratorDiffusion {
			n += 2 * (2*x.Settings.SamplerSteps - 1) * pieces(e.Points, max(1, x.config.Generator.Chunk))
			n += pieces(3*e.Points, fittedRows) + 1
		}
	}
	return n
}
