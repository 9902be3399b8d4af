package outside

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/testing/racing"
)

// python is an interpreter with NumPy; without one, the test is skipped.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PGRLAB_PYTHON"), "/usr/bin/python3", "python3"} {
		if name != "" && exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with NumPy: apt-get install python3-numpy")
	return ""
}

// plain is the program of a class in testdata/plain.py.
func plain(t *testing.T, class string, o Options) *Program {
	t.Helper()
	adapter, err := adapterFile()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGRLAB_ADAPTER", filepath.Dir(adapter))
	return opened(t, "env:"+python(t)+" testdata/plain.py "+class, o)
}

func opened(t *testing.T, name string, o Options) *Program {
	t.Helper()
	p, err := Open(name, o, "test", func(Command) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// gym is a program of the stand-in for Gymnasium.
func gym(t *testing.T, name string, o Options) *Program {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o.Python = python(t)
	t.Chdir("testdata")
	return opened(t, name, o)
}

func met(t *testing.T, p *Program) *Task {
	t.Helper()
	if _, _, err := p.Meet(); err != nil {
		t.Fatal(err)
	}
	return p.Task()
}

// An environment of Gymnasium: dicts are put one after the other in the order of the space, with names; a Discrete is a
// number for each of its values; a print does no harm; --env-arg are keyword arguments.
func TestGymnasium(t *testing.T) {
	on := met(t, gym(t, "gym:Cart-v0", Options{Args: []string{"force=2.5"}}))
	if on.ObsSize != 5 || on.ActSize != 1 || on.limit != 30 || !on.Terminates || !slices.Equal(on.Names, []string{"gear 0", "gear 1", "place 0", "place 1", "speed"}) {
		t.Fatalf("the task is %+v", on)
	}
	if about := on.program.Started(); about.Adapter == "" || about.Versions["gymnasium"] != "0.stand-in" || about.Versions["numpy"] == "" {
		t.Errorf("it runs with %v", about.Versions)
	}
	env, obs := begun(t, on)
	place := obs[2]
	if !(place >= -1 && place < 1) || !slices.Equal(obs, []float32{1, 0, place, obs[3], 0}) {
		t.Fatalf("it begins with %v", obs)
	}
	reward, terminated, truncated, err := env.Step([]float32{0.5}, obs)
	if err != nil || terminated || truncated || !slices.Equal(obs, []float32{0, 1, place + 0.25, obs[3], 0.25}) || float32(reward) != -max(obs[2], -obs[2]) {
		t.Errorf("after a step: %v, %v, %t, %t, %v", obs, reward, terminated, truncated, err)
	}
	switches := met(t, opened(t, "gym:Switch-v0", Options{Python: on.program.options.Python}))
	env, obs = begun(t, switches)
	if reward, _, _, err := env.Step([]float32{0, 0, 1}, obs); switches.Choices != 3 || reward != 3 || err != nil {
		t.Errorf("choice 2 of %d is %v, %v", switches.Choices, reward, err)
	}
}

// An environment in the manner of dm_env keeps the order of its observations; a last step with discount 0 is an end of
// its own.
func TestDM(t *testing.T) {
	on := met(t, plain(t, "DM", Options{}))
	if on.ObsSize != 3 || on.limit != 25 || !slices.Equal(on.Names, []string{"z 0", "z 1", "a"}) || !slices.Equal(on.low, []float64{-1, -1}) || !slices.Equal(on.high, []float64{1, 2}) {
		t.Fatalf("the task is %+v", on)
	}
	env, obs := begun(t, on)
	for i := range 25 {
		_, terminated, truncated, err := env.Step([]float32{0, -1. / 3}, obs)
		if err != nil || terminated || truncated != (i == 24) {
			t.Fatalf("step %d: %t, %t, %v", i, terminated, truncated, err)
		}
	}
	if err := env.Reset(1, obs); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		_, terminated, truncated, err := env.Step([]float32{0, 1}, obs)
		if err != nil || terminated != (i == 4) || truncated || obs[1] != float32(2*i+2) {
			t.Fatalf("step %d: %v, %t, %t, %v", i, obs, terminated, truncated, err)
		}
	}
}

// Plain classes: what they print and read, from processes of their own too, is kept from the protocol. What they raise
// is one line.
func TestPlain(t *testing.T) {
	on := met(t, plain(t, "Reads", Options{}))
	if on.limit != 40 || !slices.Equal(on.Names, []string{"a", "b"}) {
		t.Errorf("the task is %+v", on)
	}
	env, obs := begun(t, on)
	start := obs[0]
	if reward, _, _, err := env.Step([]float32{0, 1}, obs); err != nil || reward != float64(start+5) || !slices.Equal(obs, []float32{start + 5, 1}) {
		t.Errorf("after a step: %v, %v, %v", obs, reward, err)
	}
	on.program.Close() // its log is complete
	if lines := on.program.log.last(2); !slices.Equal(lines, []string{"hello", "hello"}) {
		t.Errorf("its log ends with %q", lines)
	}
	env, obs = begun(t, met(t, plain(t, "Raises", Options{})))
	var lost *Lost
	if _, _, _, err := env.Step([]float32{0, 1}, obs); err == nil || err.Error() != "ValueError: no such joint" || errors.As(err, &lost) {
		t.Errorf("the error is %v", err)
	}
	env, obs = begun(t, met(t, plain(t, "Shrinks", Options{})))
	if _, _, _, err := env.Step([]float32{0, 1}, obs); err == nil || err.Error() != "its observation has 1 numbers, and had 2" {
		t.Errorf("the error is %v", err)
	}
	env, obs = begun(t, met(t, plain(t, "Clips", Options{})))
	start = obs[0]
	if _, _, _, err := env.Step([]float32{1, 1}, obs); err != nil || obs[0] != start+5 {
		t.Errorf("an action that is changed in place leads to %v from %v, %v", obs, start, err)
	}
	env, obs = begun(t, met(t, plain(t, "Loses", Options{})))
	if _, _, _, err := env.Step([]float32{0, 1}, obs); !errors.As(err, &lost) {
		t.Errorf("the error is %v", err)
	}
}

// A program draws what it can, in the size that is asked for; one that cannot says so.
func TestPictures(t *testing.T) {
	env, _ := begun(t, met(t, plain(t, "Draws", Options{Pictures: true})))
	got, err := env.Draw(2, 4)
	if want := []byte{0, 1, 2, 6, 7, 8, 0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20, 12, 13, 14, 18, 19, 20}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the picture is %v, %v", got, err)
	}
	env, _ = begun(t, met(t, plain(t, "Plain", Options{Pictures: true})))
	if _, err := env.Draw(2, 4); err == nil || err.Error() != "its program draws no pictures" {
		t.Errorf("the error is %v", err)
	}
}

// When pgrlab is killed, its programs end, with what they have started.
func TestOrphans(t *testing.T) {
	opened := fifo(t)
	t.Setenv(parentVariable, plain(t, "Spawns", Options{}).Name)
	parent := exec.Command(os.Args[0])
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "ready\n" {
		t.Fatalf("it says %q, %v", said, err)
	}
	pipe := <-opened
	defer pipe.Close()
	parent.Process.Kill()
	parent.Wait()
	if _, err := io.Copy(io.Discard, pipe); err != nil { // it ends when the last process that can write has ended
		t.Error(err)
	}
}

// Signals to all processes of a job do not end a program, and change nothing for the processes that it has started.
func TestSignalsToTheJob(t *testing.T) {
	env, obs := begun(t, met(t, plain(t, "Signalled", Options{})))
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		env.rider().process.signal(s)
	}
	if _, _, _, err := env.Step([]float32{0, 1}, obs); err != nil {
		t.Error(err)
	}
}

// A task of dm_control is found by its name with hyphens.
func TestSuite(t *testing.T) {
	p := gym(t, "dm:ball-in-cup-catch", Options{Args: []string{"task_kwargs={\"time_limit\": 2}"}})
	if on := met(t, p); on.ObsSize != 2 || on.limit != 100 || on.program.Started().Versions["dm_control"] != "0.stand-in" {
		t.Errorf("the task is %+v", on)
	}
	p = opened(t, "dm:ball-in-cup-throw", Options{Python: p.options.Python})
	if _, _, err := p.Meet(); err == nil || !strings.HasSuffix(err.Error(), "dm_control has no task ball-in-cup-throw: names are like walker-walk") {
		t.Errorf("the error is %v", err)
	}
}

// What cannot be used is refused in a line that says what it is.
func TestRefused(t *testing.T) {
	p := plain(t, "Nothing", Options{})
	if _, _, err := p.Meet(); err == nil || !strings.Contains(err.Error(), "a Nothing is no environment: want one of Gymnasium or dm_env, or an object with reset, step, low and high") {
		t.Errorf("the error is %v", err)
	}
	p = gym(t, "gym:Camera-v0", Options{})
	if _, _, err := p.Meet(); err == nil || !strings.Contains(err.Error(), "observation is an image of 96x96x3 bytes: pgrlab takes numbers from other programs") {
		t.Errorf("the error is %v", err)
	}
	t.Chdir(t.TempDir()) // without the stand-ins
	p = opened(t, "gym:Cart-v0", Options{Python: p.options.Python})
	if _, _, err := p.Meet(); err == nil || !strings.Contains(err.Error(), "Cart") && !strings.Contains(err.Error(), "cannot import gymnasium") {
		t.Errorf("the error is %v", err)
	}
}

// A check finds what would keep a run from repeating.
func TestCheck(t *testing.T) {
	racing.Skip(t) // each child is this binary, which then takes long to start
	for class, want := range map[string]string{
		"Plain":   "after a break an episode is taken up again by playing it again: the program saves no state",
		"Saves":   "after a break an episode is taken up again by its own state",
		"Forgets": "! an episode that is taken up again by its own state goes on otherwise: get_state leaves something out",
		"Global":  "! copies in one process disturb each other: give each a process of its own: --env-procs N, with as many as there are copies",
		"Clock":   "! another process does something else with the same seed and actions: runs with it do not repeat, and an episode that is under way when a run is resumed begins again",
		"Weary":   "! after an episode the same seed brings another one: reset does not set back everything",
	} {
		found, err := plain(t, class, Options{}).Check(context.Background())
		if err != nil {
			t.Fatal(class, err)
		}
		var all []string
		for _, f := range found {
			if f.Wrong {
				f.Text = "! " + f.Text
			}
			all = append(all, f.Text)
		}
		if !slices.Contains(all, want) || strings.Count(strings.Join(all, ""), "!") != strings.Count(want, "!") {
			t.Errorf("%s: it finds\n%s", class, strings.Join(all, "\n"))
		}
	}
}
