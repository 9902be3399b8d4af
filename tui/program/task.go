package program

import (
	"context"
	"io"

	"pgrlab/core/task"
	"pgrlab/envs"
	"pgrlab/tui/command/cli"
)

// tasks are the environments in the form that the lab asks for.
func tasks() []task.Task {
	var all []task.Task
	for _, t := range envs.Tasks() {
		all = append(all, taskOf(t))
	}
	return all
}

func taskOf(t envs.Task) task.Task {
	return task.Task{
		Name: t.Name, Doc: t.Doc, ObsSize: t.ObsSize, ActSize: t.ActSize,
		EpisodeSteps: t.EpisodeSteps, Terminates: t.Terminates, Ends: t.Ends, Hidden: t.Hidden, Turning: t.Turning, Names: t.Names(), Seen: true,
		New:    func(seed uint64) (task.Env, error) { return t.New(seed) },
		NewVec: func(n int, seed uint64) (task.VecEnv, error) { return t.NewVec(n, seed) },
		With: func(e task.Environment) (task.Task, error) {
			played, err := t.With(envs.Options{Repeat: e.ActionRepeat, NoiseShare: e.NoiseShare, NoiseSigma: e.NoiseSigma})
			return taskOf(played), err
		},
	}
}

// view makes what draws a task.
func view(name string) (cli.View, error) {
	t, err := envs.Find(name)
	if err != nil {
		return nil, err
	}
	v, err := t.View()
	if err != nil {
		return nil, err
	}
	return v, nil
}

func trace(ctx context.Context, w io.Writer, r cli.TraceRequest) error {
	return envs.Trace(ctx, w, envs.TraceOptions(r))
}
