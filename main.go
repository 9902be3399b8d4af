// Pgrlab is a terminal lab for prioritized generative replay (Wang et al., ICLR
// 2025). This file only wires the parts together.
package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/lab"
	"pgrlab/envs"
	"pgrlab/envs/mujoco"
	"pgrlab/tui"
	"pgrlab/tui/command"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == agreeing {
		os.Exit(agree(os.Args[2:], os.Stderr))
	}
	os.Exit(command.Main(context.Background(), deps(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func deps() command.Deps {
	return command.Deps{
		Version: version(),
		Tasks:   tasks(),
		Device:  newDevice,

		ChooseGPU: chooseGPU,
		CheckGPU:  checkGPU,
		GPUs:      findGPUs,
		TryGPU:    tryGPU,
		WatchGPU:  watchGPU,

		Screen:  tui.Run,
		Trace:   trace,
		View:    view,
		Kernels: kernels,
		Physics: physics,
	}
}

// version is what the Go tool stamped into the binary.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

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
		EpisodeSteps: t.EpisodeSteps, Terminates: t.Terminates, Hidden: t.Hidden, Names: t.Names(),
		New:    func(seed uint64) (lab.Env, error) { return t.New(seed) },
		NewVec: func(n int, seed uint64) (lab.VecEnv, error) { return t.NewVec(n, seed) },
		With: func(e lab.Environment) (lab.Task, error) {
			played, err := t.With(envs.Options{Repeat: e.ActionRepeat, NoiseShare: e.NoiseShare, NoiseSigma: e.NoiseSigma})
			return task(played), err
		},
	}
}

// newDevice starts a GPU or the CPU. The CPU's kernels cannot be preempted, so
// screen, collector and garbage collector get two threads of their own beside the
// workers.
func newDevice(r command.DeviceRequest) (command.Device, error) {
	if r.GPU != nil {
		return newGPU(r)
	}
	d, err := cpu.New(cpu.Options{Threads: r.Threads})
	if err != nil {
		return nil, err
	}
	all := r.Threads // what the programs leave is for environments
	if all == 0 {
		all = cpu.Allowed()
	}
	runtime.GOMAXPROCS(all + 2)
	return d, nil
}

func trace(ctx context.Context, w io.Writer, r command.TraceRequest) error {
	return envs.Trace(ctx, w, envs.TraceOptions(r))
}

// view makes what draws a task.
func view(name string) (command.View, error) {
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

func kernels() command.Kernels {
	k := command.Kernels{Available: kernel.Available(), Why: "the quickest that this CPU runs"}
	if os.Getenv("PGRLAB_KERNELS") != "" {
		k.Why = "from $PGRLAB_KERNELS"
	}
	family, err := kernel.Select("")
	if err != nil {
		k.Error = err.Error()
		return k
	}
	k.Family = family.Name()
	return k
}

// physics finds MuJoCo, makes it ready and steps a body for a while.
func physics(ctx context.Context) command.Physics {
	p := command.Physics{Version: "MuJoCo " + mujoco.Version, SHA256: mujoco.Checksum}
	if err := tryPhysics(ctx, &p); err != nil {
		p.Error = err.Error()
	}
	return p
}

func tryPhysics(ctx context.Context, p *command.Physics) (err error) {
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
