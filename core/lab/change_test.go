package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// send returns a function that sends l a command from the training goroutine.
func send(t *testing.T, l **Lab, c event.Command) func() {
	return func() {
		if err := (*l).Send(c); err != nil {
			t.Error(err)
		}
	}
}

// sequence returns what happened to knobs and refits, in order.
func sequence(l *Lab) string {
	var s []string
	for _, e := range l.Events(0) {
		switch b := e.Body.(type) {
		case event.KnobChanged:
			text := fmt.Sprintf("%d: %s %s→%s at %s", b.ID, b.Knob, b.From, b.To, b.Position)
			if b.Why() != "" {
				text += " (" + b.Why() + ")"
			}
			s = append(s, text)
		case event.InForce:
			s = append(s, fmt.Sprintf("%d in force at %d", b.ID, e.Step))
		case event.Refit:
			s = append(s, fmt.Sprintf("refit of %d at %d", b.Steps, e.Step))
		case event.Refused:
			s = append(s, "refused: "+b.Reason)
		}
	}
	return strings.Join(s, "; ")
}

// fewLevels is the hint of a change of ω in the test world, which has few noise levels.
const fewLevels = " (ω does not act as asked below 8 sampler_steps)"

func TestTransactions(t *testing.T) {
	type asked struct {
		during string // the call during which the change is sent
		knob   string
		value  string
		now    bool
	}
	for _, c := range []struct {
		name string
		asks []asked
		want string
	}{
		{"batch, from the next update",
			[]asked{{"fit to 4", "lr_critic", "0.01", false}},
			"1: lr_critic 0.0003→0.01 at 20/fit:4; refit of 10 at 20; 1 in force at 21; refit of 10 at 40"},
		{"generation, in the middle of a fit, is read by the generation to come",
			[]asked{{"fit to 4", "guidance", "4", true}},
			"1: guidance 2→4 at 20/fit:4" + fewLevels + "; refit of 10 at 20; 1 in force at 21; refit of 10 at 40"},
		{"refit, in the middle of a fit, waits for the next one",
			[]asked{{"fit to 4", "lr_generator", "0.01", false}},
			"1: lr_generator 0.0003→0.01 at 20/fit:4; refit of 10 at 20; refit of 10 at 40; 1 in force at 41"},
		{"refit now, in the middle of a fit, begins it again in the next step",
			[]asked{{"fit to 4", "lr_generator", "0.01", true}},
			"1: lr_generator 0.0003→0.01 at 20/fit:4; refit of 10 at 21; 1 in force at 22; refit of 10 at 40"},
		{"relevance while scoring is read too late",
			[]asked{{"score curiosity 20", "relevance", "td", false}},
			"1: relevance curiosity→td at 20/fit:0; refit of 10 at 20; refit of 10 at 40; 1 in force at 41"},
		{"generation now, in the middle of one",
			[]asked{{"generate 2", "guidance", "4", true}},
			"1: guidance 2→4 at 20/generate:2" + fewLevels + "; refit of 0 at 21; 1 in force at 22; refit of 10 at 40"},
		{"an abandoned generation leaves what it was bound to waiting",
			[]asked{{"fit to 4", "guidance", "4", false}, {"generate 2", "top_fraction", "0.5", true}},
			"1: guidance 2→4 at 20/fit:4" + fewLevels + "; 2: top_fraction 0.25→0.5 at 20/generate:2; refit of 0 at 21; 1 in force at 22; 2 in force at 22; refit of 10 at 40"},
		{"a change that only an abandoned generation has read is never in force",
			[]asked{{"fit to 4", "guidance", "4", false}, {"generate 2", "guidance", "6", true}},
			"1: guidance 2→4 at 20/fit:4" + fewLevels + "; 2: guidance 4→6 at 20/generate:2" + fewLevels + "; refit of 0 at 21; 2 in force at 22; refit of 10 at 40"},
		{"a change that nothing has read when the next one comes is never in force",
			[]asked{{"fit to 4", "guidance", "4", false}, {"fit to 8", "guidance", "6", false}},
			"1: guidance 2→4 at 20/fit:4" + fewLevels + "; 2: guidance 4→6 at 20/fit:8" + fewLevels + "; refit of 10 at 20; 2 in force at 21; refit of 10 at 40"},
		{"now from an evaluation is done in the next step",
			[]asked{{"evaluate episodes 2", "relevance", "reward", true}},
			"refit of 10 at 20; 1: relevance curiosity→reward at 30/evaluate:0; refit of 10 at 31; 1 in force at 32; refit of 10 at 40"},
		{"before there is anything to generate with",
			[]asked{{"reset 0", "ratio", "0.25", false}, {"evaluate episodes 1", "guidance", "4", true}},
			"1: ratio 0.5→0.25 at 0 (r has no effect before the first generation at step 20); " +
				"2: guidance 2→4 at 15/evaluate:0 (no generator is fitted before step 20); " +
				"refit of 10 at 20; 1 in force at 21; 2 in force at 21; refit of 10 at 40"},
		{"an interval holds from the next step",
			[]asked{{"evaluate episodes 1", "refit_every", "17", false}},
			"1: refit_every 20→17 at 15/evaluate:0; 1 in force at 16; refit of 10 at 17; refit of 10 at 34; refit of 10 at 51"},
		{"after the last refit",
			[]asked{{"evaluate episodes 3", "refit_every", "100", false}, {"evaluate episodes 3", "p_uncond", "0.5", false}, {"evaluate episodes 3", "ratio", "0.25", false}},
			"refit of 10 at 20; refit of 10 at 40; 1: refit_every 20→100 at 45/evaluate:0; " +
				"2: p_uncond 0.25→0.5 at 45/evaluate:0 (p has no effect: there is no refit before the run's last step); " +
				"3: ratio 0.5→0.25 at 45/evaluate:0; 1 in force at 46; 3 in force at 46"},
		{"what is refused changes nothing",
			[]asked{{"fit to 4", "guidence", "1", false}, {"fit to 4", "guidance", "-1", false}, {"fit to 4", "guidance", "2", false},
				{"fit to 4", "relevance", "dt", false}, {"fit to 4", "utd", "2.5", false}},
			`refused: unknown knob "guidence": did you mean "guidance"?; refused: guidance: -1 is out of range: want a number from 0 to 10; ` +
				"refused: guidance is 2 already; refused: relevance: \"dt\" is no choice: want one of curiosity, disagreement, rnd, count, eco, ensemble, return, reward, td, td-signed, none, or a formula, as =rank(td) + rank(curiosity); " +
				"refused: utd: 2.5 is out of range: want a count from 1 to 40; " +
				"refit of 10 at 20; refit of 10 at 40"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			var l *Lab
			for _, a := range c.asks {
				before, once := w.hooks[a.during], false
				w.on(a.during, func() {
					if before != nil {
						before()
					}
					if l != nil && !once {
						once = true
						send(t, &l, event.SetKnob{Knob: a.knob, Value: a.value, Now: a.now})()
					}
				})
			}
			l = w.lab(t, w.config(), nil)
			if w.hooks["reset 0"] != nil { // the reset is over: ask before the first step
				w.hooks["reset 0"]()
			}
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := sequence(l); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAbandonedWorkIsCancelledAndKeepsOldTransitions(t *testing.T) {
	w := newWorld()
	var l *Lab
	w.on("start generate 1, guidance 2", func() {
		send(t, &l, event.SetKnob{Knob: "guidance", Value: "3", Now: true})()
	})
	kept := -1
	w.on("cancel", func() { kept = l.x.members[0].Synthetic.Len() })
	l = w.lab(t, w.config(), nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if kept != 12 || count(w.log, "cancel") != 1 || count(w.log, "start generate 2, guidance 3") != 1 {
		t.Errorf("kept %d transitions; %d cancelled", kept, count(w.log, "cancel"))
	}
}

// init stands in for package presets, which registers the methods.
func init() {
	fitted := knob.UseGenerator | knob.UseAgent | knob.UseFit
	generated := fitted | knob.UseDiffusion
	prompted := generated | knob.UsePrompts
	knob.SetMethods(func() []knob.Method {
		return []knob.Method{
			{Name: "sac"}, {Name: "synther", Has: generated}, {Name: "pgr-reward", Has: prompted}, {Name: "pgr-return", Has: prompted},
			{Name: "pgr-td", Has: prompted}, {Name: "pgr-curiosity", Has: prompted}, {Name: "pgr-rnd", Has: prompted}, {Name: "pgr-count", Has: prompted},
			{Name: "redq-curiosity", Has: knob.UseBonus}, {Name: "synther-curiosity", Has: generated | knob.UseBonus},
			{Name: "vae", Has: fitted}, {Name: "pgr-vae", Has: fitted | knob.UsePrompts}, {Name: "resample", Has: knob.UseGenerator | knob.UseAgent},
		}
	})
}

func TestKnobsOfOtherMethodsAreRefused(t *testing.T) {
	w := newWorld()
	for _, c := range []struct{ method, kind, knob, value, want string }{
		{config.MethodSAC, config.GeneratorNone, "ratio", "1", "ratio: not used by sac: synther, pgr-reward, pgr-return, pgr-td, pgr-curiosity and "},
		{config.MethodSynthER, "diffusion", "guidance", "1", "guidance: not used by synther: pgr-reward, pgr-return, pgr-td, pgr-curiosity, pgr-rnd and "},
		{"resample", "resample", "generator_steps", "50", "generator_steps: not used by resample: synther, pgr-reward, pgr-return, pgr-td, pgr-curiosity and "},
		{config.MethodSynthER, "diffusion", "bonus", "0.2", "bonus: not used by synther: redq-curiosity, synther-curiosity use it"},
		{config.MethodSynthER, "diffusion", "relevance", "td", "relevance: not used by synther: pgr-reward, pgr-return, pgr-td, pgr-curiosity, pgr-rnd and "},
	} {
		run := w.config()
		run.Steps, run.Method, run.Generator.Kind = 2, c.method, c.kind
		run.Generator.Conditional, run.Knobs.Relevance = false, relevance.None
		if c.kind == config.GeneratorNone {
			withoutGenerator(&run)
		}
		l := w.lab(t, run, nil)
		send(t, &l, event.SetKnob{ID: "a", Knob: c.knob, Value: c.value})()
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		refused, _ := bodies[event.Refused](l)
		if len(refused) != 1 || !strings.HasPrefix(refused[0].Reason, c.want) || refused[0].Ref != "a" {
			t.Errorf("%s: %+v, want %s", c.knob, refused, c.want)
		}
		run.Schedule = []string{"1:" + c.knob + "=" + c.value}
		if _, err := newLab(run, w.task(), nil, w.parts(), "test", clock()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("schedule: %v", err)
		}
	}
}

func TestSchedules(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Schedule = []string{
		"20/generate:2:guidance=5!", "20/fit:3:samples=9", "25:utd=2", "0:tau=0.01",
		"30/fit:1:batch=16", // step 30 has no fit, so the change comes after the step
		"20:guidance=1", "20:guidance=2",
	}
	l, _ := play(t, w, c)
	var got []string
	for _, change := range changesIn(l) {
		got = append(got, fmt.Sprintf("%s=%s at %s", change.Knob, change.To, change.Position))
	}
	want := []string{"tau=0.01 at 0", "samples=9 at 20/fit:4", "guidance=5 at 20/generate:2", "guidance=1 at 20", "guidance=2 at 20",
		"utd=2 at 25", "batch=16 at 30/evaluate:0"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A planned change that is refused when the run comes to it is a line of the journal, also after a resume.
func TestAPlanThatIsRefusedIsNoted(t *testing.T) {
	c := newWorld().config()
	c.Schedule = []string{"18:hold=real", "22:ratio=1"}
	dir := filepath.Join(t.TempDir(), "run")
	steered(t, newWorld(), c, dir, 35, map[int][]event.Command{16: {hers("samples", "1M", 24)}, 17: {hers("samples", "1M", 0)}})
	for _, kind := range []string{"killed", "resumed"} {
		var notes []string
		raw, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if _, text, is := strings.Cut(line, `"planned, but not made: `); is {
				notes = append(notes, text)
			}
		}
		if len(notes) != 2 || !strings.HasPrefix(notes[0], "22:ratio=1: ratio") || !strings.HasPrefix(notes[1], "24:samples=1M: samples: 1,000,000 do not fit") {
			t.Errorf("%s: noted %q", kind, notes)
		}
		if kind == "killed" {
			goesOnAs(t, "resumed", dir, Resumption{}, []string{"18:hold=real by schedule, planned for 18"})
		}
	}
}

func changesIn(l *Lab) []event.KnobChanged {
	found, _ := bodies[event.KnobChanged](l)
	return found
}

func TestAChangeCanBePlannedWhileTheRunGoesOn(t *testing.T) {
	w := newWorld()
	var l *Lab
	late, soon := knob.After(10), knob.After(22)
	w.on("fit to 4", func() {
		w.hooks["fit to 4"] = nil
		send(t, &l, event.SetKnob{Knob: "tau", Value: "0.5", At: &late})()
		send(t, &l, event.SetKnob{Knob: "tau", Value: "0.25", At: &soon, By: "ana", ID: "x"})()
	})
	w.on("fit to 8", func() {
		if s := l.Snapshot().Scheduled; len(s) != 1 || s[0].String() != "22:tau=0.25" {
			t.Errorf("scheduled: %v", s)
		}
		w.hooks["fit to 8"] = nil
	})
	l = w.lab(t, w.config(), nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := "refused: tau: position 10 has passed: the run is at 20/fit:4; refit of 10 at 20; 1: tau 0.005→0.25 at 22; 1 in force at 23; refit of 10 at 40"
	if got := sequence(l); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if o := changesIn(l)[0].Obs; o.By != "ana" || o.Ref != "x" || o.Plan == nil || *o.Plan != soon {
		t.Errorf("it is the change of %+v", o)
	}
}

func TestUndoIsAChangeOfItsOwn(t *testing.T) {
	w := newWorld()
	var l *Lab
	w.on("evaluate episodes 1", send(t, &l, event.SetKnob{Knob: "ratio", Value: "0.25", By: "ana"}))
	w.on("evaluate episodes 2", func() {
		send(t, &l, event.Undo{ID: 1, By: "ana"})()
		send(t, &l, event.Undo{ID: 7})()
	})
	l = w.lab(t, w.config(), nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := changesIn(l)
	if len(got) != 2 || got[1].From != knob.Number(0.25) || got[1].To != knob.Number(0.5) || got[1].Obs.Undoes != 1 || got[1].Obs.By != "ana" {
		t.Errorf("%+v", got)
	}
	if refused, _ := bodies[event.Refused](l); len(refused) != 1 || refused[0].Reason != "undo: there is no change 7" {
		t.Errorf("refused: %+v", refused)
	}
}

// Switching to curiosity in the middle of a run builds its model and makes up for the updates that
// it missed.
func TestSwitchingRelevanceBuildsWhatIsMissing(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Knobs.Relevance = "td"
	c.Schedule = []string{"20:relevance=curiosity!"}
	play(t, w, c)
	built := slices.Index(w.log, "build curiosity")
	if built < 0 || count(w.log[:built], "train curiosity") != 0 {
		t.Fatal("no model was built at the switch")
	}
	scored := slices.Index(w.log[built:], "score curiosity 21")
	// One update belongs to step 21 itself, three make up for missed ones.
	if n := count(w.log[built:built+scored], "train curiosity"); scored < 0 || n != 4 {
		t.Errorf("%d updates of the model before it scores, want 4", n)
	}

	w = newWorld()
	w.fail["build curiosity"] = errors.New("out of memory")
	c.Schedule = []string{"20:relevance=curiosity!"}
	l, _ := play(t, w, c)
	if got := sequence(l); !strings.Contains(got, "refused: out of memory") || l.Snapshot().Knobs["relevance"] != knob.Choice("td") {
		t.Errorf("a model that cannot be built: %s", got)
	}
}

func TestHoldingRealRows(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Knobs.Hold = knob.HoldReal
	c.Schedule = []string{"30:ratio=0.75", "40:ratio=1"}
	l, _ := play(t, w, c)
	if s := l.Snapshot(); s.MixReal != 4 || s.MixSynthetic != 12 {
		t.Errorf("r = 0.75 of 4 real rows: %d and %d", s.MixReal, s.MixSynthetic)
	}
	if got := sequence(l); !strings.Contains(got, "refused: ratio 1 with hold=real: the batch would need more than 16,384 rows") {
		t.Errorf("%s", got)
	}
}

// All scores of a fit come from one function, whenever another one is chosen.
func TestRelevanceIsBoundWhenScoringBegins(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Steps, c.StartSteps, c.Evaluation.Every = 4201, 4199, 0
	c.Knobs.RefitEvery, c.Buffer = 4200, 10000
	c.Schedule = []string{"4200/score:4096:relevance=td"}
	l, _ := play(t, w, c)
	if count(w.log, "score curiosity 4096") != 1 || count(w.log, "score curiosity 104") != 1 || changesIn(l)[0].Position.String() != "4200/score:4096" {
		t.Errorf("%d of 4096, %d of 104 at %s", count(w.log, "score curiosity 4096"), count(w.log, "score curiosity 104"), changesIn(l)[0].Position)
	}

	for _, c := range []struct{ from, to, want string }{
		{"none", "td", "start fit 0 of 20 rows, 0 scores, lr 0.0003"},
		{"td", "none", "start fit 0 of 20 rows, 20 scores, lr 0.0003"},
	} {
		w := newWorld()
		config := w.config()
		config.Steps, config.Knobs.Relevance, config.Schedule = 21, c.from, []string{"20/fit:0:relevance=" + c.to}
		if play(t, w, config); count(w.log, c.want) != 1 {
			t.Errorf("%s, then %s: no call %q", c.from, c.to, c.want)
		}
	}
}
