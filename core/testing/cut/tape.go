// Package cut is for tests. It records what a program changes in a folder, and makes the
// folder that is found after the program was killed, or the power was cut, at some place of
// the recording.
//
// # The disk
//
// The content of a file is on the disk after a sync of the file, and the entries of a folder
// after a sync of the folder. Any subset of the other changes may be there too. A rename is
// done completely or not at all.
package cut

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pgrlab/core/run/files"
)

// Tape is a recording of the changes below a folder.
type Tape struct {
	root  string
	begin *disk

	mu       sync.Mutex
	ops      []files.Op
	promises map[int][]string // texts given to Promise, by the number of changes before
}

// Record records changes below root until stop is called. Everything that is there already
// counts as being on the disk.
func Record(root string) (t *Tape, stop func(), err error) {
	t = &Tape{root: filepath.Clean(root), promises: map[int][]string{}}
	if t.begin, err = load(t.root); err != nil {
		return nil, nil, err
	}
	stop = files.Watch(func(o files.Op) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		o.Data = slices.Clone(o.Data)
		t.ops = append(t.ops, o)
		return nil
	})
	return t, stop, nil
}

// Promise notes, at this place of the recording, what the user was told.
func (t *Tape) Promise(said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.promises[len(t.ops)] = append(t.promises[len(t.ops)], said)
}

// Outcome says what happens to changes that are not known to be on the disk.
type Outcome int

// The outcomes.
const (
	Killed   Outcome = iota // all are made: only the program was ended
	Torn                    // all are made, and the next write only by half
	Lost                    // none are made
	Names                   // changes of folder entries are made, contents of files are not
	Contents                // contents of files are written, changes of folder entries are not
	Some                    // a random subset is made
)

func (o Outcome) String() string {
	return [...]string{"killed", "killed in a write", "power cut, nothing left", "power cut, names left", "power cut, contents left", "power cut, some left"}[o]
}

// Cut is a place of a recording.
type Cut struct {
	Before   int // number of changes that were made
	What     string
	Promised []string // promises made up to there, in order
	disk     *disk
	torn     *files.Op
}

// Each calls see for every place of the recording, including the one after the last change.
// With Boundaries it calls see only where something has just been put on the disk or is about
// to be.
func (t *Tape) Each(boundaries Places, see func(Cut)) {
	d := t.begin.clone()
	var promised []string
	for n := 0; ; n++ {
		promised = append(promised, t.promises[n]...)
		c := Cut{Before: n, What: "the end", Promised: promised, disk: d}
		if n < len(t.ops) {
			c.What = strings.ReplaceAll(t.ops[n].String(), t.root+"/", "")
			if t.ops[n].Kind == files.Wrote {
				c.torn = &t.ops[n]
			}
		}
		if boundaries == Everywhere || n == len(t.ops) || settles(t.ops[n]) || n > 0 && settles(t.ops[n-1]) {
			see(c)
		}
		if n == len(t.ops) {
			return
		}
		d.make(t.ops[n])
	}
}

// Places selects places of a recording.
type Places int

// The selections.
const (
	Everywhere Places = iota
	Boundaries
)

func settles(o files.Op) bool {
	return o.Kind == files.Synced || o.Kind == files.SyncedDir || o.Kind == files.Renamed
}

// Make makes the folder that is found after the cut, in dir, which must not exist yet. It must
// be called inside the call of see that receives the cut.
func (c Cut) Make(dir string, o Outcome, r *rand.Rand) error {
	d := c.disk
	if o == Torn {
		if c.torn == nil {
			return nil
		}
		d = d.clone()
		half := *c.torn
		half.Data = half.Data[:len(half.Data)/2]
		d.make(half)
	}
	return finder{o, r, map[*move]bool{}}.write(d.root, dir)
}

// disk is a model of a disk.
type disk struct {
	path    string // path of the root
	root    *node
	handles map[uint64]*node
}

// node is a file or a folder.
type node struct {
	dir     bool
	content []byte     // of a file
	durable []byte     // content that is on the disk
	pending []files.Op // changes of the content since

	entries map[string]*node // of a folder
	settled map[string]*node // entries that are on the disk
	moves   []*move          // changes of the entries since
}

// move is a change of names that is atomic.
type move struct {
	made  bool // it is on the disk
	parts []part
}

type part struct {
	in   *node
	name string
	what *node // nil: the name is removed
}

func load(root string) (*disk, error) {
	d := &disk{path: root, root: newDir(), handles: map[uint64]*node{}}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		n := newDir()
		if !e.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n = &node{content: text, durable: text}
		}
		in, name := d.find(filepath.Dir(path)), filepath.Base(path)
		in.entries[name], in.settled[name] = n, n
		return nil
	})
	return d, err
}

func newDir() *node {
	return &node{dir: true, entries: map[string]*node{}, settled: map[string]*node{}}
}

// find returns the node of a path; nil if there is none.
func (d *disk) find(path string) *node {
	rel, err := filepath.Rel(d.path, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return nil
	}
	n := d.root
	for part := range strings.SplitSeq(rel, "/") {
		if part != "." && n != nil {
			n = n.entries[part]
		}
	}
	return n
}

// make applies a change.
func (d *disk) make(o files.Op) {
	path := filepath.Clean(o.Path)
	n := d.find(path)
	if o.Kind == files.Wrote || o.Kind == files.Truncated || o.Kind == files.Synced {
		n = d.handles[o.File] // names may have changed
		if n == nil {
			return // outside the root
		}
	}
	switch o.Kind {
	case files.Created:
		n = &node{}
		d.handles[o.File] = n
		d.rename(part{d.find(filepath.Dir(path)), filepath.Base(path), n})
	case files.Opened:
		d.handles[o.File] = n
	case files.Wrote, files.Truncated:
		n.content = apply(n.content, o)
		n.pending = append(n.pending, o)
	case files.Synced:
		n.durable, n.pending = n.content, nil
	case files.MadeDir:
		d.rename(part{d.find(filepath.Dir(path)), filepath.Base(path), newDir()})
	case files.Linked:
		d.rename(part{d.find(filepath.Dir(o.To)), filepath.Base(o.To), n})
	case files.Renamed:
		if n != nil { // nil: the program got an error
			d.rename(part{d.find(filepath.Dir(path)), filepath.Base(path), nil}, part{d.find(filepath.Dir(o.To)), filepath.Base(o.To), n})
		}
	case files.Removed:
		if n != nil && !(n.dir && len(n.entries) > 0) {
			d.rename(part{d.find(filepath.Dir(path)), filepath.Base(path), nil})
		}
	case files.SyncedDir:
		for _, m := range n.moves {
			if !m.made {
				m.made = true
				m.apply(func(n *node) map[string]*node { return n.settled })
			}
		}
		n.moves = nil
	}
}

func (d *disk) rename(parts ...part) {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.in == nil }) // outside the root
	m := &move{parts: parts}
	m.apply(func(n *node) map[string]*node { return n.entries })
	for _, p := range parts {
		p.in.moves = append(p.in.moves, m)
	}
}

func (m *move) apply(to func(*node) map[string]*node) {
	for _, p := range m.parts {
		if p.what == nil {
			delete(to(p.in), p.name)
		} else {
			to(p.in)[p.name] = p.what
		}
	}
}

func apply(content []byte, o files.Op) []byte {
	out := slices.Clone(content)
	end := o.Offset + int64(len(o.Data))
	if grow := end - int64(len(out)); grow > 0 {
		out = append(out, make([]byte, grow)...)
	}
	copy(out[o.Offset:], o.Data)
	if o.Kind == files.Truncated {
		out = out[:o.Offset]
	}
	return out
}

// finder writes the files that are found on a disk after a cut.
type finder struct {
	o     Outcome
	r     *rand.Rand
	chose map[*move]bool
}

// luck decides whether a change that is not known to be on the disk was made.
func (f finder) luck(m *move) bool {
	if _, done := f.chose[m]; !done {
		f.chose[m] = f.r.IntN(2) == 0
	}
	return f.chose[m]
}

func (f finder) write(n *node, to string) error {
	if !n.dir {
		return os.WriteFile(to, n.found(f.o, f.r), 0o666)
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		return err
	}
	entries := n.entries
	switch f.o {
	case Lost, Contents:
		entries = n.settled
	case Some:
		entries = maps.Clone(n.settled)
		for _, m := range n.moves {
			if !m.made && f.luck(m) {
				m.apply(func(of *node) map[string]*node {
					if of == n {
						return entries
					}
					return map[string]*node{} // that folder is handled in its own call
				})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := f.write(entries[name], filepath.Join(to, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// found is the content of a file after a cut.
func (n *node) found(o Outcome, r *rand.Rand) []byte {
	switch o {
	case Lost, Names:
		return n.durable
	case Some:
		content := n.durable
		for _, w := range n.pending {
			if r.IntN(2) == 0 {
				content = apply(content, w)
			}
		}
		return content
	}
	return n.content
}

// clone copies the disk, including changes of names that are not settled.
func (d *disk) clone() *disk {
	copies := map[*node]*node{}
	var copied func(n *node) *node
	copied = func(n *node) *node {
		if n == nil {
			return nil
		}
		if c, done := copies[n]; done {
			return c
		}
		c := &node{dir: n.dir, content: n.content, durable: n.durable, pending: slices.Clone(n.pending)}
		copies[n] = c
		if n.dir {
			c.entries, c.settled = map[string]*node{}, map[string]*node{}
			for name, e := range n.entries {
				c.entries[name] = copied(e)
			}
			for name, e := range n.settled {
				c.settled[name] = copied(e)
			}
		}
		return c
	}
	out := &disk{path: d.path, root: copied(d.root), handles: map[uint64]*node{}}
	for id, n := range d.handles {
		out.handles[id] = copied(n)
	}
	moves := map[*move]*move{}
	for n, c := range maps.Clone(copies) {
		for _, m := range n.moves {
			if moves[m] == nil {
				moves[m] = &move{made: m.made}
				for _, p := range m.parts {
					moves[m].parts = append(moves[m].parts, part{copied(p.in), p.name, copied(p.what)})
				}
			}
			c.moves = append(c.moves, moves[m])
		}
	}
	return out
}
