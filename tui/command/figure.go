package command

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pgrlab/core/report"
	"pgrlab/presets"
)

// A wantedFigure is a figure to draw: a kind, and the preset that it is about.
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

// figureOfAnalyse is the preset whose figure journals do not hold.
const figureOfAnalyse = "fig-projection"

// figureKinds are the figures that stand for presets, by the beginning of their names.
var figureKinds = []struct{ prefix, kind string }{
	{"fig-dormant", "dormant"}, {"fig-dynamics", "dynamics"}, {"fig-cadence", "cadence"}, {"fig-scaling", "final"},
	{"fig-time", "time"}, {"fig-histograms", "relevance"}, {"fig-", "curves"},
}

// wanted finds the figures that were asked for.
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
				return nil, usagef("report: figure %s: journals do not hold it: pgrlab analyse DIR prints it", name)
			}
			for _, k := range figureKinds {
				if strings.HasPrefix(name, k.prefix) {
					all = append(all, wantedFigure{name, k.kind, &p})
					continue next
				}
			}
		}
		return nil, asUsage(presets.Unknown("figure", name, names, "pgrlab report --help"))
	}
	return all, nil
}

// draw writes figures, and with --out the report itself.
func (r *reportRequest) draw(all *report.Report, runs []*report.Run, o report.Options, figures []wantedFigure, stderr io.Writer) error {
	dir := first(r.out, ".")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if r.out != "" {
		for name, write := range map[string]func(io.Writer) error{
			"report.md":   all.Markdown,
			"report.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(all) },
		} {
			if err := writeFile(filepath.Join(dir, name), write); err != nil {
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
			if of, err = report.New(runs, o); err != nil {
				return fmt.Errorf("figure %s: no run of %s on %s among them", f.name, strings.Join(append([]string{p.Method}, p.Compare...), ", "), p.Task)
			}
		}
		for _, format := range []string{"svg", "png"} {
			path := filepath.Join(dir, f.name+"."+format)
			err := writeFile(path, func(w io.Writer) error { return of.Figure(w, f.kind, format) })
			if err != nil {
				return fmt.Errorf("figure %s: %w", f.name, err)
			}
			fmt.Fprintln(stderr, path)
		}
	}
	return nil
}

// belongs says whether a cell is one of a preset's figure.
func belongs(c *report.Cell, p *presets.Preset) bool {
	if c.Task != p.Task {
		return false
	}
	for _, m := range append([]string{p.Method}, p.Compare...) {
		if m == c.Method {
			return true
		}
	}
	return false
}

// writeFile writes a file at once: never a part of it, and none after an error.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := temporary(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer f.Close() // which lets others write there: the name is another's by then
	if err = write(f); err == nil {
		err = f.Sync() // a disk that is full may say so only now
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// temporary opens the empty file that path is written into. Its name is the same each
// time, so that what a killed process left is used up by the next one, but where another
// process writes it now, or something else has that name.
func temporary(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_WRONLY
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if f, err := os.OpenFile(name, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666); err == nil {
		if ours(f, name) && f.Truncate(0) == nil {
			return f, nil
		}
		f.Close()
	}
	return os.OpenFile(fmt.Sprintf("%s-%08x", name, rand.Uint32()), flags|os.O_EXCL, 0o666) // os.CreateTemp knows no umask
}

// ours says whether an open file is one, has that name still, and no other process writes it;
// it stays so until the file is closed.
func ours(f *os.File, name string) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	opened, err := f.Stat()
	there, gone := os.Lstat(name)
	return err == nil && gone == nil && opened.Mode().IsRegular() && os.SameFile(opened, there)
}
