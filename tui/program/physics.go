package program

import (
	"context"
	"time"

	"pgrlab/envs"
	"pgrlab/envs/mujoco"
	"pgrlab/tui/command/cli"
)

// physics finds MuJoCo, prepares it and steps a body for a while.
func physics(ctx context.Context) cli.Physics {
	p := cli.Physics{Version: "MuJoCo " + mujoco.Version, SHA256: mujoco.Checksum}
	if err := tryPhysics(ctx, &p); err != nil {
		p.Error = err.Error()
	}
	return p
}

func tryPhysics(ctx context.Context, p *cli.Physics) (err error) {
	const steps = 10_000
	if p.Found, err = mujoco.Find(); err != nil {
		return err
	}
	start := time.Now()
	if err := envs.Load(ctx); err != nil {
		return err
	}
	p.CompileSeconds = time.Since(start).Seconds()
	p.Task = "cheetah-run"
	task, err := envs.Find(p.Task)
	if err != nil {
		return err
	}
	env, err := task.New(0)
	if err != nil {
		return err
	}
	defer env.Close()
	obs, action := make([]float32, env.ObsSize()), make([]float32, env.ActSize())
	start = time.Now()
	for i := range uint64(steps) {
		if i%uint64(task.EpisodeSteps) == 0 {
			if err := env.Reset(i, obs); err != nil {
				return err
			}
		}
		if _, _, _, err := env.Step(action, obs); err != nil {
			return err
		}
	}
	p.StepsPerSec = steps / time.Since(start).Seconds()
	return nil
}
