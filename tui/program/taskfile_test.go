package program

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// A run of a task file has a copy of it: the run goes on, forks and shows its policy when the files are
// gone, and its journal is that of a run without a break.
func TestATaskOfFiles(t *testing.T) {
	files, err := filepath.Abs("../../envs/taskfile/testdata")
	if err != nil {
		t.Fatal(err)
	}
	d := setUp(t)
	if err := os.CopyFS("mine", os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	do := func(want int, args ...string) (out string) {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, &said, args...)
		if status != want {
			t.Fatalf("%v: status %d: %s", args, status, &said)
		}
		return out
	}
	do(0, "train", "--preset", "tiny.toml", "--task", "mine/pole.toml", "--out", "whole")
	do(0, "train", "--preset", "tiny.toml", "--task", "./mine/pole.toml", "--steps", "90", "--out", "part")
	do(0, "sweep", "--preset", "tiny.toml", "--task", "mine/pole.toml", "--seeds", "0", "--steps", "90", "--out", "sweep", "--jobs", "1")
	traced := do(0, "trace", "--task", "mine/pole.toml", "--steps", "20")
	if err := os.RemoveAll("mine"); err != nil {
		t.Fatal(err)
	}
	do(0, "train", "--resume", "part", "--steps", "150")
	whole := do(0, "journal", "canonical", "whole")
	if !strings.Contains(whole, `"task":"file:pole"`) {
		t.Errorf("the journal begins with %.200s", whole)
	}
	if do(0, "journal", "canonical", "part") != whole {
		t.Error("a run in two parts has another journal than a run in one")
	}
	do(0, "fork", "part", "--steps", "200", "--out", "fork")
	if err := os.RemoveAll("part"); err != nil {
		t.Fatal(err)
	}
	do(0, "train", "--resume", "fork")
	do(0, "watch", "--policy", "fork", "--frames", "pictures", "--size", "40x30")
	do(0, "analyse", "fork", "--rows", "50")
	do(0, "preset", "show", filepath.Join("fork", run.ConfigName))
	do(0, "train", "--preset", filepath.Join("whole", run.ConfigName), "--steps", "80", "--out", "again")
	packed := run.TaskFile("file:pole")
	if do(0, "trace", "--task", filepath.Join("again", packed), "--steps", "20") != traced {
		t.Error("the task in the run folder is another one")
	}
	do(0, "sweep", "--out", "sweep")
	do(2, "train", "--preset", "tiny.toml", "--task", "file:pole")
	if want := "task file:pole is made of files: name its task file, as in --task ./pole.toml"; !strings.Contains(said.String(), want) {
		t.Errorf("%s, want %s", &said, want)
	}
	do(2, "trace", "--task", "nowhere.toml")
	if want := "read task nowhere.toml: no such file or directory"; !strings.Contains(said.String(), want) {
		t.Errorf("%s, want %s", &said, want)
	}
}

// Every file and every command of docs/own-task.md does what the page says.
func TestTheCommandsOfOwnTasks(t *testing.T) {
	text, err := os.ReadFile("../../docs/own-task.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := commandsOf(t, "own-task.md")
	d := setUp(t)
	files := regexp.MustCompile("(?s)\n`([a-z.]+)`:\n\n```[a-z]+\n(.*?)```").FindAllSubmatch(text, -1)
	for _, file := range files {
		if err := os.WriteFile(string(file[1]), file[2], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 2 || len(lines) != 5 {
		t.Fatalf("%d files, %d commands", len(files), len(lines))
	}
	for _, line := range lines {
		words := strings.Fields(line)[1:]
		switch words[0] {
		case "train":
			words = append(words, "--steps", "60")
		case "sweep":
			words = append(words, "--steps", "60", "--seeds", "0", "--jobs", "1")
		}
		var said strings.Builder
		status, out := pgrlab(t, d, &said, words...)
		if status != 0 {
			t.Errorf("%s: status %d: %s", line, status, &said)
		}
		if words[0] == "task" && (strings.Contains(out, "! ") || !strings.Contains(out, `cos(qpos["hinge"]) from`)) {
			t.Errorf("%s: %s", line, out)
		}
	}
}
