package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/tui/picker"
)

// ownTasks is the first screen in a folder of its own, with tasks that can be named.
func ownTasks(t *testing.T, w, h int, home string) *screen {
	t.Helper()
	t.Chdir(t.TempDir())
	s := newScreen(t, w, h, func(o *Options) {
		o.Home = home
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo"}}, Tasks: []picker.Item{{Name: "cheetah-run", Doc: "run"}, {Name: "reacher-hard", Doc: "reach"}},
			Resolve: func(p picker.Picks) (config.Config, error) {
				c := fakeConfig()
				if p.Task != "" {
					c.Task = p.Task
				}
				return c, nil
			},
			Recent: func() []picker.Recent {
				all := []picker.Recent{{Dir: "runs/a"}, {Dir: "runs/b"}, {Dir: "runs/c"}, {Dir: "runs/d"}}
				for i, task := range []string{"file:arm", "gym:Old-v1", "gym:Theirs-v1", "cheetah-run"} {
					all[i].Config.Task = task
				}
				return all
			},
			Allowed: func(c config.Config) bool { return c.Task == "gym:Old-v1" },
			Check: func(_ context.Context, k picker.Kind, named string) (picker.Checked, error) {
				if strings.Contains(named, "broken") {
					return picker.Checked{}, errors.New("it ended and did not answer")
				}
				task := named
				if k == picker.Program && !strings.HasPrefix(named, "gym:") {
					task = "env:" + named
				}
				return picker.Checked{Task: task, Found: []picker.Finding{{Text: "an observation has 3 numbers"}, {Wrong: true, Text: "number 2 never changes"}}}, nil
			},
		}}
	})
	s.Update(s.readRecent()())
	return s
}

// do gives a key, and the screen the message of its command.
func (s *screen) do(t *testing.T, key string) {
	t.Helper()
	if _, cmd := s.Update(keyMsg(key)); cmd != nil {
		if msg := cmd(); msg != nil {
			s.Update(msg)
		}
	}
}

// name types the name of a task of one's own.
func (s *screen) name(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		s.press(string(r))
	}
	s.do(t, "enter")
}

// A task that is named is played at once; what was found stands below, what is wrong first, and the run
// would be of that task. Where it cannot be played, it is not chosen.
func TestPickerNamesATask(t *testing.T) {
	home := t.TempDir()
	s := ownTasks(t, 100, 40, home)
	s.press("down", "left", "left")
	s.contains(t, "own environment…", "a program of yours", "enter asks for it")
	s.do(t, "enter")
	s.contains(t, "command or gym:ID:")
	s.name(t, "python3 broken.py")
	s.contains(t, "own environment…", "✗ it ended and did not answer")
	s.do(t, "enter")
	s.name(t, "gym:Pendulum-v1")
	s.contains(t, "gym:Pendulum-v1", "! number 2 never changes", "✓ an observation has 3 numbers", "on gym:Pendulum-v1")
	if p := s.picker.Picks(); p.Task != "gym:Pendulum-v1" {
		t.Errorf("the task is %q", p.Task)
	}
	if text := s.View(); strings.Index(text, "never changes") > strings.Index(text, "3 numbers") {
		t.Error("what is wrong does not come first")
	}
	// The next screen shows what was named, and not what failed.
	s = ownTasks(t, 80, 24, home)
	s.press("down", "left", "left", "enter")
	s.contains(t, "gym:Pendulum-v1", "gym:Old-v1", "used before")
	for _, not := range []string{"broken", "Theirs", "cheetah-run  used"} {
		if text := s.View(); strings.Contains(text, not) {
			t.Errorf("%q is offered:\n%s", not, text)
		}
	}
	s.press("down")
	s.do(t, "enter")
	if p := s.picker.Picks(); p.Task != "gym:Pendulum-v1" {
		t.Errorf("the task is %q", p.Task)
	}
	s.press("right")
	if p := s.picker.Picks(); p.Task != "own environment…" {
		t.Errorf("the answer after it is %q", p.Task)
	}
}

// A task file is found below the working folder, and a search leads to the question for one.
func TestPickerFindsTaskFiles(t *testing.T) {
	s := ownTasks(t, 100, 40, "")
	for _, path := range []string{"pole.toml", "more/arm.toml", "other/readme.txt"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.press("/")
	for _, r := range "task file" {
		s.press(string(r))
	}
	s.press("enter")
	s.contains(t, "task file:", "more/", "pole.toml", "runs/a/task-arm.zip")
	if text := s.View(); strings.Contains(text, "other") {
		t.Errorf("a folder without task files is offered:\n%s", text)
	}
	s.press("m", "tab")
	s.contains(t, "more/arm.toml")
	s.press("tab")
	s.do(t, "enter")
	if p := s.picker.Picks(); p.Task != "more/arm.toml" {
		t.Errorf("the task is %q", p.Task)
	}
}

// A check that another one has replaced, or that the start of a run has, changes nothing.
func TestPickerGivesUpAnEarlierCheck(t *testing.T) {
	s := ownTasks(t, 100, 40, "")
	s.press("down", "left", "left", "enter")
	for _, r := range "gym:A-v0" {
		s.press(string(r))
	}
	_, first := s.Update(keyMsg("enter"))
	s.contains(t, "● playing gym:A-v0")
	s.press("enter")
	s.name(t, "gym:B-v0")
	if msg := first(); msg != nil {
		t.Errorf("the first check says %v", msg)
	}
	if p := s.picker.Picks(); p.Task != "gym:B-v0" {
		t.Errorf("the task is %q", p.Task)
	}
	if kept := newest([]string{"a", "b", "c"}, "a", 2); !slices.Equal(kept, []string{"c", "a"}) {
		t.Errorf("kept %v", kept)
	}
}
