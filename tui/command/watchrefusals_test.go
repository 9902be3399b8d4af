package command

import (
	"testing"

	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// These are the refusals that people see when they ask for something that cannot be watched.
func TestWatchRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(cli.RunsVariable, "runs")
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "alive/config.toml", string(doc))
	write(t, "alone/policy.bin", "")
	write(t, "cohort/policy-0.bin", "")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--task", "cheetah-run"}, cli.StatusUsage, "watch: needs a terminal: ssh -t, or --frames DIR for files"},
		{nil, cli.StatusUsage, "watch: no task: say which with --task (pgrlab list tasks), or give a --policy"},
		{[]string{"--frames", "x", "--task", "cheeta-run"}, cli.StatusUsage, `unknown task "cheeta-run": did you mean "cheetah-run"? (pgrlab list tasks)`},
		{[]string{"--task", "cheetah-run", "--fps", "0"}, cli.StatusUsage, "watch: --fps 0: want 1 to 60"},
		{[]string{"--task", "cheetah-run", "--episodes", "-1"}, cli.StatusUsage, "watch: --episodes -1: want at least 1"},
		{[]string{"--task", "cheetah-run", "--size", "big"}, cli.StatusUsage, `watch: --size is "big": want WxH pixels, for example 320x240, at most 4096x4096`},
		{[]string{"--task", "cheetah-run", "--pictures", "svg"}, cli.StatusUsage, `watch: --pictures is "svg": want one of auto, kitty, sixel, blocks`},
		{[]string{"--frames", "fr.gif", "--task", "cheetah-run"}, cli.StatusUsage, "watch: --frames: write fr.gif: pictures, one PNG file for each, go into a folder: want a name without .gif"},
		{[]string{"--frames", "fr.MP4", "--task", "cheetah-run"}, cli.StatusUsage, "watch: --frames: write fr.MP4: pictures, one PNG file for each, go into a folder: want a name without .mp4"},
		{[]string{"--frames", "x", "--task", "cheetah-run", "--observation", "touch"}, cli.StatusUsage, `watch: --observation is "touch": want "pixels", or leave it out for the scene`},
		{[]string{"--frames", "fr.gif", "--task", "cheetah-run"}, cli.StatusUsage, "watch: --frames: write fr.gif: pictures, one PNG file for each, go into a folder: want a name without .gif"},
		{[]string{"--frames", "fr.MP4", "--task", "cheetah-run"}, cli.StatusUsage, "watch: --frames: write fr.MP4: pictures, one PNG file for each, go into a folder: want a name without .mp4"},
		{[]string{"--frames", "x", "--task", "cheetah-run", "--observation", "pixels"}, cli.StatusUsage, "watch: --observation pixels shows what a policy sees: give a --policy"},
		{[]string{"--frames", "x", "--policy", "latest"}, cli.StatusUsage, "look for runs in runs: no such file or directory: name the run folder, or go where the run was started"},
		{[]string{"--frames", "x", "--policy", "alive"}, cli.StatusUsage, "read policy alive/policy.bin: there is none: a run writes it when it ends, and there is no checkpoint yet: pgrlab checkpoint alive saves one"},
		{[]string{"--frames", "x", "--policy", "none"}, cli.StatusUsage, "read policy none: there is none: a run writes it when it ends"},
		{[]string{"--frames", "x", "--policy", "alone"}, cli.StatusUsage, "read policy alone/policy.bin: its run's config.toml must lie beside it"},
		{[]string{"--frames", "x", "--policy", "cohort"}, cli.StatusUsage, "read policy cohort/policy-0.bin: its run's config.toml must lie beside it"},
	} {
		status, stdout, stderr := command(append([]string{"watch"}, c.args...)...)
		if status != c.status || stdout != "" || stderr != "pgrlab: "+c.want+"\n" {
			t.Errorf("watch %v: status %d, %q %q, want %d %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
	if rundir.Exists("x") {
		t.Error("a folder for pictures was made for nothing")
	}
}
