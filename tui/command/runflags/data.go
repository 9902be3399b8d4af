package runflags

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"pgrlab/core/config"
	"pgrlab/core/dataset"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// dataUsage is the usage of --data.
const dataUsage = "`FILE[:SHARE]` begin with recorded transitions, an npz or HDF5 file, as the oldest rows of D_real; with SHARE, as 0.5, they are kept apart and make up that share of the real rows of each batch (knob prior); repeatable (pgrlab data check)"

// Data are the flags about recorded data.
type Data struct {
	files     []string
	pretrain  int
	low, high []float64
	done      string
}

// OfData are the names of the flags about recorded data.
var OfData = []string{"data", "pretrain", "act-low", "act-high", "done"}

// Bind adds the flags.
func (d *Data) Bind(f *pflag.FlagSet) {
	f.StringArrayVar(&d.files, "data", nil, dataUsage)
	cli.CountIn(f, &d.pretrain, "pretrain", 0, 1, cli.MaxSteps, "`N` critic updates on recorded data in the first env step, such as 5000 or 5k")
	cli.BindData(f, &d.low, &d.high, &d.done)
}

// record puts the recorded data that the flags name into c, and what is known of them.
func (r *Flags) record(c *config.Config, t task.Task) error {
	if r.Changed("data") {
		if err := r.name(c); err != nil {
			return err
		}
	}
	d := &c.Data
	if r.Changed("pretrain") {
		d.Pretrain = r.Data.pretrain
	}
	if r.Changed("act-low") {
		d.ActLow, d.SHA256 = r.Data.low, nil
	}
	if r.Changed("act-high") {
		d.ActHigh, d.SHA256 = r.Data.high, nil
	}
	if r.Changed("done") {
		d.Done, d.SHA256 = r.Data.done, nil
	}
	if !d.Given() {
		for _, flag := range OfData {
			if r.Changed(flag) {
				return fmt.Errorf("--%s is about recorded data: name a file with --data", flag)
			}
		}
		return nil
	}
	if len(d.SHA256) == 0 {
		return r.look(c, t)
	}
	return nil
}

// name takes the files of --data.
func (r *Flags) name(c *config.Config) error {
	c.Data.Files, c.Data.SHA256 = nil, nil
	if !r.own("data.mode") {
		c.Data.Mode = ""
	}
	share := ""
	for i, text := range r.Data.files {
		file, part := text, ""
		if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
			if at := strings.LastIndexByte(text, ':'); at > 0 {
				file, part = text[:at], text[at+1:]
			}
		}
		if part != "" {
			n, err := strconv.ParseFloat(part, 64)
			if err != nil || !(n >= 0 && n <= 1) {
				return fmt.Errorf("--data %s: want FILE, or FILE:SHARE with a share from 0 to 1, as %s:0.5", text, file)
			}
			if c.Knobs.Prior = n; !r.own("data.mode") {
				c.Data.Mode = config.DataPinned
			}
		}
		if i > 0 && part != share {
			return fmt.Errorf("--data %s: data are all of one kind: give all files the same share, or none", text)
		}
		share = part
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		c.Data.Files = append(c.Data.Files, path)
	}
	return nil
}

// look reads the files of a new run, so that what is wrong with them is said before it begins, and
// notes what they are.
func (r *Flags) look(c *config.Config, t task.Task) error {
	d := &c.Data
	d.Rows = 0
	for i, file := range d.Files {
		if !filepath.IsAbs(file) { // of a preset
			path, err := filepath.Abs(filepath.Join(filepath.Dir(r.Preset), file))
			if err != nil {
				return err
			}
			d.Files[i] = path
		}
		seen, err := seenData(d.Files[i], dataset.Options{Done: d.Done, Low: d.ActLow, High: d.ActHigh})
		if err != nil {
			return err
		}
		if seen.obs != t.ObsSize || seen.act != t.ActSize {
			return fmt.Errorf("--data %s: %d numbers observed and %d of an action, and task %s has %d and %d", file, seen.obs, seen.act, t.Name, t.ObsSize, t.ActSize)
		}
		if seen.beyond > 0 {
			return fmt.Errorf("--data %s: actions are beyond [-1, 1] in %d of %d rows, the largest is %.5g: say their bounds with --act-low and --act-high", file, seen.beyond, seen.rows, seen.largest)
		}
		d.SHA256 = append(d.SHA256, seen.sha256)
		d.Rows += seen.rows
	}
	if !r.own("start_steps") {
		c.StartSteps = 0 // there is something to learn from
	}
	return nil
}

// own says whether --set or --vary gives a key.
func (r *Flags) own(key string) bool {
	return slices.ContainsFunc(slices.Concat(r.Set, r.Vary), func(text string) bool {
		name, _, _ := strings.Cut(text, "=")
		return strings.TrimSpace(name) == key
	})
}

// SizesOf are the sizes of the transitions in a file, and how many there are, as --act-low, --act-high and
// --done say it is to be read.
func (r *Flags) SizesOf(path string) (obs, act, rows int, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return 0, 0, 0, err
	}
	s, err := seenData(path, dataset.Options{Done: r.Data.done, Low: r.Data.low, High: r.Data.high})
	return s.obs, s.act, s.rows, err
}

// seen is what is known of a file of recorded transitions.
type seen struct {
	sha256         string
	obs, act, rows int
	beyond         int
	largest        float32
}

// known remembers files that were read, as a sweep names the same ones for each of its runs. A run
// compares the hash when it begins.
var known sync.Map

func seenData(path string, o dataset.Options) (seen, error) {
	key := fmt.Sprint(path, o)
	if s, is := known.Load(key); is {
		return s.(seen), nil
	}
	d, err := dataset.Read(path, o)
	if err != nil {
		return seen{}, err
	}
	s := seen{sha256: d.SHA256, obs: d.Obs, act: d.Act, rows: d.Len()}
	s.beyond, s.largest = d.Beyond()
	known.Store(key, s)
	return s, nil
}
