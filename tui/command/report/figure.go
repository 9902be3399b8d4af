package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/report"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// A wantedFigure is a figure to draw: its kind, and the preset that it belongs to.
type wantedFigure struct {
	name, kind string
	preset     *presets.Preset
}

func figureHelp() string {
	var b strings.Builder
	for _, f := range report.Figures() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// figureOfAnalyse is the preset whose figure cannot be drawn from journals.
const figureOfAnalyse = "fig-projection"

// figureKinds are the kinds of figures for presets, by the beginning of the preset's name.
var figureKinds = []struct{ prefix, kind string }{
	{"fig-dormant", "dormant"}, {"fig-dynamics", "dynamics"}, {"fig-cadence", "cadence"}, {"fig-scaling", "final"},
	{"fig-time", "time"}, {"fig-histograms", "relevance"}, {"fig-", "curves"},
}

// wanted finds the figures that the flags ask for.
func (r *reportRequest) wanted() ([]wantedFigure, error) {
	var all []wantedFigure
	var names []string
	for _, f := range report.Figures() {
		names = append(names, f.Name)
	}
next:
	for _, name := range r.figures {
		for _, n := range names {
			if n == name {
				all = append(all, wantedFigure{name: name, kind: name})
				continue next
			}
		}
		for _, p := range presets.Figures() {
			if p.Name != name || !strings.HasPrefix(name, "fig-") {
				continue
			}
			if name == figureOfAnalyse {
				return nil, cli.Usagef("report: figure %s: journals do not hold it: pgrlab analyse DIR prints it", name)
			}
			for _, k := range figureKinds {
				if strings.HasPrefix(name, k.prefix) {
					all = append(all, wantedFigure{name, k.kind, &p})
					continue next
				}
			}
		}
		return nil, cli.AsUsage(presets.Unknown("figure", name, names, "pgrlab report --help"))
	}
	return all, nil
}

// draw writes the figures and, with --out, the report itself.
func (r *reportRequest) draw(all *report.Report, runs []*report.Run, o report.Options, figures []wantedFigure, stderr io.Writer) error {
	dir := cmp.Or(r.out, ".")
	if err := cli.MakeFolder(dir, "the report and its figures"); err != nil {
		return err
	}
	if r.out != "" {
		for name, write := range map[string]func(io.Writer) error{
			"report.md":   all.Markdown,
			"report.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(all) },
		} {
			if err := cli.WriteFile(filepath.Join(dir, name), write); err != nil {
				return err
			}
		}
	}
	for _, f := range figures {
		of := all
		if p := f.preset; p != nil {
			o := o
			o.Keep = func(c *report.Cell) bool { return belongs(c, p) }
			var err error
			if of, err = report.New(runs, o); errors.Is(err, report.ErrNoneKept) {
				return fmt.Errorf("figure %s: no run of %s on %s among them", f.name, strings.Join(append([]string{p.Method}, p.Compare...), ", "), p.Task)
			} else if err != nil {
				return fmt.Errorf("figure %s: %w", f.name, err)
			}
		}
		for _, format := range []string{"svg", "png"} {
			path := filepath.Join(dir, f.name+"."+format)
			err := cli.WriteFile(path, func(w io.Writer) error { return of.Figure(w, f.kind, format) })
			if err != nil {
				return fmt.Errorf("figure %s: %w", f.name, err)
			}
			fmt.Fprintln(stderr, path)
		}
	}
	return nil
}

// belongs says whether a cell belongs to a preset's figure.
func belongs(c *report.Cell, p *presets.Preset) bool {
	if c.Task != p.Task || (c.Seeds[0].Run.Frames > 0) != (p.Observation == task.ObservationPixels) {
		return false
	}
	for _, m := range append([]string{p.Method}, p.Compare...) {
		if m == c.Method {
			return true
		}
	}
	return false
}

// FigureNames complete the name of a figure.
func FigureNames() []cobra.Completion {
	var all []cobra.Completion
	for _, f := range report.Figures() {
		all = append(all, cobra.CompletionWithDesc(f.Name, f.Doc))
	}
	for _, p := range presets.Figures() {
		if strings.HasPrefix(p.Name, "fig-") && p.Name != figureOfAnalyse {
			all = append(all, cobra.CompletionWithDesc(p.Name, p.Doc))
		}
	}
	return all
}
