package envs

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/envs/mujoco"
)

// moments collects mean, standard deviation and range.
type moments struct{ n, sum, squares, low, high float64 }

func (m *moments) add(x float64) {
	if m.n == 0 || x < m.low {
		m.low = x
	}
	if m.n == 0 || x > m.high {
		m.high = x
	}
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m *moments) mean() float64   { return m.sum / m.n }
func (m *moments) spread() float64 { return math.Sqrt(m.squares/m.n - m.mean()*m.mean()) }

// uniform fails unless the values look uniform over a span: mean and standard deviation within five
// standard errors, all values inside, and the ends nearly reached.
func (m *moments) uniform(t *testing.T, what string, s span) {
	t.Helper()
	width := s.high - s.low
	sigma := width / math.Sqrt(12)
	far := 5 / math.Sqrt(m.n) * sigma
	if math.Abs(m.mean()-(s.low+s.high)/2) > far || math.Abs(m.spread()-sigma) > far ||
		m.low < s.low || m.high > s.high || m.low > s.low+0.05*width || m.high < s.high-0.05*width {
		t.Errorf("%s: mean %v, spread %v, range %v to %v, want uniform over %v", what, m.mean(), m.spread(), m.low, m.high, s)
	}
}

// starts resets a task n times and looks at each start.
func starts(t *testing.T, task Task, n uint64, look func(p *physics)) {
	t.Helper()
	s := simulate(t, task, 12)
	for episode := range n {
		if err := s.reset(episode); err != nil {
			t.Fatal(err)
		}
		now, err := s.body.Time()
		if err != nil || now != 0 {
			t.Fatalf("episode %d starts at %v s (%v)", episode, now, err)
		}
		look(s.body)
	}
}

func TestWalkerAndReacherStarts(t *testing.T) {
	for _, task := range []Task{walkerWalk, reacherHard} {
		joints := make([]moments, 9)
		var first *physics
		starts(t, task, 400, func(p *physics) {
			first = p
			for i, q := range p.QPos {
				joints[i].add(q)
			}
			if largest(p.QVel) != 0 {
				t.Fatalf("velocities %v", p.QVel)
			}
		})
		for i, j := range first.joints {
			switch {
			case j.limited:
				joints[i].uniform(t, task.Name, j.limits)
			case j.kind == jointHinge:
				joints[i].uniform(t, task.Name, span{-math.Pi, math.Pi})
			case joints[i].low != 0 || joints[i].high != 0:
				t.Errorf("%s: slide %d was drawn", task.Name, i)
			}
		}
	}
}

func TestReacherTargets(t *testing.T) {
	var angle, radius moments
	starts(t, reacherHard, 400, func(p *physics) {
		i, err := p.model.Index(mujoco.Geom, "target")
		if err != nil {
			t.Fatal(err)
		}
		x, y := p.GeomXPos[3*i], p.GeomXPos[3*i+1]
		angle.add(math.Atan2(y, x))
		radius.add(math.Hypot(x, y))
	})
	angle.uniform(t, "target angle", span{-math.Pi, math.Pi})
	radius.uniform(t, "target radius", span{reacherNear, reacherFar})
}

func TestFingerStarts(t *testing.T) {
	var target, spinner moments
	starts(t, fingerTurnHard, 400, func(p *physics) {
		x, z := finger{p}.targetPosition()
		if math.Abs(math.Hypot(x, z)-0.13) > 1e-12 {
			t.Errorf("target at %v m from the hinge, want 0.13", math.Hypot(x, z))
		}
		target.add(math.Atan2(x, z))
		spinner.add(p.QPos[2])
		if n, err := p.Int("ncon"); err != nil || n != 0 {
			t.Errorf("%d contacts (%v)", n, err)
		}
	})
	target.uniform(t, "target angle", span{-math.Pi, math.Pi})
	spinner.uniform(t, "spinner angle", span{-math.Pi, math.Pi})
}

func TestQuadrupedStarts(t *testing.T) {
	var upright moments
	starts(t, quadrupedWalk, 40, func(p *physics) {
		upright.add(p.XMat[9+8])
		norm := 0.0
		for _, x := range p.QPos[3:7] {
			norm += x * x
		}
		if n, err := p.Int("ncon"); err != nil || n != 0 || math.Abs(norm-1) > 1e-9 || p.QPos[2] <= 0 {
			t.Errorf("%d contacts (%v), quaternion of norm %v, height %v", n, err, norm, p.QPos[2])
		}
	})
	// The vertical component of a random direction is uniform (Archimedes).
	upright.uniform(t, "upright", span{-1, 1})
}

// TestCheetahStarts checks that after two seconds of settling the body lies still on its feet or
// back, with its joints at or within their limits.
func TestCheetahStarts(t *testing.T) {
	heights := moments{}
	starts(t, cheetahRun, 40, func(p *physics) {
		heights.add(p.QPos[1])
		for i, j := range p.joints {
			if j.limited && (p.QPos[i] < j.limits.low-0.1 || p.QPos[i] > j.limits.high+0.1) {
				t.Errorf("joint %d at %v, limits %v", i, p.QPos[i], j.limits)
			}
		}
		if v := largest(p.QVel); v == 0 || v > 20 {
			t.Errorf("velocities up to %v", v)
		}
	})
	if heights.low < -0.7 || heights.high > 0.2 || heights.spread() == 0 {
		t.Errorf("torso between %v and %v m above its rest", heights.low, heights.high)
	}
}

// TestCheetahSettles follows dm_control's order: the first physics step still moves by what was
// computed before the joints were drawn.
func TestCheetahSettles(t *testing.T) {
	s, byHand := simulate(t, cheetahRun, 12), simulate(t, cheetahRun, 12).body
	if err := s.reset(7); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(byHand.Reset(), byHand.Forward()); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(12, 7))
	for i := 3; i < 9; i++ {
		byHand.QPos[i] = byHand.joints[i].limits.draw(r)
	}
	err := byHand.Step2()
	for range cheetahSettleSteps - 1 {
		err = errors.Join(err, byHand.Step())
	}
	if err = errors.Join(err, byHand.Step1(), byHand.Forward()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.body.QPos, byHand.QPos) || !slices.Equal(s.body.QVel, byHand.QVel) {
		t.Errorf("start at %v, want %v", s.body.QPos, byHand.QPos)
	}
}

// TestForwardIgnoresControls checks that the actuators are off around a start.
func TestForwardIgnoresControls(t *testing.T) {
	s := simulate(t, walkerWalk, 0)
	if err := s.reset(0); err != nil {
		t.Fatal(err)
	}
	still := slices.Clone(s.body.QAcc)
	s.body.Ctrl[0] = 1
	if err := s.body.forward(); err != nil || !slices.Equal(s.body.QAcc, still) {
		t.Errorf("accelerations %v, want %v (%v)", s.body.QAcc, still, err)
	}
	if err := s.body.Forward(); err != nil || slices.Equal(s.body.QAcc, still) {
		t.Errorf("the actuators stay off (%v)", err)
	}
}

func TestCartpoleStarts(t *testing.T) {
	var all moments
	starts(t, cartpoleSwingup, 200, func(p *physics) {
		for _, x := range []float64{p.QPos[0], p.QPos[1] - math.Pi, p.QVel[0], p.QVel[1]} {
			all.add(x / cartpoleNoise)
		}
	})
	if math.Abs(all.mean()) > 0.18 || math.Abs(all.spread()-1) > 0.13 || all.high > 5 || all.low < -5 {
		t.Errorf("mean %v, spread %v, range %v to %v, want a standard normal", all.mean(), all.spread(), all.low, all.high)
	}
}

// TestJointStarts checks the tasks that draw all joints: limited ones from their ranges, free
// hinges from the whole turn.
func TestJointStarts(t *testing.T) {
	for _, task := range []Task{hopperHop, pendulumSwingup, pointMassEasy} {
		var joints []moments
		var first *physics
		starts(t, task, 400, func(p *physics) {
			if first == nil {
				first, joints = p, make([]moments, len(p.QPos))
			}
			for i, q := range p.QPos {
				joints[i].add(q)
			}
		})
		for i, j := range first.joints {
			switch {
			case j.limited:
				joints[i].uniform(t, task.Name, j.limits)
			case j.kind == jointHinge:
				joints[i].uniform(t, task.Name, span{-math.Pi, math.Pi})
			}
		}
	}
}

func TestBalanceStarts(t *testing.T) {
	var cart, pole, speed moments
	starts(t, cartpoleBalance, 300, func(p *physics) {
		cart.add(p.QPos[0])
		pole.add(p.QPos[1])
		speed.add(p.QVel[1])
	})
	cart.uniform(t, "cart", span{-0.1, 0.1})
	pole.uniform(t, "pole", span{-0.034, 0.034})
	if math.Abs(speed.mean()) > 0.003 || math.Abs(speed.spread()-0.01) > 0.002 {
		t.Errorf("angular velocity of mean %v and spread %v, want 0 and 0.01", speed.mean(), speed.spread())
	}
}

func TestBallStarts(t *testing.T) {
	var x, z moments
	starts(t, ballInCupCatch, 300, func(p *physics) {
		x.add(p.QPos[2])
		z.add(p.QPos[3])
		if n, err := p.Int("ncon"); err != nil || n != 0 || p.QPos[0] != 0 || p.QPos[1] != 0 {
			t.Errorf("%d contacts (%v), cup at %v", n, err, p.QPos[:2])
		}
	})
	// Places inside the cup's walls are drawn again, which thins out the middle.
	if x.low < -0.2 || x.high > 0.2 || z.low < 0.2 || z.high > 0.5 || x.spread() < 0.1 || z.spread() < 0.07 {
		t.Errorf("ball in x %v to %v, z %v to %v", x.low, x.high, z.low, z.high)
	}
}

func TestGymStarts(t *testing.T) {
	for _, task := range []Task{gymHopper, gymWalker} {
		var q, v moments
		starts(t, task, 60, func(p *physics) {
			for i := range p.QPos {
				rest := 0.0
				if i == 1 {
					rest = 1.25
				}
				q.add(p.QPos[i] - rest)
				v.add(p.QVel[i])
			}
		})
		q.uniform(t, task.Name+" positions", span{-0.005, 0.005})
		v.uniform(t, task.Name+" velocities", span{-0.005, 0.005})
	}
	var q, v moments
	starts(t, gymHalfCheetah, 60, func(p *physics) {
		for i := range p.QPos {
			q.add(p.QPos[i])
			v.add(p.QVel[i] / 0.1)
		}
	})
	q.uniform(t, "HalfCheetah-v2 positions", span{-0.1, 0.1})
	if math.Abs(v.mean()) > 0.2 || math.Abs(v.spread()-1) > 0.15 {
		t.Errorf("velocities of mean %v and spread %v, want a standard normal", v.mean(), v.spread())
	}
}
