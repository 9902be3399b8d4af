package experience_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// picture is frame t of an episode of a copy; its bytes are these numbers.
func picture(copy, episode, t int) []byte {
	return []byte{byte(copy), byte(episode), byte(t), byte(t >> 8)}
}

// filmed plays episodes of a length in copies; the odd ones end truly. The action and the reward of
// env step t are t.
func filmed(capacity, copies, episodes, length int) *experience.Log {
	f := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: copies}, experience.Keep{Looks: capacity})
	for e := range episodes {
		for c := range copies {
			f.Begin(c, experience.Look{Frame: picture(c, e, 0)})
		}
		for t := range length {
			for c := range copies {
				f.Add(c, experience.Step{Action: []float32{float32(t)}, Reward: float32(t), Next: experience.Look{Frame: picture(c, e, t+1)}, End: endIf(e%2 == 1 && t+1 == length)})
			}
		}
	}
	return f
}

// endIf is the end of an episode that comes to a true end, or continues.
func endIf(ended bool) experience.End {
	if ended {
		return experience.Terminated
	}
	return experience.Continues
}

func stackOf(copy, episode, t, frames int) (stack [][]byte) {
	for i := range frames {
		stack = append(stack, picture(copy, episode, max(0, t-frames+1+i)))
	}
	return stack
}

func row(frames int) *replay.FrameRow {
	return &replay.FrameRow{Stack: make([][]byte, frames), Next: make([][]byte, frames)}
}

// Every valid window is drawn, about equally often, and equals what was played: it stays in one
// episode, repeats the first frame where the stack needs it, and is shorter than n only before a
// true end.
func TestWindowsOfFrames(t *testing.T) {
	const copies, episodes, length, n, stack = 2, 4, 7, 3, 3
	const gamma = 0.9
	sampler := experience.Frames{Log: filmed(100, copies, episodes, length), Stream: rng.New(1, "windows")}
	seen, draws := map[string]int{}, 0
	for occasion := range uint64(200) {
		for i := range 50 {
			r := row(stack)
			if err := sampler.Draw(r, n, gamma, occasion, i); err != nil {
				t.Fatal(err)
			}
			newest := r.Stack[stack-1]
			c, e, at := int(newest[0]), int(newest[1]), int(newest[2])
			steps, discount := n, math.Pow(gamma, n)
			if e%2 == 1 && at+n >= length {
				steps, discount = length-at, 0
			}
			sum := 0.0
			for k := range steps {
				sum += math.Pow(gamma, float64(k)) * float64(at+k)
			}
			got, want := fmt.Sprint(r.Stack, r.Next), fmt.Sprint(stackOf(c, e, at, stack), stackOf(c, e, at+steps, stack))
			if got != want || r.Action[0] != float32(at) || math.Abs(float64(r.Return)-sum) > 1e-5 || math.Abs(float64(r.Discount)-discount) > 1e-6 {
				t.Fatalf("copy %d, episode %d from step %d: %s, action %v, return %v, discount %v; want %s, %d, %v, %v", c, e, at, got, r.Action, r.Return, r.Discount, want, at, sum, discount)
			}
			seen[fmt.Sprint(c, e, at)]++
			draws++
		}
	}
	// In an episode that ran out of time, the last n−1 steps begin no window.
	if want := copies * (2*length + 2*(length-n+1)); len(seen) != want {
		t.Fatalf("%d windows were drawn, there are %d", len(seen), want)
	}
	for window, times := range seen {
		if mean := float64(draws) / float64(len(seen)); math.Abs(float64(times)-mean) > 6*math.Sqrt(mean) {
			t.Errorf("window %s was drawn %d times, %g are expected", window, times, mean)
		}
	}
}

// A full memory forgets its oldest frames, and with them the windows whose stacks need them.
func TestFramesAreForgotten(t *testing.T) {
	const capacity, length, stack = 20, 15, 3
	f := filmed(capacity, 1, 3, length)
	if f.Len() != capacity {
		t.Fatalf("%d frames are held, want %d", f.Len(), capacity)
	}
	sampler, least := experience.Frames{Log: f, Stream: rng.New(2, "windows")}, 99
	for i := range 2000 {
		r := row(stack)
		if err := sampler.Draw(r, 2, 0.9, 0, i); err != nil {
			t.Fatal(err)
		}
		newest := r.Stack[stack-1]
		e, at := int(newest[1]), int(newest[2])
		if fmt.Sprint(r.Stack) != fmt.Sprint(stackOf(0, e, at, stack)) {
			t.Fatalf("the stack of episode %d, step %d is %v", e, at, r.Stack)
		}
		if e == 1 {
			least = min(least, at)
		}
	}
	// Of 3·16 frames the last 20 are held, from frame 12 of episode 1 on. A stack needs two frames
	// before its own.
	if least != 14 {
		t.Errorf("the oldest window of episode 1 begins at step %d, want 14", least)
	}
}

func TestTheNewestStack(t *testing.T) {
	f := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 2}, experience.Keep{Looks: 10})
	dst := make([][]byte, 3)
	for c := range 2 {
		f.Begin(c, experience.Look{Frame: picture(c, 0, 0)})
	}
	for step := range 12 {
		for c := range 2 {
			if f.Newest(c, dst); fmt.Sprint(dst) != fmt.Sprint(stackOf(c, 0, step, 3)) {
				t.Fatalf("copy %d at step %d sees %v", c, step, dst)
			}
			f.Add(c, experience.Step{Action: []float32{0}, Reward: 0, Next: experience.Look{Frame: picture(c, 0, step+1)}})
		}
	}
}

// If no window fits, Draw returns an error and does not wait.
func TestNoWindow(t *testing.T) {
	f := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 1}, experience.Keep{Looks: 10})
	sampler := experience.Frames{Log: f, Stream: rng.New(3, "windows")}
	if sampler.Draw(row(3), 3, 0.9, 0, 0) == nil {
		t.Error("a window of no frames")
	}
	f.Begin(0, experience.Look{Frame: picture(0, 0, 0)})
	f.Add(0, experience.Step{Action: []float32{1}, Reward: 1, Next: experience.Look{Frame: picture(0, 0, 1)}})
	if sampler.Draw(row(3), 3, 0.9, 0, 0) == nil {
		t.Error("three env steps of one")
	}
}

// Loaded frames draw the same rows and go on like the saved ones, whether the memory is empty,
// partly filled or full.
func TestSavedFrames(t *testing.T) {
	for _, episodes := range []int{0, 1, 3, 9} {
		f := filmed(60, 2, episodes, 7)
		var file bytes.Buffer
		if err := f.Save(&file); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Clone(file.Bytes())
		file.WriteString("more")
		g := filmed(60, 2, 2, 5)
		if err := g.Load(&file); err != nil {
			t.Fatal(err)
		}
		if file.String() != "more" {
			t.Errorf("%q is left of what came after", file.String())
		}
		for _, x := range []*experience.Log{f, g} {
			x.Begin(0, experience.Look{Frame: picture(0, 99, 0)})
			x.Add(0, experience.Step{Action: []float32{5}, Reward: 5, Next: experience.Look{Frame: picture(0, 99, 1)}})
		}
		for i := range 200 {
			if episodes == 0 {
				break
			}
			a, b := row(3), row(3)
			for _, x := range []struct {
				f *experience.Log
				r *replay.FrameRow
			}{{f, a}, {g, b}} {
				if err := (experience.Frames{Log: x.f, Stream: rng.New(4, "windows")}).Draw(x.r, 2, 0.9, 1, i); err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("%d episodes, row %d: %v and, loaded, %v", episodes, i, a, b)
			}
		}
		for _, n := range []int{0, 5, len(whole) / 2, len(whole) - 1} {
			if filmed(60, 2, 1, 3).Load(bytes.NewReader(whole[:n])) == nil {
				t.Errorf("%d of %d bytes are let pass", n, len(whole))
			}
		}
		for _, other := range []*experience.Log{experience.NewLog(experience.Shape{Bytes: 5, Act: 1, Copies: 2}, experience.Keep{Looks: 60}), experience.NewLog(experience.Shape{Bytes: 4, Act: 2, Copies: 2}, experience.Keep{Looks: 60}), experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 1}, experience.Keep{Looks: 60})} {
			if other.Load(bytes.NewReader(whole)) == nil {
				t.Error("frames of other sizes are let pass")
			}
		}
	}
}

func TestDrawingDoesNotAllocate(t *testing.T) {
	sampler, r := experience.Frames{Log: filmed(100, 1, 5, 9), Stream: rng.New(5, "windows")}, row(3)
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		if err := sampler.Draw(r, 3, 0.9, 1, i); err != nil {
			t.Fatal(err)
		}
		i++
	}); n > 0 {
		t.Errorf("a row allocates %v times", n)
	}
}
