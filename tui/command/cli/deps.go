package cli

import (
	"context"
	"image"
	"io"
	"strings"
	"sync"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// Deps is what the commands need from the rest of the program.
type Deps struct {
	Version string
	Tasks   []task.Task
	// Programs are those that simulate further tasks.
	Programs Programs
	// Device starts a device. The caller closes it.
	Device func(r DeviceRequest) (Device, error)
	// ChooseGPU finds the GPU that auto, cuda, cuda:1 or GPU-UUID asks for, and says why it chose
	// that one. nil, here and below: there are no GPUs.
	ChooseGPU func(name string) (gpu GPU, why string, err error)
	// CheckGPU checks in a process of its own whether a GPU computes the same as the CPU, and says
	// what takes long. If the GPU did not answer in time, the error is an os.ErrDeadlineExceeded.
	CheckGPU func(g GPU, precision string, said func(line string)) error
	// GPUs looks for all GPUs.
	GPUs func() GPUs
	// TryGPU compiles the kernels for a GPU and reports the result in a line.
	TryGPU func(g GPU) (string, error)
	// WatchGPU says what a GPU is doing; the error is permanent if that cannot be known.
	WatchGPU func(uuid string) (pane.GPU, error)
	// Screen shows a lab on the terminal until the person leaves: tui.Run.
	Screen func(ctx context.Context, o tui.Options) (tui.Outcome, error)
	// Trace writes a task's observations and rewards as JSON lines.
	Trace func(ctx context.Context, w io.Writer, r TraceRequest) error
	// View makes a View that draws a task.
	View func(task string) (View, error)
	// Ground says what part of a View's pictures shows a task's ground: see pane.Ground. It returns
	// nil if no part does.
	Ground func(task string) pane.Ground
	// Kernels and Physics say what was found on this machine; Physics also tries it.
	Kernels func() Kernels
	Physics func(ctx context.Context) Physics
}

// Device is a device that can be given back.
type Device interface {
	device.Device
	Threads() int
	Close() error
}

// View draws a task. It belongs to one goroutine.
type View interface {
	// Draw paints a pose of the task's task.Posed environment, w by h pixels; the picture is valid
	// until the next call.
	Draw(pose []float64, w, h int) (*image.RGBA, error)
	// StepTime is the simulated time of an env step.
	StepTime() time.Duration
}

// Drawing is the drawing function of a screen. It makes the view when the first picture is wanted,
// which on most screens never happens.
func (d Deps) Drawing(task string) func(pose []float64, w, h int) (*image.RGBA, error) {
	if d.View == nil {
		return nil
	}
	view := sync.OnceValues(func() (View, error) { return d.View(task) })
	return func(pose []float64, w, h int) (*image.RGBA, error) {
		v, err := view()
		if err != nil {
			return nil, err
		}
		return v.Draw(pose, w, h)
	}
}

// Task finds a task by its name; case, - and _ make no difference.
func (d Deps) Task(name string) (task.Task, error) {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
	names := make([]string, len(d.Tasks))
	for i, t := range d.Tasks {
		if plain(t.Name) == plain(name) {
			return t, nil
		}
		names[i] = t.Name
	}
	return task.Task{}, AsUsage(presets.Unknown("task", name, names, "pgrlab list tasks"))
}

// Kernels says which compute kernels there are and which of them was chosen.
type Kernels struct {
	Family    string   `json:"family"`    // the chosen one; "" if choosing failed
	Available []string `json:"available"` // those that this CPU can run
	Why       string   `json:"why"`
	Error     string   `json:"error,omitempty"`
}

// Physics says which MuJoCo was found, and how long its first use took.
type Physics struct {
	Found          string  `json:"found"` // embedded, or a path
	Version        string  `json:"version,omitempty"`
	SHA256         string  `json:"sha256,omitempty"`
	CompileSeconds float64 `json:"compile_s,omitempty"`
	Task           string  `json:"task,omitempty"` // the task that was stepped
	StepsPerSec    float64 `json:"steps_per_s,omitempty"`
	Error          string  `json:"error,omitempty"`
}

// TraceRequest says what to trace: see envs.TraceOptions.
type TraceRequest struct {
	Task     string
	Steps    int
	Controls string
	Seed     uint64
}
