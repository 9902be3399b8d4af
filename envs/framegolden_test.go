package envs

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var writeFrames = flag.Bool("frames", false, "write testdata/frames.txt")

const framesFile = "testdata/frames.txt"

// framesOf returns the checksums of three frames of a task, with the sides that learners use, at
// the beginning of an episode and after some of its steps.
func framesOf(t *testing.T, task Task) string {
	t.Helper()
	env := makeEnv(t, task, 5)
	obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
	if err := env.Reset(2, obs); err != nil {
		t.Fatal(err)
	}
	line := task.Name
	draw := func(side int) {
		frame := make([]byte, side*side*3)
		if err := env.Frame(frame, side); err != nil {
			t.Fatal(err)
		}
		line += fmt.Sprintf(" %d:%x", side, sha256.Sum256(frame))[:3+1+16]
	}
	draw(84)
	for step := range 12 {
		for k := range action {
			action[k] = float32((3*step+5*k)%9)/4 - 1
		}
		if _, over, _, err := env.Step(action, obs); err != nil {
			t.Fatal(err)
		} else if over {
			break
		}
	}
	draw(84)
	draw(64)
	return line + "\n"
}

// What learners see is the same, byte for byte, on every machine and in every version, since
// otherwise runs from frames could not be repeated. Where a compiler fuses products and sums, as on
// processors other than amd64, single bytes may differ.
func TestFramesStayWhatTheyAre(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the sums are of amd64, whose products and sums are rounded one by one")
	}
	var got strings.Builder
	for _, task := range Tasks() {
		got.WriteString(framesOf(t, task))
	}
	if *writeFrames {
		if err := os.WriteFile(framesFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(framesFile)
	if err != nil {
		t.Fatal(err)
	}
	known, left := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for _, line := range left {
		if !slices.Contains(known, line) {
			t.Errorf("frames are %q: where that is meant, go test -run %s -frames, and, of a task that was there before, say that runs from frames differ", line, t.Name())
		}
	}
	if len(left) < len(known) {
		t.Errorf("frames of %d tasks, want %d", len(left)-1, len(known)-1)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, name := range []string{"cartpole-balance", "walker-walk", "cheetah-run", "quadruped-walk"} {
		for _, side := range []int{64, 84} {
			b.Run(fmt.Sprintf("%s/%d", name, side), func(b *testing.B) {
				task, err := Find(name)
				if err != nil {
					b.Fatal(err)
				}
				env, frame := makeEnv(b, task, 1), make([]byte, side*side*3)
				if err := env.Reset(0, make([]float32, task.ObsSize)); err != nil {
					b.Fatal(err)
				}
				env.Frame(frame, side) // makes the sky
				b.ReportAllocs()
				best := time.Hour // a busy machine spoils the mean
				for b.Loop() {
					start := time.Now()
					env.Frame(frame, side)
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(time.Second)/float64(best), "frames/s")
			})
		}
	}
}
