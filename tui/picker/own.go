package picker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/run"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Kind is a kind of tasks that are not built in.
type Kind int

// The kinds.
const (
	Program Kind = iota // an environment of another program
	File                // a task file
)

// ownNames are the last answers of the question for a task, by kind. Each asks for a name.
var ownNames = [...]Item{
	Program: {"own environment…", "a program of yours, gym:ID of Gymnasium or dm:DOMAIN-TASK of dm_control: enter asks which one, and plays it at once"},
	File:    {"own task file…", "a file with a MuJoCo model, observations and a reward (pgrlab task check --help): enter asks where it is, and plays it at once"},
}

// Finding is a line of a check.
type Finding struct {
	Wrong bool // a run would not be what one expects of it
	Text  string
}

// Checked is a task that was played.
type Checked struct {
	Task  string // as Picks name it
	Found []Finding
}

// Memory is what the first screen remembers from one time to the next.
type Memory interface {
	Named() []string   // tasks that were named, the newest last
	Remember(n string) // adds one
}

// named are the tasks of one's own that were checked on this screen.
type named struct {
	memory  Memory
	checked []Checked
	asked   string // that is being checked; "": none is
	stop    context.CancelFunc
	entry   *pane.Entry // the last one that asked for a name
}

// Played delivers the result of a check.
type Played struct {
	named string
	Checked
	err error
}

// ownTasks are the answers to the question for a task after the built-in ones.
func (p *Picker) ownTasks() (items []Item) {
	if p.Choices.Check == nil {
		return nil
	}
	for _, c := range p.named.checked {
		items = append(items, Item{c.Task, "a task of your own, played on this machine just now"})
	}
	return append(items, ownNames[:]...)
}

// unnamed is the kind of task that the answer leaves to be named.
func (p *Picker) unnamed() (k Kind, is bool) {
	i := slices.IndexFunc(ownNames[:], func(i Item) bool { return i.Name == p.name(pickTask) })
	return Kind(i), i >= 0 && p.at[PickRecent] == 0
}

// errUnnamed keeps a run from beginning whose task has no name yet.
var errUnnamed = errors.New("the task has no name yet")

// ask asks for the name of a task of one's own.
func (p *Picker) ask(k Kind) tea.Cmd {
	prompt, hint := "command or gym:ID: ", "up down those used before  enter play it  esc leave"
	if k == File {
		prompt, hint = "task file: ", "tab complete  up down choose  enter play it  esc leave"
	}
	e := pane.NewEntry(prompt, hint, func(text string) tea.Cmd { return p.check(k, text) })
	e.Complete = func(text string) []pane.Candidate { return p.names(k, text) }
	p.named.entry = e
	p.Open(e)
	return nil
}

// names are those of tasks that begin with a text: those used before, the newest first, and files.
func (p *Picker) names(k Kind, text string) (all []pane.Candidate) {
	var names []string
	if p.named.memory != nil {
		names = slices.Clone(p.named.memory.Named())
		slices.Reverse(names)
	}
	for _, r := range p.Recent {
		names = append(names, p.earlierTask(r)...)
	}
	for _, n := range names {
		if slices.ContainsFunc(all, func(c pane.Candidate) bool { return c.Text == n }) {
			continue
		}
		if isFile(n) == (k == File) && strings.HasPrefix(n, text) {
			all = append(all, pane.Candidate{Text: n, About: "used before"})
		}
	}
	if k != File {
		return all
	}
	for _, path := range files(text) {
		if !slices.ContainsFunc(all, func(c pane.Candidate) bool { return c.Text == path }) {
			all = append(all, pane.Candidate{Text: path})
		}
	}
	return all
}

// earlierTask names the task of an earlier run, if that is one of one's own: a file by its copy in the run's
// folder, a program only if its command is allowed, as a folder may be that of another person.
func (p *Picker) earlierTask(r Recent) []string {
	switch file := run.TaskFile(r.Config.Task); {
	case p.Choices.Check == nil:
		return nil
	case file != "":
		return []string{filepath.Join(r.Dir, file)}
	case p.Allowed != nil && p.Allowed(r.Config):
		return []string{r.Config.Task}
	}
	return nil
}

// files are task files, and folders that hold some, whose paths begin with a text.
func files(text string) (all []string) {
	dir, start := filepath.Split(text)
	for _, e := range listed(cmp.Or(dir, ".")) {
		path := dir + e.Name()
		switch {
		case !strings.HasPrefix(e.Name(), start):
		case e.IsDir() && slices.ContainsFunc(listed(path), func(e fs.DirEntry) bool { return isFile(e.Name()) }):
			all = append(all, path+string(filepath.Separator))
		case isFile(path):
			all = append(all, path)
		}
	}
	return all
}

// listed are the entries of a folder but the configuration of a run; a folder that cannot be read has none to
// offer.
func listed(dir string) []fs.DirEntry {
	all, _ := os.ReadDir(dir)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool { return e.Name() == run.ConfigName })
}

// isFile says whether a name is that of a task file, or of the copy of one.
func isFile(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".zip")
}

// check plays the task that was named, and gives up an earlier check.
func (p *Picker) check(k Kind, named string) tea.Cmd {
	p.named.give()
	if named == "" {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	p.named.asked, p.named.stop = named, stop
	play := p.Choices.Check
	return func() (msg tea.Msg) {
		defer stop()
		defer func() {
			if r := recover(); r != nil {
				msg = Played{named: named, err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
			}
		}()
		c, err := play(ctx, k, named)
		if ctx.Err() != nil {
			return nil // no longer wanted
		}
		return Played{named, c, err}
	}
}

// give gives up the present check.
func (o *named) give() {
	if o.stop != nil {
		o.stop()
	}
	o.asked, o.stop = "", nil
}

// TakePlayed chooses the task that was checked.
func (p *Picker) TakePlayed(c Played) tea.Cmd {
	if p.named.asked != c.named || p.opened {
		return nil // no longer wanted
	}
	p.Changed()
	p.named.asked, p.named.stop = "", nil
	if p.err = c.err; c.err != nil {
		return nil
	}
	if p.named.memory != nil {
		p.named.memory.Remember(c.named)
	}
	i := slices.IndexFunc(p.named.checked, func(o Checked) bool { return o.Task == c.Task })
	if i < 0 {
		i = len(p.named.checked)
		p.named.checked = append(p.named.checked, c.Checked)
	}
	p.named.checked[i] = c.Checked
	p.answer(pickTask, 1+len(p.Tasks)+i)
	p.shown = Picks{} // the same name may be another task by now
	p.resolve()
	return p.Forecast()
}

// findings are what a check has found of the task that is chosen; nil: it is built in.
func (p *Picker) findings() []Finding {
	for _, c := range p.named.checked {
		if c.Task == p.name(pickTask) && p.at[PickRecent] == 0 {
			return c.Found
		}
	}
	return nil
}

// lines shows in at most h lines of w columns what a check has found, what is wrong first.
func (p *Picker) lines(all []Finding, w, h int) (out []string) {
	t := p.theme
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Finding) int {
		switch {
		case a.Wrong == b.Wrong:
			return 0
		case a.Wrong:
			return -1
		}
		return 1
	})
	for _, f := range all {
		mark, ink := t.Dim.On(t.Glyphs.Check), t.Dim
		if f.Wrong {
			mark, ink = t.Warn.On("!"), t.Text
		}
		for i, line := range theme.Wrap(t.Spelled(f.Text), w-2) {
			if i > 0 {
				mark = " "
			}
			out = append(out, mark+" "+ink.On(line))
		}
	}
	return out[:max(0, min(len(out), h))]
}
