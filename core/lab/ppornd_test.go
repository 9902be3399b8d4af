package lab

import (
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
)

// ppoRNDOfFrames is a run of PPO that sees frames, with a bonus of what it sees.
func ppoRNDOfFrames(copies int) config.Config {
	c := withCopies(ppoOfFrames(), copies)
	c.Method, c.Bonus, c.Knobs.Bonus = "ppo-rnd", config.Bonus{Function: "rnd", Scale: config.ScaleReturns}, 0.25
	c.Pixels.Side, c.Buffer = 36, 24
	rnd := c.Relevance.Of("rnd").(relevance.RNDConfig)
	rnd.On, rnd.Hidden, rnd.Features, rnd.Batch, rnd.ScoreRows = relevance.RNDOnFrames, 16, 8, 4, 8
	c.Relevance = c.Relevance.With("rnd", rnd)
	return c
}

// The bonus of an env step is of the frame that it led to, over the deviation of its
// discounted return so far.
func TestABonusOfFramesByHand(t *testing.T) {
	c := ppoRNDOfFrames(1)
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Minibatches = 2
	c.Agent.Own = agent.Own{"ppo": own}
	l := framesLabOf(t, c, mazeTask(t), 1, nil)
	defer l.Close()
	x, m := l.x, l.x.first()
	f, err := m.Function("rnd")
	if err != nil {
		t.Fatal(err)
	}
	if _, sees := f.(relevance.Sighted); !sees {
		t.Fatalf("the bonus is of a %T", f)
	}
	var all []float64
	returned, bonuses := 0.0, 0.0
	for step := range 7 {
		x.begin(step + 1)
		if err := x.collect(); err != nil {
			t.Fatal(err)
		}
		stack, _ := replica.Looks(m)
		b, score := replay.NewBatch(m.Real.Shape(), 1), make([]float32, 1)
		b.Frames = []replay.FrameRow{{Next: stack}}
		if err := f.Score(score, b, 1); err != nil {
			t.Fatal(err)
		}
		scaled := relevance.PaperScale(f) * float64(score[0])
		returned = c.Agent.Gamma*returned + scaled
		all = append(all, returned)
		if _, std := meanAndStd(all); std > 0 {
			bonuses += 0.25 * scaled / std
		}
	}
	if got := m.Losses.Bonus.Sum; m.BonusReturn.Of.N != 7 || !(bonuses > 0) || math.Abs(got-bonuses) > 1e-4*bonuses {
		t.Errorf("bonuses of %v over %d returns, want %v over 7", got, m.BonusReturn.Of.N, bonuses)
	}
}

func meanAndStd(all []float64) (mean, std float64) {
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		std += (v - mean) * (v - mean) / float64(len(all))
	}
	return mean, math.Sqrt(std)
}

// Such a run goes on from borders, and writes the same with one worker and with two.
func TestABonusOfFramesGoesOnFromBorders(t *testing.T) {
	c := ppoRNDOfFrames(3)
	phases := resumeEverywhere(t, 9, func(r record) *Lab { return framesLabOf(t, c, mazeTask(t), 1, r) })
	if phases[knob.Learn] == 0 || phases[knob.AfterStep] == 0 {
		t.Errorf("borders: %v", phases)
	}
	journal := func(threads int) string {
		folder := &memoryFolder{}
		if err := framesLabOf(t, c, mazeTask(t), threads, folder).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return folder.canonical(t)
	}
	if one, two := journal(1), journal(2); one != two {
		t.Errorf("one worker writes\n%s\ntwo write\n%s", one, two)
	}
}
