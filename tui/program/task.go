package program

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"pgrlab/core/task"
	"pgrlab/envs"
	"pgrlab/envs/maze"
	"pgrlab/envs/taskfile"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/pane"
)

// tasks are the environments in the form that the lab uses.
func tasks() []task.Task {
	var all []task.Task
	for _, t := range envs.Tasks() {
		all = append(all, taskOf(t, nil))
	}
	for _, t := range maze.Tasks() {
		all = append(all, mazeOf(t))
	}
	slices.SortFunc(all, func(a, b task.Task) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// mazeOf is a maze as a task. Agents learn in the mazes of one split and are evaluated in those of
// another.
func mazeOf(t maze.Task) task.Task {
	return task.Task{
		Name: t.Name, Doc: t.Doc, ObsSize: maze.ObsSize, ActSize: maze.ActSize, Discrete: true, Choices: maze.Actions,
		EpisodeSteps: maze.EpisodeSteps, Hidden: maze.Hidden, Names: maze.Names(), Seen: true, Camera: maze.Camera, TVs: maze.TVs,
		New:    func(seed uint64) (task.Env, error) { return t.New(maze.Training, seed), nil },
		NewVec: func(n int, seed uint64) (task.VecEnv, error) { return t.NewVec(n, maze.Test, seed) },
		With: func(e task.Environment) (task.Task, error) {
			if e.ActionRepeat > 1 {
				return task.Task{}, fmt.Errorf("%s: an action is four frames already: leave out action repeat", t.Name)
			}
			played, err := t.With(maze.Options{TV: e.TV, CellBonus: e.CellBonus})
			return mazeOf(played), err
		},
	}
}

// taskFiles are tasks of files by their paths. A sweep asks for the same one many times.
type taskFiles struct {
	mu     sync.Mutex
	loaded map[string]*taskfile.File
}

func newTaskFiles() *taskFiles { return &taskFiles{loaded: map[string]*taskfile.File{}} }

// load makes a task of a file, or finds the one that was made of the same content.
func (s *taskFiles) load(path string) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.loaded[path]
	if f == nil || !f.Current(path) {
		var err error
		if f, err = taskfile.Load(context.Background(), path); err != nil {
			return task.Task{}, err
		}
		s.loaded[path] = f
	}
	return taskOf(f.Task, own{f}), nil
}

// own is what a task of files was made from.
type own struct{ *taskfile.File }

// taskOf is a task that MuJoCo simulates; from is nil for one that is built in.
func taskOf(t envs.Task, from task.Own) task.Task {
	return task.Task{
		Own: from, Name: t.Name, Doc: t.Doc, ObsSize: t.ObsSize, ActSize: t.ActSize,
		EpisodeSteps: t.EpisodeSteps, Terminates: t.Terminates, Ends: t.Ends, Hidden: t.Hidden, Turning: t.Turning, Directions: t.Directions, Names: t.Names(), Seen: true, Camera: t.Camera(),
		New:    func(seed uint64) (task.Env, error) { return t.New(seed) },
		NewVec: func(n int, seed uint64) (task.VecEnv, error) { return t.NewVec(n, seed) },
		With: func(e task.Environment) (task.Task, error) {
			if e.CellBonus != 0 {
				return task.Task{}, fmt.Errorf("%s: environment.cell_bonus is %g, but there is no maze whose places could be counted: leave it out", t.Name, e.CellBonus)
			}
			played, err := t.With(e.ActionRepeat)
			return taskOf(played, from), err
		},
	}
}

// view makes a View that draws a task.
func view(of task.Task) (cli.View, error) {
	if t, ok := maze.Find(of.Name); ok {
		return t.View(), nil
	}
	t, err := simulated(of)
	if err != nil {
		return nil, err
	}
	v, err := t.View()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// simulated is the task of envs that a task is.
func simulated(t task.Task) (envs.Task, error) {
	if f, is := t.Own.(own); is {
		return f.Task, nil
	}
	return envs.Find(t.Name)
}

// ground says what part of a view's pictures shows a task's ground from above.
func ground(name string) pane.Ground {
	if _, ok := maze.Find(name); ok {
		return maze.Ground
	}
	return nil
}

func trace(ctx context.Context, w io.Writer, of task.Task, r cli.TraceRequest) error {
	if t, ok := maze.Find(of.Name); ok {
		return fmt.Errorf("trace %s: a maze has no actuators: choose another task, or see it with pgrlab watch", t.Name)
	}
	t, err := simulated(of)
	if err != nil {
		return err
	}
	return envs.Trace(ctx, w, envs.TraceOptions{Task: t, Steps: r.Steps, Controls: r.Controls, Seed: r.Seed})
}
