package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/rundir"
)

// CardCommand is card.
func CardCommand(d cli.Deps) *cobra.Command {
	var h hubRequest
	c := &cobra.Command{
		Use:   "card DIR",
		Short: "print one page that makes a run reproducible",
		Long: `Prints one page about a run, as Markdown: the command line that repeats the run, the
settings in which it differs from its preset, versions, host, device and kernels, what
was changed while it ran, its results beside those of the paper and of others, and
checksums that show whether a repetition is the same.

With --hub it makes a folder for the Hugging Face hub instead: a model card README.md with
the metadata that the hub shows, results.json, config.toml, and the policy as ONNX and
safetensors. Nothing is uploaded.`,
		Example: `  pgrlab card runs/a > card.md
  pgrlab card runs/a --hub --out cheetah && hf upload ME/cheetah cheetah`,
		Args: cli.ExactArgs(1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := h.check(c.Flags()); err != nil {
				return err
			}
			dir, err := rundir.Find(args[0])
			if err != nil {
				return fmt.Errorf("card: %w", err)
			}
			p, err := newPage(dir)
			if err != nil {
				return fmt.Errorf("card: %w", err)
			}
			if h.hub {
				if err := h.write(d, p, c.ErrOrStderr()); err != nil {
					return fmt.Errorf("card: %w", err)
				}
				return nil
			}
			out := bufio.NewWriter(c.OutOrStdout())
			if err := p.card(out); err != nil {
				return fmt.Errorf("card: %w", err)
			}
			return out.Flush()
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&h.hub, "hub", false, "make a folder for the Hugging Face hub")
	cli.CountVar(f, &h.member, "member", -1, 0, "`I` with --hub: member of a cohort, from 0")
	f.StringVar(&h.out, "out", "", "`DIR` with --hub: the folder (default: a name made from the run's, in this folder)")
	return c
}

// page is what a card says about a run.
type page struct {
	*report.Run
	config      config.Config
	from        presets.Choice // what the run was made from
	differences []presets.Difference
}

func newPage(dir string) (*page, error) {
	r, err := results.LoadRun(dir)
	if err != nil {
		return nil, err
	}
	saved, err := rundir.Saved(dir, -1)
	if err != nil {
		return nil, err
	}
	p := &page{Run: r, config: saved.Config}
	p.from, p.differences, err = origin(saved.Config)
	return p, err
}

// card writes the page.
func (p *page) card(w io.Writer) error {
	fmt.Fprintf(w, "# %s on %s, scale %s, seed %d: %s\n\n", p.Method, p.Task, p.Scale, p.Seed, p.Badge())
	return p.body(w, [][2]string{{"host", p.Host}, {"folder", rundir.Absolute(p.Dir)}})
}

// body writes the page without its title; places are what it says about where the run was made.
func (p *page) body(w io.Writer, places [][2]string) error {
	r := p.Run
	fmt.Fprintf(w, "%s\n\n", state(r, p.config))
	if r.Changed != "" {
		fmt.Fprintf(w, "**Warning**: %s.\n\n", r.Changed)
	} else if r.Unchecked && r.Done {
		fmt.Fprint(w, "The lines after its last checkpoint, among them the last return, are not checked for changes: it was not closed, or another version of pgrlab made it.\n\n")
	}
	repeat(w, r, p.config, p.from, p.differences)
	fmt.Fprint(w, "\n## Where and with what\n\n| | |\n| --- | --- |\n")
	for _, row := range append([][2]string{
		{"program", "pgrlab " + r.Version}, {"device and kernels", cmp.Or(r.Machine, r.Device)}, {"begun", r.Time},
		{"took", (time.Duration(r.WallS * float64(time.Second))).Round(time.Second).String()},
		{"checkpoints, resumes", fmt.Sprintf("%d, %d", r.Checkpoints, r.Resumes)},
	}, places...) {
		fmt.Fprintf(w, "| %s | %s |\n", row[0], row[1])
	}
	if text := r.Unrepeated(); text != "" {
		fmt.Fprintf(w, "\nThe journal is not repeated exactly: %s.\n", text)
	} else if len(r.Moved) > 0 {
		fmt.Fprintf(w, "\nThe run was moved (%s), so its journal is the same, byte for byte, on none of these alone.\n", r.Devices())
	} else {
		fmt.Fprintf(w, "\nThe journal is the same, byte for byte, on this device and kernel family (%s), whatever the number of threads.\n", r.Device)
	}
	writeChanges(w, r)
	writeResults(w, r, p.config)
	return checksums(w, p.Dir)
}

// state says how far the run has come.
func state(r *report.Run, c config.Config) string {
	text := fmt.Sprintf("%s of %s env steps", report.Count(r.Step), report.Count(c.Steps))
	if c.Sees() {
		p := c.Pixels
		text += fmt.Sprintf(" from pixels, %d×%d in stacks of %d: %s of %s frames of the task", p.Side, p.Side, p.Stack, report.Count(c.Frames(r.Step)), report.Count(c.Frames(c.Steps)))
	}
	switch {
	case r.Failed != "":
		text += "; it failed: " + r.Failed
	case r.Stopped():
		text += "; it was stopped before its end"
	case !r.Done:
		text += "; it has not ended, or was killed"
	}
	if r.Forked != "" {
		text += "; forked off another run at " + r.Forked + ", whose journal up to there is part of this one"
	}
	if n := len(r.Members); n > 1 {
		text += fmt.Sprintf("; %d members, seeds %d to %d", n, r.Members[0].Seed, r.Members[n-1].Seed)
	}
	return text + "."
}

// origin is what the run was made from, with its preset if that is a named one, and how the run
// differs from that.
func origin(c config.Config) (presets.Choice, []presets.Difference, error) {
	axes := presets.Choice{Task: c.Task, Method: c.Method, Scale: c.Scale, Observation: c.Environment.Observation, Choices: c.Environment.Outside.Spec.Choices > 0}
	named := slices.ContainsFunc(presets.Presets(), func(e presets.Entry) bool { return e.Name == c.Preset })
	if named {
		axes.Preset = c.Preset
	}
	all, err := presets.Differences(axes, c)
	all = slices.DeleteFunc(all, func(d presets.Difference) bool { return presets.Judges(d.Key) && strings.HasPrefix(d.Key, ofPrograms) })
	return axes, all, err
}

// repeat says how to repeat the run.
func repeat(w io.Writer, r *report.Run, c config.Config, from presets.Choice, differences []presets.Difference) {
	dir := r.Dir
	byHand := len(r.ByHand()) > 0
	if byHand {
		c.Schedule = nil // --schedule repeats these changes as well
	}
	line := commandLine(dir, c, from, differences)
	if byHand {
		line += " --schedule " + shell.Word(dir)
	}
	if r.Forked != "" {
		repeatFork(w, r, c)
	} else {
		fmt.Fprintf(w, "## Again\n\n```\n%s\n```\n", line)
	}
	if c.Dreams() && !c.Data.Given() {
		fmt.Fprint(w, "\nRUN is the folder, with @STEP, of the run whose D_real it began with.\n")
	}
	if byHand && r.Forked == "" {
		fmt.Fprint(w, "\n--schedule makes the changes again that were made by hand.\n")
	}
	base := fmt.Sprintf("%s, %s, scale %s", from.Method, from.Task, from.Scale)
	if from.Preset != "" {
		base = "preset " + from.Preset + " with " + base
	}
	differences = slices.DeleteFunc(slices.Clone(differences), func(d presets.Difference) bool { return d.Key == "seed" || d.Key == "device" })
	if len(differences) == 0 {
		fmt.Fprintf(w, "\nAll settings are those of %s.\n", base)
		return
	}
	fmt.Fprintf(w, "\nSettings that are not those of %s:\n\n| setting | there | here |\n| --- | --- | --- |\n", base)
	for _, d := range differences {
		fmt.Fprintf(w, "| %s | `%s` | `%s` |\n", d.Key, d.From, d.To)
	}
}

// writeChanges lists knob changes and notes.
func writeChanges(w io.Writer, r *report.Run) {
	fmt.Fprint(w, "\n## While it ran\n\n")
	if len(r.Changes) == 0 {
		fmt.Fprint(w, "No knob was turned.\n")
	} else {
		fmt.Fprint(w, "| position | knob | from | to | by |\n| --- | --- | --- | --- | --- |\n")
	}
	for _, c := range r.Changes {
		to := c.To
		if c.Now {
			to += ", at once"
		}
		by := cmp.Or(c.By, "hand")
		if c.Forked {
			by = "the fork"
		}
		if c.Cancelled {
			c.From, to = "planned: "+to, "cancelled"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", c.Position, c.Knob, c.From, to, by)
	}
	for i, n := range r.Notes {
		if i == 0 {
			fmt.Fprint(w, "\nNotes:\n\n")
		}
		fmt.Fprintf(w, "- %s\n", strings.ReplaceAll(n, "\n", " "))
	}
}

// writeResults writes the results.
func writeResults(w io.Writer, r *report.Run, c config.Config) {
	fmt.Fprint(w, "\n## Results\n\n| seed | evaluations | last return | best return | area under the curve | dormant ratio |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, m := range r.Members {
		s := m.Series[report.Return]
		if len(s) == 0 {
			fmt.Fprintf(w, "| %d | 0 | – | – | – | – |\n", m.Seed)
			continue
		}
		end, best := s[len(s)-1], s[0]
		for _, p := range s {
			if p.Value > best.Value || math.IsNaN(best.Value) {
				best = p
			}
		}
		dormant := "–"
		if d := m.Series["dormant/ratio"]; len(d) > 0 {
			dormant = fmt.Sprintf("%.1f %%", 100*d[len(d)-1].Value)
		}
		area := "–"
		if mean, ok := s.Area(s[0].Step, end.Step); ok {
			area = fmt.Sprintf("%.1f", mean)
		}
		fmt.Fprintf(w, "| %d | %d | %.1f at %s | %.1f at %s | %s | %s |\n", m.Seed, len(s), end.Value, report.Count(end.Step),
			best.Value, report.Count(best.Step), area, dormant)
	}
	if beside := presets.Beside(presets.OfRun(c)); beside != "" {
		fmt.Fprintf(w, "\nReported for this task and method: %s. One seed is no result: `pgrlab report` compares over seeds.\n", beside)
	}
}

// checksums writes the checksums that show whether a repetition is the same.
func checksums(w io.Writer, dir string) error {
	doc, err := run.ReadFile(dir, run.ConfigName)
	if err != nil {
		return err
	}
	journal, err := rundir.OpenJournal(dir)
	if err != nil {
		return err
	}
	defer journal.Close()
	canonical := sha256.New()
	if err := run.Canonical(journal, canonical); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	config := sha256.Sum256(doc)
	_, err = fmt.Fprintf(w, "\n## Checksums (SHA-256)\n\n| | |\n| --- | --- |\n| %s | `%s` |\n| `pgrlab journal canonical` | `%s` |\n",
		run.ConfigName, hex.EncodeToString(config[:]), hex.EncodeToString(canonical.Sum(nil)))
	return err
}
