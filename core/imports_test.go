package core_test

import (
	"go/ast"
	"go/parser"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed is the import map: for each package of the project, the packages of the project that it
// may import. Imports point down; a layer may be skipped, never climbed. Tests may import anything.
// Packages below a folder named testing are for tests only.
var allowed = map[string][]string{
	"":     {"tui/program"},
	"core": {},

	"tui/program": {"docs/demo", "tui", "tui/pane", "tui/command", "tui/command/cli", "presets", "core/...", "envs", "envs/maze", "envs/mujoco", "envs/outside", "envs/taskfile"}, // all parts meet here

	"tui":         {"tui/...", "core/config", "core/spelling", "core/printable", "core/event", "core/knob", "core/run"},
	"tui/command": {"tui/command/...", "tui/remote", "presets", "core/agent", "core/task", "core/relevance", "core/knob", "core/run", "core/bench"}, // puts the commands together

	// The commands come first, and below them the packages that they share. Of the whole screen,
	// only session starts runs, with core/lab; the others look at runs on disk.
	"tui/command/analyse":  {"tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui/remote", "tui/pane/system", "presets", "core/config", "core/offline", "core/inspect", "core/whatif", "core/event", "core/knob", "core/report", "core/run", "core/printable", "core/shell", "core/cost"},
	"tui/command/attach":   {"tui/command/session", "tui/command/replay", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui", "tui/remote", "tui/sshd", "tui/history", "tui/theme", "presets", "core/report", "core/run", "core/sweep/slurm", "core/printable", "core/shell"},
	"tui/command/session":  {"tui/scenes", "tui/command/results", "tui/command/forks", "tui/command/task", "tui/command/replay", "tui/command/machine", "tui/command/runflags", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui", "tui/pane", "tui/history", "tui/pane/system", "tui/picker", "tui/remote", "presets", "core/config", "core/task", "core/lab", "core/checkpoint", "core/offline", "core/knob", "core/whatif", "core/event", "core/report", "core/run", "core/printable", "core/shell", "core/cost", "core/device/cuda", "core/device/cuda/dry", "core/device/cuda/kernel"}, // dry: bench --estimate
	"tui/command/forks":    {"tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui/pane", "tui/pane/system", "presets", "core/config", "core/checkpoint", "core/event", "core/fan", "core/knob", "core/rng", "core/run", "core/shell"},
	"tui/command/sweep":    {"tui", "tui/command/session", "tui/command/results", "tui/command/machine", "tui/command/runflags", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui/remote", "presets", "core/config", "core/task", "core/sweep", "core/sweep/slurm", "core/sweep/ssh", "core/report", "core/run", "core/shell"}, // tui: settings; session: what a run takes on the disk
	"tui/command/report":   {"tui/command/results", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "presets", "core/config", "core/knob", "core/policy", "core/report", "core/run", "core/task", "core/printable", "core/shell"},
	"tui/command/pack":     {"tui/command/cli", "tui/command/terminal", "tui/command/rundir", "presets", "core/config", "core/checkpoint", "core/report", "core/run", "core/shell"}, // report: how counts are written
	"tui/command/replay":   {"tui/scenes", "tui/command/results", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui", "tui/pane", "tui/history", "tui/svg", "tui/cast", "presets", "core/checkpoint", "core/config", "core/event", "core/run", "core/shell"},
	"tui/command/env":      {"tui/command/cli", "core/task"},
	"tui/command/task":     {"tui/command/cli", "core/task", "core/printable"},
	"tui/command/watch":    {"tui", "tui/command/cli", "tui/command/terminal", "tui/command/rundir", "tui/picture", "tui/theme", "presets", "core/config", "core/task", "core/policy", "core/offline", "core/report", "core/run", "core/printable", "core/shell"}, // report: how counts are written
	"tui/command/runflags": {"core/dataset", "tui/command/machine", "tui/command/cli", "tui/command/rundir", "presets", "core/config", "core/task", "core/event", "core/knob"},
	"tui/command/machine":  {"tui/command/cli", "tui/theme", "presets", "core/bench"}, // theme: the colours of a terminal
	"tui/command/results":  {"tui/command/cli", "tui/command/rundir", "tui/history", "tui/remote", "presets", "core/config", "core/report", "core/run", "core/shell", "core/task"},
	"tui/command/terminal": {"tui/command/cli", "tui", "tui/theme", "tui/format", "core/event", "core/printable"},
	"tui/command/rundir":   {"tui/command/cli", "presets", "core/offline", "core/event", "core/knob", "core/report", "core/run"},
	"tui/command/cli":      {"tui", "tui/pane", "tui/theme", "presets", "core/task", "core/device", "core/knob", "core/report", "core/run", "core/sweep", "core/printable", "core/shell", "core/spelling"}, // sweep: exit statuses; report: how counts are written

	"tui/command/licence":     {},
	"tui/command/sbom":        {"tui/command/licence"},
	"tui/command/licence/gen": {"tui/command/licence"},

	// A pane imports no other pane, and of the screen only what all panes see.
	"tui/pane/...":         {"tui/pane", "tui/steer", "tui/history", "tui/theme", "tui/format", "tui/topic", "tui/chart", "tui/picture", "core/event", "core/knob", "core/shell"},
	"tui/pane/fans":        {"tui/pane", "tui/steer", "tui/history", "tui/theme", "tui/format", "tui/topic", "core/config", "core/event", "core/knob", "core/fan", "core/cost", "core/run"}, // fan: whether forks differ; run: numbers of its line
	"tui/pane/generations": {"tui/pane", "tui/history", "tui/theme", "tui/format", "tui/topic", "core/event", "core/knob", "core/run"},                                                      // run: how numbers are written
	"tui/pane/system":      {"tui/pane", "tui/theme", "tui/format", "tui/topic", "tui/chart", "core/event", "core/cost"},                                                                    // cost: processor time
	"tui/pane/whatif":      {"tui/pane", "tui/theme", "tui/format", "tui/topic", "core/event", "core/run", "core/whatif"},                                                                   // run: its numbers
	"tui/pane":             {"tui/scenes", "tui/history", "tui/picture", "tui/theme", "tui/format", "tui/topic", "core/config", "core/event", "core/knob", "core/whatif", "core/shell"},
	"tui/ground":           {"tui/steer", "tui/theme", "tui/format", "core/event", "core/ground"},
	"tui/steer":            {"tui/pane", "tui/history", "tui/theme", "tui/format", "tui/topic", "core/event", "core/knob"}, // what is staged and sent
	"tui/history":          {"core/ground", "tui/chart", "tui/format", "tui/topic", "core/printable", "core/event", "core/knob", "core/run"},
	"tui/lesson":           {"tui/steer", "tui/pane", "tui/history", "tui/theme", "tui/format", "presets", "core/event", "core/knob", "core/report"}, // report: what a difference of few evaluations is worth
	"tui/picker":           {"tui/pane", "tui/history", "tui/theme", "tui/format", "presets", "core/config", "core/run", "core/event", "core/knob", "core/cost"},
	"docs/demo":            {},                                      // a recorded run
	"tui/scenes":           {"core/event", "core/knob", "core/run"}, // run: how numbers are written
	"tui/help":             {"tui/pane", "tui/theme", "core/knob"},
	"tui/theme":            {"tui/chart", "tui/format"},
	"tui/format":           {},
	"tui/topic":            {},

	"tui/remote":  {"tui", "tui/pane", "tui/pane/...", "tui/history", "tui/query", "tui/theme", "core/config", "core/event", "core/knob", "core/run", "core/printable", "core/shell"}, // run: whether a lab holds a folder
	"tui/sshd":    {"tui", "tui/remote", "core/printable", "core/run", "core/shell"},                                                                                                  // run: how files are opened that people name
	"tui/chart":   {},
	"tui/picture": {},
	"tui/query":   {"tui/picture"}, // the protocols that a terminal is asked about
	"tui/svg":     {},
	"tui/cast":    {},

	"presets": {"core/config", "core/knob", "core/spelling", "core/printable", "core/table", "core/task", "core/run"}, // run: how files are opened that people name

	"core/config":              {"core/experience", "core/task", "core/table", "core/agent", "core/agent/learners", "core/relevance", "core/generative", "core/knob", "core/replay", "core/run", "core/device"}, // run: the limit of a checkpoint; device: lanes
	"core/task":                {},
	"core/policy":              {"core/config", "core/task", "core/agent", "core/nn", "core/op", "core/device", "core/rng"},                                            // nn, op: the weights of a file
	"core/event":               {"core/knob", "core/run"},                                                                                                              // run: lines of the journal
	"core/knob":                {"core/relevance", "core/generative", "core/replay", "core/run", "core/spelling"},                                                      // relevance: its choices; generative: what a generation reads of the knobs; replay: the mix of a batch; run: numbers as journals write them
	"core/inspect":             {"core/agent", "core/event", "core/knob", "core/run", "core/analysis", "core/relevance", "core/generative", "core/replay", "core/rng"}, // run: numbers as journals write them
	"core/redo":                {"core/event", "core/knob", "core/relevance", "core/replay"},
	"core/cost":                {"core/config", "core/event", "core/knob", "core/relevance", "core/generative", "core/run"},                                                                                                                                                                                                   // run: numbers as journals write them
	"core/replica":             {"core/generative/relabel", "core/ground", "core/experience", "core/source", "core/config", "core/task", "core/inspect", "core/event", "core/knob", "core/run", "core/agent", "core/relevance", "core/generative", "core/replay", "core/analysis", "core/device", "core/rng", "core/version"}, // run: numbers of the events
	"core/source":              {"core/experience", "core/event", "core/run", "core/task"},                                                                                                                                                                                                                                    // event, run: the lines of episodes
	"core/checkpoint":          {"core/experience", "core/replica", "core/config", "core/task", "core/redo", "core/cost", "core/inspect", "core/event", "core/knob", "core/run", "core/generative", "core/replay", "core/version"},
	"core/offline":             {"core/checkpoint", "core/replica", "core/config", "core/task", "core/inspect", "core/whatif", "core/event", "core/knob", "core/redo", "core/run", "core/agent", "core/relevance", "core/generative", "core/replay", "core/analysis", "core/plan", "core/device", "core/rng", "core/version"},
	"core/lab":                 {"core/ground", "core/dataset", "core/experience", "core/source", "core/checkpoint", "core/replica", "core/config", "core/task", "core/policy", "core/redo", "core/cost", "core/inspect", "core/event", "core/knob", "core/run", "core/agent", "core/relevance", "core/generative", "core/replay", "core/plan", "core/device", "core/device/adapt"},
	"core/whatif":              {"core/agent", "core/generative", "core/replay", "core/plan", "core/analysis", "core/run", "core/rng"}, // run: its numbers in JSON
	"core/bench":               {"core/..."},
	"core/sweep":               {"core/run", "core/cost"},
	"core/sweep/slurm":         {"core/run", "core/shell"},
	"core/sweep/ssh":           {"core/run"},
	"core/ground":              {"core/event", "core/run"},                                                 // its line, and numbers as journals write them
	"core/fan":                 {"core/rng"},                                                               // who gets a change is drawn
	"core/report":              {"core/report/axes", "core/run", "core/fan", "core/printable", "core/rng"}, // rng: the bootstrap's random numbers
	"core/report/axes":         {},
	"core/agent":               {"core/experience", "core/replay", "core/registry", "core/window", "core/device"},                                                                                                          // contract and registry; window: the size of a frame after convolutions
	"core/agent/...":           {"core/experience", "core/agent", "core/agent/probe", "core/agent/align", "core/agent/images", "core/replay", "core/nn", "core/op", "core/plan", "core/window", "core/device", "core/rng"}, // a learner is a package below it and knows no other
	"core/agent/learners":      {"core/agent/..."},                                                                                                                                                                         // the list of them
	"core/relevance":           {"core/formula", "core/experience", "core/replay", "core/window", "core/registry", "core/nn", "core/op", "core/plan", "core/device", "core/rng"},
	"core/dynamics":            {"core/nn", "core/op", "core/plan", "core/device", "core/rng"},
	"core/generative":          {"core/generative/mlp", "core/generative/ondevice", "core/dynamics", "core/replay", "core/registry", "core/nn", "core/op", "core/plan", "core/device", "core/rng"},
	"core/generative/relabel":  {"core/generative", "core/analysis"},
	"core/generative/mlp":      {"core/nn", "core/op", "core/plan", "core/device", "core/rng"},
	"core/generative/ondevice": {"core/op", "core/plan", "core/device", "core/rng"},
	"core/analysis":            {"core/replay"},
	"core/experience":          {"core/replay", "core/rng"},
	"core/replay":              {"core/rng", "core/version"},
	"core/run":                 {"core/run/files", "core/printable", "core/shell", "core/version"}, // lines of journals are cleaned where they are read
	"core/run/files":           {},
	"core/rng":                 {},
	"core/version":             {}, // readers of saved files
	"core/spelling":            {},
	"core/formula":             {"core/spelling"}, // the language of task files and of relevance; a leaf but for its guesses
	"core/registry":            {"core/spelling"}, // parts that declare themselves
	"core/shell":               {},                // texts that say what to type
	"core/table":               {},                // configurations with tables of parts that register themselves
	"core/printable":           {},                // readers and views of what others wrote

	"tui/command/data":     {"tui/command/cli", "core/dataset"},
	"core/dataset":         {"core/dataset/...", "core/run", "core/printable"}, // run: how files are opened that people name; printable: their names
	"core/dataset/hdf5":    {"core/dataset/element"},
	"core/dataset/npy":     {"core/dataset/element"},
	"core/dataset/element": {},

	"core/nn":   {"core/op", "core/window", "core/rng", "core/version"},
	"core/plan": {"core/op", "core/nn", "core/device", "core/rng"},
	"core/op":   {"core/window"},

	"core/window": {}, // how windows move over images, for graphs and devices

	"core/device":                {"core/window", "core/rng"},
	"core/device/adapt":          {},
	"core/device/cpu":            {"core/device", "core/device/adapt", "core/device/cpu/kernel", "core/window", "core/rng"},
	"core/device/cpu/kernel":     {"core/rng"},
	"core/device/cpu/kernel/gen": {},

	"core/device/cuda":            {"core/device", "core/device/cuda/kernel", "core/device/cuda/driver", "core/rng"},
	"core/device/cuda/dry":        {"core/device", "core/device/cuda", "core/device/cuda/kernel", "core/device/cuda/driver"},
	"core/device/cuda/kernel":     {"core/device", "core/rng"},
	"core/device/cuda/kernel/gen": {},
	"core/device/cuda/driver":     {},

	// Only tests, and packages like these, import packages below a folder named testing.
	"core/testing/allocs":     {},                                                                                                                                                                         // what code allocates
	"core/testing/cputest":    {"core/device/cpu"},                                                                                                                                                        // a CPU that is closed after the test
	"core/testing/cut":        {"core/run/files"},                                                                                                                                                         // kills and power cuts
	"core/testing/drivertest": {"core/device/cuda/driver"},                                                                                                                                                // the tests that every CUDA driver must pass
	"core/testing/emulator":   {"core/device/cuda/driver", "core/testing/ptx"},                                                                                                                            // a CUDA driver that interprets kernels
	"core/testing/golden":     {"core/op"},                                                                                                                                                                // numbers of another program
	"core/testing/gradcheck":  {"core/device", "core/op", "core/plan"},                                                                                                                                    // gradients, and difference quotients to compare them with
	"core/testing/mirrortest": {"core/device"},                                                                                                                                                            // a device with memory of its own
	"core/testing/optest":     {"core/op", "core/window", "core/rng"},                                                                                                                                     // the cases with which every implementation of an operation is tested
	"core/testing/tiny":       {"core/config", "core/task", "core/agent", "core/agent/drqv2", "core/generative", "core/knob", "core/relevance", "core/device", "core/device/cpu", "core/testing/cputest"}, // a run that takes milliseconds
	"core/testing/racing":     {},                                                                                                                                                                         // whether the race detector watches
	"core/testing/pace":       {},                                                                                                                                                                         // makes work slow or quick
	"core/testing/ptx":        {},                                                                                                                                                                         // the interpreter
	"tui/testing/commandtest": {"tui/command/cli", "core/task"},                                                                                                                                           // what tests give to commands
	"tui/testing/pty":         {},
	"tui/testing/tmux":        {"core/testing/pace"},

	"envs":          {"envs/mujoco", "envs/render", "core/formula"},
	"envs/maze":     {},
	"envs/mujoco":   {},
	"envs/outside":  {"core/printable"}, // printable: what other programs say
	"envs/render":   {},
	"envs/taskfile": {"envs", "envs/mujoco", "core/formula", "core/printable", "core/spelling"}, // formulas; what others wrote; what was probably meant
}

const module = "pgrlab"

func TestImportsFollowTheMap(t *testing.T) {
	eachFile(t, parser.ImportsOnly, func(file, from string, _ []byte, parsed *ast.File) {
		may, known := permitted(from)
		if !known {
			t.Errorf("package %q is not in the import map: say what it may import", from)
			return
		}
		for _, spec := range parsed.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(target, module+"/")
			if ours && !permits(may, to) {
				t.Errorf("%s imports %s; the map lets %q import %v", file, to, from, may)
			}
			if to == "core/lab" && strings.HasPrefix(from, "tui") && from != "tui/command/session" {
				t.Errorf("%s imports core/lab: runs are started and driven in tui/command/session alone", file)
			}
			if ours && forTests(to) && !forTests(from) {
				t.Errorf("%s imports %s, which is for tests", file, to)
			}
		}
	})
}

// forTests says whether a package is for tests only.
func forTests(name string) bool { return slices.Contains(strings.Split(name, "/"), "testing") }

// permitted returns what a package may import: its own line of the map, or the line of all packages
// below a folder.
func permitted(from string) (may []string, known bool) {
	if may, known = allowed[from]; known {
		return may, true
	}
	may, known = allowed[path.Dir(from)+"/..."]
	return may, known
}

func permits(may []string, to string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		if prefix, all := strings.CutSuffix(m, "..."); all {
			return strings.HasPrefix(to, prefix)
		}
		return m == to
	})
}
