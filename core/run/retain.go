package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/run/files"
)

const (
	checkpointEnd = ".ckpt"
	keepEnd       = ".keep" // marks a checkpoint that is never removed; its lines say why
)

// phaseMarks are prefixes of the phases in the names of checkpoints, so that the names sort
// like the positions. The marks of a learner's phases and of models were added later, between
// collect and score.
var phaseMarks = map[string]string{
	"collect": "0", "model": "0A", "rollout": "0a", "learn": "0b", "encode": "0c", "reach": "0d", "score": "1", "fit": "2", "generate": "3", "evaluate": "4", "analyse": "5",
}

// CheckpointName is the file name of the checkpoint at a position as package lab
// writes it ("20", "20/fit:37"). Names sort like positions up to 999,999,999 steps;
// beyond that, inOrder sorts them.
func CheckpointName(step int, position string) string {
	_, inside, found := strings.Cut(position, "/")
	if !found {
		return fmt.Sprintf("%09d%s", step, checkpointEnd)
	}
	phase, i, _ := strings.Cut(inside, ":")
	return fmt.Sprintf("%09d-%s%s-%07s%s", step, phaseMarks[phase], phase, i, checkpointEnd) // "-" sorts before "."
}

// inOrder compares names of checkpoints by the positions that they name: as text, with the
// numbers in it compared as numbers.
func inOrder(a, b string) int {
	digits := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(x):], b[len(y):]
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if order := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

// place is the name that the checkpoint should have, given by the position it was taken at.
// A checkpoint that cannot be read is placed by its own name.
func (c Found) place() string {
	if c.Err != nil || c.Position == "" {
		return filepath.Base(c.Path)
	}
	return CheckpointName(c.Step, c.Position)
}

// Found is a checkpoint on disk.
type Found struct {
	Path string
	Header
	Bytes int64 // size of the file, without shared data
	Kept  bool  // marked: never removed
	Err   error // why it cannot be read; Header is empty then
}

// Checkpoints lists the checkpoints of a run folder, the latest position first.
func Checkpoints(dir string) ([]Found, error) {
	root, err := files.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list checkpoints of %s: %w", dir, reason(err))
	}
	defer root.Close()
	return checkpoints(root)
}

func checkpoints(root *files.Root) ([]Found, error) {
	all, err := checkpointsIn(root, CheckpointsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list checkpoints of %s: %w", root.Name(), reason(err))
	}
	return all, nil
}

// Checkpoints is the same for a folder that this process has.
func (f *Folder) Checkpoints() ([]Found, error) { return checkpoints(f.root) }

// checkpointsIn lists the checkpoints in a folder below the run folder, the latest
// position first.
func checkpointsIn(root *files.Root, in string) ([]Found, error) {
	entries, err := root.ReadDir(in)
	if err != nil {
		return nil, err
	}
	var all []Found
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), checkpointEnd) {
			continue
		}
		name := filepath.Join(in, e.Name())
		f := Found{Path: filepath.Join(root.Name(), name)}
		if info, err := e.Info(); err == nil {
			f.Bytes = info.Size()
		}
		f.Header, f.Err = loadHeader(root, name)
		f.Kept = root.Regular(name + keepEnd)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Found) int {
		return cmp.Or(inOrder(b.place(), a.place()), strings.Compare(b.Path, a.Path))
	})
	return all, nil
}

// WriteCheckpoint puts c and the whole journal so far on the disk. A checkpoint of the
// same position is replaced.
func (f *Folder) WriteCheckpoint(c *Checkpoint) (path string, bytes int64, err error) {
	if err := f.below(CheckpointsName); err != nil {
		return "", 0, fmt.Errorf("write checkpoint: %w", reason(err))
	}
	if err := f.Sync(); err != nil {
		return "", 0, err
	}
	name := filepath.Join(CheckpointsName, CheckpointName(c.Step, c.Position))
	err = f.Save(name, func(w io.Writer) error {
		bytes, err = c.WriteTo(w)
		return err
	})
	if err != nil {
		return "", 0, fmt.Errorf("checkpoint: %w", err)
	}
	return f.Path(name), bytes, nil
}

// Keep marks a checkpoint that Prune has to leave alone, with the reason why.
func Keep(path, why string) error {
	dir, name := filepath.Split(path)
	root, err := files.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("keep checkpoint %s: %w", path, reason(err))
	}
	defer root.Close()
	return keep(root, name, why)
}

// Keep is the same for a checkpoint of this folder, given by the path that WriteCheckpoint
// returned.
func (f *Folder) Keep(path, why string) error {
	return keep(f.root, filepath.Join(CheckpointsName, filepath.Base(path)), why)
}

func keep(root *files.Root, name, why string) error {
	file, err := root.OpenFile(name+keepEnd, appending)
	if err == nil {
		_, err = fmt.Fprintln(file, why)
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err == nil {
		err = root.Sync(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("keep checkpoint %s: %w", filepath.Join(root.Path(), name), reason(err))
	}
	return nil
}

// SetAside moves the checkpoints after path, and their keep marks, into a folder beside
// them, whose name below the run folder is returned; "" if there are none. Their data
// stays as long as they are there.
func (f *Folder) SetAside(path string) (aside string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("set checkpoints aside: %w", reason(err))
		}
	}()
	all, err := checkpointsIn(f.root, CheckpointsName)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if inOrder(c.place(), filepath.Base(path)) <= 0 {
			continue
		}
		if aside == "" {
			if aside, err = f.newAside(); err != nil {
				return "", err
			}
		}
		// Move the mark first: without it the checkpoint might be pruned.
		for _, name := range []string{filepath.Base(c.Path) + keepEnd, filepath.Base(c.Path)} {
			err := f.held()
			if err == nil {
				err = f.root.Rename(filepath.Join(CheckpointsName, name), filepath.Join(aside, name))
			}
			if err != nil && !(errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(name, keepEnd)) {
				return "", err
			}
		}
	}
	if aside != "" {
		err = errors.Join(f.root.Sync(aside), f.root.Sync(CheckpointsName))
	}
	return aside, err
}

// newAside makes a folder under the first free name of its kind.
func (f *Folder) newAside() (string, error) {
	for n := 1; ; n++ {
		name := filepath.Join(CheckpointsName, fmt.Sprintf("%s%d", asideName, n))
		if err := f.root.MkdirNew(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// asideName is the prefix of the names of folders of checkpoints that were set aside.
const asideName = "aside-"

// lastKept is how many of the latest checkpoints are kept.
const lastKept = 3

// Pruned is what a limit on the disk has cost, and what hindered the removal of older checkpoints.
type Pruned struct {
	Last  int    // how many of the latest checkpoints stay, at most
	Bytes int64  // of checkpoints and data, if there is a limit
	Limit int64  // 0: there is none
	Stuck string // why checkpoints that need not stay could not be removed; "" if they could
}

// Over says whether more than the limit is still taken.
func (p Pruned) Over() bool { return p.Limit > 0 && p.Bytes > p.Limit }

// String says in one line what is not as it is without a limit, and what could not be removed; "" if
// there is neither.
func (p Pruned) String() string {
	switch {
	case p.Stuck != "":
		return "older checkpoints stay that need not: " + p.Stuck
	case p.Last >= lastKept && !p.Over():
		return ""
	}
	const mib = 1 << 20
	text := fmt.Sprintf("the limit of %.1f MiB", float64(p.Limit)/mib)
	if p.Over() {
		text += fmt.Sprintf(" is exceeded: the checkpoints and their data take %.1f MiB", float64(p.Bytes)/mib)
	}
	switch {
	case p.Last == 1:
		text += "; only the latest checkpoint stays because of it"
	case p.Last < lastKept:
		text += fmt.Sprintf("; only the last %d checkpoints stay because of it", p.Last)
	}
	return text + " (--disk)"
}

// Prune removes the checkpoints at or before path, the latest, that need not be kept. It
// keeps the last three, the one with the best return, the marked ones, and the last one from
// which a longer run can go on. While checkpoints and data together are larger than limit
// bytes (0: no limit), it gives up first the one with the best return, then all but the last
// two, then all but the latest. It also removes the data that no checkpoint refers to.
// Checkpoints that cannot be read are left alone, and with them all data.
func (f *Folder) Prune(path string, limit int64) (p Pruned, err error) {
	p = Pruned{Last: lastKept, Limit: limit}
	all, err := f.Checkpoints()
	if err != nil {
		return p, err
	}
	all = slices.DeleteFunc(all, func(c Found) bool { return inOrder(c.place(), filepath.Base(path)) > 0 })
	if err := f.remove(retained(all, lastKept, true)); err != nil || limit == 0 {
		return p, err
	}
	for n := lastKept; ; n-- {
		if p.Bytes, err = f.stored(); err != nil || !p.Over() || n == 0 {
			return p, err
		}
		gone := retained(all, n, false)
		if err := f.remove(gone); err != nil {
			return p, err
		}
		if n < lastKept && len(gone) > len(retained(all, lastKept, false)) {
			p.Last = n
		}
	}
}

// retained lists the checkpoints to remove if the last n, the marked ones, the last one
// from which a longer run can go on and, if best is set, the best one stay.
func retained(all []Found, n int, best bool) (gone []Found) {
	top := -1
	open := slices.IndexFunc(all, func(c Found) bool { return c.Err == nil && !c.Ended })
	for i, c := range all {
		if best && c.Err == nil && c.Return != nil && (top < 0 || *c.Return > *all[top].Return) {
			top = i
		}
	}
	for i, c := range all {
		switch {
		case c.Err != nil, c.Kept, i == top:
		case n > 0:
			n--
		case i == open:
		default:
			gone = append(gone, c)
		}
	}
	return gone
}

func (f *Folder) remove(gone []Found) error {
	for _, c := range gone {
		if err := f.held(); err != nil {
			return fmt.Errorf("remove checkpoint: %w", err)
		}
		if err := f.root.Remove(filepath.Join(CheckpointsName, filepath.Base(c.Path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove checkpoint: %w", err)
		}
	}
	all, err := f.every()
	if err := errors.Join(err, f.held()); err != nil {
		return fmt.Errorf("remove data: %w", err)
	}
	used := map[string]bool{}
	for _, c := range all {
		if c.Err != nil {
			return nil // the data it refers to is not known
		}
		for _, d := range c.Data {
			for _, p := range d.Pieces {
				used[p.File] = true
			}
		}
	}
	for _, name := range f.names(DataName) {
		if end := filepath.Ext(name); !used[name] && (end == compressed || end == rows) {
			f.root.Remove(filepath.Join(DataName, name))
		}
	}
	return nil
}

// names lists the content of a folder below the run folder; nothing if it cannot be read.
func (f *Folder) names(in string) []string {
	entries, _ := f.root.ReadDir(in)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// every lists all checkpoints, including those that were set aside.
func (f *Folder) every() ([]Found, error) {
	all, err := f.Checkpoints()
	for _, name := range f.names(CheckpointsName) {
		if !strings.HasPrefix(name, asideName) || err != nil {
			continue
		}
		var aside []Found
		aside, err = checkpointsIn(f.root, filepath.Join(CheckpointsName, name))
		all = append(all, aside...)
	}
	return all, err
}

// stored is the size of checkpoints and data in bytes.
func (f *Folder) stored() (total int64, err error) {
	for _, in := range []string{CheckpointsName, DataName} {
		entries, err := f.root.ReadDir(in)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("measure %s: %w", f.Path(in), reason(err))
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
	}
	return total, nil
}
