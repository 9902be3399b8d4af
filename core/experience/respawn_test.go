package experience_test

import (
	"bytes"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// moved makes two copies whose agents are put elsewhere by every third env step of an episode,
// except by one that ends it truly.
func moved(episodes, length int) *experience.Log {
	f := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 2}, experience.Keep{Looks: 100})
	for e := range episodes {
		for c := range 2 {
			f.Begin(c, experience.Look{Frame: picture(c, e, 0)})
			for t := range length {
				f.Add(c, experience.Step{Action: []float32{float32(t)}, Reward: 0, Next: experience.Look{Frame: picture(c, e, t+1)}, End: endIf(e%2 == 1 && t+1 == length), Respawned: t%3 == 2})
			}
		}
	}
	return f
}

// led returns the env steps that are drawn if respawns are left out.
func led(t *testing.T, f *experience.Log, n int) map[[3]byte]bool {
	t.Helper()
	sampler, seen := experience.Frames{Log: f, Stream: rng.New(8, "respawns")}.WithoutRespawns(), map[[3]byte]bool{}
	for i := range 2000 {
		r := row(2)
		if err := sampler.Draw(r, n, 0.9, 1, i); err != nil {
			t.Fatal(err)
		}
		if seen[[3]byte(r.Stack[1])] = true; r.Respawned && f.Len() > 2 {
			t.Errorf("%v says that its agent was put elsewhere", r.Stack[1])
		}
	}
	return seen
}

// No env step that put its agent elsewhere is drawn, and every other one is, also after loading
// from a file or a log. If frames hold nothing but respawns, respawns are drawn.
func TestDrawingWithoutRespawns(t *testing.T) {
	const episodes, length = 2, 9
	whole := moved(episodes, length)
	var file bytes.Buffer
	if err := whole.Save(&file); err != nil {
		t.Fatal(err)
	}
	filed, logged := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 2}, experience.Keep{Looks: 100}), experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 2}, experience.Keep{Looks: 100})
	if err := filed.Load(bytes.NewReader(file.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := logged.LoadLog(bytes.NewReader(whole.AppendSince(nil, 0)), whole.State()); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		want := map[[3]byte]bool{}
		for c := range byte(2) {
			for e := range byte(episodes) {
				for step := range length {
					ended, there := e == 1, step+n <= length
					put := false
					for k := step; k < min(step+n, length); k++ {
						put = put || k%3 == 2 && !(ended && k+1 == length)
					}
					if (there || ended) && !put {
						want[[3]byte{c, e, byte(step)}] = true
					}
				}
			}
		}
		for name, f := range map[string]*experience.Log{"made": whole, "of a file": filed, "of a log": logged} {
			got := led(t, f, n)
			for at := range want {
				if !got[at] {
					t.Errorf("%s, %d steps: %v is never drawn", name, n, at)
				}
			}
			for at := range got {
				if !want[at] {
					t.Errorf("%s, %d steps: %v is drawn", name, n, at)
				}
			}
		}
	}
	only := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 1}, experience.Keep{Looks: 10})
	only.Begin(0, experience.Look{Frame: picture(0, 0, 0)})
	only.Add(0, experience.Step{Action: []float32{1}, Reward: 0, Next: experience.Look{Frame: picture(0, 0, 1)}, Respawned: true})
	if seen := led(t, only, 1); len(seen) != 1 {
		t.Errorf("of frames with one respawn %v are drawn", seen)
	}
	if r := row(2); (experience.Frames{Log: only}).Draw(r, 1, 0.9, 0, 0) != nil || !r.Respawned {
		t.Error("a row does not say that its agent was put elsewhere")
	}
}
