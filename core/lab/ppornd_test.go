package lab

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/testing/racing"
)

// ppoRNDOfFrames is a run of PPO that sees frames, with an RND bonus of its frames.
func ppoRNDOfFrames(copies int) config.Config {
	c := ppoBonusOfFrames("rnd", copies)
	rnd := c.Relevance.Of("rnd").(relevance.RNDConfig)
	rnd.On, rnd.Hidden, rnd.Features, rnd.Batch, rnd.ScoreRows = relevance.OnFrames, 16, 8, 4, 8
	c.Relevance = c.Relevance.With("rnd", rnd)
	return c
}

// ppoCuriosityOfFrames is the same with the bonus of an ICM, which sees the frames before and after
// an action.
func ppoCuriosityOfFrames(copies int) config.Config {
	c := ppoBonusOfFrames("curiosity", copies)
	icm := c.Relevance.Of("curiosity").(relevance.ICMConfig)
	icm.On, icm.Hidden, icm.Batch, icm.ScoreRows, icm.Every = relevance.OnFrames, 16, 2, 8, 5
	c.Relevance = c.Relevance.With("curiosity", icm)
	return c
}

func ppoBonusOfFrames(function string, copies int) config.Config {
	c := withCopies(ppoOfFrames(), copies)
	c.Method, c.Bonus, c.Knobs.Bonus = "ppo-"+function, config.Bonus{Function: function, Scale: config.ScaleReturns}, 0.25
	c.Pixels.Side, c.Buffer = 36, 24
	return c
}

// The bonus of an env step is F of the frame that it led to and of what led there, divided by the
// deviation of its discounted return so far.
func TestABonusOfFramesByHand(t *testing.T) {
	for _, c := range []config.Config{ppoRNDOfFrames(1), ppoCuriosityOfFrames(1)} {
		t.Run(c.Bonus.Function, func(t *testing.T) { bonusByHand(t, c) })
	}
}

func bonusByHand(t *testing.T, c config.Config) {
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Minibatches = 2
	c.Agent.Own = agent.Own{"ppo": own}
	l := framesLabOf(t, c, mazeTask(t), 1, nil)
	defer l.Close()
	x, m := l.x, l.x.first()
	f, err := m.Functions.Function(c.Bonus.Function)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Sees {
		t.Fatalf("the bonus is of a %T", f.Function)
	}
	var all []float64
	returned, bonuses := 0.0, 0.0
	for step := range 7 {
		before, _ := m.Observed.Looks()
		x.begin(step + 1)
		if err := x.collect(); err != nil {
			t.Fatal(err)
		}
		after, _ := m.Observed.Looks()
		b, score := replay.NewBatch(m.Real.Shape(), 1), make([]float32, 1)
		b.Frames = []replay.FrameRow{{Stack: before, Next: after, Action: m.World.Action}}
		if step == 0 { // the only env step so far
			b.Frames = replay.NewFrameRows(1, 1)
			if err := m.Frames().Draw(&b.Frames[0], 1, 0, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Score(score, b, 1); err != nil {
			t.Fatal(err)
		}
		scaled := f.Scale * float64(score[0])
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

// Such a run writes the same with one worker and with two.
func TestABonusOfFramesOnTwoWorkers(t *testing.T) {
	racing.Skip(t)
	for function, c := range map[string]config.Config{"rnd": ppoRNDOfFrames(3), "curiosity": ppoCuriosityOfFrames(3)} {
		if function == "curiosity" {
			c.Steps, c.Evaluation.Every = 17, 17
		}
		var journals []string
		for threads := range 2 {
			folder := &memoryFolder{}
			l := framesLabOf(t, c, mazeTask(t), threads+1, folder)
			if err := l.x.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.Close()
			journals = append(journals, folder.canonical(t))
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", function, journals[0], journals[1])
		}
		if function == "curiosity" && !strings.Contains(journals[0], `"curiosity":`) {
			t.Errorf("no loss of the model in\n%s", journals[0])
		}
	}
}

// The returns of a bonus of frames are followed while its strength is 0 too, so that it is divided by
// the same deviation when the strength rises.
func TestABonusOfFramesIsFollowedAtStrengthZero(t *testing.T) {
	racing.Skip(t)
	var followed []uint64
	for _, strength := range []float64{0, 0.25} {
		c := ppoRNDOfFrames(3)
		c.Knobs.Bonus, c.Schedule, c.Steps = strength, nil, 12
		l := framesLabOf(t, c, mazeTask(t), 1, &memoryFolder{})
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.x.first()
		followed = append(followed, m.BonusReturn.Of.N)
		if strength == 0 && m.Losses.Bonus.N > 0 {
			t.Error("a strength of 0 has a bonus")
		}
	}
	if followed[0] == 0 || followed[0] != followed[1] {
		t.Errorf("returns of %v transitions are followed", followed)
	}
}
