package redo_test

import (
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/replay"
)

func add(t *testing.T, c *redo.Changes, name string) redo.Stage {
	t.Helper()
	k, err := knob.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	home := redo.FirstStage(k)
	c.Add(event.KnobChanged{ID: len(c.All()) + 1, Knob: name, Class: k.Class}, home)
	return home
}

func knobs(w []redo.Waiting) (names []string) {
	for _, w := range w {
		names = append(names, w.Knob)
	}
	return names
}

// Every change comes into force in the first batch with data made under it. A knob that is turned
// during a refit waits for the next one.
func TestChangesComeIntoForceWithTheirData(t *testing.T) {
	var c redo.Changes
	half := replay.Mix{Real: 4, Synthetic: 4}
	c.BeginStep(1, true)
	for _, name := range []string{"relevance", "lr_generator", "guidance", "ratio", "lr_critic"} {
		add(t, &c, name)
	}
	if got := knobs(c.Sampled(replay.Mix{Real: 8}, half, knob.Position{})); !slices.Equal(got, []string{"lr_critic"}) {
		t.Errorf("in force in a batch of real transitions: %q", got)
	}
	c.Begins(redo.Scoring)
	c.Begins(redo.Fitting)
	add(t, &c, "p_uncond")
	c.EndFit()
	c.Begins(redo.Generating)
	if c.Todo() != knob.ClassGeneration {
		t.Errorf("left to do after a fit: %v", c.Todo())
	}
	c.EndGeneration()
	if got := knobs(c.Sampled(half, half, knob.Position{})); !c.Abandoned() || !slices.Equal(got, []string{"relevance", "lr_generator", "guidance", "ratio"}) {
		t.Errorf("in force after the generation: %q", got)
	}
	if got := knobs(c.Waiting()); !slices.Equal(got, []string{"p_uncond"}) {
		t.Errorf("still waiting: %q", got)
	}
}

// A change that is replaced while work reads it is not in force: the work is abandoned, and D_syn is
// made with the other change.
func TestAReplacedChangeIsNeverInForce(t *testing.T) {
	half := replay.Mix{Real: 4, Synthetic: 4}
	for name, reads := range map[string]redo.Stage{"relevance": redo.Scoring, "guidance": redo.Generating} {
		var c redo.Changes
		add(t, &c, name)
		c.Begins(reads)
		add(t, &c, name)
		c.SendBack()
		c.Begins(redo.Scoring)
		c.Begins(redo.Fitting)
		c.EndFit()
		c.Begins(redo.Generating)
		c.EndGeneration()
		if got := c.Sampled(half, half, knob.Position{}); len(got) != 1 || got[0].ID != 2 || len(c.Waiting()) > 0 {
			t.Errorf("%s: in force are %+v, %+v wait", name, got, c.Waiting())
		}
	}
}

// "Now" abandons work that has read the old value, and has it made again in the next env step.
func TestNowAbandonsWhatHasReadTheOldValue(t *testing.T) {
	o := redo.Outlook{Settings: &knob.Settings{}, Training: true, Fitted: true}
	var c redo.Changes
	c.BeginStep(1, true)
	c.Begins(redo.Scoring)
	if home := add(t, &c, "guidance"); c.Now(home, o) != "" || c.Abandoned() {
		t.Error("a generation that has not begun is abandoned")
	}
	c.EndFit()
	c.Begins(redo.Generating)
	if home := add(t, &c, "guidance"); c.Now(home, o) != "" || !c.Abandoned() {
		t.Error("a generation with the old guidance goes on")
	}
	c.SendBack()
	if c.BeginStep(1, false); c.Todo() != knob.ClassGeneration {
		t.Errorf("the next env step does %v", c.Todo())
	}
	c.TakeBackStep() // the step is made once more
	if c.BeginStep(1, false); c.Todo() != knob.ClassGeneration {
		t.Errorf("the next env step does %v at its second try", c.Todo())
	}
	if hint := (&redo.Changes{}).Now(redo.Fitted, redo.Outlook{NextRefit: 20}); hint != "no generator is fitted before step 20" {
		t.Errorf("without a generator: %q", hint)
	}
}

// What the last refit of a run has read already has no effect any more, and what it is still to read has.
func TestAChangeDuringTheLastRefit(t *testing.T) {
	o := redo.Outlook{Settings: &knob.Settings{}, Training: true, Fitted: true, Synthetic: true, StepsLeft: true}
	for _, test := range []struct {
		begun []redo.Stage
		idle  []string // of what is changed then
	}{
		{nil, nil},
		{[]redo.Stage{redo.Scoring}, []string{"relevance"}},
		{[]redo.Stage{redo.Scoring, redo.Fitting}, []string{"relevance", "lr_generator"}},
		{[]redo.Stage{redo.Scoring, redo.Fitting, redo.Generating}, []string{"relevance", "lr_generator", "guidance"}},
	} {
		var c redo.Changes
		c.BeginStep(1, true)
		for _, s := range test.begun {
			if s == redo.Generating {
				c.EndFit()
			}
			c.Begins(s)
		}
		var idle []string
		for _, name := range []string{"relevance", "lr_generator", "guidance", "ratio", "lr_critic"} {
			k, err := knob.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if c.HintOfEnd(k, redo.FirstStage(k), o) != "" {
				idle = append(idle, name)
			}
		}
		if !slices.Equal(idle, test.idle) {
			t.Errorf("after %v: no effect of %q, want %q", test.begun, idle, test.idle)
		}
	}
	var c redo.Changes
	o.Fitted = false
	if home := add(t, &c, "relevance"); c.Now(home, o) != "" || c.HintOfEnd(knob.All()[0], redo.Fit, o) != "" {
		t.Error("a refit that is made now reads no change")
	}
}

// A change that was replaced before a batch had a row of its D_syn, as with r = 0, is not in force.
func TestAChangeWhoseGenerationWasNotUsedIsNeverInForce(t *testing.T) {
	var c redo.Changes
	for _, name := range []string{"guidance", "top_fraction", "guidance"} {
		add(t, &c, name)
		c.BeginStep(1, true)
		c.Begins(redo.Generating)
		c.EndGeneration()
		if got := c.Sampled(replay.Mix{Real: 8}, replay.Mix{Real: 8}, knob.Position{}); len(got) > 0 {
			t.Errorf("in force in a batch of real transitions: %q", knobs(got))
		}
	}
	half := replay.Mix{Real: 4, Synthetic: 4}
	if got := c.Sampled(half, half, knob.Position{}); len(got) != 2 || got[0].ID != 2 || got[1].ID != 3 || len(c.Waiting()) > 0 {
		t.Errorf("in force are %+v, %+v wait", got, c.Waiting())
	}
}

// What env steps meet is in no row of the rollout that is being learned from.
func TestAChangeOfWhatIsMetWaitsForALaterEnvStep(t *testing.T) {
	var c redo.Changes
	for i, name := range []string{"tv", "bonus", "entropy"} {
		c.Add(event.KnobChanged{ID: i + 1, Knob: name, Position: knob.At(18, knob.Learn, 3)}, redo.Update)
	}
	mix := replay.Mix{Real: 4}
	for i, want := range [][]string{{"entropy"}, {"tv", "bonus"}} {
		if got := knobs(c.Sampled(mix, mix, knob.At(18+i, knob.Learn, 4))); !slices.Equal(got, want) {
			t.Errorf("in force in an update of step %d: %q, want %q", 18+i, got, want)
		}
	}
}

// An update that began before a change was made does not contain it.
func TestAChangeInsideAnUpdateWaitsForTheNext(t *testing.T) {
	var c redo.Changes
	for i, name := range []string{"lr_critic", "batch"} {
		c.Add(event.KnobChanged{ID: i + 1, Knob: name, Position: knob.At(18, knob.Learn, i)}, redo.Update)
	}
	mix := replay.Mix{Real: 4}
	for i, want := range []string{"lr_critic", "batch"} {
		if got := knobs(c.Sampled(mix, mix, knob.At(18+2*i, knob.Learn, 0))); len(got) != 1 || got[0] != want {
			t.Errorf("in force in the update of step %d: %q", 18+2*i, got)
		}
	}
}

// Where there are too few noise levels for guidance, a change of either knob says so, if the run asks
// for anything.
func TestGuidanceAtTooFewLevels(t *testing.T) {
	const hint = "ω does not act as asked below 8 sampler_steps"
	for _, c := range []struct {
		relevance string
		levels    int
		omega     float64
		want      string
	}{{"curiosity", 7, 2, hint}, {"curiosity", 8, 2, ""}, {"curiosity", 7, 1, ""}, {"curiosity", 7, 0, ""}, {"none", 7, 2, ""}} {
		o := redo.Outlook{Settings: &knob.Settings{Relevance: c.relevance, SamplerSteps: c.levels, Guidance: c.omega, Ratio: 0.5}, Fitted: true, Synthetic: true}
		for _, name := range []string{"sampler_steps", "guidance", "top_fraction"} {
			k, err := knob.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if name == "top_fraction" {
				want = ""
			}
			if got := o.Hint(k, redo.FirstStage(k)); got != want && c.relevance != "none" || c.relevance == "none" && got == hint {
				t.Errorf("%+v: %s: %q, want %q", c, name, got, want)
			}
		}
	}
}

// A change is in force with the first chunk of a generation that comes into force chunk by chunk, and whole
// with the last one, or with any later generation, unless another change of its knob has come.
func TestChangesWaitForTheRestOfAGeneration(t *testing.T) {
	half := replay.Mix{Real: 4, Synthetic: 4}
	chunk := func(c *redo.Changes, step int) {
		t.Helper()
		if c.BeginStep(step, false); c.Todo() != knob.ClassGeneration {
			t.Fatalf("at step %d there is %v to do", step, c.Todo())
		}
		if !c.GoesOn() {
			c.Begins(redo.Generating)
		}
		c.EndChunk(step + 10)
	}
	o := redo.Outlook{Settings: &knob.Settings{}, Training: true, Fitted: true}
	var c redo.Changes
	c.Now(add(t, &c, "guidance"), o)
	chunk(&c, 1)
	if got := c.Sampled(half, half, knob.Position{}); len(got) != 1 || got[0].Stage != redo.Generated {
		t.Errorf("in force with the first chunk: %+v", got)
	}
	if c.BeginStep(2, false); c.Todo() != redo.Nothing || len(c.Sampled(half, half, knob.Position{})) > 0 {
		t.Errorf("between two chunks there is %v to do", c.Todo())
	}
	if c.BeginStep(11, true); c.Todo() != knob.ClassRefit || c.GoesOn() {
		t.Errorf("where a refit is due there is %v to do", c.Todo())
	}
	c.Abandon()
	chunk(&c, 12)
	c.Now(add(t, &c, "top_fraction"), o)
	c.GiveUp()
	chunk(&c, 13)
	c.Sampled(half, half, knob.Position{})
	c.Now(add(t, &c, "guidance"), o)
	c.GiveUp()
	chunk(&c, 14)
	c.Sampled(half, half, knob.Position{})
	if c.BeginStep(24, false); !c.GoesOn() {
		t.Errorf("the generation does not go on: %v", c.Todo())
	}
	if got := c.EndGeneration(); !slices.Equal(knobs(got), []string{"top_fraction", "guidance"}) || got[1].ID != 3 || c.Next() != 0 || len(c.Waiting()) > 0 {
		t.Errorf("whole are %+v, %+v wait", got, c.Waiting())
	}
}
