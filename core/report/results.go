package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// Results are finished runs as a table of comma-separated values, which is kept when the run
// folders of a study are gone. A row is one step at which something was measured, in one seed
// of a run that has ended. The columns after the fixed ones are quantities, named as in the
// journal, with six significant digits; a cell is empty if the quantity was not measured at
// that step. Rows are sorted, so that a file under version control changes only where runs
// were added.
//
// A run that failed is a result: its last row says why in the column of that name, at the
// step at which it failed; there may be nothing else in that row.
//
// A run that was changed by hand is no result of its settings, and neither is a fork: both
// are left out.

// maxResults bounds a results file, in bytes; tests lower it.
var maxResults int64 = 256 << 20

// checkSize returns an error if a results file of n bytes is larger than one may be.
func checkSize(n int64) error {
	if n > maxResults {
		return fmt.Errorf("it has more than %d MiB: keep the results of other studies in files of their own", maxResults>>20)
	}
	return nil
}

// ResultKey identifies a result by its settings and its seed.
type ResultKey struct {
	Task, Method, Scale string
	Fingerprint         string // of the settings, see Run
	Seed                uint64
	Steps               int
}

// Key returns the key of a run of one seed.
func (r *Run) Key() ResultKey {
	return ResultKey{r.Task, r.Method, r.Scale, r.Fingerprint, r.Seed, r.Length()}
}

// Length is how many steps a result was to have: a run that failed has fewer.
func (r *Run) Length() int {
	if r.Failed != "" {
		return r.Steps
	}
	return r.Step
}

// IsResult returns an error that says why a run is no result, or nil. One that failed is a result, since each
// run that was started counts: with the same settings and seed numbers that diverged do so again, and a run that
// its machine ended gives way to the same one when it has ended by itself.
func (r *Run) IsResult() error {
	switch {
	case r.Failed != "" && (r.Steps == 0 || r.Step > r.Steps):
		return fmt.Errorf("%s failed at step %s, and how long it was to be is not known", r.Dir, Count(r.Step))
	case !r.Done && r.Failed == "":
		return fmt.Errorf("%s has not ended", r.Dir)
	case r.Stopped():
		return fmt.Errorf("%s was stopped at step %s of %s", r.Dir, Count(r.Step), Count(r.Steps))
	case r.Changed != "":
		return fmt.Errorf("%s: %s", r.Dir, r.Changed)
	case len(r.ByHand()) > 0 || r.Forked != "":
		return fmt.Errorf("%s was changed by hand or forked: no result of its settings", r.Dir)
	case r.Fingerprint == "":
		return fmt.Errorf("%s: its settings are not known", r.Dir)
	}
	return nil
}

// ReadResults reads a results file. It returns a run for each seed, without its folder.
func ReadResults(path string) ([]*Run, error) {
	file, err := run.OpenFile(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	defer file.Close()
	var runs []*Run
	info, err := file.Stat()
	if err == nil {
		err = checkSize(info.Size())
	}
	if err == nil {
		runs, err = readResults(file, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return runs, nil
}

// reason is an error of a file without the file's name, which the message around it has.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

func readResults(text io.Reader, path string) ([]*Run, error) {
	rows := csv.NewReader(withoutMark(text))
	head, err := rows.Read()
	if err != nil || len(head) < len(resultColumns) || !slices.Equal(head[:len(resultColumns)], resultColumns) {
		return nil, fmt.Errorf("that is no results file: want columns %s,…", strings.Join(resultColumns, ","))
	}
	f := resultsFile{path: path, quantities: slices.Clone(head[len(resultColumns):]), byKey: map[builtKey]*Run{}, seen: map[*Run]map[int]bool{}, failed: map[*Run]int{}}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return f.runs, f.end()
		}
		var damaged *csv.ParseError
		if errors.As(err, &damaged) && errors.Is(err, csv.ErrFieldCount) {
			return nil, fmt.Errorf("line %d has %d columns, and the first line %d: it is cut off, or of another file: take it out", damaged.StartLine, len(row), len(f.quantities)+len(resultColumns))
		}
		if err != nil {
			return nil, err
		}
		line, _ := rows.FieldPos(0)
		if err := f.add(row, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// withoutMark skips the byte order mark with which spreadsheets begin a file.
func withoutMark(text io.Reader) io.Reader {
	b := bufio.NewReader(text)
	if mark, _ := b.Peek(3); string(mark) == "\ufeff" {
		b.Discard(3)
	}
	return b
}

// resultsFile is what was read of a results file so far.
type resultsFile struct {
	path       string
	quantities []string // the columns after the fixed ones
	runs       []*Run
	byKey      map[builtKey]*Run
	seen       map[*Run]map[int]bool // the steps of each
	failed     map[*Run]int          // the steps at which some failed
}

// builtKey identifies a result of a build.
type builtKey struct {
	ResultKey
	Device, Version string
}

// add takes a row. If a seed of the same settings and length stands in the file twice by one build, as when
// files of two machines were put together, the rows that came first count: points of two runs are none of
// one run. Rows may be in any order, so a step is of another run only if it was there already.
func (f *resultsFile) add(row []string, line int) error {
	one, at, err := resultRow(row)
	if err == nil {
		err = f.checkResultRow(row, one, at)
	}
	if err != nil {
		return err
	}
	key := builtKey{one.Key(), one.Device, one.Version}
	r := f.byKey[key]
	if r == nil {
		r = one
		r.rounded, r.root = true, r.Seed
		r.Dir = fmt.Sprintf("%s: %s %s %s seed %d %s, %s steps", f.path, r.Task, r.Method, r.Scale, r.Seed, r.Fingerprint, Count(r.Step))
		r.Members = []Member{{Seed: r.Seed, Series: map[string]Series{}}}
		f.byKey[key], f.runs, f.seen[r] = r, append(f.runs, r), map[int]bool{}
	} else if f.seen[r][at.Step] {
		r.Twice = cmp.Or(r.Twice, fmt.Sprintf("%s: line %d and others like it are left out: it stands there twice", r.Dir, line))
		return nil
	}
	f.seen[r][at.Step] = true
	r.WallS = max(r.WallS, at.WallS)
	for i, name := range f.quantities {
		text := row[len(resultColumns)+i]
		if text == "" {
			continue
		}
		if name == failedColumn {
			r.Failed, r.Diverged = strings.CutPrefix(printable.Line(text), divergedMark)
			f.failed[r] = at.Step
			continue
		}
		if at.Value, err = measured(name, text); err != nil {
			return err
		}
		if name == framesColumn {
			if r.Frames, err = framesOf(at); err != nil {
				return err
			}
			continue
		}
		r.Members[0].Series[name] = append(r.Members[0].Series[name], at)
	}
	return nil
}

// end puts the points of all runs in order. A run that failed has none after that step. Runs of one seed by
// several builds have their builds in their names.
func (f *resultsFile) end() error {
	for _, r := range f.runs {
		for name, s := range r.Members[0].Series {
			slices.SortFunc(s, func(a, b Point) int { return cmp.Compare(a.Step, b.Step) })
			if step, failed := f.failed[r]; failed && last(s) > step {
				return fmt.Errorf("%s: %s at step %s, after it failed at step %s: take out one of the two runs", r.Dir, name, Count(last(s)), Count(step))
			}
		}
		if step, failed := f.failed[r]; failed {
			r.Done, r.Steps, r.Step = false, r.Step, step
		}
	}
	builds := map[ResultKey]int{}
	for _, r := range f.runs {
		builds[r.Key()]++
	}
	for _, r := range f.runs {
		if builds[r.Key()] > 1 {
			r.Dir += fmt.Sprintf(", by %s on %s", r.Version, r.Device)
		}
	}
	return nil
}

// resultRow reads the fixed columns of a row.
func resultRow(row []string) (r *Run, at Point, err error) {
	for i := range row {
		row[i] = printable.Line(row[i])
	}
	r = &Run{Task: row[0], Method: row[1], Scale: row[2], Variant: row[3], Fingerprint: row[4], Device: row[7], Version: row[8], Done: true}
	errs := map[int]error{}
	r.Seed, errs[5] = strconv.ParseUint(row[5], 10, 64)
	r.Step, errs[6] = strconv.Atoi(row[6])
	at.Step, errs[9] = strconv.Atoi(row[9])
	at.WallS, errs[10] = strconv.ParseFloat(row[10], 64)
	for _, column := range slices.Sorted(maps.Keys(errs)) {
		if errs[column] != nil {
			return r, at, badCell(resultColumns[column], row[column], "want a number of at least 0")
		}
	}
	return r, at, nil
}

// framesOf returns how many frames an env step has, given the frame at a step.
func framesOf(at Point) (int, error) {
	if at.Step == 0 && at.Value == 0 {
		return 0, nil
	}
	n := at.Value / float64(at.Step)
	if !(n >= 1 && n <= 1e6 && n == math.Trunc(n)) {
		return 0, fmt.Errorf("step %d is frame %g of the task: want a multiple of it", at.Step, at.Value)
	}
	return int(n), nil
}

// AddResults adds runs to a results file, which it creates if there is none, and returns how
// many were new. The file holds each seed of the same settings and length once, and once more for each further
// build by which its returns differ; see givesWayTo for which of several runs it is.
// A file of which not all rows can be read stays as it is. Other processes may add to the file at the
// same time.
func AddResults(path string, runs []*Run) (added int, err error) {
	unlock, err := lockResults(path)
	if err != nil {
		return 0, err
	}
	defer unlock()
	all, err := ReadResults(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	there := map[ResultKey][]*Run{}
	for _, r := range all {
		if r.Twice != "" { // rows that were not read would be lost
			return 0, fmt.Errorf("nothing is added to that file before it is mended: %s", r.Twice)
		}
		there[r.Key()] = append(there[r.Key()], r)
	}
	var more []*Run
	for _, r := range runs {
		if err := r.IsResult(); err != nil {
			return 0, err
		}
		for i := range r.Members {
			one := r.alone(i)
			key := one.Key()
			stays := func(old *Run) bool { return one.standsFor(old) && !old.givesWayTo(one) }
			if slices.ContainsFunc(there[key], stays) {
				continue
			}
			all, more = slices.DeleteFunc(all, one.replaces), append(slices.DeleteFunc(more, one.replaces), one)
			there[key] = append(slices.DeleteFunc(there[key], one.replaces), one)
		}
	}
	if len(more) == 0 {
		return 0, nil
	}
	text := formatResults(all, more)
	if err := checkSize(int64(len(text))); err != nil { // it could not be read again
		return 0, fmt.Errorf("add %d results to %s: then %w", len(more), path, err)
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	run.TidyFile(dir, name)
	return len(more), run.ReplaceFile(dir, name, text)
}

// alone is the run of a member as if it had been alone.
func (r *Run) alone(member int) *Run {
	one := *r
	one.Seed, one.Members = r.Members[member].Seed, r.Members[member:member+1]
	if f := (Seed{one.Seed, r, member}).failure(); r.Failed != "" {
		one.Failed, one.Diverged, one.blamed = f.Reason, f.Diverged, nil
	}
	return &one
}

// replaces says whether another run in a results file goes when this one comes.
func (r *Run) replaces(old *Run) bool { return r.Key() == old.Key() && r.standsFor(old) }

// givesWayTo says whether a run that is in a results file goes when another one comes that stands for it: one
// that was cut off does for one that got further or came to its own end, and one that diverged for one of another
// build that got further. By the same build the first end counts: with the same numbers it comes again.
func (r *Run) givesWayTo(o *Run) bool {
	if r.CutOff() != o.CutOff() {
		return r.CutOff()
	}
	further := o.Step > r.Step || o.Step == r.Step && r.Diverged && !o.Diverged
	return further && (r.CutOff() || !r.sameBuild(o))
}

// standsFor says whether a run of the same seed and settings stands for this one: they are of one build, or
// their returns are the same.
func (r *Run) standsFor(o *Run) bool {
	return r.sameBuild(o) || Seed{r.Seed, r, 0}.unlike(Seed{o.Seed, o, 0}) == ""
}
