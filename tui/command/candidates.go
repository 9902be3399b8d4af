package command

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/bench"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/analyse"
	"pgrlab/tui/command/attach"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/command/report"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/sweep"
	"pgrlab/tui/remote"
)

// Directives for the shell, and how long labs may take.
const (
	plainWords  = cobra.ShellCompDirectiveNoFileComp
	inOrder     = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	orFiles     = cobra.ShellCompDirectiveDefault
	orFolders   = cobra.ShellCompDirectiveFilterDirs
	unfinished  = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	labPatience = 300 * time.Millisecond // a key press waits for it
)

// ofFlags complete the values of flags, by flag name, or by command and flag name.
var ofFlags = map[string]completer{
	"task": taskNames, "method": entries(presets.Methods), "scale": entries(presets.Scales), "preset": presetNames,
	"sweep --task": several(taskNames), "sweep --method": several(entries(presets.Methods)),
	"set": settings, "vary": settings, "fork --set": assignments, "at": scheduled, "schedule": runFolders, "resume": places, "relevance-from": places,
	"device": deviceNames, "precision": glossed("fp32", "exact", "tf32", "quick, the default", "bf16", "quickest"), "without": several(oneOf(bench.Switches...)),
	"figure": figures, "format": glossed("csv", "to stdout", "tensorboard", "a file of events"),
	"buffer": glossed("real", "collected", "syn", "generated"), "controls": oneOf(controlNames...), "policy": policies,
	"steps": counts, "seed": nothing, "seeds": hint("seeds, for example 0-4,7"), "step": hint("a step, for example 20k"),
	"pictures": glossed("auto", "as the terminal answers that it can", "kitty", "kitty's graphics protocol", "sixel", "sixel graphics", "blocks", "half blocks"),
	"members":  nothing, "observation": glossed("state", "numbers", "pixels", "what a camera shows"), "action-repeat": nothing, "tv": glossed("off", "none", "noise", "new noise in every step", "noise-action", "new noise where the agent fires", "images-action", "a picture, a new one where it fires"),
	"guidance": hint("numbers, for example 0,1,2"), "held-out": hint("a share, for example 0.1"), "analyse --set": refitAssignments,
	"relevance": several(oneOf(analyse.RelevanceNames()...)), "top-fraction": hint("shares, for example 0.25,1"), "analyse --seeds": hint("how many repeats"),
	"updates": counts, "samples": counts,
	"gpu-mem": hint("a size, for example 4GiB"), "disk": hint("a size, for example 5GiB"), "checkpoint-every": hint("a time, for example 5m"),
	"timeout": hint("a time, for example 1m"), "round": hint("a time, for example 1s"), "size": hint("pixels, for example 320x240"),
	"threads": nothing, "jobs": nothing, "runs-per-job": hint("how many runs share a GPU, for example 4"), "rounds": nothing, "member": nothing, "rows": nothing, "points": nothing, "pairs": nothing,
	"fps": nothing, "episodes": nothing, "speed": hint("seconds of the run in a second"), "threshold": hint("a return"),
	"statistic": glossed("iqm", "interquartile means", "mean", "means"), "score-from": hint("a step, for example 16k"), "serve --ssh": hint("where to listen, for example 0.0.0.0:2222"), "keys": files, "host-key": files,
	"on": glossed("here", "on this machine", "slurm", "a job array", "ssh:", "HOST,HOST:N on machines that share the disk"), "ssh": hint("an option of ssh, for example -oProxyJump=gate"),
	"profile": profiles, "name": nothing, "leave": nothing, "look": nothing, "signal": oneOf("TERM", "USR1"), "sbatch": hint("an option of sbatch, for example --time=4:00:00"), "sessions": nothing, "idle": hint("a time, for example 1h"),
	"replay --picture": files, "replay --cast": files, "replay --size": hint("columns and lines, for example 120x36"), "results": files,
	"env": hint("a command, for example 'python3 my_env.py'"), "env-arg": hint("an argument, for example gravity=3.7"), "python": files, "act-bound": hint("a number, for example 1"), "episode-steps": counts, "env-timeout": hint("seconds, for example 300"), "env-procs": nothing,
	"data": files, "pretrain": counts, "act-low": hint("a number, for example -2"), "act-high": hint("a number, for example 2"), "done": glossed("terminal", "a true end", "timeout", "an end of time"),
	"out": folders, "export --out": files, "pack --out": files, "tensorboard": folders, "frames": folders,
}

// ofArguments complete the arguments of commands.
var ofArguments = map[string]completer{
	"attach": labs, "serve": labs, "stop": labs, "pause": labs, "park": labs, "resume": labs, "checkpoint": labs,
	"report": runFolders, "card": onlyFirst(runFolders), "export": onlyFirst(runFolders), "replay": onlyFirst(runFolders),
	"pack": runFolders, "unpack": onlyFirst(files),
	"fork": onlyFirst(places), "analyse": places, "journal canonical": onlyFirst(runFolders), "journal diff": runFolders,
	"data check": onlyFirst(files), "env check": programs, "env allow": programs, "task check": onlyFirst(files), "dream": onlyFirst(orRows),
	"preset show": onlyFirst(presetNames), "bench": workloadNames, "sweep job": onlyFirst(folders), "sweep status": onlyFirst(folders), "sweep cancel": onlyFirst(folders), "sweep poke": onlyFirst(folders), "sweep requeue": onlyFirst(folders), "sweep worker": onlyFirst(folders), "man": onlyFirst(folders), "version": onlyFirst(files),
}

func nothing(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, plainWords
}

func folders(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, orFolders
}

func files(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, orFiles
}

// hint says what is wanted where nothing can be listed.
func hint(text string) completer {
	return func(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return cobra.AppendActiveHelp(nil, text), plainWords
	}
}

// orRows completes run folders, beside files of transitions.
func orRows(d cli.Deps, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, _ := runFolders(d, args, begun)
	return all, orFiles
}

func oneOf(names ...string) completer {
	return func(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return names, plainWords
	}
}

// glossed completes words that are listed with their meaning.
func glossed(pairs ...string) completer {
	var all []cobra.Completion
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, cobra.CompletionWithDesc(pair[0], pair[1]))
	}
	return func(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) { return all, inOrder }
}

// onlyFirst completes the first argument only.
func onlyFirst(complete completer) completer {
	return func(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, plainWords
		}
		return complete(d, args, word)
	}
}

// several completes the last element of a comma-separated list.
func several(complete completer) completer {
	return func(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		done := word[:strings.LastIndexByte(word, ',')+1]
		all, _ := complete(d, args, word[len(done):])
		for i := range all {
			all[i] = done + all[i]
		}
		return all, unfinished
	}
}

func entries(list func() []presets.Entry) completer {
	return func(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		for _, e := range list() {
			all = append(all, cobra.CompletionWithDesc(e.Name, e.Doc))
		}
		return all, inOrder
	}
}

func taskNames(d cli.Deps, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	for _, t := range d.Tasks {
		all = append(all, cobra.CompletionWithDesc(t.Name, t.Doc))
	}
	return all, cobra.ShellCompDirectiveKeepOrder // or a task file
}

// programs complete a task that another program simulates; the end of its name is not known here.
func programs(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{cobra.CompletionWithDesc("gym:", "an environment of Gymnasium"), cobra.CompletionWithDesc("dm:", "one of dm_control")}, unfinished
}

// presetNames are the built-in presets; a preset may also be a file.
func presetNames(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, _ := entries(presets.Presets)(d, args, word)
	return all, orFiles
}

func figures(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return report.FigureNames(), inOrder
}

func deviceNames(d cli.Deps, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all := []cobra.Completion{cobra.CompletionWithDesc("auto", "a free GPU, else the CPU"), cobra.CompletionWithDesc("cpu", "the CPU")}
	if d.GPUs == nil {
		return all, inOrder
	}
	all = append(all, cobra.CompletionWithDesc("cuda", "the GPU with most free memory"))
	for _, g := range d.GPUs().Found {
		all = append(all, cobra.CompletionWithDesc(g.Device(), g.Describe()))
	}
	return all, inOrder
}

// profiles are the profiles in the settings.
func profiles(cli.Deps, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return sweep.Profiles(), plainWords
}

func workloadNames(d cli.Deps, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	for _, w := range machine.Workloads(d) {
		all = append(all, cobra.CompletionWithDesc(w.Name, w.Doc))
	}
	return all, inOrder
}

// counts complete a number with the suffixes for thousands and more.
func counts(_ cli.Deps, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if _, err := strconv.Atoi(word); err != nil {
		return cobra.AppendActiveHelp(nil, "a count, for example 20000, 20k or 1.5M"), plainWords
	}
	return []cobra.Completion{cobra.CompletionWithDesc(word+"k", "thousands"), cobra.CompletionWithDesc(word+"M", "millions")}, plainWords
}

// assignments complete KNOB=VALUE: first the knob, then its values.
func assignments(_ cli.Deps, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, _, valued := strings.Cut(word, "=")
	if !valued {
		var all []cobra.Completion
		for _, k := range knob.All() {
			about := k.Doc
			if k.Symbol != "" {
				about = k.Symbol + ": " + about
			}
			all = append(all, cobra.CompletionWithDesc(k.Name+"=", about))
			for _, symbol := range []string{k.Symbol, k.Typed} {
				if symbol != "" && word != "" && strings.HasPrefix(symbol, word) {
					all = append(all, cobra.CompletionWithDesc(symbol+"=", k.Doc))
				}
			}
		}
		return all, unfinished
	}
	k, err := knob.Find(name)
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), plainWords
	}
	if k.Kind != knob.KindChoice {
		return cobra.AppendActiveHelp(nil, fmt.Sprintf("%s: %s", k.Name, k.Range())), plainWords
	}
	var all []cobra.Completion
	for _, choice := range k.Choices {
		about := ""
		if k.Name == "relevance" {
			if f, err := relevance.Find(choice); err == nil {
				about = f.Doc + ": " + f.Equation
			}
		}
		all = append(all, cobra.CompletionWithDesc(name+"="+choice, about))
	}
	return all, inOrder
}

// scheduled completes STEP:KNOB=VALUE after the step.
func scheduled(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	left, _, _ := strings.Cut(word, "=")
	i := strings.LastIndexByte(left, ':')
	if i < 0 {
		if _, err := knob.ParsePosition(word); err == nil {
			return []cobra.Completion{word + ":"}, unfinished
		}
		return cobra.AppendActiveHelp(nil, "STEP:KNOB=VALUE, for example 10k:relevance=td!"), plainWords
	}
	all, directive := assignments(d, args, word[i+1:])
	for n := range all {
		if !strings.HasPrefix(all[n], activeHelp) {
			all[n] = word[:i+1] + all[n]
		}
	}
	return all, directive
}

// activeHelp is the prefix of a completion that is a hint.
var activeHelp = strings.TrimSuffix(string(cobra.AppendActiveHelp(nil, "-")[0]), "-")

// runFolders are the runs below the folder for new runs, the latest first.
func runFolders(_ cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dirs := rundir.All()
	slices.Reverse(dirs)
	var all []cobra.Completion
	for _, dir := range dirs {
		if dir = begun(word, dir); !slices.Contains(args, dir) {
			all = append(all, dir)
		}
	}
	return append(all, cobra.CompletionWithDesc(rundir.Latest, "the run that was written last")), orFiles
}

// begun writes a path in the form in which a word has begun it.
func begun(word, path string) string {
	switch {
	case filepath.IsAbs(word):
		return rundir.Absolute(path)
	case strings.HasPrefix(word, "./"):
		return "./" + rundir.Near(rundir.Absolute(path))
	}
	return rundir.Near(rundir.Absolute(path))
}

// places are runs and, after an @, the saved steps.
func places(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, _, at := strings.Cut(word, "@")
	if !at {
		return runFolders(d, args, word)
	}
	found, err := rundir.Find(dir)
	if err != nil {
		return nil, plainWords
	}
	saved, err := run.Checkpoints(found)
	if err != nil {
		return nil, plainWords
	}
	var all []cobra.Completion
	for _, c := range saved {
		if text := fmt.Sprintf("%s@%d", dir, c.Step); c.Err == nil && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all, inOrder
}

// policies are the runs that have saved a policy.
func policies(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	runs, directive := runFolders(d, args, word)
	var all []cobra.Completion
	for _, dir := range runs {
		if strings.HasPrefix(dir, rundir.Latest) || rundir.Exists(filepath.Join(dir, run.PolicyName)) || rundir.Exists(filepath.Join(dir, run.CheckpointsName)) {
			all = append(all, dir)
		}
	}
	return all, directive
}

// labs are the running labs, by their processes and their folders.
func labs(_ cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, plainWords
	}
	ctx, stop := context.WithTimeout(context.Background(), labPatience)
	defer stop()
	running := remote.List(ctx)
	rows := attach.LabRows(running)
	var all []cobra.Completion
	for i, s := range running {
		all = append(all, cobra.CompletionWithDesc(strconv.Itoa(s.PID), rows[i]))
		if dir := begun(word, s.Dir); s.Answered && word != "" && strings.HasPrefix(dir, word) {
			all = append(all, cobra.CompletionWithDesc(dir, rows[i]))
		}
	}
	return all, orFiles
}

// settings complete KEY=VALUE of a new run: knobs, and keys of config.toml once the word is not
// empty.
func settings(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, _, valued := strings.Cut(word, "=")
	if valued && strings.Contains(name, ".") {
		return nil, plainWords
	}
	all, directive := assignments(d, args, word)
	if valued || word == "" {
		return all, directive
	}
	return append(all, settingKeys(word)...), directive
}

// refitAssignments complete KEY=VALUE of analyse --set.
func refitAssignments(d cli.Deps, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const generator = "generator."
	all, directive := assignments(d, args, word)
	name, _, valued := strings.Cut(word, "=")
	if strings.HasPrefix(name, generator) && valued {
		return nil, plainWords
	}
	if valued {
		return all, directive
	}
	var fit []cobra.Completion
	for _, one := range all {
		if name, _, _ := strings.Cut(one, "="); slices.Contains(analyse.RefitKnobs, name) {
			fit = append(fit, one)
		}
	}
	return append(fit, settingKeys(generator)...), directive
}

// settingKeys are the keys of config.toml that begin with prefix and can be set, each with its =.
func settingKeys(prefix string) (all []cobra.Completion) {
	c, err := presets.Resolve(presets.Choice{})
	if err != nil {
		return nil
	}
	settings, err := presets.Settings(c)
	if err != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if _, err := runflags.ParseAssignment(key + "=0"); err == nil && strings.HasPrefix(key, prefix) && !strings.HasPrefix(key, "knobs.") {
			all = append(all, cobra.CompletionWithDesc(key+"=", settings[key]))
		}
	}
	return all
}
