package lab

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/dataset"
	"pgrlab/core/event"
	"pgrlab/core/report"
	"pgrlab/core/rng"
)

// recordedRows writes a file of 40 rows of the world, and returns its path.
func recordedRows(t *testing.T) string {
	t.Helper()
	d := &dataset.Dataset{Obs: worldObs, Act: worldAct, Rows: make([]float32, 40*worldShape.Width())}
	rng.New(1, "rows").FillUniform(d.Rows, 0, 0)
	for i := range d.Len() {
		row := d.Row(i)
		row[len(row)-1] = 0
	}
	path := filepath.Join(t.TempDir(), "rows.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.NPZ(f, d, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// withRows returns c with the rows as data.
func withRows(t *testing.T, c config.Config, mode, path string) config.Config {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = config.Data{Files: []string{path}, SHA256: []string{fmt.Sprintf("%x", sha256.Sum256(content))}, Rows: 40, Mode: mode, Pretrain: 10}
	c.StartSteps, c.Knobs.Prior = 0, 0.5
	return c
}

var modes = []string{config.DataSeed, config.DataPinned}

// A run that begins with data goes on from every border, also within the updates on them.
func TestARunWithDataGoesOnFromEveryBorder(t *testing.T) {
	dev := testDevice(t)
	for _, mode := range modes {
		c := withRows(t, realConfig(), mode, recordedRows(t))
		resumeEverywhere(t, 5, func(r record) *Lab {
			p, err := newParts(&c, newWorld().task(), dev)
			if err == nil {
				p, err = p.withData(&c, newWorld().task())
			}
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLab(c, newWorld().task(), r, p, dev.Name(), clock())
			if err != nil {
				t.Fatal(err)
			}
			return l
		})
	}
}

// What a run does with data: it acts by its policy at once, trains on them in the first env step,
// and, where they are part of D_real, fits the generator to them there.
func TestARunBeginsWithData(t *testing.T) {
	for _, mode := range modes {
		c := withRows(t, realConfig(), mode, recordedRows(t))
		l, journal := realRun(t, c, 1)
		files, _ := bodies[event.Data](l)
		if want := (event.Data{File: "rows.npz", Format: "npz", SHA256: c.Data.SHA256[0], Rows: 40, Episodes: 40, Mode: mode}); len(files) != 1 || files[0] != want {
			t.Errorf("%s: lines %+v, want %+v", mode, files, want)
		}
		if !strings.Contains(journal, `"type":"data"`) {
			t.Errorf("%s: no line of data in the canonical journal", mode)
		}
		x := l.x.first()
		real, refits := c.Steps, 2
		if mode == config.DataSeed {
			real, refits = c.Steps+40, 3
		}
		if x.Real.Len() != real {
			t.Errorf("%s: D_real has %d rows, want %d", mode, x.Real.Len(), real)
		}
		if want := uint64(c.Data.Pretrain + c.Steps*c.Knobs.UTD); uint64(x.Updates) != want {
			t.Errorf("%s: %d updates, want %d", mode, x.Updates, want)
		}
		made, at := bodies[event.Refit](l)
		if len(made) != refits || mode == config.DataSeed && at[0] != 1 {
			t.Errorf("%s: refits at steps %d, want %d of them", mode, at, refits)
		}
		if _, at := bodies[event.Evaluated](l); len(at) == 0 || at[0] != 1 {
			t.Errorf("%s: evaluations at steps %d, want one after the updates on data", mode, at)
		}
	}
}

// Whether the files are as they were is looked at where a run needs them: from its beginning, and
// for pinned ones always.
func TestDataThatHaveChanged(t *testing.T) {
	for _, mode := range modes {
		path := recordedRows(t)
		c := withRows(t, newWorld().config(), mode, path)
		c.Steps = 20
		dir := filepath.Join(t.TempDir(), "run")
		folder := createdWith(t, dir, docOf(c))
		w := newWorld()
		p, err := w.parts().withData(&c, w.task())
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, w.task(), folder, p, "cpu test, 2 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err == nil {
			text = append(slices.Clone(text), 0)
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Longer(30)
		if err != nil {
			t.Fatal(err)
		}
		l, _, err = restoredAs(t, again, dir, Resumption{Config: docOf(again), Saving: Saving{Every: time.Hour}})
		switch {
		case mode == config.DataSeed && err != nil:
			t.Errorf("%s: %v", mode, err)
		case mode == config.DataSeed:
			if got := l.x.first().Real.Len(); got != 60 {
				t.Errorf("D_real has %d rows after the resume, want 60", got)
			}
			l.Close()
		case err == nil || !strings.Contains(err.Error(), "the file has changed since the run was begun") || strings.ContainsRune(err.Error(), '\n'):
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := w.parts().withData(&c, w.task()); err == nil || !strings.Contains(err.Error(), "the file has changed") {
			t.Errorf("%s, from the beginning: %v", mode, err)
		}
	}
}
