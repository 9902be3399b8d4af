package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
)

// The condition of environment.outside.ends reads all of a transition, by number or by name, and what it cannot
// name is an error.
func TestEndsOfOtherPrograms(t *testing.T) {
	names := []string{"height", "lean"}
	obs, act, next := []float32{1, 0}, []float32{0.5}, []float32{0.4, 0.3}
	for text, want := range map[string]bool{
		"next[0] < 0.5": true,
		`abs(next["lean"]) > 0.2 and obs[0] > 0.5`:     true,
		`obs["height"] < 0.5 or act[0] < 0`:            false,
		"next[0] - obs[0] < -0.5 and not (act[0] < 0)": true,
	} {
		if ends, err := newEnds(text, 2, 1, names); err != nil || ends(obs, act, next) != want {
			t.Errorf("%s: %v, want %t", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"next[2] < 1": "environment.outside.ends: ", "next[0]": "environment.outside.ends: ", "reward < 0": `no quantity "reward"`,
		`act["lean"] < 0`: "environment.outside.ends: ", `next("lean") < 0`: "in square brackets",
	} {
		if _, err := newEnds(text, 2, 1, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "never"} {
		if ends, err := newEnds(text, 2, 1, names); err != nil || ends != nil {
			t.Errorf("%q has a rule, or %v", text, err)
		}
	}
}

// A run that rolls out a model of the dynamics of another program's task needs a rule of where episodes end, or
// that only time ends them. The card of the run repeats it, and the journal has a note where it is wrong, one in all
// of the run's parts.
func TestRolloutsOfOtherProgramsHaveARuleOfEnds(t *testing.T) {
	_, do, said, of := ownEnvironments(t)
	walk := []string{"train", "--preset", "tiny.toml", "--env", of("walk"), "--env-arg", "start=2", "--method", "mbpo", "--steps", "60", "--out"}
	if do(2, append(walk, "without")...); !strings.Contains(said.String(), "--set environment.outside.ends=never") {
		t.Errorf("%s", said)
	}
	for ends, want := range map[string]string{`next["z"] > 1`: "environment.outside.ends: ", "done": `no quantity "done"`} {
		if do(2, append(walk, "without", "--set", "environment.outside.ends="+ends)...); !strings.Contains(said.String(), want) {
			t.Errorf("%s: %s, want %s", ends, said, want)
		}
	}
	for dir, ends := range map[string]string{"rule": `abs(next["x"]) > 1.5`, "never": "never"} {
		set := "environment.outside.ends=" + ends
		do(0, append(walk, dir, "--set", set)...)
		if card := do(0, "card", dir); !strings.Contains(card, "--set "+shell.Word(set)) {
			t.Errorf("without %s the card is %s", set, card)
		}
		do(0, "train", "--resume", dir, "--steps", "70")
		journal, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		if ends == task.NeverEnds {
			wrong = 1
		}
		if n := strings.Count(string(journal), "ended it, and only time is said to end episodes"); n != wrong {
			t.Errorf("%s: %d notes that the rule is wrong, want %d", dir, n, wrong)
		}
	}
	do(2, "train", "--preset", "tiny.toml", "--set", "environment.outside.ends=never", "--out", "own")
	if !strings.Contains(said.String(), "--set environment.outside.ends is for tasks that other programs simulate") {
		t.Errorf("a task of pgrlab's own: %s", said)
	}
}
