package replay_test

import (
	"bytes"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// moved makes two copies whose agents are put elsewhere by every third env step of an episode,
// except by one that ends it truly.
func moved(episodes, length int) *replay.Frames {
	f := replay.NewFrames(4, 1, 100, 2)
	for e := range episodes {
		for c := range 2 {
			f.Begin(c, picture(c, e, 0))
			f.Respawn(c) // belongs to no env step
			for t := range length {
				f.Add(c, []float32{float32(t)}, 0, picture(c, e, t+1), e%2 == 1 && t+1 == length)
				if t%3 == 2 {
					f.Respawn(c)
				}
			}
		}
	}
	return f
}

// led returns the env steps that are drawn if respawns are left out.
func led(t *testing.T, f *replay.Frames, n int) map[[3]byte]bool {
	t.Helper()
	sampler, seen := replay.FrameSampler{Frames: f, Stream: rng.New(8, "respawns")}.WithoutRespawns(), map[[3]byte]bool{}
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
	filed, logged := replay.NewFrames(4, 1, 100, 2), replay.NewFrames(4, 1, 100, 2)
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
		for name, f := range map[string]*replay.Frames{"made": whole, "of a file": filed, "of a log": logged} {
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
	only := replay.NewFrames(4, 1, 10, 1)
	only.Begin(0, picture(0, 0, 0))
	only.Add(0, []float32{1}, 0, picture(0, 0, 1), false)
	only.Respawn(0)
	if seen := led(t, only, 1); len(seen) != 1 {
		t.Errorf("of frames with one respawn %v are drawn", seen)
	}
	if r := row(2); (replay.FrameSampler{Frames: only}).Draw(r, 1, 0.9, 0, 0) != nil || !r.Respawned {
		t.Error("a row does not say that its agent was put elsewhere")
	}
}
