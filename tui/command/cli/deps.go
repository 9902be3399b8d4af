package cli

import (
	"context"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/run"
	"pgrlab/core/shell"
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
	// TaskFile makes a task of a task file, or of what task.Own.Archive returned.
	TaskFile func(path string) (task.Task, error)
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
	Trace func(ctx context.Context, w io.Writer, t task.Task, r TraceRequest) error
	// Recording is the folder of a recorded run, for demo; nil: there is none.
	Recording fs.FS
	// View makes a View that draws a task.
	View func(t task.Task) (View, error)
	// Ground says what part of a View's pictures shows a task's ground: see pane.Ground. It returns
	// nil if no part does.
	Ground func(task string) pane.Ground
	// Kernels and Physics say what was found on this machine; Physics also tries it.
	Kernels func() Kernels
	Physics func(ctx context.Context) Physics
	// Embedded is the physics that the binary was built with.
	Embedded Embedded
}

// Embedded is a build of MuJoCo. Size is that of the module inside the binary, in bytes; 0 if there
// is none.
type Embedded struct {
	Version string
	SHA256  string
	Size    int
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
func (d Deps) Drawing(t task.Task) func(pose []float64, w, h int) (*image.RGBA, error) {
	if d.View == nil || t.Program != nil { // another program's picture is not a pose: watch shows it
		return nil
	}
	view := sync.OnceValues(func() (View, error) { return d.View(t) })
	return func(pose []float64, w, h int) (*image.RGBA, error) {
		v, err := view()
		if err != nil {
			return nil, err
		}
		return v.Draw(pose, w, h)
	}
}

// Simulates says whether a program simulates the task of that name.
func (d Deps) Simulates(name string) bool { return d.Programs != nil && d.Programs.Simulates(name) }

// Exit ends this process at once, and with it the programs that it has started.
func (d Deps) Exit(status int) {
	if d.Programs != nil {
		d.Programs.Kill()
	}
	os.Exit(status)
}

// Task finds a task by its name; case, - and _ make no difference. A path of a task file is a name
// as well.
func (d Deps) Task(name string) (task.Task, error) {
	if d.Simulates(name) {
		return task.Task{}, Usagef("task %s is simulated by another program, and this needs one of pgrlab list tasks", name)
	}
	if IsTaskFile(name) && d.TaskFile != nil {
		t, err := d.TaskFile(name)
		return t, AsUsage(err)
	}
	if strings.HasPrefix(name, ownPrefix) {
		return task.Task{}, Usagef("task %s is made of files: name its task file, as in --task ./%s.toml", name, strings.TrimPrefix(name, ownPrefix))
	}
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
	names := make([]string, len(d.Tasks))
	for i, t := range d.Tasks {
		if plain(t.Name) == plain(name) {
			return t, nil
		}
		names[i] = t.Name
	}
	return task.Task{}, AsUsage(fmt.Errorf("%w%s", presets.Unknown("task", name, names, "pgrlab list tasks"), elsewhere(name)))
}

// elsewhere says how a task is named that another program probably simulates.
func elsewhere(name string) string {
	base, version, versioned := strings.Cut(name, "-v")
	switch _, err := strconv.Atoi(version); {
	case strings.HasSuffix(name, ".py"):
		return "; for a program of yours, write --env " + shell.Word("python3 "+name)
	case versioned && err == nil && base != "":
		return "; for one of Gymnasium, write gym:" + name
	}
	return ""
}

// ownPrefix begins the names of tasks that are made of files.
const ownPrefix = "file:"

// IsTaskFile says whether the name of a task is the path of a task file, or of an archive of one.
func IsTaskFile(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".zip")
}

// TaskIn finds the task that a file in a folder names. For a run that is its configuration, in whose
// folder there is a copy of a task of files; a job of a sweep, or
// its run, has it in a folder above. The file also
// has what the program of a task has said of itself; nothing is started.
func (d Deps) TaskIn(dir, name string, e task.Environment) (task.Task, error) {
	if d.Simulates(name) {
		return d.simulated(name, e.Outside)
	}
	if task.Recorded(name) {
		return task.Data(name, e.Outside.Spec), nil
	}
	if IsTaskFile(name) && !filepath.IsAbs(name) {
		return d.Task(filepath.Join(dir, name))
	}
	file := run.TaskFile(name)
	if file == "" {
		return d.Task(name)
	}
	above := filepath.Dir(run.Named(dir))
	for _, place := range []string{dir, above, filepath.Dir(above)} {
		path := filepath.Join(place, file)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		t, err := d.Task(path)
		if err == nil && t.Name != name {
			err = fmt.Errorf("%s holds task %s: want %s", path, t.Name, name)
		}
		return t, err
	}
	return d.Task(name)
}

// simulated is the task of a program that has said what it is.
func (d Deps) simulated(name string, o task.Outside) (task.Task, error) {
	if !o.Met() {
		return task.Task{}, Usagef("task %s: its program has not said what it is: name it with --task, so that it is asked", name)
	}
	p, err := d.Programs.Open(name, o)
	if err != nil {
		return task.Task{}, AsUsage(err)
	}
	return p.Task(), nil
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
	Steps    int
	Controls string
	Seed     uint64
}
