package program

import (
	"context"
	"io"

	"pgrlab/core/lab"
	"pgrlab/envs"
	"pgrlab/tui/command/cli"
)

// tasks are the environments in the form that the lab asks for.
func tasks() []lab.Task {
	var all []lab.Task
	for _, t := range envs.Tasks() {
		all = append(all, task(t))
	}
	return all
}

func task(t envs.Task) lab.Task {
	return lab.Task{
		Name: t.Name, Doc: t.Doc, ObsSize: t.ObsSize, ActSize: t.ActSize,
		EpisodeSteps: t.EpisodeSteps, Terminates: t.Terminates, Ends: t.Ends, Hidden: t.Hidden, Turning: t.Turning, Names: t.Names(),
		New:    func(seed uint64) (lab.Env, error) { return t.New(seed) },
		NewVec: func(n int, seed uint64) (lab.VecEnv, error) { return t.NewVec(n, seed) },
		With: func(e lab.Environment) (lab.Task, error) {
			played, err := t.With(envs.Options{Repeat: e.ActionRepeat, NoiseShare: e.NoiseShare, NoiseSigma: e.NoiseSigma})
			return task(played), err
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
