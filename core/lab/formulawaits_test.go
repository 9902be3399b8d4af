package lab

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/tiny"
)

// A formula may be replaced while an examination looks at it, in every member and after a resume.
func TestAFormulaIsReplacedDuringAnExamination(t *testing.T) {
	for _, members := range []int{1, 2} {
		resumeFrom(t, func(_ int, p knob.Position) bool { return p.Step == 30 && p.Phase == knob.Analyse }, func(r record) *Lab {
			w := newWorld()
			c := w.config()
			c.Members, c.Evaluation.AnalyseEvery = members, 30
			c.Schedule = []string{"25:relevance==rank(reward)", "30/analyse:1:relevance=td"}
			return w.lab(t, c, r)
		})
	}
}

// An examination has no F of a function that waits for the next refit, which nothing has measured.
func TestAnExaminationHasNoFThatWaits(t *testing.T) {
	c := newWorld().config()
	c.Evaluation.AnalyseEvery, c.Schedule = 30, []string{"25:relevance==rank(reward)"}
	l, _ := play(t, newWorld(), c)
	found, _ := bodies[*event.Examined](l) // at 30, and at 60 after a refit at 40
	if len(found) != 2 || found[0].Real != nil || found[1].Real == nil {
		t.Errorf("%+v", found)
	}
}

// An examination that is due after a refit is made, with an evaluation in between or without.
func TestAnExaminationAfterARefit(t *testing.T) {
	c := tiny.Latents() // with refits at 12 and 24 and evaluations at 13 and 26
	c.Evaluation.AnalyseEvery = 12
	l := framesLab(t, c, 1, nil)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, steps := bodies[*event.Examined](l); !slices.Equal(steps, []int{12, 24}) {
		t.Errorf("examined at %v", steps)
	}
}

// A formula of a refit that was given up is kept by a resume as it is without one.
func TestAFormulaThatWasGivenUpIsKeptByAResume(t *testing.T) {
	resumeFrom(t, func(_ int, p knob.Position) bool { return p.Step == 20 && p.Phase == knob.Evaluate }, func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Evaluation.Every = 20
		c.Schedule = []string{"10:relevance==rank(reward)", "20/fit:4:relevance=td!", "20/evaluate:0:relevance=reward", "20/evaluate:25:relevance==rank(reward)"}
		return w.lab(t, c, r)
	})
}

// A change that is planned in a dream, where all changes act at once, is made as it was planned.
func TestAPlannedChangeOfADreamIsItsPlan(t *testing.T) {
	c := dreamConfig()
	c.Schedule, c.Steps = nil, 2
	l := dreamLab(t, c, dreamtRows(t, 40), &memoryFolder{})
	l.Send(event.SetKnob{Knob: "guidance", Value: "3", By: "ana", At: new(knob.After(1))})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var plan, made knob.Scheduled
	for _, e := range l.Events(0) {
		switch e.Body.(type) {
		case event.Planned:
			plan, _, _ = changeOf(e)
		case event.KnobChanged:
			made, _, _ = changeOf(e)
		}
	}
	if made.Knob == "" || !fulfils(made, plan) {
		t.Errorf("%+v is not the plan %+v", made, plan)
	}
}

// F of critics' estimates is refused where the learner has none, before a run, a fork or a plan asks for it.
func TestEstimatesOfLearnersWithoutThem(t *testing.T) {
	c := ppoLatentConfig()
	for _, name := range []string{"td", "td-signed", "return", "=q", "=rank(td) + reward"} {
		if c.CanMeet(name) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	c.Formulas = map[string]config.Formula{"of-critics": {Formula: "rank(td) + reward"}, "of-rows": {Formula: "reward + curiosity"}}
	if all := c.Offered(knob.Knob{Name: "relevance"}).Choices; !slices.Equal(all, []string{"of-rows"}) {
		t.Errorf("offered are %q", all)
	}
}

// A dream has no policy that a generator of rollouts could follow, and a what-if has no pinned data.
func TestWhatHasNoPolicyOrNoData(t *testing.T) {
	c := dreamConfig()
	rolled(&c)
	c.Schedule = nil
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "rolls out") {
		t.Errorf("a dream of rollouts: %v", err)
	}
	c = tiny.Config()
	c.Data, c.Knobs.Prior = config.Data{Files: []string{"a.npz"}, Rows: 8, Mode: config.DataPinned}, 0.5
	if err := c.CheckWhatIf(); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("a what-if beside pinned data: %v", err)
	}
}
