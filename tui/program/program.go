// Package program assembles pgrlab: it gives the commands the tasks, the devices and the screen,
// which do not know each other.
package program

import (
	"context"
	"io"
	"runtime/debug"

	"pgrlab/docs/demo"
	"pgrlab/envs/mujoco"
	"pgrlab/tui"
	"pgrlab/tui/command"
	"pgrlab/tui/command/cli"
)

// Main runs a command line and returns the exit status. A command line that begins with agreeing or
// probing is that of a process that tests a GPU, or its driver, for another process.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	if len(args) > 0 && args[0] == agreeing {
		return agree(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == probing {
		return probe()
	}
	started := newPrograms()
	defer started.Close()
	return command.Main(ctx, deps(started), args, stdin, stdout, stderr)
}

func deps(started *programs) cli.Deps {
	return cli.Deps{
		Version:  version(),
		Tasks:    tasks(),
		Programs: started,
		TaskFile: newTaskFiles().load,
		Device:   newDevice,

		ChooseGPU: chooseGPU,
		CheckGPU:  checkGPU,
		GPUs:      findGPUs,
		TryGPU:    tryGPU,
		WatchGPU:  watchGPU,

		Screen:    tui.Run,
		Trace:     trace,
		Recording: demo.Run,
		View:      view,
		Ground:    ground,
		Kernels:   kernels,
		Physics:   physics,

		Embedded: cli.Embedded{Version: mujoco.Version, SHA256: mujoco.Checksum, Size: mujoco.EmbeddedSize()},
	}
}

// stamped is the version set by make build: the tag or the commit, with "-dirty" if files were
// changed.
var stamped string

// version says what the binary was built from; without make, what the Go tool recorded in it.
func version() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
