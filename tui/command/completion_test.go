package command

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// completions returns what tab offers at the end of a line, without the descriptions.
func completions(t *testing.T, line ...string) []string {
	t.Helper()
	status, stdout, _ := command(append([]string{cobra.ShellCompRequestCmd}, line...)...)
	if status != cli.StatusDone {
		t.Errorf("tab after %q: status %d", line, status)
	}
	var all []string
	for _, l := range strings.Split(strings.TrimSpace(stdout), "\n") {
		word, _, _ := strings.Cut(l, "\t")
		all = append(all, word)
	}
	return all[:len(all)-1] // the last line is for the shell
}

// Tab offers the values of every flag, and no files if it takes none.
func TestEveryFlagCompletes(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, known := c.GetFlagCompletionFunc(f.Name); !known && f.Value.Type() != "bool" {
				t.Errorf("%s --%s: tab offers files", c.CommandPath(), f.Name)
			}
		})
		if c.Runnable() && c.ValidArgs == nil && c.ValidArgsFunction == nil {
			t.Errorf("%s: tab offers files as arguments", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(commandtest.Deps()))
}

// Whatever tab offers is accepted in the place where it was offered.
func TestCompletionsAreAccepted(t *testing.T) {
	t.Chdir(t.TempDir())
	accepted := func(args ...string) {
		t.Helper()
		if status, _, stderr := command(args...); status != cli.StatusDone {
			t.Errorf("pgrlab %q: status %d, %s", args, status, stderr)
		}
	}
	for _, flag := range []string{"--method", "--scale", "--task"} {
		all := completions(t, "preset", "show", flag, "")
		if len(all) < 3 {
			t.Errorf("preset show %s offers %q", flag, all)
		}
		for _, value := range all {
			accepted("preset", "show", flag, value)
		}
	}
	for _, name := range completions(t, "preset", "show", "") {
		// a preset's task may be one that the test does not have
		if _, err := presets.Resolve(presets.Choice{Preset: name}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range completions(t, "list", "") {
		accepted("list", name)
	}
	for _, name := range completions(t, "help", "") {
		accepted("help", name)
	}
	for _, name := range completions(t, "completion", "") {
		accepted("completion", name)
	}
	figures := completions(t, "report", "--figure", "")
	if len(figures) < 10 {
		t.Errorf("%d figures", len(figures))
	}
	for _, name := range figures { // the figure is known, the folder is not
		if _, _, stderr := command("report", "nowhere", "--figure", name); !strings.Contains(stderr, "nowhere") {
			t.Errorf("report --figure %s: %s", name, stderr)
		}
	}
	for _, name := range completions(t, "bench", "") { // the workload is known, the device is not
		if _, _, stderr := command("bench", name); !strings.Contains(stderr, "no kernels") {
			t.Errorf("bench %s: %s", name, stderr)
		}
	}
	knobs := completions(t, "train", "--set", "")
	if len(knobs) != len(knob.All()) {
		t.Errorf("--set offers %q", knobs)
	}
	for _, begin := range append(knobs, "ω=", "F=") {
		k, err := knob.Find(strings.TrimSuffix(begin, "="))
		if err != nil {
			t.Error(err)
			continue
		}
		values := completions(t, "train", "--set", begin)
		if k.Kind == knob.KindChoice && len(values) != len(k.Choices) {
			t.Errorf("--set %s offers %q of %q", begin, values, k.Choices)
		}
		for _, v := range values {
			if strings.HasPrefix(v, activeHelp) {
				continue
			}
			if _, err := k.Parse(strings.TrimPrefix(v, begin)); err != nil {
				t.Error(err)
			}
		}
	}
}

// These are the completions that tab offers for a word.
func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(cli.RunsVariable, "")
	for _, name := range []string{"a", "ab", "c"} {
		write(t, "runs/"+name+"/"+run.ConfigName, "")
		write(t, "runs/"+name+"/"+run.JournalName, "")
	}
	write(t, "runs/ab/"+run.PolicyName, "")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"train --task chee", []string{"cheetah-run"}},
		{"--method pgr-cu", []string{"pgr-curiosity"}},
		{"sweep --task cheetah-run,w", []string{"cheetah-run,walker-walk"}},
		{"train --set rel", []string{"relevance="}},
		{"train --set generator.wid", []string{"generator.width="}},
		{"preset show --set generator.ems", nil},
		{"preset show --set agent.sub", []string{"agent.subset="}},
		{"sweep --set steps", nil},
		{"fork runs/a --set generator.wid", nil},
		{"train --set UT", []string{"UTD="}},
		{"train --set relevance=cu", []string{"relevance=curiosity"}},
		{"train --set F=cu", []string{"F=curiosity"}},
		{"fork runs/a --set hold=b", []string{"hold=batch"}},
		{"train --at 10k", []string{"10k:"}},
		{"train --at 10k:rel", []string{"10k:relevance="}},
		{"train --at 10k/fit:3:F=rn", []string{"10k/fit:3:F=rnd"}},
		{"train --steps 20", []string{"20k", "20M"}},
		{"train --device c", []string{"cpu"}},
		{"train --precision b", []string{"bf16"}},
		{"export runs/a --format t", []string{"tensorboard"}},
		{"export runs/a --buffer s", []string{"syn"}},
		{"trace --controls z", []string{"zero"}},
		{"report --figure dyn", []string{"dynamics"}},
		{"report runs/a", []string{"runs/ab", "runs/a"}},
		{"report runs/ab runs/a", []string{"runs/a"}},
		{"card ./runs/c", []string{"./runs/c"}},
		{"card " + here + "/runs/c", []string{here + "/runs/c"}},
		{"card runs/a runs/", []string{}},
		{"train --resume la", []string{"latest"}},
		{"card la", []string{"latest"}},
		{"watch --policy runs/", []string{"runs/ab"}},
		{"journal d", []string{"diff"}},
		{"help journal c", []string{"canonical"}},
		{"completion po", []string{"powershell"}},
		{"analy", []string{"analyse"}},
		{"train --seed ''", []string{}},
		{"version ''", []string{}},
	} {
		if got := completions(t, words(c.line)...); !slices.Equal(got, c.want) {
			t.Errorf("tab after %q offers %q, want %q", c.line, got, c.want)
		}
	}
}

// In bash a word after a colon, or after a colon and an equals sign, is completed to the offered
// text exactly once.
func TestBashCompletesWordsWithSigns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not there")
	}
	var script bytes.Buffer
	if status := Main(context.Background(), commandtest.Deps(), []string{"completion", "bash"}, strings.NewReader(""), &script, &script); status != cli.StatusDone {
		t.Fatal(script.String())
	}
	if !strings.Contains(script.String(), bashOnce) || strings.Contains(script.String(), bashTwice) {
		t.Fatal("the script of this cobra is another one than was mended")
	}
	for _, c := range []struct{ word, offered, inserted string }{
		{"rel", "relevance=", "relevance="}, {"relevance=cu", "relevance=curiosity", "curiosity"}, {"10k:", "10k:relevance=", "relevance="},
		{"10k:relevance=cu", "10k:relevance=curiosity", "curiosity"}, {"5/fit:3:F=t", "5/fit:3:F=td", "td"}, {"chee", "cheetah-run", "cheetah-run"},
	} {
		// The stub stands for bash-completion and for pgrlab's answer.
		main := script.String() + `
_init_completion() { cur=$WORD prev=--set words=(pgrlab train --set "$WORD") cword=3; }
pgrlab() { printf '%s\n:6\n' "$OFFERED"; }
compopt() { :; }
COMP_TYPE=9 COMP_WORDBREAKS=$' \t\n"=:'
__start_pgrlab
printf %s "${COMPREPLY[*]}"`
		cmd := exec.Command(bash, "--norc", "-c", main)
		cmd.Env = []string{"WORD=" + c.word, "OFFERED=" + c.offered, "LC_ALL=C.UTF-8"}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != c.inserted {
			t.Errorf("%s is completed by %q, want %q (%v)", c.word, out, c.inserted, err)
		}
	}
}
