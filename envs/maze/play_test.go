package maze

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// long says whether tests are to be as long as in make soak.
func long() bool { return os.Getenv("PGRLAB_SOAK") != "" }

// player chooses the action of a step.
type player func(e *episode) int

func randomPlayer(seed uint64) player {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(*episode) int { return r.IntN(ActSize) }
}

// oracle walks the shortest way to the goal.
func oracle(e *episode) int {
	x, y := centre(e.layout.goal)
	if cell := e.cell(); cell != e.layout.goal {
		for _, way := range ways {
			if e.layout.distance[cell+way] < e.layout.distance[cell] {
				x, y = centre(cell + way)
				break
			}
		}
	}
	return towards(e, x-e.X, y-e.Y)
}

// towards turns to a direction, and walks when it is nearly ahead.
func towards(e *episode, dx, dy float64) int {
	cos, sin := compass[e.Heading][0], compass[e.Heading][1]
	off := math.Atan2(dy*cos-dx*sin, dx*cos+dy*sin) * 180 / math.Pi
	switch {
	case off > 35:
		return 5
	case off < -35:
		return 4
	case off > 4.2:
		return 7
	case off < -4.2:
		return 6
	}
	return 0
}

// walker reacts only to what is visible: it goes to a visible goal, and otherwise where the way is
// open.
func walker(e *episode) int {
	var rays [ObsSize]float32
	e.observe(rays[:])
	goal, n, left, right := 0., 0., 0., 0.
	for i := range Rays {
		ray := rays[i*RaySize:]
		if ray[4] > 0 {
			goal, n = goal+float64(i)-15.5, n+1
		}
		if depth := float64(1/ray[3] - 1); i < Rays/2 {
			left += depth
		} else {
			right += depth
		}
	}
	ahead := 1/float64(max(rays[15*RaySize+3], rays[16*RaySize+3])) - 1
	switch {
	case n > 0 && goal/n < -2:
		return 6
	case n > 0 && goal/n > 2:
		return 7
	case n > 0:
		return 0
	case ahead < 0.6 && left > right:
		return 4
	case ahead < 0.6:
		return 5
	case left > 1.3*right:
		return 6
	case right > 1.3*left:
		return 7
	}
	return 0
}

// returns plays whole episodes and returns the mean and the deviation of their returns.
func returns(t *testing.T, name string, episodes int, p player) (mean, deviation float64) {
	t.Helper()
	task, ok := Find(name)
	if !ok {
		t.Fatalf("no task %s", name)
	}
	e := newEpisode(&task, Test, 1)
	all := make([]float64, episodes)
	for i := range all {
		for e.reset(uint64(i)); !e.over(); {
			all[i] += e.act(p(e))
		}
		mean += all[i] / float64(episodes)
	}
	for _, r := range all {
		deviation += (r - mean) * (r - mean) / float64(episodes-1)
	}
	return mean, math.Sqrt(deviation)
}

// Uniform random actions and the shortest way earn as much as in another program with this recipe:
// 3.15 ± 0.31 and 1.75 ± 0.20 (standard errors of 400 episodes), 244 ± 63 and 172 ± 28 (standard
// deviations of 25). DMLab's own level gives random play 3.14 (danijar/dreamerv3: baselines.yaml).
// The bounds are three standard errors of both counts.
func TestWhatPlayersEarn(t *testing.T) {
	for _, c := range []struct {
		task             string
		random, error    float64
		oracle           float64
		walker, mistaken float64
	}{
		{"maze-sparse", 3.15, 0.31, 200, 8, 60},
		{"maze-very-sparse", 1.75, 0.20, 150, 8, 60},
	} {
		episodes := 400
		if long() {
			episodes = 4000
		}
		mean, deviation := returns(t, c.task, episodes, randomPlayer(1))
		if own := deviation / math.Sqrt(float64(episodes)); math.Abs(mean-c.random) > 3*math.Hypot(own, c.error) {
			t.Errorf("%s: random play earns %.2f ± %.2f, want %.2f ± %.2f", c.task, mean, own, c.random, c.error)
		} else {
			t.Logf("%s: random play earns %.2f ± %.2f", c.task, mean, own)
		}
		mean, deviation = returns(t, c.task, episodes/16, oracle)
		if t.Logf("%s: the shortest way earns %.0f, deviation %.0f", c.task, mean, deviation); mean < c.oracle || mean > c.oracle+90 { // 244 and 172 were counted when mazes were designed
			t.Errorf("%s: the shortest way earns %.0f, want %.0f to %.0f", c.task, mean, c.oracle, c.oracle+90)
		}
		mean, deviation = returns(t, c.task, episodes/16, walker)
		if t.Logf("%s: a walker without a memory earns %.0f, deviation %.0f", c.task, mean, deviation); mean < c.walker || mean > c.mistaken {
			t.Errorf("%s: a walker without a memory earns %.1f, want %.0f to %.0f", c.task, mean, c.walker, c.mistaken)
		}
	}
}
