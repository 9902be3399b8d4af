package outside

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/testing/racing"
)

// What a program does wrong in a step ends in one line that says so, and ends the program; what is wrong with numbers
// ends an episode.
func TestMisbehaving(t *testing.T) {
	racing.Skip(t) // each child is this binary, which then takes long to start
	for mode, want := range map[string]string{
		"hangs":           "the program did not answer step within 50ms: --env-timeout gives it more",
		"dies":            "the program ended (exit status 3) and did not answer step; its last lines: first | ?[31mout of luck",
		"closes":          "the program closed its output and did not answer step",
		"is killed":       "the program ended (signal: killed) and did not answer step",
		"short":           "the program's reply to step has 17 bytes, want 21",
		"half":            "the program's reply to step ended after 8 of 21 bytes: unexpected EOF",
		"sequence":        "the program's reply has sequence 4, want 3: there is one reply to a request, in order",
		"kind":            "the program answered step with save",
		"copies":          "the program's reply to step is about 2 copies, want 1",
		"prints":          `what the program wrote is no frame: "step done, all is well `,
		"1 GiB":           "the program's reply to step would have 1073741824 bytes: want at most 67108864",
		"gives up":        "licence expired",
		"raises":          "ValueError: no?[2J way ",
		"NaN":             "step 1: y of its observation is NaN: want a finite number of at most 1e+10",
		"huge":            "step 1: x of its observation is 1e+11: want a finite number of at most 1e+10",
		"infinite reward": "step 1: its reward is -Inf: want a finite number of at most 1e+10",
		"loses":           "step 1: the program gave the episode up",
	} {
		t.Run(mode, func(t *testing.T) {
			env, obs := begun(t, task(t, mode, Options{}))
			if mode == "hangs" {
				env.rider().process.limit = 50 * time.Millisecond
			}
			if mode == "closes" {
				env.rider().process.grace = time.Millisecond
			}
			before := bytes.Clone(appendFloats(nil, obs))
			_, _, _, err := env.Step([]float32{0}, obs)
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("the error is %q, want %q", err, want)
			}
			if !bytes.Equal(appendFloats(nil, obs), before) {
				t.Error("the observation has changed")
			}
			var lost *Lost
			numbers := mode == "NaN" || mode == "huge" || mode == "infinite reward" || mode == "loses"
			if errors.As(err, &lost) != numbers {
				t.Errorf("that only the episode is lost is %t", !numbers)
			}
			if p := env.rider().process; p.broken() == (numbers || mode == "raises") {
				t.Errorf("whether the program has gone is %t", p.broken())
			}
			if err := env.Reset(1, obs); err != nil {
				t.Errorf("the next episode does not begin: %v", err)
			}
		})
	}
}

// begun is an environment whose first episode has begun.
func begun(t *testing.T, on *Task) (*Env, []float32) {
	t.Helper()
	env, err := on.New(7)
	if err != nil {
		t.Fatal(err)
	}
	obs := make([]float32, on.ObsSize)
	if err := env.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	return env, obs
}

// A program that says something impossible of itself is refused in a line, and so is one that is not there.
func TestUnusable(t *testing.T) {
	for mode, want := range map[string]string{
		"protocol 2": "it speaks protocol 2, and this pgrlab speaks 1: pgrlab env-adapter writes an adapter that fits",
		"no size":    "its spec has observations of 0 and actions of 1 numbers: want 1 to 65536 of each",
		"no bounds":  `its spec has 1 bounds "low" for actions of 2 numbers: want one for each, null for none`,
		"boundless":  "number 1 of its actions has no bounds: say what to use: --act-bound 1",
		"flat":       "number 0 of its actions is from 1 to 1: want bounds that leave a choice",
		"no JSON":    "its spec cannot be read: invalid character 'w' looking for beginning of value",
	} {
		if _, _, err := open(t, mode, Options{}).Meet(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", mode, err, want)
		}
	}
	if on := task(t, "boundless", Options{ActBound: 3}); on.low[1] != -3 || on.low[0] != -2 || on.high[1] != 1 {
		t.Errorf("bounds %v to %v", on.low, on.high)
	}
	none, err := Open("env:/nowhere/program", Options{}, "test", func(Command) error { return nil })
	if err == nil {
		_, _, err = none.Meet()
	}
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("the error is %v", err)
	}
	env, obs := must(task(t, "starts with NaN", Options{}).New(0)), make([]float32, 3)
	if err := env.Reset(0, obs); err == nil || !strings.HasSuffix(err.Error(), "x of its observation is NaN: want a finite number of at most 1e+10") {
		t.Errorf("the error is %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fifo makes a named pipe, $HELD, and returns it opened when a process that is to end has opened it.
func fifo(t *testing.T) <-chan *os.File {
	t.Helper()
	held := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	t.Setenv("HELD", held)
	open := make(chan *os.File, 1)
	go func() {
		f, _ := os.Open(held) // waits for a writer
		open <- f
	}()
	return open
}

// A program that dies takes the processes with it that it has started, and what they hold open is not waited for.
func TestGrandchild(t *testing.T) {
	opened := fifo(t)
	env, obs := begun(t, task(t, "grandchild", Options{}))
	if _, _, _, err := env.Step([]float32{0}, obs); err == nil || !strings.HasPrefix(err.Error(), "the program ended (exit status 4) and did not answer step") {
		t.Errorf("the error is %v", err)
	}
	pipe := <-opened
	defer pipe.Close()
	if _, err := io.Copy(io.Discard, pipe); err != nil { // it ends when the last process that can write has ended
		t.Error(err)
	}
}

// A program that is to end and does not is ended; one that talks a lot is not held up.
func TestEnd(t *testing.T) {
	deaf := task(t, "deaf", Options{})
	env, _ := begun(t, deaf)
	p := env.rider().process
	p.grace = time.Millisecond
	env.Close()
	<-p.exited
	if p.status != "signal: killed" {
		t.Errorf("it ended with %s", p.status)
	}
	talks := task(t, "talks", Options{})
	log := filepath.Join(t.TempDir(), "env.log")
	for range 2 { // the same one again changes nothing
		if err := talks.program.KeepLog(must(os.OpenFile(log, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666))); err != nil {
			t.Fatal(err)
		}
	}
	env, obs := begun(t, talks)
	if _, _, _, err := env.Step([]float32{0}, obs); err != nil {
		t.Fatal(err)
	}
	p = env.rider().process
	env.Close()
	<-p.exited
	if info, err := os.Stat(log); err != nil || info.Size() < logTail || info.Size() > maxLog || p.status != "exit status 0" {
		t.Errorf("the log is %v, %v; it ended with %s", info, err, p.status)
	}
}

// KillAll ends a program that hangs.
func TestKillAll(t *testing.T) {
	env, _ := begun(t, task(t, "deaf", Options{}))
	p := env.rider().process
	KillAll()
	<-p.exited
	if p.status != "signal: killed" {
		t.Errorf("it ended with %s", p.status)
	}
}

// The number of a program's group may be that of another group once the program has been waited for, which is then
// left alone.
func TestTheGroupOfOthers(t *testing.T) {
	env, _ := begun(t, task(t, "fine", Options{}))
	p := env.rider().process
	join := func() (member *exec.Cmd, input io.Closer) {
		member = exec.Command("cat")
		member.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.cmd.Process.Pid}
		input = must(member.StdinPipe())
		if err := member.Start(); err != nil {
			t.Fatal(err)
		}
		return member, input
	}
	left, _ := join() // as long as it is not waited for, the group has its number
	p.cmd.Process.Kill()
	<-p.exited
	other, input := join()
	p.kill()
	input.Close()
	if err := other.Wait(); err != nil {
		t.Errorf("a process of another group ended: %v", err)
	}
	if err := left.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("what the program left ended with %v", err)
	}
}
