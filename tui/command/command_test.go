package command

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/testing/commandtest"
)

var update = flag.Bool("update", false, "write the golden files")

// command runs a command line with testDeps, away from any terminal.
func command(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Main(context.Background(), commandtest.Deps(), args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

// fullDisk is a stdout on a disk without room.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A help that cannot be written is a failure like any other output that cannot.
func TestHelpOnAFullDisk(t *testing.T) {
	for _, line := range []string{"--help", "help train", "list tasks --help", "version"} {
		var stderr bytes.Buffer
		status := Main(context.Background(), commandtest.Deps(), strings.Fields(line), strings.NewReader(""), fullDisk{}, &stderr)
		if status != cli.StatusFailed || stderr.String() != "pgrlab: no space left on device\n" {
			t.Errorf("pgrlab %s: status %d, %q", line, status, stderr.String())
		}
	}
}

// A run that cannot begin, because its device does not start, leaves no folder behind.
func TestNoDevice(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := command("train", "--out", "new")
	if status != cli.StatusFailed || stdout != "" || !strings.HasSuffix(stderr, "in new\npgrlab: start device cpu: no kernels\n") || rundir.Exists("new") {
		t.Errorf("status %d, stdout %q, stderr %q, folder: %v", status, stdout, stderr, rundir.Exists("new"))
	}
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{"help.txt": {"--help"}, "train.txt": {"train", "--help"}, "list.txt": {"list", "--help"}} {
		status, stdout, stderr := command(args...)
		if status != cli.StatusDone || stderr != "" {
			t.Errorf("%v: status %d, stderr %q", args, status, stderr)
		}
		golden(t, name, stdout)
	}
}

// golden compares got with a file below testdata; -update writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(sources, "testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d: got %q, want %q", name, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

// sources is the folder of this package; it is fixed here because tests change the working
// directory.
var sources = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// list without arguments says what can be listed; with --json it prints a list of lists.
func TestList(t *testing.T) {
	status, plain, stderr := command("list")
	if status != cli.StatusDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	_, stdout, _ := command("list", "--json")
	var all []presets.Entry
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || len(all) != len(lists) {
		t.Errorf("%d lists of %d, %v", len(all), len(lists), err)
	}
	for _, l := range lists {
		if !strings.Contains(plain, "pgrlab list "+l.name) {
			t.Errorf("list does not name %s:\n%s", l.name, plain)
		}
	}
}

// Spellings that mean the same give the same output.
func TestAliases(t *testing.T) {
	for _, pair := range [][2]string{
		{"--version", "version"}, {"help", "--help"}, {"help train", "train --help"}, {"help journal diff", "journal diff --help"},
		{"help list tasks", "list tasks --help"}, {"help help", "help --help"},
		{"preset show --task cheetah-run", "preset show --task CHEETAH_run"},
	} {
		status, one, stderr := command(words(pair[0])...)
		other, two, _ := command(words(pair[1])...)
		if status != cli.StatusDone || other != cli.StatusDone || one != two || one == "" || stderr != "" {
			t.Errorf("pgrlab %s: status %d, %q, stderr %q; pgrlab %s: status %d, %q", pair[0], status, one, stderr, pair[1], other, two)
		}
	}
}

// Every command has help in aligned columns that fits the width of a page.
func TestHelpOfEveryCommand(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Short == "" || c.Short == strings.ToUpper(c.Short) {
			t.Errorf("%s has no short text", c.CommandPath())
		}
		for _, s := range cli.FlagSections(c) {
			var b strings.Builder
			s.Write(&b, 0)
			columns := map[int]bool{}
			for _, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
				left, right, _ := strings.Cut(strings.TrimLeft(line, " "), "   ")
				indent := len(line) - len(strings.TrimLeft(line, " "))
				columns[indent+ansi.StringWidth(left)+3+len(right)-len(strings.TrimLeft(right, " "))] = true
			}
			if len(columns) != 1 {
				t.Errorf("%s: the texts of %s begin in %d columns:\n%s", c.CommandPath(), s.Title, len(columns), b.String())
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(commandtest.Deps()))
}

func TestListJSON(t *testing.T) {
	for _, l := range lists {
		status, stdout, stderr := command("list", l.name, "--json")
		var all []map[string]any
		if err := json.Unmarshal([]byte(stdout), &all); err != nil || status != cli.StatusDone || stderr != "" {
			t.Errorf("list %s --json: status %d, %q, %v", l.name, status, stderr, err)
			continue
		}
		if len(all) == 0 {
			t.Errorf("list %s --json is empty", l.name)
		}
		_, plain, _ := command("list", l.name)
		for i, entry := range all {
			name, _ := entry["name"].(string)
			doc := entry["doc"]
			if l.name == "measured" { // its entries have no names of their own
				name, _ = entry["source"].(string)
				doc = entry["mean"]
			}
			if name == "" || doc == nil {
				t.Errorf("list %s --json: entry %d has no name or doc: %v", l.name, i, entry)
			}
			if !strings.Contains(plain, name) {
				t.Errorf("list %s does not show %s", l.name, name)
			}
		}
	}
}

// What runs from pixels reached is listed at its frame beside its env step.
func TestMeasuredInFrames(t *testing.T) {
	_, plain, _ := command("list", "measured")
	for line := range strings.Lines(plain) {
		words := strings.Join(strings.Fields(line), " ")
		at := strings.Contains(words, " to 12500 100000 ") || strings.Contains(words, " to 40000 80000 ")
		if sees := strings.Contains(words, " pixels "); sees != at {
			t.Errorf("frames are missing or wrong: %q", line)
		}
	}
	if !strings.Contains(plain, " 100000 ") || !strings.Contains(plain, " 80000 ") {
		t.Error("no frames are listed")
	}
}

// Every F that can be chosen is listed, with its equation and its source.
func TestRelevanceFunctionsAreListed(t *testing.T) {
	k, err := knob.Find("relevance")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, v := range relevanceValues() {
		if listed = append(listed, v.Name); v.Equation == "" || v.Source == "" {
			t.Errorf("%+v lacks its equation or its source", v)
		}
	}
	for _, choice := range k.Choices {
		if !slices.Contains(listed, choice) {
			t.Errorf("listed are %v, to choose from %v", listed, k.Choices)
		}
	}
	if !slices.Equal(listed, relevance.Names()) {
		t.Errorf("listed are %v, there are %v", listed, relevance.Names())
	}
}

func TestDoctorJSON(t *testing.T) {
	status, stdout, stderr := command("doctor", "--json")
	var r struct {
		CPU struct {
			CPUs  int
			Model string
		}
		Kernels cli.Kernels
		Physics cli.Physics
		GPU     struct{ Supported bool }
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != cli.StatusDone || stderr != "" {
		t.Fatalf("status %d, stderr %q, %v", status, stderr, err)
	}
	if r.CPU.CPUs < 1 || r.CPU.Model == "" || r.Kernels.Family != "go" || r.Physics.StepsPerSec != 25000 || r.GPU.Supported {
		t.Errorf("report %+v", r)
	}
}

// On a machine that cannot run anything, doctor ends with status 1 after its report.
func TestDoctorMissing(t *testing.T) {
	d := commandtest.Deps()
	d.Physics = func(context.Context) cli.Physics { return cli.Physics{Error: "mujoco.wasm not found"} }
	var out, errs bytes.Buffer
	status := Main(context.Background(), d, []string{"doctor"}, strings.NewReader(""), &out, &errs)
	if status != cli.StatusFailed || !strings.Contains(out.String(), "not usable: mujoco.wasm not found") {
		t.Errorf("status %d\n%s", status, out.String())
	}
	if want := "pgrlab: doctor: physics: mujoco.wasm not found\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", errs.String(), want)
	}
}

// preset show prints the configuration that train would run.
func TestPresetShow(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, _ := command("preset", "show", "--task", "CHEETAH_run", "--method", "synther", "--scale", "release")
	if status != cli.StatusDone {
		t.Fatalf("status %d", status)
	}
	write(t, "mine.toml", stdout)
	got, err := presets.Resolve(presets.Choice{Preset: "mine.toml"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Task != "cheetah-run" || got.Method != "synther" || got.Generator.Normaliser != "standard" || got.Agent.InitialAlpha != 0.2 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(stdout, "utd = 20                      # SynthER: the same, utd_ratio\n") {
		t.Errorf("no source beside utd in\n%s", stdout)
	}
	if empty := regexp.MustCompile(`(?m)^\[.*\n\s*(\[.*|\z)`).FindString(stdout); empty != "" {
		t.Errorf("a table without keys: %q", empty)
	}
}

func TestJournalDiff(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a/"+run.JournalName, `{"type":"evaluated","step":1000,"return_mean":1.5,"wall_s":3}`+"\n")
	write(t, "b/"+run.JournalName, `{"type":"evaluated","step":1000,"return_mean":1.5,"wall_s":4}`+"\n")
	write(t, "c.jsonl", `{"type":"evaluated","step":1000,"return_mean":2.5,"wall_s":3}`+"\n")
	if status, stdout, stderr := command("journal", "diff", "a", "b"); status != cli.StatusDone || stdout+stderr != "" {
		t.Errorf("same: status %d, %q, %q", status, stdout, stderr)
	}
	status, stdout, stderr := command("journal", "diff", "a", "c.jsonl")
	want := "line 1\n" +
		`< {"type":"evaluated","step":1000,"return_mean":1.5}` + "\n" +
		`> {"type":"evaluated","step":1000,"return_mean":2.5}` + "\n"
	if status != cli.StatusFailed || stdout != want || stderr != "" {
		t.Errorf("different: status %d, %q, %q; want %q", status, stdout, stderr, want)
	}
	if status, stdout, _ := command("journal", "canonical", "a"); status != cli.StatusDone || strings.Contains(stdout, "wall_s") {
		t.Errorf("canonical: status %d, %q", status, stdout)
	}
}
