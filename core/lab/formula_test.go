package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// mixed names a function that learns in steps, one that counts, and ranks of ranks: a refit owes updates,
// a pass of the counts and two passes of its own.
const mixed = "=rank(0.7 * rank(td) + 0.3 * rnd) + 0.1 * count"

// A run with a formula is resumed from within each of the stages of a scoring, and the models that the
// formula names are built, warmed up and trained as if they were F.
func TestARunWithAFormulaIsResumed(t *testing.T) {
	var w *world
	begin := func(r record) *Lab {
		w = newWorld()
		c := w.config()
		c.Knobs.Relevance, c.Schedule = "td", []string{"30:relevance=" + mixed + "!"}
		return w.lab(t, c, r)
	}
	first := begin(nil)
	if err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	refit := slices.Index(w.log, "start fit 1 of 31 rows, 31 scores, lr 0.0003")
	if refit < 0 {
		t.Fatalf("no refit at step 31: %s", sequence(first))
	}
	built := slices.Index(w.log, "build rnd")
	if n := count(w.log[built:refit], "train rnd"); n != 1+5 { // one update belongs to step 31
		t.Errorf("%d updates of rnd before the first fit to the formula's scores", n)
	}
	if n := count(w.log, "train rnd"); n < 25 {
		t.Errorf("%d updates of rnd while the formula names it", n)
	}
	scores, _ := bodies[event.Scores](first)
	last := scores[len(scores)-1]
	if last.Relevance != mixed || !(last.Max > last.Min) || last.Max > 2 {
		t.Errorf("scores %+v", last)
	}
	if len(last.Terms) != 2 || last.Terms[1].Term != "0.1 * count" || len(last.Terms[0].Quantiles) != 3 {
		t.Errorf("terms %+v", last.Terms)
	}
	changes := changesIn(first)
	if got := strings.Join(changes[0].Uses, " "); got != "td rnd count" {
		t.Errorf("the change uses %q", got)
	}
	units := 0
	resumeFrom(t, func(_ int, p knob.Position) bool {
		inside := p.Step > 30 && p.Step <= 40 && p.Phase == knob.Score
		if inside {
			units = max(units, p.I)
		}
		return inside
	}, begin)
	if units < 3*31 {
		t.Errorf("the positions of a scoring end at %d: counts and both passes are units of it", units)
	}
}

// Values that are not finite pause the run, with a line that says where they come from.
func TestAFormulaWithoutAValuePausesTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		c := w.config()
		c.Schedule = []string{"30:relevance==log(reward - 1000)!"}
		l := w.lab(t, c, folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		const want = "F is NaN for 31 of 31 transitions, first at 0: log of "
		if s := l.Snapshot(); s.State != event.PausedState || !strings.HasPrefix(s.Err, want) || !strings.HasSuffix(s.Err, "(column 1): change the formula") {
			t.Errorf("it is %s: %q, want %q", s.State, s.Err, want)
		}
		l.Send(event.SetKnob{Knob: "relevance", Value: "td", Now: true})
		l.Send(event.Resume{})
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		found, _ := bodies[event.Diverged](l)
		if len(found) != 1 || !strings.HasPrefix(found[0].Error, want) || found[0].Doing != doingScores {
			t.Errorf("%+v", found)
		}
	})
}

// A formula that does not fit the rows is refused, and the run stays as it is.
func TestAFormulaThatDoesNotFitIsRefused(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Schedule = []string{"20:relevance==obs[99]"}
	l, _ := play(t, w, c)
	if l.x.Settings.Relevance != c.Knobs.Relevance {
		t.Errorf("F is %s", l.x.Settings.Relevance)
	}
	refused, _ := bodies[event.Refused](l)
	if len(refused) != 1 || !strings.Contains(refused[0].Reason, "obs has ") {
		t.Errorf("refusals: %+v", refused)
	}
}

// A bonus by a formula that is only a name is the bonus by that function, in a run and across its resumes.
func TestABonusByAFormula(t *testing.T) {
	var journals []string
	for _, function := range []string{"curiosity", "=curiosity"} {
		begin := func(r record) *Lab {
			w := newWorld()
			c := w.config()
			c.Bonus = config.Bonus{Function: function, Scale: config.ScaleReturns}
			c.Knobs.Relevance, c.Knobs.Bonus = "return", 0.5
			return w.lab(t, c, r)
		}
		folder := &memoryFolder{}
		l := begin(folder)
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		losses, _ := bodies[event.Losses](l)
		if last := losses[len(losses)-1]; last.Bonus == nil || last.Curiosity == nil {
			t.Fatalf("losses %+v: there is no bonus", last)
		}
		journals = append(journals, folder.canonical(t))
		resumeFrom(t, func(_ int, p knob.Position) bool { return p.Step == 33 }, begin)
	}
	if journals[0] != journals[1] {
		t.Error("the journals differ")
	}
}

// Formulas that were only tried are in no checkpoint.
func TestFormulasThatWereTriedAreDropped(t *testing.T) {
	w := newWorld()
	c := w.config()
	for i := range 30 {
		c.Schedule = append(c.Schedule, fmt.Sprintf("%d:relevance==rank(reward + %d)", 20+i, i))
	}
	l := w.lab(t, c, nil)
	var parts []string
	w.on("step", func() { parts = l.x.first().Saved(false).Parts })
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	formulas := slices.DeleteFunc(slices.Clone(parts), func(name string) bool { return !strings.HasPrefix(name, "=") })
	if len(formulas) == 0 || len(formulas) > 3 || !slices.Contains(formulas, "=rank(reward + 29)") {
		t.Errorf("the run's parts are %q", parts)
	}
}
