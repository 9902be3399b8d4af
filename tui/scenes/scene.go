// Package scenes keeps what a screen shows of a run and its journal does not have: the agent's pose,
// the newest transition, dreams beside the truth, the map, and how far each phase is. A replay with
// scenes shows them again. They are looks from outside: a run with them writes the same journal as
// one without.
package scenes

import (
	"math"
	"strconv"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// FileName is the name of the scenes in a run folder: lines of JSON, one for each Scene.
const FileName = "scenes.jsonl"

// Scene is what a screen shows at a moment. A Dreamt or Map that is nil is the one of an earlier
// scene.
type Scene struct {
	Wall      run.Float   `json:"wall_s"` // since the first event of the journal
	Step      int         `json:"step"`
	Phase     int         `json:"phase,omitempty"`
	Warming   bool        `json:"warming,omitempty"`
	Done      int         `json:"done,omitempty"` // units of the phase
	Total     int         `json:"total,omitempty"`
	Updates   uint64      `json:"updates,omitempty"`
	Real      int         `json:"real,omitempty"`
	Synthetic int         `json:"synthetic,omitempty"`
	Share     run.Float   `json:"share,omitempty"`    // of D_syn, if it is mixed
	WholeIn   run.Float   `json:"whole_in,omitempty"` // seconds until it is whole
	Mix       [2]int      `json:"mix,omitempty"`      // real and synthetic rows of the last batch
	Episode   int         `json:"episode,omitempty"`
	Into      int         `json:"episode_step,omitempty"`
	Return    run.Float   `json:"episode_return,omitempty"`
	Pose      []run.Float `json:"pose,omitempty"`
	Moment    *moment     `json:"moment,omitempty"`
	Dreamt    *dreamt     `json:"dreamt,omitempty"`
	Map       *plane      `json:"map,omitempty"`
}

type moment struct {
	Step   int         `json:"step"`
	Action []run.Float `json:"action,omitempty"`
	Reward run.Float   `json:"r"`
	Q      run.Float   `json:"q"`
	F      run.Float   `json:"f"`
	V      run.Float   `json:"v,omitempty"`
	Twin   *twin       `json:"twin,omitempty"`
}

type twin struct {
	Distance run.Float `json:"distance"`
	Reward   run.Float `json:"r"`
	F        run.Float `json:"f"`
}

type dreamt struct {
	Step      int       `json:"step"`
	Order     string    `json:"order"`
	Relevance string    `json:"relevance"`
	Looked    int       `json:"looked"`
	Real      int       `json:"real"`
	Mixed     run.Float `json:"mixed,omitempty"`
	Rows      []dream   `json:"rows"`
}

type dream struct {
	Rank   int            `json:"rank"`
	F      run.Float      `json:"f"`
	Reward run.Float      `json:"r"`
	State  []run.Float    `json:"s"`
	Action []run.Float    `json:"a"`
	Told   []run.Float    `json:"told"`
	True   []run.Float    `json:"true,omitempty"`
	TrueR  run.Float      `json:"true_r"`
	Errors []run.Float    `json:"errors,omitempty"`
	Off    run.Float      `json:"off"`
	Poses  [3][]run.Float `json:"poses"`
}

type plane struct {
	X         int          `json:"x"`
	Y         int          `json:"y"`
	Low       [2]run.Float `json:"low"`
	High      [2]run.Float `json:"high"`
	Step      int          `json:"step"`
	Real      []int        `json:"real"`
	Syn       []int        `json:"syn"`
	RealN     int          `json:"real_n"`
	SynN      int          `json:"syn_n"`
	Mixed     run.Float    `json:"mixed,omitempty"`
	F         []run.Float  `json:"f"`
	Relevance string       `json:"relevance"`
	FLow      run.Float    `json:"f_low"`
	FHigh     run.Float    `json:"f_high"`
}

// digits is how many a screen shows of a number, and one more.
const digits = 4

func short(v float64) run.Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return run.Float(v)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return run.Float(v)
	}
	return run.Float(rounded)
}

func shorts[T float32 | float64](all []T) (out []run.Float) {
	for _, v := range all {
		out = append(out, short(float64(v)))
	}
	return out
}

// pose is a pose to a thousandth of its units, which is less than a pixel.
func pose(all []float64) (out []run.Float) {
	for _, v := range all {
		out = append(out, run.Float(math.Round(v*1000)/1000)+0) // + 0: no −0
	}
	return out
}

func longs[T float32 | float64](all []run.Float) (out []T) {
	for _, v := range all {
		out = append(out, T(v))
	}
	return out
}

// of is the scene of a snapshot, wall seconds after the first event, without a Dreamt or a Map.
func of(s *event.Snapshot, wall float64) Scene {
	x := Scene{
		Wall: run.Float(math.Max(0, math.Floor(wall*1000)/1000)), Step: s.Step, Phase: int(s.Phase), Warming: s.Warming, Done: s.PhaseDone, Total: s.PhaseTotal, Updates: s.Updates,
		Real: s.Real, Synthetic: s.Synthetic, Share: short(s.Share), WholeIn: short(s.WholeIn.Seconds()), Mix: [2]int{s.MixReal, s.MixSynthetic}, Episode: s.Episode, Into: s.EpisodeStep, Return: short(s.EpisodeReturn), Pose: pose(s.Pose),
	}
	if m := s.Moment; m != nil {
		x.Moment = &moment{Step: m.Step, Action: shorts(m.Action), Reward: short(m.Reward), Q: short(m.Q), F: short(m.F), V: short(m.V)}
		if m.Twin != nil {
			x.Moment.Twin = &twin{short(m.Twin.Distance), short(m.Twin.Reward), short(m.Twin.F)}
		}
	}
	return x
}

func dreamtOf(d *event.Dreamt) *dreamt {
	out := &dreamt{Step: d.Step, Order: d.Order, Relevance: d.Relevance, Looked: d.Looked, Real: d.Real, Mixed: short(d.Mixed)}
	for _, r := range d.Rows {
		if r.Truth == nil {
			return nil // frames are not kept
		}
		t := r.Truth
		row := dream{Rank: r.Rank, F: short(r.F), Reward: short(r.Return), State: shorts(t.State), Action: shorts(t.Action), Told: shorts(t.Predicted), True: shorts(t.True),
			TrueR: short(t.Reward), Errors: shorts(t.Errors), Off: short(t.Off)}
		for i, p := range t.Poses {
			row.Poses[i] = pose(p)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func planeOf(m *event.Mapped) *plane {
	return &plane{X: m.X, Y: m.Y, Low: [2]run.Float{short(m.Low[0]), short(m.Low[1])}, High: [2]run.Float{short(m.High[0]), short(m.High[1])}, Step: m.Step,
		Real: m.Real[:], Syn: m.Syn[:], RealN: m.RealN, SynN: m.SynN, Mixed: short(m.Mixed), F: shorts(m.F[:]), Relevance: m.Relevance, FLow: short(m.FLow), FHigh: short(m.FHigh)}
}

// Show puts the scene into a snapshot of a replay, which stands in the same phase.
func (x *Scene) Show(s *event.Snapshot) {
	s.Phase, s.Warming, s.PhaseDone, s.PhaseTotal = knob.Phase(x.Phase), x.Warming, x.Done, x.Total
	s.Updates, s.Real, s.Synthetic, s.MixReal, s.MixSynthetic = x.Updates, x.Real, x.Synthetic, x.Mix[0], x.Mix[1]
	s.Share, s.WholeIn = float64(x.Share), time.Duration(float64(x.WholeIn)*float64(time.Second))
	s.Episode, s.EpisodeStep, s.EpisodeReturn, s.Pose = x.Episode, x.Into, float64(x.Return), longs[float64](x.Pose)
	if m := x.Moment; m != nil {
		s.Moment = &event.Moment{Step: m.Step, Action: longs[float32](m.Action), Reward: float64(m.Reward), Q: float64(m.Q), F: float64(m.F), V: float64(m.V)}
		if m.Twin != nil {
			s.Moment.Twin = &event.Twin{Distance: float64(m.Twin.Distance), Reward: float64(m.Twin.Reward), F: float64(m.Twin.F)}
		}
	}
}

func (d *dreamt) shown() *event.Dreamt {
	out := &event.Dreamt{Step: d.Step, Order: d.Order, Relevance: d.Relevance, Looked: d.Looked, Real: d.Real, Mixed: float64(d.Mixed), Usual: math.NaN()}
	for _, r := range d.Rows {
		t := &event.Truth{State: longs[float32](r.State), Action: longs[float32](r.Action), Predicted: longs[float32](r.Told), True: longs[float32](r.True),
			Reward: float64(r.TrueR), Errors: longs[float64](r.Errors), Off: float64(r.Off)}
		for i, p := range r.Poses {
			t.Poses[i] = longs[float64](p)
		}
		out.Rows = append(out.Rows, event.Dream{Rank: r.Rank, F: float64(r.F), Return: float64(r.Reward), Truth: t})
	}
	return out
}

func (m *plane) shown() *event.Mapped {
	out := &event.Mapped{X: m.X, Y: m.Y, Low: [2]float64{float64(m.Low[0]), float64(m.Low[1])}, High: [2]float64{float64(m.High[0]), float64(m.High[1])}, Step: m.Step,
		RealN: m.RealN, SynN: m.SynN, Mixed: float64(m.Mixed), Relevance: m.Relevance, FLow: float64(m.FLow), FHigh: float64(m.FHigh)}
	copy(out.Real[:], m.Real)
	copy(out.Syn[:], m.Syn)
	copy(out.F[:], longs[float64](m.F))
	return out
}
