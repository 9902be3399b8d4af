package lab

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/knob"
	"pgrlab/core/rng"
	"pgrlab/core/run"
)

const (
	recurrentUnits   = 3    // what the policy remembers
	recurrentRollout = 10   // env steps between two rounds of learning
	recurrentNoise   = 0.25 // σ of its actions
)

// recurrent is a small on-policy learner that is nothing like SAC: a policy with a memory,
//
//	h' = tanh(½h + U·s),  a = clamp(tanh(w·h') + σε),
//
// and REINFORCE on rollouts of its own, in two phases: "rollout" turns rewards into
// returns, backwards, and "learn" steps w by a few rows at a time. It has no values, no
// batches and no priorities.
type recurrent struct {
	w    *world
	in   [recurrentUnits][worldObs]float64
	seed uint64
	log  *experience.Log
	recurrentState
}

// recurrentState is the state that it saves.
type recurrentState struct {
	W       [recurrentUnits]float64
	From    uint64         // env steps before the rollout
	Rollout []recurrentRow // an env step's rows in the order of the copies
	Updates int
}

type recurrentRow struct {
	H      [recurrentUnits]float64 // after the step
	Action float64
	Reward float64
	Ended  bool
	Return float64
}

// learnsRecurrently gives w's runs the recurrent learner.
func learnsRecurrently(w *world) *world {
	w.terminal, w.keep = 23, recurrentReads
	w.learner = func(log *experience.Log, seed uint64) *agent.Made {
		r := newRecurrent(w, log, seed)
		return &agent.Made{Learner: r, Phases: r.phases()}
	}
	return w
}

// recurrentReads is what it reads of the log, in all copies of a test.
var recurrentReads = experience.Keep{Looks: 100, Steps: recurrentRollout}

func newRecurrent(w *world, log *experience.Log, seed uint64) *recurrent {
	r := &recurrent{w: w, seed: seed, log: log}
	q := rng.New(seed, "recurrent").At(0)
	for i := range r.in {
		r.W[i] = q.Float64() - 0.5
		for j := range r.in[i] {
			r.in[i][j] = q.Float64() - 0.5
		}
	}
	return r
}

func (r *recurrent) StateSize() int { return recurrentUnits }

// remember returns the state after an observation.
func (r *recurrent) remember(state, obs []float32) (h [recurrentUnits]float64) {
	for i := range h {
		z := 0.5 * float64(state[i])
		for j, s := range obs {
			z += r.in[i][j] * float64(s)
		}
		h[i] = math.Tanh(z)
	}
	return h
}

func (r *recurrent) mean(h [recurrentUnits]float64) float64 {
	z := 0.0
	for i, v := range h {
		z += r.W[i] * v
	}
	return math.Tanh(z)
}

func (r *recurrent) Act(a *agent.Acting) error {
	if err := a.Check(worldObs, worldAct, recurrentUnits); err != nil {
		return err
	}
	noise := make([]float32, a.Copies)
	if a.Mode != agent.Mean {
		rng.New(r.seed, "recurrent "+a.Mode.String()).FillNormal(noise, a.Step, 0)
	}
	if a.Mode == agent.Explore {
		if err := r.begin(a); err != nil {
			return err
		}
	}
	for i := range a.Copies {
		state := a.State[i*recurrentUnits : (i+1)*recurrentUnits]
		h := r.remember(state, a.Obs[i*worldObs:(i+1)*worldObs])
		a.Actions[i] = float32(max(-1, min(1, r.mean(h)+recurrentNoise*float64(noise[i]))))
		for k, v := range h {
			state[k] = float32(v)
		}
		if a.Mode == agent.Explore {
			r.Rollout = append(r.Rollout, recurrentRow{H: h})
		}
	}
	return r.w.call("%v %d", a.Mode, a.Copies)
}

// begin begins the rows of an env step, which may have failed before. It refuses the memory of a
// previous episode.
func (r *recurrent) begin(a *agent.Acting) error {
	met := r.log.Steps()
	r.Rollout = r.Rollout[:int(met-r.From)*a.Copies]
	for i := range a.Copies {
		state := a.State[i*recurrentUnits : (i+1)*recurrentUnits]
		if met > 0 && r.met(met-1, i).End != experience.Continues && slices.Max(state) != 0 {
			return fmt.Errorf("an episode of copy %d begins with the memory %v", i, state)
		}
	}
	return nil
}

// met returns what a copy met in an env step, which is counted from 0.
func (r *recurrent) met(step uint64, copied int) experience.Met {
	m, held := r.log.Met(r.log.After(step, copied))
	if !held {
		panic("an env step of a rollout is forgotten")
	}
	return m
}

// copies returns how many copies it acts in.
func (r *recurrent) copies() int { return r.log.Shape().Copies }

func (r *recurrent) phases() []agent.Phase {
	due := func(*agent.Work) bool { return r.log.Steps()-r.From == recurrentRollout }
	start := func(units int) func(*agent.Work) (int, error) {
		return func(*agent.Work) (int, error) { return units * r.copies(), nil }
	}
	return []agent.Phase{
		{Name: "rollout", Due: due, Start: start(recurrentRollout), Slice: r.returns},
		{Name: "learn", Due: due, Start: start(2 * recurrentRollout), Slice: r.learn},
	}
}

// returns computes the returns of four rows, the last ones first.
func (r *recurrent) returns(_ *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	for n = 0; n < 4 && done+n < len(r.Rollout); n++ {
		i := len(r.Rollout) - 1 - done - n
		row, met := &r.Rollout[i], r.met(r.From+uint64(i/r.copies()), i%r.copies())
		row.Action, row.Reward, row.Ended = float64(met.Action[0]), float64(met.Observed), met.End != experience.Continues
		row.Return = row.Reward
		if next := i + r.copies(); !row.Ended && next < len(r.Rollout) {
			row.Return += 0.9 * r.Rollout[next].Return
		}
	}
	return n, nil, r.w.call("rollout after %d", done)
}

// learn makes three updates, each on one row. After the last one the rollout starts again.
func (r *recurrent) learn(w *agent.Work, done int) (n int, made []agent.UpdateResult, err error) {
	total := 2 * len(r.Rollout)
	for n = 0; n < 3 && done+n < total; n++ {
		row := &r.Rollout[(done+n)%len(r.Rollout)]
		mean := r.mean(row.H)
		up := (row.Action - mean) / (recurrentNoise * recurrentNoise) * (1 - mean*mean) * row.Return
		for i, h := range row.H {
			r.W[i] += w.Rates.LRActor * up * h
		}
		r.Updates++
		made = append(made, agent.UpdateResult{Stepped: true, Losses: agent.ActorLoss(-up)})
	}
	if done+n == total {
		r.Rollout, r.From = r.Rollout[:0], r.log.Steps()
	}
	return n, made, r.w.call("learn after %d", done)
}

func (r *recurrent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	obs, rows := seen.Numbers, seen.Rows
	l := agent.Layer{Name: "memory", Rows: rows, Units: recurrentUnits}
	for i := range rows {
		for _, v := range r.remember(make([]float32, recurrentUnits), obs[i*worldObs:(i+1)*worldObs]) {
			l.Pre, l.Post = append(l.Pre, float32(v)), append(l.Post, float32(v))
		}
	}
	return []agent.Layer{l}, nil
}

func (r *recurrent) SavePolicy(w io.Writer) error { return keep(w, r.W[:]...) }
func (r *recurrent) LoadPolicy(in io.Reader) error {
	w, err := kept(in, recurrentUnits)
	copy(r.W[:], w)
	return err
}
func (r *recurrent) Close() error { return nil }

func (r *recurrent) Save(w io.Writer) error { return gob.NewEncoder(w).Encode(r.recurrentState) }
func (r *recurrent) Load(in io.Reader) error {
	r.recurrentState = recurrentState{}
	return gob.NewDecoder(in).Decode(&r.recurrentState)
}

// recurrentConfig is a run of the recurrent learner that has everything a run can have: knobs that
// turn in its phases, refits, and evaluations in the middle of which it is saved.
func recurrentConfig() config.Config {
	c := newWorld().config()
	c.Steps, c.StartSteps = 55, 0
	c.Schedule = []string{"10/rollout:4:lr_actor=0.01", "20/learn:6:lr_actor=0.02", "20/learn:9:guidance=3!", "20/fit:4:guidance=4", "33:relevance=reward!"}
	return c
}

// A learner that is nothing like SAC goes on from every border of its run, also in the middle of
// its own phases and of evaluations.
func TestARecurrentLearnerGoesOnFromEveryBorder(t *testing.T) {
	for _, d := range []struct{ members, copies int }{{1, 1}, {2, 1}, {1, 3}, {2, 2}} {
		phases := resumeEverywhere(t, 1, func(r record) *Lab {
			c := recurrentConfig()
			c.Members, c.Environment.Copies = d.members, d.copies
			if d.members == 2 {
				c.Evaluation.Actions = config.ActionsSample
			}
			return learnsRecurrently(newWorld()).lab(t, c, r)
		})
		for phase, least := range map[knob.Phase]int{knob.Rollout: 15, knob.Learn: 35, knob.Fit: 5, knob.Evaluate: 6} {
			if phases[phase] < least {
				t.Errorf("%d borders in phase %s, want at least %d", phases[phase], phase, least)
			}
		}
	}
}

// The learner's phases have the same place in an env step as the lab's, with its own losses. A
// change at a position in one of them is in force from the next update on.
func TestTheJournalOfARecurrentLearner(t *testing.T) {
	w := learnsRecurrently(newWorld())
	l, folder := play(t, w, recurrentConfig())
	journal := folder.canonical(t)
	for _, want := range []string{
		`"knob":"lr_actor","from":0.0003,"to":0.01,"class":"batch","position":"10/rollout:4"`,
		`"knob":"lr_actor","from":0.01,"to":0.02,"class":"batch","position":"20/learn:6"`,
		`{"type":"in_force","step":20,"id":2,"knob":"lr_actor"}`,
	} {
		if !strings.Contains(journal, want) {
			t.Errorf("no line with %s in\n%s", want, journal)
		}
	}
	if log := strings.Join(w.log, "\n"); !strings.Contains(log, "rollout after 8\nlearn after 0\n") {
		t.Error("learn does not follow rollout")
	}
	for _, losses := range func() []event.Losses { all, _ := bodies[event.Losses](l); return all }() {
		if losses.Actor == nil || losses.Critic != nil || losses.Alpha != nil {
			t.Errorf("losses %+v, want the policy's alone", losses)
		}
	}
	if n := l.Snapshot().Updates; n != 5*2*recurrentRollout {
		t.Errorf("%d updates, want those of 5 rollouts", n)
	}
}

// Evaluations take the mean actions or samples; nothing else in the run depends on that.
func TestEvaluationsBySamples(t *testing.T) {
	c := recurrentConfig()
	_, mean := play(t, learnsRecurrently(newWorld()), c)
	c.Evaluation.Actions = config.ActionsSample
	w := learnsRecurrently(newWorld())
	_, sampled := play(t, w, c)
	rest := func(journal string) string {
		for line := range strings.Lines(evaluations(journal)) {
			journal = strings.Replace(journal, line, "", 1)
		}
		return journal
	}
	a, b := mean.canonical(t), sampled.canonical(t)
	if evaluations(a) == evaluations(b) || !strings.Contains(strings.Join(w.log, "\n"), "sample 3") {
		t.Error("evaluations by samples are those by mean actions")
	}
	if rest(a) != rest(b) {
		t.Errorf("the rest is\n%s\nwith samples\n%s", a, b)
	}
	c.Evaluation.Actions = "greedy"
	if err := c.Validate(); err == nil || err.Error() != `configuration: evaluation.actions is "greedy", want "mean" or "sample"` {
		t.Error(err)
	}
}

// The run can be paused in the middle of a phase, and its journal does not change.
func TestARecurrentLearnerPauses(t *testing.T) {
	for _, copies := range []int{1, 3} {
		pauseRecurrent(t, copies)
	}
}

func pauseRecurrent(t *testing.T, copies int) {
	c := recurrentConfig()
	c.Environment.Copies = copies
	_, whole := play(t, learnsRecurrently(newWorld()), c)
	synctest.Test(t, func(t *testing.T) {
		w := learnsRecurrently(newWorld())
		var l *Lab
		paused := false
		w.on("learn after 3", func() {
			if !paused {
				paused = true
				send(t, &l, event.Pause{By: "ana"})()
			}
		})
		folder := &memoryFolder{}
		l = w.lab(t, c, folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		at := knob.At(10*copies, knob.Learn, 6)
		if s := l.Snapshot(); s.State != event.PausedState || s.Position != at || s.PhaseTotal != 20*copies {
			t.Errorf("%s at %s of %d, want paused at %s of 20 a copy", s.State, s.Position, s.PhaseTotal, at)
		}
		if err := l.Send(event.Resume{By: "ana"}); err != nil {
			t.Fatal(err)
		}
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if got := folder.canonical(t); got != whole.canonical(t) {
			t.Errorf("paused it writes\n%s\nwant\n%s", got, whole.canonical(t))
		}
	})
}

// A run on disk is ended in the middle of a phase of the learner. It is resumed and forked there,
// with and without a change.
func TestARecurrentLearnerIsResumedAndForked(t *testing.T) {
	for _, copies := range []int{1, 3} {
		forkRecurrent(t, copies)
	}
}

func forkRecurrent(t *testing.T, copies int) {
	c, top := recurrentConfig(), t.TempDir()
	c.Environment.Copies = copies
	_, whole := play(t, learnsRecurrently(newWorld()), c)
	parent := filepath.Join(top, "parent")
	folder := created(t, parent)
	w := learnsRecurrently(newWorld())
	l, rounds := w.lab(t, c, folder), 0
	w.on("learn after 9", func() {
		if rounds++; rounds == 3 {
			send(t, &l, event.Stop{})()
		}
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) == 0 || found[0].Position != knob.At(30*copies, knob.Learn, 12).String() {
		t.Fatalf("checkpoints %+v, %v, want one at env step 30, learn:12", found, err)
	}
	goOn := func(dir string) string {
		t.Helper()
		folder, err := run.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		w := learnsRecurrently(newWorld())
		l, _, err := restore(inEnvSteps(c), w.task(), folder, w.parts(), "cpu test, 2 threads", clock(), Resumption{Saving: Saving{Every: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return journalOf(t, dir)
	}
	fork := func(name string, set ...string) string {
		t.Helper()
		dir := filepath.Join(top, name)
		if _, err := checkpoint.Fork(inEnvSteps(c), []byte("seed = 7\n"), found[0], set, dir); err != nil {
			t.Fatal(err)
		}
		note := fmt.Sprintf(`{"type":"note","step":%d,"text":"forked at %s"}`, 30*copies, found[0].Position) + "\n"
		return strings.Replace(goOn(dir), note, "", 1)
	}
	same, other := fork("same"), fork("other", "lr_actor=0.5")
	if same != whole.canonical(t) {
		t.Errorf("a fork writes\n%s\nwant\n%s", same, whole.canonical(t))
	}
	if !strings.Contains(other, fmt.Sprintf(`"to":0.5,"class":"batch","position":"%s"`, found[0].Position)) || evaluations(other) == evaluations(same) {
		t.Errorf("a fork with another rate writes\n%s", other)
	}
	if got := goOn(parent); got != whole.canonical(t) {
		t.Errorf("resumed it writes\n%s\nwant\n%s", got, whole.canonical(t))
	}
}

// evaluations returns the lines about evaluations.
func evaluations(journal string) string {
	var b bytes.Buffer
	for line := range strings.Lines(journal) {
		if strings.Contains(line, `"type":"evaluated"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A position in a phase that the run's learner does not have is refused in one line.
func TestPhasesOfAnotherLearner(t *testing.T) {
	c := newWorld().config()
	c.Schedule = []string{"20/learn:3:tau=0.5"}
	w := newWorld()
	want := `schedule "20/learn:3:tau=0.5": position 20/learn:3: the learner of pgr-curiosity has no phase learn: want STEP, or a phase that the run has`
	if _, err := newLab(c, w.task(), nil, w.parts(), "cpu", clock()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
