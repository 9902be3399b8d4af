package tui

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/testing/pace"
)

// fakeLab is a scripted run: its state is a function of the number of env steps made and of the
// commands. It answers as the lab does.
type fakeLab struct {
	mu        sync.Mutex
	start     time.Time
	step      int
	steps     int
	state     event.State
	phase     knob.Phase
	done      int // units of the phase
	total     int
	share     float64 // of D_syn that is new, if it is mixed
	values    map[string]knob.Value
	undo      map[int][2]knob.Value
	waiting   []event.KnobChanged
	plans     []knob.Scheduled
	refits    int
	redo      bool // a refit was requested now
	events    []event.Event
	snapshot  *event.Snapshot
	sendErr   error
	refuses   string // why previews are refused
	holds     bool   // checkpoints are not answered
	busy      int    // how many previews are answered with a promise of a later one
	commands  []event.Command
	mapped    *event.Mapped
	moment    *event.Moment
	dreamt    *event.Dreamt
	grounding *event.Grounding
	pose      []float64
	sees      bool    // the run learns from frames
	policy    float64 // how good the policy is, 0..1
}

// fakeConfig is the configuration of a PGR run as the screen gets it.
func fakeConfig() config.Config {
	c := config.Config{
		Task: "cheetah-run", Method: "pgr-curiosity", Scale: "cpu", Device: "cpu", Seed: 3, Members: 1, Steps: 100_000,
		Knobs: knob.Settings{
			Relevance: "curiosity", Guidance: 2, TopFraction: 0.25, Ratio: 0.5, Hold: knob.HoldBatch, UTD: 20, Batch: 256,
			LRActor: 3e-4, LRCritic: 3e-4, Tau: 0.005, RefitEvery: 10_000, Samples: 100_000, SamplerSteps: 32,
			SChurn: 0, GeneratorSteps: 10_000, LRGenerator: 3e-4, PUncond: 0.25,
		},
	}
	c.Generator.Conditional = true
	c.Evaluation.Every, c.Evaluation.Episodes = 1000, 10
	return c
}

func newFake() *fakeLab {
	c := fakeConfig()
	f := &fakeLab{start: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), steps: c.Steps, state: event.Running,
		values: c.Knobs.Values(), undo: map[int][2]knob.Value{}}
	f.emit(event.TypeStart, event.Start{Task: c.Task, Method: c.Method, Scale: c.Scale, Seed: c.Seed, Device: "cpu avx2"})
	f.publish()
	return f
}

func (f *fakeLab) now() time.Time { return f.start.Add(time.Duration(f.step) * 10 * time.Millisecond) }

func (f *fakeLab) emit(kind string, body any) {
	f.events = append(f.events, event.Event{Index: len(f.events), Wall: f.now(), Type: kind, Step: f.step, Member: event.NoMember, Body: body})
}

// explored is reported for every episode, as if the task were a maze.
var explored = &event.Explored{Goals: 1.5, Cells: 40, Moved: 0.6, OnSpot: &onSpot}

var onSpot = run.Float(0.3)

// advance makes n env steps, in the order of the phases.
func (f *fakeLab) advance(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		if f.state != event.Running || f.step >= f.steps {
			break
		}
		f.step++
		f.inForce(knob.ClassBatch)
		pull := 0.3 + 0.7*f.values["ratio"].Number*math.Min(2, f.values["guidance"].Number)
		f.policy += (1 - f.policy) * pull / 40_000
		if f.step%1000 == 0 {
			f.emit(event.TypeEpisode, event.Episode{Return: run.Float(800 * f.policy), Length: 1000, Explored: explored})
			f.evaluate()
		}
		if every := int(f.values["refit_every"].Number); f.step%every == 0 || f.redo {
			f.refit()
		}
	}
	if f.step >= f.steps && f.state == event.Running {
		f.state = event.Finished
		f.emit(event.TypeDone, event.Done{Steps: f.step})
	}
	f.publish()
}

func (f *fakeLab) evaluate() {
	x := float64(f.step)
	mean := 850*f.policy + 25*math.Sin(x/1700) + 18*math.Sin(x/410)
	f.emit(event.TypeEvaluated, event.Evaluated{ReturnMean: run.Float(mean), ReturnStd: run.Float(22 + 8*math.Cos(x/900)), Episodes: 10, Explored: explored})
	f.emit(event.TypeQBias, event.QBias{Bias: run.Float(4 * math.Sin(x/4000))})
	sokar := 0.02 + 0.16*math.Exp(-math.Pow((x-30_000)/18_000, 2)) + 0.008*math.Sin(x/1300)
	f.emit(event.TypeDormant, event.Dormant{Ratio: run.Float(sokar), RatioDrM: run.Float(0.7*sokar + 0.01), Tau: 0.025})
	f.emit(event.TypeOpenLoop, fakeOpenLoop())
	f.emit(event.TypeLatents, event.Latents{Drift: run.Float(0.2 + 0.1*math.Sin(x/900)), Size: 0.6})
	l := func(v float64) *run.Float { r := run.Float(v); return &r }
	f.emit(event.TypeLosses, event.Losses{Critic: l(2 + math.Sin(x/5000)), Actor: l(-60 * f.policy), Alpha: l(0.1 + 0.9*math.Exp(-x/9000)),
		QMean: l(61 * f.policy), Entropy: l(1.2 + 0.9*math.Exp(-x/20_000)), Noise: l(0.1 + 0.9*math.Exp(-x/20_000)), Bonus: l(0.1 * math.Exp(-x/20_000)), Curiosity: l(0.4 * math.Exp(-x/20_000)),
		World: &event.World{
			Observation: l(2 * math.Exp(-x/9000)), Reward: l(1 + math.Exp(-x/9000)), Continue: l(0.02), Dynamics: l(1 + 3*math.Exp(-x/20_000)), Representation: l(1 + 3*math.Exp(-x/20_000)),
			Imagined: l(f.policy / 4), Replayed: l(f.policy / 5),
		},
		Episodes: &event.Episodes{Entries: l(40), P90: l(0.3), Accuracy: l(0.8)}})
}

func (f *fakeLab) refit() {
	f.redo = false
	f.refits++
	m := 0.2 + 0.1*math.Sin(float64(f.refits))
	f.emit(event.TypeScores, event.Scores{Relevance: f.values["relevance"].Text, Max: 1, Mean: run.Float(m),
		Quantiles: []run.Float{0.05, run.Float(m), 0.6}})
	loss := run.Float(0.3 / math.Sqrt(float64(f.refits)))
	f.emit(event.TypeRefit, event.Refit{Loss: &loss, Steps: int(f.values["generator_steps"].Number), Generated: int(f.values["samples"].Number),
		F:   &event.RefitF{Of: f.values["relevance"].Text, At: f.step, Real: fakeHistogram(0.25, 0.12), Asked: fakeHistogram(0.62, 0.1), Achieved: fakeHistogram(0.55, 0.2)},
		Obs: event.RefitObs{Seconds: 41}})
	value := func(v float64) *run.Float { v /= math.Sqrt(float64(f.refits)); return (*run.Float)(&v) }
	correlation, rewardedReal := run.Float(0.83), run.Float(0.0021)
	f.emit(event.TypeGenerated, event.Generated{Rows: 512, OutsideStates: 0.021, Furthest: 0.34, OutsideActions: 0, OutsideRewards: 0.004, Nearest: 0.18, NearestReal: 0.11,
		Asked: &event.Quantiles{Median: 0.6, Q90: 0.84}, Achieved: &event.Quantiles{Median: 0.55, Q90: 0.81}, RankCorrelation: &correlation, Coverage: 0.71, Copies: *value(0.02), RewardedReal: &rewardedReal, Rewarded: value(0.0008),
		Dynamics: &event.Dynamics{Rows: 512, Relative: *value(0.09), Relevant: value(0.12), RelevantOf: 300, Change: *value(0.4), RewardRelative: *value(0.15), ConstantChange: 1, ConstantReward: 1}})
	f.inForce(knob.ClassGeneration)
	f.inForce(knob.ClassRefit)
}

// fakeRollouts is a refit of an ensemble.
func fakeRollouts() event.Refit {
	loss := run.Float(-1.2)
	return event.Refit{Loss: &loss, Steps: 1000, Generated: 99_997, F: &event.RefitF{Of: "curiosity", At: 24_000, Real: fakeHistogram(0.25, 0.12)}, Obs: event.RefitObs{Seconds: 12},
		Ensemble: &event.Ensemble{HeldOut: []run.Float{0.021, 0.034, 0.025, 0.19, 0.022}, Constant: 0.5, Elites: []int{0, 4, 2}},
		Rollouts: &event.Rollouts{Horizon: 3, Begun: 33_334, Rows: 99_997, Ended: 412, Dropped: 3}}
}

// fakeOpenLoop is what a model of the world predicts.
func fakeOpenLoop() event.OpenLoop {
	o := event.OpenLoop{Context: 16, Horizon: []int{1, 2, 4, 8, 16}, Error: []run.Float{0.05, 0.07, 0.12, 0.2, 0.4}, Held: []run.Float{0.3, 0.5, 0.9, 1.1, 1.2}, Reward: []run.Float{0.2, 0.3, 0.3, 0.4, 0.6}}
	for j := range 6 {
		n := event.OpenLoopNumber{Number: j, Error: run.Float(0.1 * float64(j+1))}
		for step := range 32 {
			real := math.Sin(float64(step*(j+1)) / 5)
			n.Real = append(n.Real, run.Float(real))
			n.Predicted = append(n.Predicted, run.Float(real+float64(j)*0.01*float64(max(0, step-16))))
		}
		o.Shown = append(o.Shown, n)
	}
	return o
}

func (f *fakeLab) inForce(class knob.Class) {
	rest := f.waiting[:0]
	for _, w := range f.waiting {
		if w.Class == class {
			f.emit(event.TypeInForce, event.InForce{ID: w.ID, Knob: w.Knob, Obs: event.InForceObs{Updates: f.updates(f.step - 1)}})
		} else {
			rest = append(rest, w)
		}
	}
	f.waiting = rest
}

// updates returns the number of updates made up to a step.
func (f *fakeLab) updates(step int) uint64 { return uint64(max(0, step-5000) * 20) }

// publish makes a new snapshot.
func (f *fakeLab) publish() {
	s := &event.Snapshot{
		Time: f.now(), Task: "cheetah-run", Method: "pgr-curiosity", Seed: 3, Members: 1,
		Step: f.step, Steps: f.steps, State: f.state, Phase: f.phase, PhaseDone: f.done, PhaseTotal: f.total,
		ETA: time.Duration(f.steps-f.step) * 10 * time.Millisecond, StepTime: 10 * time.Millisecond, StepsPerSec: 98.4, UpdatesPerSec: 1968,
		Knobs: map[string]knob.Value{}, Waiting: append([]event.KnobChanged(nil), f.waiting...), Scheduled: slices.Clone(f.plans),
		Real: f.step, Updates: f.updates(f.step), Episode: f.step / 1000, EpisodeStep: f.step % 1000,
		EpisodeReturn: 0.8 * f.policy * float64(f.step%1000), Refits: f.refits,
	}
	every := int(f.values["refit_every"].Number)
	s.NextRefit = every - f.step%every
	for k, v := range f.values {
		s.Knobs[k] = v
	}
	if f.phase != knob.Collect {
		s.PhaseETA = time.Duration(f.total-f.done) * 4 * time.Millisecond
		s.FitLoss = 0.12
	}
	if f.refits > 0 {
		s.Synthetic, s.CostRefit, s.CostGenerate = 100_000, 41*time.Second, 3*time.Second
		if s.Share = f.share; s.Share > 0 {
			s.WholeIn = 7 * time.Second
		}
	}
	s.ETALeast = s.CostRefit == 0
	if f.step > 5000 {
		s.Losses = &event.UpdateLosses{Critic: 1.73, Actor: -41.2, Alpha: 0.113, QMean: 41.9, Model: 0.021, Function: "curiosity"}
		rows := int(f.values["batch"].Number)
		if f.refits > 0 {
			s.MixSynthetic = int(float64(rows) * f.values["ratio"].Number)
		}
		s.MixReal = rows - s.MixSynthetic
	}
	s.Map, s.Moment, s.Dreamt, s.Pose, s.Ground = f.mapped, f.moment, f.dreamt, f.pose, f.grounding
	f.snapshot = s
}

// fakeDreamt returns rows whose frames grow brighter from left to right, and whose frames of z′
// grow brighter from top to bottom. One row has no frames.
func fakeDreamt(rows, step int) *event.Dreamt {
	const side = 8
	d := &event.Dreamt{Step: step, Order: event.DreamsByF, Relevance: "curiosity", Looked: 256, Real: 23_900, Usual: 0.31, Side: side}
	z, next := make([]byte, 3*side*side), make([]byte, 3*side*side)
	for i := range z {
		z[i], next[i] = byte(i/3%side*32), byte(i/3/side*32)
	}
	for i := range rows {
		r := event.Dream{Rank: i, F: 0.9 / float64(i+1), Return: 1.7, Z: event.NearestFrame{Distance: 0.42, Frame: z}, Next: event.NearestFrame{Distance: 0.55, Frame: next}}
		if i == 1 {
			r.Z.Frame, r.Next = nil, event.NearestFrame{Distance: math.NaN()}
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}

// fakeTruths returns rows of four numbers, of which the last changes in no step. The first row lies,
// the second is not known to the task, the third has no pose, and the others are true, less and less
// so.
func fakeTruths(rows, step int) *event.Dreamt {
	d := &event.Dreamt{Step: step, Order: event.DreamsByF, Relevance: "curiosity", Looked: 256, Real: 23_900, Usual: math.NaN()}
	for i := range rows {
		tr := &event.Truth{State: []float32{0.5, -0.2, 1.5, 3}, Action: []float32{0, 1}, Predicted: []float32{0.6, -0.1, 1.9, 3}, True: []float32{0.55, -0.3, 1.8, 3}, Reward: 0.4,
			Errors: []float64{0.02 * float64(i), -0.04 * float64(i), 0.01, math.NaN()}, Off: 0.03 * float64(i), Poses: [3][]float64{{0}, {0.5}, {1}}}
		switch i {
		case 0:
			tr.Errors, tr.Off = []float64{-3.5, 1.4, 0.2, math.NaN()}, 2.2
		case 1:
			tr.True, tr.Errors, tr.Reward, tr.Off, tr.Poses = nil, nil, math.NaN(), math.NaN(), [3][]float64{}
		case 2:
			tr.Poses[1] = nil
		}
		d.Rows = append(d.Rows, event.Dream{Rank: 8 * i, F: 0.9 / float64(i+1), Return: 0.3, Truth: tr})
	}
	return d
}

// fakeSeen returns a stack of frames, each brighter than the one before, and shifted frames whose
// upper half is bright.
func fakeSeen() (stack [][]byte, side int, crops []event.Crop) {
	side = 8
	frame := func(bright func(x, y int) int) []byte {
		out := make([]byte, 3*side*side)
		for i := range out {
			out[i] = byte(bright(i/3%side, i/3/side))
		}
		return out
	}
	for k := range 3 {
		stack = append(stack, frame(func(x, y int) int { return []int{90, 118, 200}[k] }))
	}
	half := func(top int) func(x, y int) int {
		return func(x, y int) int {
			if y < top {
				return 210
			}
			return 0
		}
	}
	for i, by := range []int{2, -2, 0, 1} {
		crops = append(crops, event.Crop{Frame: frame(half(4)), Cropped: frame(half(4 - by)), Down: by, Across: 2*i - 2})
	}
	return stack, side, crops
}

// fakePixels is fakeConfig for a run that learns from pixels.
func fakePixels() config.Config {
	c := fakeConfig()
	c.Agent.Learner, c.Environment.Observation, c.Environment.ActionRepeat, c.Environment.Copies = "drqv2", "pixels", 2, 1
	c.Pixels = agent.Pixels{Side: 84, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 1, 1, 1}, Feature: 50}
	return c
}

// fakeMap places D_real around one point and D_syn around another.
func fakeMap(x, y, step int) *event.Mapped {
	d := &event.Mapped{X: x, Y: y, Step: step, Low: [2]float64{-1, -3}, High: [2]float64{1, 3}, RealN: 8192, SynN: 8192, Relevance: "curiosity", FLow: 0.05, FHigh: 0.95}
	for j := range event.MapRows {
		for i := range event.MapColumns {
			u, v := float64(i)/event.MapColumns, float64(j)/event.MapRows
			c := j*event.MapColumns + i
			d.Real[c] = int(150 * math.Exp(-20*((u-0.35)*(u-0.35)+(v-0.4)*(v-0.4))))
			d.Syn[c] = int(150 * math.Exp(-20*((u-0.65)*(u-0.65)+(v-0.6)*(v-0.6))))
			if d.F[c] = math.NaN(); d.Real[c] > 0 {
				d.F[c] = 0.05 + 0.9*u*v
			}
		}
	}
	return d
}

func fakeHistogram(centre, spread float64) *event.Histogram {
	h := &event.Histogram{Min: 0, Q10: run.Float(centre - spread), Median: run.Float(centre), Q90: run.Float(centre + 1.3*spread), Max: 1, Low: 0, High: 1}
	for i := range h.Counts {
		x := (float64(i)+0.5)/event.Bins - centre
		h.Counts[i] = int(2000 * math.Exp(-x*x/(2*spread*spread)))
		h.Rows += h.Counts[i]
	}
	h.Rows += h.Rows / 50 // beyond the bins
	return h
}

// setPhase shows a slice in the middle of a phase.
func (f *fakeLab) setPhase(p knob.Phase, done, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase, f.done, f.total = p, done, total
	f.publish()
}

func (f *fakeLab) setShare(of float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.share = of
	f.publish()
}

func (f *fakeLab) Snapshot() *event.Snapshot {
	pace.Unit()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot
}

func (f *fakeLab) Events(from int) []event.Event {
	pace.Unit()
	f.mu.Lock()
	defer f.mu.Unlock()
	if from >= len(f.events) {
		return nil
	}
	return f.events[from:len(f.events):len(f.events)]
}

// Send answers at once, as if the next slice ended now.
func (f *fakeLab) Send(c event.Command) error {
	pace.Unit()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sendErr != nil {
		return f.sendErr
	}
	f.commands = append(f.commands, c)
	switch c := c.(type) {
	case event.Pause:
		f.state = event.PausedState
		f.emit(event.TypePause, event.Paused{By: c.By})
	case event.Park:
		f.state = event.PausedState
		f.emit(event.TypePause, event.Paused{By: c.By, Reason: "parked"})
	case event.Resume:
		f.state = event.Running
		f.emit(event.TypeResume, event.Resumed{By: c.By})
	case event.SetKnob:
		if c.At != nil { // it is never made
			f.plans = append(f.plans, knob.Scheduled{At: *c.At, Knob: c.Knob, Value: c.Value, By: c.By, Planned: true, Ref: c.ID})
			break
		}
		f.set(c.Knob, c.Value, c.ID, c.Now, 0)
	case event.Cancel:
		f.plans = slices.DeleteFunc(f.plans, func(p knob.Scheduled) bool {
			is := p.At == c.At && p.Knob == c.Knob && p.Value == c.Value
			if is {
				f.emit(event.TypeCancelled, event.Cancelled{At: p.At, Knob: p.Knob, Value: p.Value, Of: p.By, By: c.By, Ref: p.Ref})
			}
			return is
		})
	case event.Checkpoint:
		if f.holds {
			break
		}
		f.emit(event.TypeCheckpoint, event.Checkpointed{Obs: event.CheckpointObs{Path: "checkpoints/24000", Position: knob.After(f.step), Bytes: 41_000_000, Seconds: 0.3, StallS: 0.02, By: c.By, Refs: []string{c.Ref}}})
	case event.Note:
		f.emit(event.TypeNote, event.Noted{Text: c.Text, Obs: event.KnobObs{By: c.By}})
	case event.Preview:
		if f.busy > 0 {
			f.busy--
			f.emit(event.TypePreviewed, event.Previewed{ID: c.ID, Knob: c.Knob, Value: c.Value, Err: "busy", Busy: true})
			break
		}
		if f.refuses != "" {
			f.emit(event.TypePreviewed, event.Previewed{ID: c.ID, Knob: c.Knob, Value: c.Value, Err: f.refuses})
			break
		}
		var terms []event.PreviewedTerm
		if formula, is := strings.CutPrefix(c.Value, "="); is {
			for _, term := range strings.Split(formula, " + ") {
				terms = append(terms, event.PreviewedTerm{Term: term, Values: fakeHistogram(0.4, 0.1)})
			}
		}
		f.emit(event.TypePreviewed, event.Previewed{ID: c.ID, Knob: c.Knob, Value: c.Value, Relevance: "curiosity", Terms: terms,
			Real: fakeHistogram(0.25, 0.12), Synthetic: fakeHistogram(0.55, 0.2), Preview: fakeHistogram(0.7, 0.15),
			Doses: f.doses(c), RankCorrelation: math.NaN(), TopOverlap: math.NaN(), Seconds: 0.4})
	case event.Ground:
		f.grounding = &event.Grounding{Step: f.step, By: c.By, Of: 74}
	case event.LeaveGround:
		f.grounding = nil
		f.emit(event.TypeRefused, event.Refused{Knob: event.TypeGround, By: c.By, Reason: event.LeftGround})
	case event.Map:
		f.mapped = fakeMap(c.X, c.Y, f.step)
	case event.Watch:
		f.moment = &event.Moment{Step: f.step, Action: []float32{-0.41, 0.63, 0, 1, -1, 0.2}, Reward: 0.81, Q: 41.7, F: 0.37, Twin: &event.Twin{Distance: 0.66, Reward: 0.79, F: 0.42}}
		if f.sees {
			f.moment.Seen, f.moment.Side, f.moment.Crops = fakeSeen()
		}
	case event.Dreams:
		if f.dreamt = fakeDreamt(c.Rows, f.step); !f.sees {
			f.dreamt = fakeTruths(c.Rows, f.step)
		}
	case event.Undo:
		old, ok := f.undo[c.ID]
		if !ok {
			return errors.New("no such change")
		}
		f.set(f.knobOf(c.ID), old[0].String(), c.Ref, c.Now, c.ID)
	}
	f.publish()
	return nil
}

func (f *fakeLab) knobOf(id int) string {
	for _, e := range f.events {
		if k, ok := e.Body.(event.KnobChanged); ok && k.ID == id {
			return k.Knob
		}
	}
	return ""
}

func (f *fakeLab) set(name, text, ref string, now bool, undoes int) {
	k, err := knob.Find(name)
	v, parseErr := k.Parse(text)
	if err = errors.Join(err, parseErr); err == nil && name == "sampler_steps" && v.Number > 512 {
		err = fmt.Errorf("sampler_steps: %v does not fit this generator", v)
	}
	if err != nil {
		f.emit(event.TypeRefused, event.Refused{Ref: ref, Knob: name, Value: text, Reason: err.Error()})
		return
	}
	id := len(f.undo) + 1
	from := f.values[name]
	f.undo[id] = [2]knob.Value{from, v}
	f.values[name] = v
	changed := event.KnobChanged{ID: id, Knob: name, From: from, To: v, Class: k.Class, Position: knob.After(f.step), Now: now,
		Obs: event.KnobObs{By: "screen", Ref: ref, Undoes: undoes}}
	if k.Class != knob.ClassBatch && f.refits == 0 {
		changed.Hint = "no effect before the first generation"
	}
	f.emit(event.TypeKnob, changed)
	f.waiting = append(f.waiting, changed)
	if now {
		f.redo = true
	}
}

// changes counts the commands that change something.
func (f *fakeLab) changes() int {
	n := 0
	for _, c := range f.commands {
		switch c.(type) {
		case event.Preview, event.Map, event.Watch, event.Dreams:
		default:
			n++
		}
	}
	return n
}

// doses are what the fake generator makes with values around the one in force.
func (f *fakeLab) doses(c event.Preview) (all []event.Dose) {
	k, err := knob.Find(c.Knob)
	if err != nil {
		return nil
	}
	v, err := k.Parse(c.Value)
	if err != nil {
		return nil
	}
	values := k.Around(f.values[k.Name], v, 5)
	if values == nil {
		values = []knob.Value{v}
	}
	for i, v := range values {
		x := float64(i)
		all = append(all, event.Dose{Value: k.Format(v), Rows: 128, Median: 0.4 + 0.1*x, Q90: 0.6 + 0.1*x, Outside: 0.01 + 0.01*x*x, State: 0.13 + 0.03*x*x, Reward: 0.1 + 0.01*x})
	}
	return all
}
