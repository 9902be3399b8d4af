package program

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// walk is an environment of a person. An episode goes on until it has gone far.
const walk = `
import os
import numpy as np
from pgrlab_env import serve

class Walk:
    low, high, limit, names = [-1, -1], [1, 1], 40, ["x", "y", "dx"]
    def __init__(self, start=0.0):
        self.start = start
    def reset(self, seed):
        self.r = np.random.default_rng(seed)
        self.s = np.append(self.r.uniform(-1, 1, 2) + self.start, 0)
        return self.s
    def step(self, a):
        wind = self.r.normal() * 0.01 + 0.01 * os.path.exists("moody")
        self.s = np.array([self.s[0] + 0.1 * a[0] + wind, self.s[1] + 0.1 * a[1], 0.1 * a[0]])
        return self.s, -abs(self.s[0]), abs(self.s[0]) > 1.5

class Pick:
    choices, limit = 3, 20
    def reset(self, seed):
        self.k = seed % 3
        return np.eye(3)[self.k]
    def step(self, a):
        reward = float(a == self.k)
        self.k = (self.k + a) % 3
        return np.eye(3)[self.k], reward, False
`

// ownEnvironments gives a test a folder with environments that are not pgrlab's, and the settings of a person who
// has allowed nothing. It returns the command of a class.
func ownEnvironments(t *testing.T) (d cli.Deps, do func(want int, args ...string) string, said *strings.Builder, of func(class string) string) {
	t.Helper()
	python := ""
	for _, name := range []string{os.Getenv("PGRLAB_PYTHON"), "/usr/bin/python3", "python3"} {
		if name != "" && exec.Command(name, "-c", "import numpy").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("no python3 with NumPy: apt-get install python3-numpy")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	d = setUp(t)
	t.Cleanup(d.Programs.(*programs).Close)
	said = new(strings.Builder)
	do = func(want int, args ...string) string {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, said, args...)
		if status != want {
			t.Fatalf("%v: status %d: %s", args, status, said)
		}
		return out
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("pgrlab_env.py", do(0, "env-adapter"))
	write("walk.py", walk+"serve(Walk)\n")
	write("pick.py", walk+"serve(Pick)\n")
	return d, do, said, func(class string) string { return python + " " + class + ".py" }
}

// Every file and every command of docs/own-environment.md does what the page says; Gymnasium is a stand-in.
func TestTheCommandsOfOwnEnvironments(t *testing.T) {
	text, err := os.ReadFile("../../docs/own-environment.md")
	if err != nil {
		t.Fatal(err)
	}
	standIn, err := filepath.Abs("../../envs/outside/testdata/gymnasium")
	if err != nil {
		t.Fatal(err)
	}
	lines := commandsOf(t, "own-environment.md")
	_, do, _, of := ownEnvironments(t)
	if err := os.CopyFS("gymnasium", os.DirFS(standIn)); err != nil {
		t.Fatal(err)
	}
	python, _, _ := strings.Cut(of(""), " ")
	t.Setenv("PGRLAB_PYTHON", python)
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bin/python3", []byte("#!/bin/sh\nexec "+python+` "$@"`), 0o755); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(here, "bin")+":"+os.Getenv("PATH"))
	file := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if len(file) != 2 || len(lines) != 10 {
		t.Fatalf("%d files, %d commands", len(file), len(lines))
	}
	if err := os.WriteFile("my_env.py", file[1], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		line, into, _ := strings.Cut(line, " > ")
		var words []string
		for _, w := range regexp.MustCompile(`'[^']*'|[^ ]+`).FindAllString(line, -1) {
			words = append(words, strings.Trim(w, "'"))
		}
		switch words = words[1:]; {
		case slices.Contains(words, "--resume"):
			words[len(words)-1] = "90"
		case words[0] == "train":
			words = append(words, "--steps", "60")
		case words[0] == "sweep":
			words = append(words, "--steps", "60", "--seeds", "0", "--jobs", "1")
		}
		out := do(0, words...)
		if into != "" {
			if err := os.WriteFile(into, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if words[0] == "env" && strings.Contains(out, "! ") {
			t.Errorf("%s: %s", line, out)
		}
	}
}

// A run in a person's environment has the same journal with one process and with three, and in two parts: the episode
// that was under way is played again. What looks at it later starts nothing.
func TestAnEnvironmentOfAnotherProgram(t *testing.T) {
	_, do, said, of := ownEnvironments(t)
	run1 := []string{"train", "--preset", "tiny.toml", "--env", of("walk"), "--env-arg", "start=0.5", "--members", "2"}
	do(0, append(run1, "--out", "whole")...)
	do(0, append(run1, "--out", "spread", "--env-procs", "3")...)
	do(0, append(run1, "--out", "part", "--steps", "95")...)
	do(0, "train", "--resume", "part", "--steps", "150")
	whole := do(0, "journal", "canonical", "whole")
	for _, other := range []string{"spread", "part"} {
		if do(0, "journal", "canonical", other) != whole {
			t.Errorf("%s has another journal", other)
		}
	}
	if doc, err := os.ReadFile(filepath.Join("whole", run.JournalName)); err != nil || !strings.Contains(string(doc), `"env":{"argv":["`) {
		t.Errorf("the journal begins with %.400s, %v", doc, err)
	}
	if _, err := os.Stat(filepath.Join("whole", "env.log")); err != nil {
		t.Error(err)
	}
	card := do(0, "card", "whole")
	if !strings.Contains(card, "walk.py' --method pgr-curiosity") || !strings.Contains(card, "--env-arg 'start=0.5'") || strings.Contains(card, "outside.spec") || strings.Contains(card, "--set environment") || !strings.Contains(card, "The journal is the same, byte for byte") {
		t.Errorf("the card is %s", card)
	}
	do(0, "fork", "part@95", "--set", "guidance=5", "--out", "fork")
	do(0, "train", "--resume", "fork")
	do(0, "sweep", "--preset", "tiny.toml", "--env", of("walk"), "--seeds", "0", "--steps", "90", "--out", "sweep", "--jobs", "1")
	do(0, "train", "--preset", filepath.Join("whole", run.ConfigName), "--steps", "80", "--out", "again")

	do(0, "analyse", "whole", "--rows", "50")
	if err := os.Remove("walk.py"); err != nil {
		t.Fatal(err)
	}
	do(0, "report", "whole", "part")
	do(0, "preset", "show", filepath.Join("whole", run.ConfigName))
	do(0, "export", "whole", "--buffer", "real", "--out", "rows")
	do(2, "train", "--resume", "part", "--steps", "200")
	if want := "is not among the commands that you have allowed, or its file has changed since"; !strings.Contains(said.String(), want) {
		t.Errorf("%s, want %s", said, want)
	}
}

// The log of a program is not written through a link: a run folder may come from someone else.
func TestTheLogOfAProgramGoesThroughNoLink(t *testing.T) {
	_, do, said, of := ownEnvironments(t)
	do(0, "train", "--preset", "tiny.toml", "--env", of("walk"), "--method", "sac", "--out", "part", "--steps", "60")
	log := filepath.Join("part", "env.log")
	if err := errors.Join(os.WriteFile("mine", []byte("precious"), 0o644), os.Remove(log), os.Symlink("../mine", log)); err != nil {
		t.Fatal(err)
	}
	do(0, "train", "--resume", "part", "--steps", "90")
	if text, err := os.ReadFile("mine"); string(text) != "precious" || !strings.Contains(said.String(), "is not kept: env.log is a symbolic link") {
		t.Errorf("%q, %v, %s", text, err, said)
	}
}

// A program that hangs does not outlive a pgrlab that is ended at once.
func TestAProgramThatHangsEndsWithPgrlab(t *testing.T) {
	_, _, _, of := ownEnvironments(t)
	hangs := strings.Replace(walk, "def step(self, a):\n", "def step(self, a):\n        held = open('held', 'w')\n        while True: __import__('time').sleep(1000)\n", 1)
	if err := errors.Join(os.WriteFile("hangs.py", []byte(hangs+"serve(Walk)\n"), 0o644), syscall.Mkfifo("held", 0o600)); err != nil {
		t.Fatal(err)
	}
	c, _ := child(t, "train", "--preset", "tiny.toml", "--env", of("hangs"), "--method", "sac", "--out", "run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open("held") // waits for the first step
	if err != nil {
		t.Fatal(err)
	}
	c.Process.Signal(syscall.SIGQUIT)
	c.Wait()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, held)
		ended <- err
	}()
	eventually(t, "the program ends", func() bool { return len(ended) == 1 })
}

// An episode that cannot be played again is given up where the run goes on, which the journal and the card say.
func TestAnEpisodeThatIsNotRepeated(t *testing.T) {
	_, do, _, of := ownEnvironments(t)
	do(0, "train", "--preset", "tiny.toml", "--env", of("walk"), "--method", "sac", "--out", "part", "--steps", "95")
	if err := os.WriteFile("moody", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	do(0, "train", "--resume", "part", "--steps", "150")
	doc, err := os.ReadFile(filepath.Join("part", run.JournalName))
	if err != nil || !strings.Contains(string(doc), `episode lost: its state could not be repeated: after `) {
		t.Errorf("%s, %v", doc, err)
	}
	if card := do(0, "card", "part"); !strings.Contains(card, "The journal is not repeated exactly: episode lost: its state could not be repeated") {
		t.Errorf("the card is %s", card)
	}
	if text := do(0, "report", "part"); !strings.Contains(text, "part is not repeated exactly") {
		t.Errorf("the report is %s", text)
	}
}

// Where there are actions to choose from, methods of PPO learn; others say so. A flag for programs needs one.
func TestChoicesOfAnotherProgram(t *testing.T) {
	_, do, said, of := ownEnvironments(t)
	do(0, "train", "--env", of("pick"), "--method", "ppo", "--scale", "demo", "--steps", "4096", "--out", "ppo")
	do(2, "train", "--env", of("pick"), "--method", "sac", "--scale", "demo")
	if want := "choose another task, or a method with another learner: ppo"; !strings.Contains(said.String(), want) {
		t.Errorf("%s, want %s", said, want)
	}
}

// Nothing is started that was not typed: not what a preset names, nor what a run folder names after its script was
// changed.
func TestNothingIsStartedUntyped(t *testing.T) {
	_, do, said, of := ownEnvironments(t)
	wants := func(text string) {
		t.Helper()
		if !strings.Contains(said.String(), text) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%s, want %s", said, text)
		}
	}
	evil := strings.Replace(tiny, `task = "cartpole-swingup"`, `task = "env:touch owned"`, 1)
	if err := os.WriteFile("evil.toml", []byte(evil), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"train", "--preset", "evil.toml"}, {"sweep", "--preset", "evil.toml", "--method", "sac", "--out", "sweep"},
		{"train", "--preset", "evil.toml", "--env-procs", "2"},
	} {
		do(2, args...)
		wants("touch owned, to be started in ")
	}
	do(0, "preset", "show", "evil.toml")
	for name, outside := range map[string]string{"python.toml": `python = "./evil.sh"`, "args.toml": `args = ["start=evil"]`} {
		if err := os.WriteFile(name, []byte(strings.Replace(tiny, "[agent]", "[environment.outside]\n"+outside+"\n\n[agent]", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("evil.sh", []byte("#!/bin/sh\ntouch owned\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	do(2, "train", "--preset", "python.toml", "--task", "gym:Ant-v5") // the interpreter was not typed
	wants("evil.sh")
	do(2, "train", "--preset", "args.toml", "--env", of("walk"))
	wants("--env-arg 'start=evil'")
	if _, err := os.Stat("owned"); err == nil {
		t.Error("it was started")
	}
	do(0, "train", "--preset", "tiny.toml", "--method", "sac", "--env", of("walk"), "--steps", "60", "--out", "run")
	if err := os.WriteFile("walk.py", []byte(walk+"\nserve(Walk) # changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	do(2, "train", "--resume", "run", "--steps", "90")
	wants("allow it with: pgrlab env allow 'env:" + of("walk"))
	do(0, "env", "allow", of("walk"))
	do(0, "train", "--resume", "run", "--steps", "90")
}
