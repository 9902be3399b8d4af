// Package commandtest has stand-ins for tasks and devices, for tests of commands.
package commandtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// Deps have the tasks' names, and nothing that computes.
func Deps() cli.Deps {
	return cli.Deps{
		Version: "v0.0.0-test",
		Tasks: []task.Task{
			{Name: "cartpole-swingup", Doc: "swing", ObsSize: 5, ActSize: 1, EpisodeSteps: 1000},
			{Name: "cheetah-run", Doc: "run", ObsSize: 17, ActSize: 6, EpisodeSteps: 1000},
			{Name: "walker-walk", Doc: "walk", ObsSize: 24, ActSize: 6, EpisodeSteps: 1000},
		},
		Programs: programs{},
		Embedded: cli.Embedded{Version: "0.0.0", SHA256: "00ff", Size: 1},
		Device:   func(cli.DeviceRequest) (cli.Device, error) { return nil, errors.New("no kernels") },
		Kernels:  func() cli.Kernels { return cli.Kernels{Family: "go", Available: []string{"go"}, Why: "a test"} },
		Physics: func(context.Context) cli.Physics {
			return cli.Physics{Found: "embedded", Version: "MuJoCo test", SHA256: "00ff", CompileSeconds: 0.5, Task: "cheetah-run", StepsPerSec: 25000}
		},
	}
}

// GPU is the GPU of DepsWithGPU.
func GPU() cli.GPU {
	busy, others := 0.37, 0
	return cli.GPU{Index: 1, Name: "Test GPU", UUID: "GPU-1234", Capability: "9.0", Memory: 80 << 30, Free: 79 << 30, Compute: &busy, Others: &others}
}

// DepsWithGPU are Deps with one GPU, or with an error that says why there is none.
func DepsWithGPU(none error) cli.Deps {
	d := Deps()
	d.ChooseGPU = func(string) (cli.GPU, string, error) { return GPU(), "79 GiB free", none }
	d.GPUs = func() cli.GPUs {
		g := cli.GPUs{CUDA: "12.4", Driver: "550.54.14", Least: "450.80.02 (CUDA 11.0)", NVML: "", Found: []cli.GPU{GPU()}}
		if none != nil {
			g = cli.GPUs{Least: g.Least, Error: none.Error()}
		}
		return g
	}
	d.TryGPU = func(cli.GPU) (string, error) { return "20 files compiled in 1 s", nil }
	return d
}

// ErrNoDriver says why there is no GPU.
var ErrNoDriver = errors.New("no CUDA driver: libcuda.so.1 was not found: install NVIDIA's driver")

// programs are those of a machine on which no program can be found.
type programs struct{}

func (programs) Adapter() []byte { return []byte("# an adapter\n") }

func (p programs) NameOf(c string) string {
	if p.Simulates(c) {
		return c
	}
	return "env:" + c
}

func (programs) Simulates(name string) bool {
	return strings.HasPrefix(name, "gym:") || strings.HasPrefix(name, "env:")
}

func (programs) Rest() {}

func (programs) Kill() {}

func (programs) Open(name string, _ task.Outside) (cli.Program, error) {
	return nil, fmt.Errorf("find the program of %s: there is no python", name)
}
