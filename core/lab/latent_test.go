package lab

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// latentShape is the shape of the rows that the latent learner puts into D_real.
var latentShape = replay.Shape{Obs: recurrentUnits, Act: worldAct}

// latent is the recurrent learner with latents in D_real. Before each refit it makes D_real again
// from all its observations, with the policy of that moment.
type latent struct{ *recurrent }

// latentReads is what it reads of the log: all env steps of a test.
var latentReads = experience.Keep{Looks: 600, Steps: 200}

func newLatent(w *world, log *experience.Log, seed uint64) *agent.Made {
	l := &latent{newRecurrent(w, log, seed)}
	return &agent.Made{Learner: l, Phases: append(l.phases(), agent.Phase{
		Name: "encode",
		Due:  func(w *agent.Work) bool { return w.Refit },
		Start: func(w *agent.Work) (int, error) {
			w.Source.Real.Clear()
			return l.seen(), l.w.call("encode %d", l.seen())
		},
		Slice: l.encode,
	})}
}

func init() {
	agent.Register(agent.Spec{
		Name: "latent", Doc: "a learner of the tests", Observes: true, Synthetic: true, Knobs: []string{"lr_actor"},
		Describe: func(d agent.Deps) (agent.Traits, error) {
			return agent.Traits{
				Rows: replay.Shape{Obs: recurrentUnits, Act: d.Shape.Act}, Reads: latentReads.Steps, Phases: []string{"rollout", "learn", "encode"},
			}, nil
		},
		New: func(d agent.Deps) (*agent.Made, error) { return newLatent(newWorld(), d.Log, d.Seed), nil },
	})
}

// learnsOnLatents gives w's runs the latent learner.
func learnsOnLatents(w *world) *world {
	w.terminal, w.rows, w.keep = 23, latentShape, latentReads
	w.learner = func(log *experience.Log, seed uint64) *agent.Made { return newLatent(w, log, seed) }
	return w
}

// seen is how many transitions it has met.
func (l *latent) seen() int { return int(l.log.Steps()) * l.copies() }

// encode makes up to seven rows.
func (l *latent) encode(w *agent.Work, done int) (n int, _ []agent.UpdateResult, err error) {
	n = min(7, l.seen()-done)
	for i := range n {
		m := l.met(uint64((done+i)/l.copies()), (done+i)%l.copies())
		w.Source.Real.Add(replay.Transition{
			Obs: l.latent(m.Seen.Numbers), Act: m.Action, Reward: m.Observed, Next: l.latent(m.Next.Numbers), Done: m.End == experience.Terminated,
		})
	}
	return n, nil, l.w.call("encode after %d", done)
}

// latent returns the latent of one observation, which changes with the policy.
func (l *latent) latent(obs []float32) []float32 {
	z := make([]float32, recurrentUnits)
	for i, h := range l.remember(make([]float32, recurrentUnits), obs) {
		z[i] = float32(h * l.W[i])
	}
	return z
}

// latentConfig is a run of the latent learner whose refits, previews and evaluations see latents.
func latentConfig() config.Config {
	c := newWorld().config()
	c.Steps, c.Knobs.RefitEvery, c.Agent.Learner = 55, 20, "latent"
	c.Schedule = []string{"20/encode:7:lr_actor=0.05", "20/encode:14:relevance=reward", "30:relevance=count!", "40/encode:14:guidance=3"}
	return c
}

// F scores, and G is fitted to, what the learner puts into D_real, whole and made again at each
// refit. The environment's transitions are not in D_real; their number still decides how many first
// actions of the agent are random.
func TestDRealHoldsWhatTheLearnerFillsItWith(t *testing.T) {
	w := learnsOnLatents(newWorld())
	l, folder := play(t, w, latentConfig())
	log := strings.Join(w.log, "\n")
	for _, want := range []string{
		"encode 20\nencode after 0\nencode after 7\nencode after 14\n", "start fit 0 of 20 rows, 20 scores",
		"encode 31\n", "start fit 1 of 31 rows, 31 scores", "encode 40\n", "start fit 2 of 40 rows, 40 scores",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
	m := l.x.first()
	if m.Real.Shape() != latentShape || m.Synthetic.Shape() != latentShape || m.Real.Len() != 40 {
		t.Fatalf("D_real of %v with %d rows, D_syn of %v", m.Real.Shape(), m.Real.Len(), m.Synthetic.Shape())
	}
	last := m.Agent.Learner.(*latent).met(39, 0)
	if got := m.Real.Row(39); got[len(got)-1-recurrentUnits-1] != last.Observed || slices.Equal(got[:worldObs], last.Seen.Numbers) {
		t.Errorf("the newest row is %v, of transition %+v", got, last)
	}
	if bias, _ := bodies[event.QBias](l); len(bias) > 0 {
		t.Error("critics were asked for the value of observations")
	}
	if !strings.Contains(folder.canonical(t), `"position":"20/encode:7"`) {
		t.Error("nothing could be changed in phase encode")
	}
}

// A run of the latent learner goes on from every border, also in the middle of making D_real again.
func TestARunOnLatentsGoesOnFromEveryBorder(t *testing.T) {
	for _, members := range []int{1, 2} {
		phases := resumeEverywhere(t, 1, func(r record) *Lab {
			c := latentConfig()
			c.Members = members
			return learnsOnLatents(newWorld()).lab(t, c, r)
		})
		for phase, least := range map[knob.Phase]int{knob.Encode: 14, knob.Learn: 35, knob.Fit: 10, knob.Evaluate: 6} {
			if phases[phase] < least {
				t.Errorf("%d borders in phase %s, want at least %d", phases[phase], phase, least)
			}
		}
	}
}

// On disk, where D_real is a log of rows, a D_real that was cleared and half made again is restored
// as it was, in a resumed run and in a fork.
func TestARunOnLatentsIsResumedAndForked(t *testing.T) {
	c, top := latentConfig(), t.TempDir()
	_, whole := play(t, learnsOnLatents(newWorld()), c)
	parent := filepath.Join(top, "parent")
	folder := created(t, parent)
	w := learnsOnLatents(newWorld())
	l := w.lab(t, c, folder)
	l.Saving(Saving{Every: time.Nanosecond}) // so that the previous D_real is on the disk as well
	for done, hook := range map[string]func(){"encode after 14": send(t, &l, event.Checkpoint{By: "ana"}), "encode 40": func() { w.on("encode after 21", send(t, &l, event.Stop{})) }} {
		w.on(done, hook)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) == 0 || found[0].Position != "40/encode:28" {
		t.Fatalf("checkpoints %+v, %v, want one at 40/encode:28", found, err)
	}
	goOn := func(dir string) string {
		t.Helper()
		folder, err := run.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		w := learnsOnLatents(newWorld())
		l, said, err := restore(c, w.task(), folder, w.parts(), "cpu test, 2 threads", clock(), Resumption{Saving: Saving{Every: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		if rows := l.x.first().Real.Len(); rows != 28 {
			t.Errorf("D_real has %d rows, want 28 (%v)", rows, said)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return journalOf(t, dir)
	}
	dir := filepath.Join(top, "fork")
	if _, err := checkpoint.Fork(c, []byte("seed = 7\n"), found[0], nil, dir); err != nil {
		t.Fatal(err)
	}
	forked := strings.Replace(goOn(dir), `{"type":"note","step":40,"text":"forked at 40/encode:28"}`+"\n", "", 1)
	if want := whole.canonical(t); forked != want {
		t.Errorf("a fork writes\n%s\nwant\n%s", forked, want)
	} else if got := goOn(parent); got != want {
		t.Errorf("resumed it writes\n%s\nwant\n%s", got, want)
	}
}

// The real relevance functions and the real generator work on the learner's rows; the configuration
// names the learner.
func TestRealPartsOnLatents(t *testing.T) {
	c := realConfig()
	c.Agent.Learner = "latent"
	c.Schedule = []string{"13:relevance=count"}
	l, journal := realRun(t, c, 1)
	m := l.x.first()
	if m.Real.Shape() != latentShape || m.Synthetic == nil || m.Synthetic.Shape() != latentShape || m.Synthetic.Len() != c.Knobs.Samples {
		t.Fatalf("D_real of %v, D_syn %+v", m.Real.Shape(), m.Synthetic)
	}
	for i := range m.Synthetic.Len() {
		for _, v := range m.Synthetic.Row(i) {
			if math.IsNaN(float64(v)) {
				t.Fatalf("generated %v", m.Synthetic.Row(i))
			}
		}
	}
	if strings.Count(journal, `"type":"refit"`) != 2 || !strings.Contains(journal, `"type":"dormant"`) {
		t.Errorf("the journal is\n%s", journal)
	}
	if need := c.Rows(newWorld().task()); need != latentShape {
		t.Errorf("its memory is foreseen for rows of %v", need)
	}
}

// Settings that ask more of a learner than it can do are refused in one line.
func TestWhatALearnerCannotDo(t *testing.T) {
	onReal := func(c *config.Config) {
		c.Generator = config.Generator{Kind: config.GeneratorNone}
		c.Knobs.Ratio, c.Knobs.Relevance = 0, relevance.None
	}
	for _, d := range []struct {
		change func(*config.Config)
		want   string
	}{
		{func(c *config.Config) { c.Agent.Learner = "latnet" }, `configuration: agent.learner is "latnet"; did you mean "latent"?`},
		{func(c *config.Config) {
			onReal(c)
			c.Replay = config.Replay{Priority: config.PriorityTD}
		}, `configuration: replay.priority is "td", but learner latent makes no updates on batches of transitions`},
		{func(c *config.Config) { c.Bonus = config.Bonus{Function: "rnd", Scale: config.ScalePaper} }, `configuration: bonus.function is "rnd", but learner latent fills D_real with rows of its own`},
		{func(c *config.Config) { c.Schedule = []string{"30:tau=0.5"} }, "tau: not used by"},
		{func(c *config.Config) { c.Schedule = []string{"20/encode:7:lr_actor=0.5"} }, ""},
	} {
		c := realConfig()
		c.Agent.Learner, c.Relevance = "latent", relevance.Configs{}
		d.change(&c)
		w := newWorld()
		w.rows = latentShape
		learnsOnLatents(w)
		l, err := newLab(c, w.task(), nil, w.parts(), "cpu", clock())
		if err == nil {
			l.Close()
		}
		if d.want == "" && err != nil || d.want != "" && (err == nil || !strings.Contains(err.Error(), d.want)) {
			t.Errorf("%v, want %q", err, d.want)
		}
	}
}
