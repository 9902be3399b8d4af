package lab

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
)

// ppoRelevantConfig is a run of prioritized generative replay on PPO with episodic curiosity, which
// learns after every eighth env step.
func ppoRelevantConfig() config.Config {
	c := ppoLatentConfig()
	c.Method, c.Knobs.Relevance = "pgr-eco", "eco"
	c.Relevance = c.Relevance.With("eco", ppoConfig("eco").Relevance["eco"])
	return c
}

// F of D_real is the F that was computed when its rows were met, even though the network has
// learned since. As long as D_real has many rows from before the first round the generator is fitted
// without conditions, and a line says so.
func TestRelevanceOfEpisodesIsKeptWithTheRows(t *testing.T) {
	var journals []string
	for threads := range 2 {
		c := ppoRelevantConfig()
		c.Knobs.RefitEvery = 5 // before the first round
		own := c.Agent.Own["ppo"].(ppo.Settings)
		own.KeepRewarded = 0
		c.Agent.Own = agent.Own{"ppo": own}
		dev := quick(t, threads+1)
		c = inEnvSteps(c)
		p, err := newParts(&c, mazeTask(t), dev)
		if err != nil {
			t.Fatal(err)
		}
		var f []float32
		p.Learner = following(p.Learner, func(all []experience.Met) {
			for _, m := range all {
				f = append(f, m.Note.F)
			}
		})
		folder := &memoryFolder{}
		l, err := newLab(c, mazeTask(t), folder, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		l.OnFault(FaultFail)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		journals = append(journals, folder.canonical(t))

		m := l.x.first()
		_, refits := bodies[event.Refit](l)
		last := refits[len(refits)-1]
		want := f[last-m.Real.Len() : last]
		for i, v := range want {
			if n := m.Real.Note(i); n.F != v || !n.Met {
				t.Fatalf("row %d of D_real has note %+v, want F %v", i, n, v)
			}
		}
		scores, _ := m.Synthesis.Scores()
		if !slices.Equal(scores, want) {
			t.Errorf("the last fit was to F\n%v\ntold was\n%v", scores, want)
		}
		if slices.Min(scores) == slices.Max(scores) {
			t.Errorf("F is %v everywhere", scores[0])
		}
		notes, at := bodies[event.Noted](l)
		if !slices.Equal(at, []int{15, 30, 45, 60}) || !strings.Contains(notes[0].Text, "learned nothing yet: this fit is without conditions") || !strings.Contains(notes[3].Text, "12 of 48 rows") {
			t.Errorf("notes %+v at %v", notes, at)
		}
		if f := newestF(l); f == nil || f.Asked == nil || f.Achieved != nil {
			t.Errorf("histograms %+v: F of generated rows is unknown", f)
		}
	}
	if journals[0] != journals[1] {
		t.Errorf("one worker writes\n%s\ntwo write\n%s", journals[0], journals[1])
	}
}

// A few rows from before the first round have F of others: a 0 would make them the most relevant ones.
func TestAFewRowsThatNothingHasJudged(t *testing.T) {
	c := ppoRelevantConfig()
	c.Knobs.RefitEvery = 23 // the window of 16 env steps begins in the step before the round
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.KeepRewarded = 0
	c.Agent.Own = agent.Own{"ppo": own}
	l := ppoLatentLab(t, c, 1, &memoryFolder{})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := l.x.first()
	scores, _ := m.Synthesis.Scores()
	for i, f := range scores {
		if n := m.Real.Note(i).F; i < 3 != (n != n) || i >= 3 && f != n {
			t.Fatalf("row %d counts as %v, its note is %v", i, f, n)
		}
	}
	for i, f := range scores[:3] {
		if of := 3 + replay.OneOf(i, 0, len(scores)-3); f != scores[of] {
			t.Errorf("row %d counts as %v, row %d as %v", i, f, of, scores[of])
		}
	}
	if notes, at := bodies[event.Noted](l); len(notes) != 0 || newestF(l).Asked == nil {
		t.Errorf("notes %+v at %v, F was %+v", notes, at, newestF(l))
	}
}

// A run goes on from every border, including those of a round, and where F changes to episodic
// curiosity and back in the middle of a round.
func TestRelevanceOfEpisodesGoesOnFromEveryBorder(t *testing.T) {
	nth := 5
	if os.Getenv("PGRLAB_SOAK") != "" {
		nth = 1
	}
	for _, start := range []string{"eco", "rnd"} {
		phases := resumeEverywhere(t, nth, func(r record) *Lab {
			c := ppoRelevantConfig()
			c.Knobs.Relevance = start
			c.Schedule = []string{"9:relevance=eco", "17:relevance=rnd!", "18:relevance=eco"}
			if start == "eco" {
				c.Schedule = []string{"9:guidance=3", "16/reach:2:relevance=curiosity", "18:relevance=eco!", "20:top_fraction=0.5!"}
			}
			return ppoLatentLab(t, c, 1, r)
		})
		for phase, least := range map[knob.Phase]int{knob.Reach: 6, knob.Learn: 10, knob.Encode: 3, knob.Score: 2, knob.Fit: 5, knob.Generate: 3} {
			if nth == 1 && phases[phase] < least {
				t.Errorf("%s: %d borders in phase %s, want at least %d: %v", start, phases[phase], phase, least, phases)
			}
		}
	}
}

// A run that cannot compute F of episodes is refused in one line, for a configuration, a schedule
// and a command.
func TestRelevanceOfEpisodesIsRefused(t *testing.T) {
	c := ppoRelevantConfig()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	c = w.config()
	c.Schedule = []string{"3:relevance=eco"}
	_, err := newLab(c, w.task(), nil, w.parts(), "cpu", clock())
	if err == nil || !strings.Contains(err.Error(), `relevance "eco" is of episodes as they are met`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a schedule: %v", err)
	}
	k, _ := knob.Find("relevance")
	of := ppoRelevantConfig()
	with, without := of.Offered(k).Choices, c.Offered(k).Choices
	for _, name := range []string{"eco", "td", "td-signed", "return"} { // PPO has estimates of no rows
		if slices.Contains(with, name) != (name == "eco") || slices.Contains(without, name) != (name != "eco") {
			t.Errorf("%s: offered are %v and %v", name, with, without)
		}
	}
	if len(with) != len(without)-2 {
		t.Errorf("offered are %v and %v", with, without)
	}
}

// F, ω and k are in force with the first D_syn that was asked for by them. One that was fitted without
// conditions, because nothing had judged its rows yet, leaves their changes waiting.
func TestFIsNotInForceBeforeItIsKnown(t *testing.T) {
	c := ppoRelevantConfig()
	c.Knobs.Relevance = "rnd"
	c.Schedule = []string{"7:relevance=eco", "7:guidance=3", "7:generator_steps=5"}
	l := ppoLatentLab(t, c, 1, &memoryFolder{})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	notes, noted := bodies[event.Noted](l)
	if len(notes) == 0 || !strings.Contains(notes[len(notes)-1].Text, "without conditions") {
		t.Fatalf("notes %+v", notes)
	}
	forces, at := bodies[event.InForce](l)
	where := map[string]int{}
	for i, f := range forces {
		where[f.Knob] = at[i]
	}
	last := noted[len(noted)-1]
	t.Log(where, noted)
	if n := where["generator_steps"]; n == 0 || n > last+3*8 {
		t.Errorf("generator_steps is in force at step %d, the first fit without conditions is at %v", n, noted)
	}
	for _, name := range []string{"relevance", "guidance"} {
		if n := where[name]; n != 0 && n <= last+3*8 {
			t.Errorf("%s is in force at step %d, fits at %v are without conditions", name, n, noted)
		}
	}
}
