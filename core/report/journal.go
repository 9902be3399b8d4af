package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// Point is the value of a quantity at an env step.
type Point struct {
	Step  int
	WallS float64 // seconds since the run's start
	Value float64
}

// Series are the values of one quantity, in the order of the journal.
type Series []Point

// Member is one seed of a run.
type Member struct {
	Seed uint64
	// Series by quantity. A quantity is named by the type of the journal's line and the
	// field, as in "evaluated/return_mean" or "generated/dynamics/combined".
	Series map[string]Series

	scoredBy string // F of the last scores
	rescored []int  // steps from which scores are those of another F
}

// Run holds what the journal of a run folder says.
type Run struct {
	Dir                  string
	Task, Method, Scale  string
	Seed                 uint64
	Device, Machine      string   // kind and kernels; the same with the number of threads
	Moved                []string // other devices that it went on with, oldest first, as far as its checkpoints say
	Version, Host, Time  string
	Members              []Member
	Changes              []Change
	Notes                []string
	Forked               string // the position where it was forked off another run; "": it was not
	Step                 int    // the largest step of any line
	Steps                int    // length that its configuration gives it; 0: not known
	Frames               int    // frames of the task in an env step, for a learner that sees frames; else 0
	WallS                float64
	Done                 bool
	rounded              bool   // its numbers have six significant digits: it is of a results file
	Twice                string // which of its rows in a results file do not count; "": all do
	Standing             string // the state of a run that has not ended, for people; "": not known
	Failed               string // why the run failed, at Step; "": it did not
	Diverged             bool   // it failed because its numbers diverged, so that it fails again
	Changed              string // what is wrong with a journal that is not as the run wrote it; "": nothing
	Unchecked            bool   // whether its last lines are as the run wrote them is not known
	Resumes, Checkpoints int

	root   uint64 // seed that the journal begins with: a fork's journal begins with that of its parent
	forks  []fork // in order; the last one is at Forked
	blamed *blame // see Diverged; nil: nothing has diverged

	// Variant says in which settings the run differs from others of its task,
	// method and scale; Settings holds the values by name. The code that reads
	// configurations sets both.
	Variant  string
	Settings map[string]string
	// Fingerprint is a hash of the settings that change what a run does, except its seed
	// and length: all runs of a cell have the same fingerprint.
	Fingerprint string
}

// ErrNotBegun says that a run folder is made but its run has not written a line: its device is
// being started, or the process was killed then.
var ErrNotBegun = errors.New("its journal is empty: nothing has begun there")

// fork is a place where a run goes on from another run's checkpoint.
type fork struct {
	position string
	parent   string // name of the other run's folder
	path     string // the folder, as it was called then
}

// Load reads the journal of a run folder. The error is ErrNotBegun if it is empty.
func Load(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	file, err := run.OpenFile(dir, run.JournalName)
	if err != nil {
		return nil, fmt.Errorf("%s: no run is there: %s: %w", dir, run.JournalName, reason(err))
	}
	defer file.Close()
	if err := r.read(file); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	rest, err := run.Changed(dir)
	if err != nil {
		r.Changed = err.Error()
	}
	r.Unchecked = rest > 0
	return r, nil
}

// read reads a journal.
func (r *Run) read(journal io.Reader) error {
	lines := run.NewReader(journal)
	for {
		e, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.add(e)
		}
		if err != nil {
			return err
		}
	}
	if r.Members == nil {
		return ErrNotBegun
	}
	return nil
}

// add adds one line to the run.
func (r *Run) add(e run.Entry) error {
	if r.Members == nil {
		return r.start(e)
	}
	if e.Member >= len(r.Members) {
		return fmt.Errorf("journal line %d: member %d of %d", e.Number, e.Member, len(r.Members))
	}
	r.Step, r.WallS = max(r.Step, e.Step), max(r.WallS, e.WallS)
	switch e.Type {
	case "knob":
		return r.change(e)
	case "cancelled":
		return r.cancel(e)
	case "note":
		return r.said(e)
	case "failed":
		return r.failed(e)
	case "diverged":
		return r.blames(e)
	case "done":
		r.Done = true
		return nil
	case "checkpoint":
		r.Checkpoints++
		return nil
	case "resume":
		r.Done, r.Failed, r.Diverged = false, "", false
		if strings.Contains(string(e.Text), `"from"`) {
			r.Resumes++
		}
		return nil
	case "start", "in_force", "whole", "pause", "detached", "attached", "planned", "device", "fork", "fork_look", "ground":
		return nil
	}
	if e.Type == "scores" {
		if err := r.Members[max(e.Member, 0)].scored(e); err != nil {
			return err
		}
	}
	all, err := Scalars(e)
	if err != nil {
		return err
	}
	for _, s := range all {
		series := r.Members[max(e.Member, 0)].Series
		series[s.Name] = append(series[s.Name], Point{e.Step, e.WallS, s.Value})
	}
	return nil
}

// start reads the first line.
func (r *Run) start(e run.Entry) error {
	var s struct {
		Task, Method, Scale, Device string
		Seed                        uint64
		Members                     int
		Obs                         struct{ Version, Host, Device, Time string }
	}
	if e.Type != "start" {
		return fmt.Errorf("journal line %d is of type %s: a run's journal begins with start", e.Number, e.Type)
	}
	if err := e.Fields(&s); err != nil {
		return err
	}
	if s.Task == "" || s.Method == "" || s.Members < 0 || s.Members > 1<<16 {
		return fmt.Errorf("journal line %d: a start without task, method or members", e.Number)
	}
	r.Task, r.Method, r.Scale, r.Seed, r.Device = s.Task, s.Method, s.Scale, s.Seed, s.Device
	r.root = s.Seed
	r.Version, r.Host, r.Machine, r.Time = s.Obs.Version, s.Obs.Host, s.Obs.Device, s.Obs.Time
	for i := range max(s.Members, 1) {
		r.Members = append(r.Members, Member{Seed: s.Seed + uint64(i), Series: map[string]Series{}})
	}
	return nil
}

func (r *Run) change(e run.Entry) error {
	var k struct {
		Knob, Position string
		Class          string
		From, To       json.RawMessage
		Now            bool
		Obs            struct{ By string }
	}
	if err := e.Fields(&k); err != nil {
		return err
	}
	plain := func(v json.RawMessage) string {
		if text, err := strconv.Unquote(string(v)); err == nil {
			return printable.Line(text)
		}
		return printable.Line(string(v))
	}
	r.Changes = append(r.Changes, Change{
		Position: k.Position, Knob: k.Knob, From: plain(k.From), To: plain(k.To), Now: k.Now, By: k.Obs.By,
		Forked:  r.Forked != "" && k.Position == r.Forked && k.Obs.By == bySchedule,
		remakes: k.Now && k.Class != ofBatches,
	})
	return nil
}

// cancel notes a change of the configuration that was cancelled. What a person planned and cancelled is
// nothing.
func (r *Run) cancel(e run.Entry) error {
	var c struct {
		At, Knob, Value, Of, By string
		Now                     bool
	}
	if err := e.Fields(&c); err != nil || c.Of != "" {
		return err
	}
	r.Changes = append(r.Changes, Change{Position: c.At, Knob: c.Knob, From: c.Value, To: c.Value, Now: c.Now, By: c.By, Cancelled: true})
	return nil
}

// forkedAt begins the note of a run that continues from another run's checkpoint.
const forkedAt = "forked at "

func (r *Run) said(e run.Entry) error {
	var n struct {
		Text string
		Obs  struct{ By string }
	}
	if err := e.Fields(&n); err != nil {
		return err
	}
	if position, found := strings.CutPrefix(n.Text, forkedAt); found {
		r.Forked = position
		r.forks = append(r.forks, fork{position, filepath.Base(filepath.Dir(filepath.Dir(n.Obs.By))), filepath.Dir(filepath.Dir(n.Obs.By))})
	}
	r.Notes = append(r.Notes, n.Text)
	return nil
}

// unrepeated is what a note says that ends the promise of the same journal: an episode in the program of a task could
// not be taken up again where a run was resumed.
const unrepeated = "the run is not repeated exactly"

// Unrepeated is the note that says why another run of the same kind may have another journal; "": it has the same.
func (r *Run) Unrepeated() string {
	for _, text := range r.Notes {
		if said, is := strings.CutSuffix(text, ": "+unrepeated); is {
			return said
		}
	}
	return ""
}

// ByHand returns the changes that were made by hand during the run.
func (r *Run) ByHand() []Change {
	return slices.DeleteFunc(slices.Clone(r.Changes), func(c Change) bool { return !c.ByHand() })
}

// Devices names the device that the run began with and those that it went on with.
func (r *Run) Devices() string {
	return strings.Join(append([]string{r.Device}, r.Moved...), ", then ")
}

// Stopped says whether the run was ended by hand before its last step.
func (r *Run) Stopped() bool { return r.Done && r.Step < r.Steps }

// Badge says whether the run was changed by hand: CLEAN or TOUCHED, with the number of
// changes.
func (r *Run) Badge() string {
	n := len(r.ByHand())
	if n == 0 {
		return "CLEAN"
	}
	return fmt.Sprintf("TOUCHED ×%d", n)
}

// Find lists the run folders of a path: the path itself, or the run folders below it,
// down to four levels. The path, and run folders, may be symbolic links.
func Find(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s: %w: give a run folder", path, reason(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: that is a file: give a run folder", path)
	}
	if run.Holds(path) {
		return []string{path}, nil
	}
	root, err := filepath.EvalSymlinks(path) // WalkDir does not follow a link
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var found []string
	seen := map[string]bool{}
	real, links := below(root)
	for _, dir := range slices.Concat(real, links) {
		to := resolved(dir)
		if seen[to] {
			continue
		}
		seen[to] = true
		from, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		found = append(found, filepath.Join(path, from))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no run is there, nor below it: a run folder holds %s and %s", path, run.ConfigName, run.JournalName)
	}
	return found, nil
}

// below lists the run folders below a folder, and those that symbolic links there lead to.
func below(root string) (real, links []string) {
	depth := strings.Count(filepath.Clean(root), string(filepath.Separator)) + 4
	_ = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		link := d != nil && d.Type()&fs.ModeSymlink != 0
		switch {
		case link && !run.IsUnfinished(d.Name()) && run.Holds(dir):
			links = append(links, dir)
			return nil
		case err != nil || !d.IsDir():
			return nil // a folder that may not be read holds no run of ours
		case dir != root && run.IsUnfinished(d.Name()):
			return fs.SkipDir
		case dir != root && run.Holds(dir):
			real = append(real, dir)
			return fs.SkipDir
		case strings.Count(filepath.Clean(dir), string(filepath.Separator)) >= depth:
			return fs.SkipDir
		}
		return nil
	})
	return real, links
}

// Begun sets the seed with which the run was begun: a fork's journal starts with the
// seed of its parent.
func (r *Run) Begun(seed uint64) {
	r.Seed = seed
	for i := range r.Members {
		r.Members[i].Seed = seed + uint64(i)
	}
}
