package bench

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/rng"
	"pgrlab/core/task"
)

// Environment is the workload "env": one step of a task with random actions, including starts of
// episodes. The core has no tasks, so the caller passes one.
func Environment(task task.Task) Workload {
	return Workload{Name: "env", Doc: "one env step of " + task.Name + " with random actions", Make: func(device.Device) (func(uint64) error, float64, error) {
		env, err := task.New(1)
		if err != nil {
			return nil, 0, fmt.Errorf("start %s: %w", task.Name, err)
		}
		state, action := make([]float32, env.ObsSize()), make([]float32, env.ActSize())
		numbers := rng.New(1, "bench actions")
		over := true
		return func(i uint64) error {
			if over {
				if err := env.Reset(i, state); err != nil {
					return err
				}
			}
			numbers.FillUniform(action, i, 0)
			for j, u := range action {
				action[j] = 2*u - 1
			}
			_, terminated, truncated, err := env.Step(action, state)
			over = terminated || truncated
			return err
		}, 0, nil
	}}
}
