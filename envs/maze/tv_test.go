package maze

import (
	"bytes"
	"math"
	"testing"
)

const tvSide = 42

// A TV changes no trajectory, and only the lower right quarter of the picture.
func TestATVCoversAQuarter(t *testing.T) {
	plain := made(t, "maze-sparse", "off")
	for _, name := range TVs[1:] {
		e, p := made(t, "maze-sparse", name), randomPlayer(3)
		var a, b [ObsSize]float32
		plain.Reset(4, a[:])
		e.Reset(4, b[:])
		for range 60 {
			f, g := make([]byte, 3*tvSide*tvSide), make([]byte, 3*tvSide*tvSide)
			plain.Frame(f, tvSide)
			e.Frame(g, tvSide)
			differ := 0
			for i := range f {
				row, column := i/3/tvSide, i/3%tvSide
				if inside := row >= tvSide/2 && column >= tvSide/2; f[i] != g[i] && !inside {
					t.Fatalf("%s: pixel (%d, %d) differs", name, column, row)
				} else if f[i] != g[i] {
					differ++
				}
			}
			if differ < len(f)/8 {
				t.Fatalf("%s: %d bytes of the quarter differ", name, differ)
			}
			for i := range a[:(Rays-tvRays)*RaySize] {
				if a[i] != b[i] {
					t.Fatalf("%s: number %d differs", name, i)
				}
			}
			if a == b {
				t.Fatalf("%s: the rays show no TV", name)
			}
			row := make([]float32, ActSize)
			row[p(nil)] = 1
			if x, _, _, _ := plain.Step(row, a[:]); x != 0 {
				t.Log("a goal was met")
			}
			e.Step(row, b[:])
			if plain.state != e.state {
				t.Fatalf("%s: the trajectory differs:\n%+v\n%+v", name, plain.state, e.state)
			}
		}
	}
}

// quarter returns what the TV shows.
func quarter(t *testing.T, e *Env) []byte {
	t.Helper()
	frame := make([]byte, 3*tvSide*tvSide)
	if err := e.Frame(frame, tvSide); err != nil {
		t.Fatal(err)
	}
	var q []byte
	for row := tvSide / 2; row < tvSide; row++ {
		q = append(q, frame[3*(row*tvSide+tvSide/2):3*(row+1)*tvSide]...)
	}
	return q
}

// Noise is new in every step. The TVs that wait for an action change only when the player fires. A
// second drawing of the same step is the same.
func TestWhenATVChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		always bool
	}{{"noise", true}, {"noise-action", false}, {"images-action", false}} {
		e := made(t, "maze-sparse", c.name)
		obs := make([]float32, ObsSize)
		e.Reset(0, obs)
		seen := quarter(t, e)
		if !bytes.Equal(seen, quarter(t, e)) {
			t.Errorf("%s: two drawings differ", c.name)
		}
		changed, shots := 0, 0
		for step := range 40 {
			row := make([]float32, ActSize)
			action := step % 4
			if step%5 == 2 {
				action = fire
				shots++
			}
			row[action] = 1
			e.Step(row, obs)
			now := quarter(t, e)
			if !bytes.Equal(seen, now) {
				if changed++; !c.always && action != fire {
					t.Errorf("%s changes by action %d", c.name, action)
				}
			}
			seen = now
		}
		want := 40
		if !c.always {
			want = shots
		}
		if changed < want-1 || changed > want { // two pictures in a row may be the same
			t.Errorf("%s changed %d times in 40 steps with %d shots", c.name, changed, shots)
		}
	}
}

// The bytes of the noise are uniform, and independent from byte to byte and from step to step: χ²
// with 255 degrees of freedom lies within five deviations, and so do the correlations.
func TestTVNoise(t *testing.T) {
	const steps = 200
	e := made(t, "maze-sparse", "noise")
	e.reset(1)
	var counts [256]float64
	var before []byte
	along, between, n := 0., 0., 0.
	for step := range steps {
		e.episode.Step = int32(step)
		q := quarter(t, e)
		for i, b := range q {
			counts[b]++
			if i > 0 {
				along += (float64(b) - 127.5) * (float64(q[i-1]) - 127.5)
			}
			if before != nil {
				between += (float64(b) - 127.5) * (float64(before[i]) - 127.5)
			}
			n++
		}
		before = q
	}
	chi := 0.
	for _, c := range counts {
		chi += (c - n/256) * (c - n/256) / (n / 256)
	}
	if chi < 255-5*22.6 || chi > 255+5*22.6 {
		t.Errorf("χ² of the bytes is %.1f, want 255 ± 22.6", chi)
	}
	const variance = (256*256 - 1) / 12.
	for what, sum := range map[string]float64{"neighbours": along, "steps": between} {
		if z := sum / variance / n * math.Sqrt(n); z < -5 || z > 5 {
			t.Errorf("%s correlate: z = %.1f", what, z)
		}
	}
}

// A TV that is switched in mid-episode changes the next observation and not the trajectory, and is
// saved. A state of another version is refused.
func TestATVIsSwitchedInMidEpisode(t *testing.T) {
	e, plain, noisy := made(t, "maze-sparse", "off"), made(t, "maze-sparse", "off"), made(t, "maze-sparse", "noise")
	all, seen := []*Env{e, plain, noisy}, make([][ObsSize]float32, 3)
	step := func() {
		row := make([]float32, ActSize)
		row[0] = 1
		for i, x := range all {
			if _, _, _, err := x.Step(row, seen[i][:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, x := range all {
		x.Reset(2, seen[i][:])
	}
	step()
	if seen[0] != seen[1] {
		t.Fatal("a TV that is off shows something")
	}
	if err := e.Televise("noise"); err != nil {
		t.Fatal(err)
	}
	step()
	if seen[0] != seen[2] || e.state != plain.state {
		t.Error("noise that was switched on is not that of the episode")
	}
	var saved bytes.Buffer
	e.Save(&saved)
	later := bytes.Clone(saved.Bytes())
	later[len(stateMagic)-1]++
	again := made(t, "maze-sparse", "off")
	if again.Load(bytes.NewReader(later)) == nil {
		t.Error("a state of another version is read")
	}
	if err := again.Load(&saved); err != nil || again.tv != TVNoise {
		t.Errorf("saved with noise it has %s, %v", again.tv, err)
	}
	if pose := e.Pose(nil); TV(pose[8]) != TVNoise {
		t.Error("its pose has no TV")
	}
	if e.Televise("snow") == nil {
		t.Error("a TV shows snow")
	}
}
