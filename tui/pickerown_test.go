package tui

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/picker"
)

// newOwnScreen is a first screen that knows the task files of a folder. Checks wait for an answer.
func newOwnScreen(t *testing.T, lines []string, failed error) *screen {
	t.Helper()
	return newScreen(t, 100, 40, func(o *Options) {
		o.Picker = &Picker{Choices: picker.Choices{
			Presets: []picker.Item{{Name: "demo"}}, Tasks: []picker.Item{{Name: "cheetah-run"}, {Name: "walker-walk"}},
			Methods: []picker.Item{{Name: "sac"}}, Scales: []picker.Item{{Name: "demo"}}, Devices: []picker.Item{{Name: "cpu"}},
			Resolve: func(p picker.Picks) (config.Config, error) {
				c := fakeConfig()
				if p.Task != "" {
					c.Task = "file:" + strings.TrimSuffix(p.Task, ".toml")
				}
				if strings.Contains(p.Task, "broken") {
					return c, errors.New("broken.toml:3:1: unknown key")
				}
				return c, nil
			},
			Recent: func() []picker.Recent {
				earlier := func(dir, task string) picker.Recent {
					c := fakeConfig()
					c.Task = task
					return picker.Recent{Dir: dir, Return: math.NaN(), Config: c}
				}
				return []picker.Recent{earlier("runs/a", "file:arm"), earlier("runs/b", "file:arm"), earlier("runs/c", "gym:Evil-v0"), earlier("runs/d", "gym:Ant-v5"), earlier("runs/e", "file:../x")}
			},
			Own: picker.Own{
				Named: func(text string) (all []picker.Item) {
					for _, name := range []string{"broken.toml", "mine/", "pole.toml"} {
						if text != "" && strings.HasPrefix(name, text) {
							all = append(all, picker.Item{Name: name, Doc: "a task file"})
						}
					}
					return all
				},
				Allowed: func(c config.Config) bool { return c.Task == "gym:Ant-v5" },
				Check:   func(context.Context, string) ([]string, error) { return lines, failed },
			},
		}}
	})
}

// do runs a command and what it leads to.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	case picker.Checked:
		s.Update(msg)
	}
}

// own chooses a task by what is typed.
func (s *screen) own(text string) {
	s.picker.Row = 1
	s.press("/")
	for _, r := range text {
		s.press(string(r))
	}
	_, cmd := s.Update(keyMsg("enter"))
	s.do(cmd)
}

// The last task asks for one that is not in the list. What is typed is checked at once, and what is
// found is shown; enter on what cannot be a task changes nothing.
func TestPickerTakesATaskOfYourOwn(t *testing.T) {
	racing.Skip(t)
	s := newOwnScreen(t, nil, nil)
	s.press("down", "left")
	s.contains(t, "own task…", "a task file, as ./pole.toml")
	s.press("enter", "p", "o")
	s.contains(t, "pole.toml", "a task file")
	_, cmd := s.Update(keyMsg("enter"))
	s.do(cmd)
	if got := s.picker.Picks().Task; got != "pole.toml" {
		t.Fatalf("took %q", got)
	}
	s.contains(t, "pgr-curiosity on file:pole", "nothing is in the way of learning")
	s.own("mine")
	if got := s.picker.Picks().Task; got != "pole.toml" {
		t.Errorf("a folder takes %q", got)
	}
	s.contains(t, "mine/ is a folder")
	s.own("broken")
	s.contains(t, "broken.toml:3:1: unknown key")
	s.own("walker")
	if got := s.picker.Picks().Task; got != "walker-walk" {
		t.Errorf("a part of a built-in task takes %q", got)
	}
}

// What a check marks is shown, and so is what ends it.
func TestPickerShowsWhatACheckFinds(t *testing.T) {
	racing.Skip(t)
	s := newOwnScreen(t, []string{"the reward is always 0: nothing says what is better"}, nil)
	s.own("pole")
	s.contains(t, "! the reward is always 0: nothing says what is better")
	s = newOwnScreen(t, nil, errors.New("reward is NaN: log of -1 (column 3)"))
	s.own("pole")
	s.contains(t, "reward is NaN: log of -1 (column 3)")
}

// Tasks of earlier runs are offered: those of files by the copy in the run's folder, those of programs
// only if their commands are allowed.
func TestPickerOffersTasksOfEarlierRuns(t *testing.T) {
	racing.Skip(t)
	s := newOwnScreen(t, nil, nil)
	var all []string
	s.picker.Row = 1
	for range 7 {
		all = append(all, s.picker.Picks().Task)
		s.press("right")
	}
	if got := strings.Join(all, " "); got != " cheetah-run walker-walk runs/a/task-arm.zip gym:Ant-v5  " {
		t.Errorf("offered: %q", got)
	}
}
