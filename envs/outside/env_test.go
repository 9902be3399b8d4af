package outside

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// wave is the action of a step.
func wave(step int) float32 { return float32(math.Sin(float64(step))) }

// play makes steps with an environment and returns all that it says.
func play(t *testing.T, env *Env, obs []float32, from, steps int) (all []float32) {
	t.Helper()
	for i := range steps {
		reward, terminated, truncated, err := env.Step([]float32{wave(from + i)}, obs)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, obs...), float32(reward))
		if terminated || truncated {
			all = append(all, -1)
			if err := env.Reset(env.rider().episode.Number+1, obs); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// Actions are scaled to the environment's own bounds, in float64, and clipped; episodes end by themselves or at the
// limit.
func TestStep(t *testing.T) {
	env, obs := begun(t, task(t, "fine", Options{}))
	reward, terminated, truncated, err := env.Step([]float32{0.5}, obs)
	if reward != 2.5 || terminated || truncated || err != nil {
		t.Errorf("a step says %v, %t, %t, %v", reward, terminated, truncated, err)
	}
	if reward, _, _, _ := env.Step([]float32{-7}, obs); reward != -2 {
		t.Errorf("an action beyond its bounds is %v", reward)
	}
	steps := 2
	for ; !terminated && !truncated; steps++ {
		if _, terminated, truncated, err = env.Step([]float32{1}, obs); err != nil {
			t.Fatal(err)
		}
	}
	if !terminated || truncated || obs[0] <= 9 {
		t.Errorf("after %d steps at %v: terminated %t, truncated %t", steps, obs[0], terminated, truncated)
	}
	if _, _, _, err := env.Step([]float32{1}, obs); err == nil {
		t.Error("a step after the end")
	}
	still := task(t, "fine", Options{EpisodeSteps: 7})
	env, obs = begun(t, still)
	for i := range 7 {
		if _, terminated, truncated, err = env.Step([]float32{0}, obs); err != nil || terminated || truncated != (i == 6) {
			t.Fatalf("step %d: %t, %t, %v", i, terminated, truncated, err)
		}
	}
}

// With action repeat, an env step is several steps of the program, whose rewards are added.
func TestPlayed(t *testing.T) {
	on := task(t, "fine", Options{})
	twice := must(on.With(3))
	if twice.EpisodeSteps != 7 {
		t.Errorf("an episode of 20 steps has %d env steps of 3", twice.EpisodeSteps)
	}
	env, obs := begun(t, twice)
	single, same := begun(t, on)
	for i := range 7 {
		reward, _, truncated, err := env.Step([]float32{-0.5}, obs)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, min(3, 20-3*i)
		for range n {
			r, _, _, err := single.Step([]float32{-0.5}, same)
			if sum += r; err != nil {
				t.Fatal(err)
			}
		}
		if reward != sum || !slices.Equal(obs, same) || truncated != (i == 6) {
			t.Fatalf("step %d: %v, %v, %t, want %v, %v", i, reward, obs, truncated, sum, same)
		}
	}
	if _, err := on.With(30); err == nil {
		t.Error("more repeats than steps")
	}
}

// The row of a choice becomes its number.
func TestChoices(t *testing.T) {
	on := task(t, "chooses", Options{})
	if on.ActSize != 4 || on.Choices != 4 {
		t.Fatalf("%d actions, %d choices", on.ActSize, on.Choices)
	}
	env, obs := begun(t, on)
	if reward, _, _, err := env.Step([]float32{0, 0, 1, 0}, obs); reward != 2 || err != nil {
		t.Errorf("choice 2 is %v, %v", reward, err)
	}
}

// Copies that are stepped together do what they do alone, in whatever number of processes; an episode that is over
// stays as it is.
func TestVec(t *testing.T) {
	const n = 5
	var first []float32
	for _, processes := range []int{1, 3} {
		on := task(t, "fine", Options{Processes: processes})
		v := must(on.NewVec(n, 7))
		obs, actions, rewards, ended := make([]float32, 3*n), make([]float32, n), make([]float64, n), make([]bool, n)
		if err := v.Reset(2, obs); err != nil {
			t.Fatal(err)
		}
		all, returns := slices.Clone(obs), make([]float64, n)
		for i := range 25 {
			for k := range actions {
				actions[k] = wave(i*k) + 0.5
			}
			if err := v.Step(actions, obs, rewards, ended); err != nil {
				t.Fatal(err)
			}
			all = append(all, obs...)
			for k := range returns {
				returns[k] += rewards[k]
			}
		}
		if slices.Contains(ended, false) {
			t.Error("an episode goes on after its limit")
		}
		if first == nil {
			first = all
		} else if !slices.Equal(first, all) {
			t.Errorf("with %d processes the observations are others", processes)
		}
		for k := range n {
			env, obs := must(on.New(7)), make([]float32, 3)
			if err := env.Reset(uint64(2*n+k), obs); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i, over := 0, false; !over; i++ {
				r, terminated, truncated, err := env.Step([]float32{wave(i*k) + 0.5}, obs)
				if err != nil {
					t.Fatal(err)
				}
				sum, over = sum+r, terminated || truncated
			}
			if sum != returns[k] || !slices.Equal(obs, all[len(all)-3*(n-k):][:3]) {
				t.Errorf("copy %d: alone %v to %v, together %v", k, sum, obs, returns[k])
			}
			env.Close()
		}
		v.Close()
	}
}

// An episode goes on after it was saved and loaded, in another process, as if nothing had happened: from the program's
// own state, or played again. Where it does not come to the same observation, it is lost.
func TestResume(t *testing.T) {
	for _, mode := range []string{"fine", "saves"} {
		env, obs := begun(t, task(t, mode, Options{}))
		play(t, env, obs, 0, 25) // the episode ends after 20
		var kept bytes.Buffer
		if err := env.Save(&kept); err != nil {
			t.Fatal(err)
		}
		kept.WriteString("rest")
		want := play(t, env, slices.Clone(obs), 25, 30)
		other := must(task(t, mode, Options{}).New(7))
		if err := other.Load(&kept); err != nil || kept.String() != "rest" {
			t.Fatalf("%v, and %q is left", err, kept.String())
		}
		var again bytes.Buffer
		if err := other.Save(&again); err != nil { // before it was taken up
			t.Fatal(err)
		}
		if got := play(t, other, slices.Clone(obs), 25, 30); !slices.Equal(got, want) {
			t.Errorf("%s: it goes on otherwise", mode)
		}
		third := must(other.fleet.task.New(7))
		if err := third.Load(&again); err != nil {
			t.Fatal(err)
		}
		if got := play(t, third, slices.Clone(obs), 25, 30); !slices.Equal(got, want) {
			t.Errorf("%s: it goes on otherwise after it was saved twice", mode)
		}
	}
	on := task(t, "moody", Options{})
	env, obs := begun(t, on)
	play(t, env, obs, 0, 3)
	var kept bytes.Buffer
	if err := env.Save(&kept); err != nil {
		t.Fatal(err)
	}
	if err := env.Load(&kept); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := env.Step([]float32{0}, obs)
	var lost *Lost
	if !errors.As(err, &lost) || !strings.HasPrefix(err.Error(), "its state could not be repeated: after 3 steps with the same actions y is 5 and was 2") {
		t.Errorf("the error is %v", err)
	}
	if err := env.Reset(1, obs); err != nil {
		t.Errorf("the next episode does not begin: %v", err)
	}
	if err := env.Load(strings.NewReader("pgr-outside\x01\x05\x00\x00\x00hello")); err == nil {
		t.Error("it loads what is no state")
	}
}

// A program that dies when it is asked for its state leaves the episode to be played again. The next step says why it
// died.
func TestDyingOverAState(t *testing.T) {
	on := task(t, "dies saving", Options{})
	env, obs := begun(t, on)
	twin, same := begun(t, on)
	want := play(t, twin, same, 0, 7)[3*4:]
	play(t, env, obs, 0, 3)
	var kept bytes.Buffer
	if err := env.Save(&kept); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := env.Step([]float32{0}, obs)
	var lost *Lost
	if !errors.As(err, &lost) || err.Error() != "the program has ended: the program ended (exit status 5) and did not answer save; its last lines: no room" {
		t.Errorf("the error is %v", err)
	}
	if err := env.Load(&kept); err != nil {
		t.Fatal(err)
	}
	if got := play(t, env, obs, 3, 4); !slices.Equal(got, want) {
		t.Errorf("it goes on with %v, want %v", got, want)
	}
}

// When a program has failed, one copy says so; the episodes of the others in that process are lost, and all go on in a
// new process.
func TestOthersGoOn(t *testing.T) {
	on := task(t, "fine", Options{})
	first, obs := begun(t, on)
	second, _ := begun(t, on)
	p := first.rider().process
	if second.rider().process != p {
		t.Fatal("two copies are in two processes")
	}
	p.kill()
	_, _, _, err := first.Step([]float32{0}, obs)
	var lost *Lost
	if err == nil || errors.As(err, &lost) {
		t.Errorf("the first copy says %v", err)
	}
	if _, _, _, err := second.Step([]float32{0}, obs); !errors.As(err, &lost) {
		t.Errorf("the second copy says %v", err)
	}
	for _, env := range []*Env{first, second} {
		if err := env.Reset(1, obs); err != nil {
			t.Fatal(err)
		}
		play(t, env, obs, 0, 3)
	}
	if first.rider().process != second.rider().process {
		t.Error("two copies are in two processes")
	}
	other := must(Open(on.program.Name, Options{}, "test", on.program.allow))
	defer other.Close()
	expected := on.program.spec
	expected.Obs = 5
	other.Expect(expected)
	if got, _, err := other.Meet(); got.Obs != 5 || err != nil {
		t.Errorf("what is expected is %+v, %v", got, err)
	}
	if err := must(other.Task().New(7)).Reset(0, make([]float32, 5)); err == nil || !strings.HasSuffix(err.Error(), "it is another environment than before: its observations have 3 numbers, and had 5") {
		t.Errorf("the error is %v", err)
	}
}

// Steps leave nothing behind: neither in this process nor in the program's.
func TestNothingGrows(t *testing.T) {
	steps := 5_000
	if os.Getenv("PGRLAB_SOAK") != "" {
		steps = 1_000_000
	}
	env, obs := begun(t, task(t, "fine", Options{}))
	size := func() (here, there uint64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		doc, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", env.rider().process.cmd.Process.Pid))
		if err != nil {
			t.Skip("no /proc here: ", err)
		}
		var whole uint64
		fmt.Sscan(string(doc), &whole, &there)
		return m.HeapAlloc, there * uint64(os.Getpagesize())
	}
	walk := func(n int) {
		for range n {
			_, terminated, truncated, err := env.Step([]float32{0.3}, obs)
			if err == nil && (terminated || truncated) {
				err = env.Reset(env.rider().episode.Number+1, obs)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	walk(steps / 5)
	here, there := size()
	walk(steps)
	if afterHere, afterThere := size(); afterHere > here+1<<18 || afterThere > there+8<<20 {
		t.Errorf("after %d steps this process has %d bytes, and had %d; the program has %d, and had %d", steps, afterHere, here, afterThere, there)
	}
	if n := testing.AllocsPerRun(100, func() { walk(1) }); n > 1 {
		t.Errorf("a step allocates %v times", n)
	}
}
