package picker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// ownTask is the answer that asks for a task which is not in the list.
var ownTask = Item{"own task…", "enter or / types it: a task file, as ./pole.toml; gym:ID or dm:DOMAIN-TASK; or the command of a program"}

// Own is what a picker knows of tasks that are not built in.
type Own struct {
	// Named are the tasks that a text names, or begins to name; nil: there are only built-in ones.
	Named func(text string) []Item
	// Allowed says whether the program that simulated the task of an earlier run may be started as its
	// name alone says; a folder of somebody else's run must start nothing.
	Allowed func(config.Config) bool
	// Check plays such a task and returns what is in the way of learning it, a line each. It is called
	// from a goroutine of its own.
	Check func(ctx context.Context, task string) ([]string, error)
}

// owned are the tasks that are not built in: those of earlier runs, and what was typed.
type owned struct {
	items   []Item
	checked map[string]Checked
	asked   string // the task that is being checked
	stop    context.CancelFunc
}

// Checked is the result of a check.
type Checked struct {
	task  string
	lines []string
	err   error
}

// remember lists the tasks of earlier runs that are not built in.
func (p *Picker) remember() {
	for _, r := range p.Recent {
		name := r.Config.Task
		switch file := run.TaskFile(name); {
		case file != "":
			name = filepath.Join(r.Dir, file)
		case !strings.Contains(name, ":") || !p.Own.Allowed(r.Config):
			continue
		}
		if !slices.ContainsFunc(p.mine.items, func(i Item) bool { return i.Doc == earlierOf(r.Config.Task) }) {
			p.mine.items = append(p.mine.items, Item{name, earlierOf(r.Config.Task)})
		}
	}
}

func earlierOf(task string) string { return task + " of an earlier run" }

// tasks are the answers to the question for a task, but the preset's.
func (p *Picker) tasks() []Item {
	if p.Own.Named == nil {
		return p.Tasks
	}
	return slices.Concat(p.Tasks, p.mine.items, []Item{ownTask})
}

// asksForOwn says whether the answer is a task that has still to be typed.
func (p *Picker) asksForOwn() bool { return p.Row == pickTask && p.name(pickTask) == ownTask.Name }

// named are the tasks that a text names and that are not in the list.
func (p *Picker) named(row int, text string) []pane.Candidate {
	if row != pickTask || p.Own.Named == nil {
		return nil
	}
	var all []pane.Candidate
	for _, item := range p.Own.Named(text) {
		all = append(all, pane.Candidate{Text: item.Name, About: item.Doc})
	}
	return all
}

// takeOwn adds a task that was named to the list, and chooses it.
func (p *Picker) takeOwn(c pane.Candidate) error {
	if strings.HasSuffix(c.Text, "/") {
		return fmt.Errorf("%s is a folder: type the path of a task file in it", c.Text)
	}
	i := slices.IndexFunc(p.mine.items, func(i Item) bool { return i.Name == c.Text })
	if i < 0 {
		i = len(p.mine.items)
		p.mine.items = append(p.mine.items, Item{c.Text, c.About})
	}
	p.Row = pickTask
	p.answer(pickTask, 1+len(p.Tasks)+i)
	return nil
}

// check checks the task that is chosen, if it is not built in and was not checked yet.
func (p *Picker) check() tea.Cmd {
	task := p.Picks().Task
	_, known := p.mine.checked[task]
	if p.Own.Check == nil || task == p.mine.asked || known || p.wrong != nil ||
		!slices.ContainsFunc(p.mine.items, func(i Item) bool { return i.Name == task }) {
		return nil
	}
	if p.mine.stop != nil {
		p.mine.stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.mine.asked, p.mine.stop = task, stop
	check := p.Own.Check
	return func() tea.Msg {
		defer stop()
		lines, err := check(ctx, task)
		if errors.Is(err, context.Canceled) {
			return nil // no longer wanted
		}
		return Checked{task, lines, err}
	}
}

// TakeCheck keeps the result of a check.
func (p *Picker) TakeCheck(c Checked) {
	if p.mine.checked == nil {
		p.mine.checked = map[string]Checked{}
	}
	p.mine.checked[c.task] = c
	if p.mine.asked == c.task {
		p.mine.asked = ""
	}
	p.Changed()
}

// checks says what a check of the chosen task has found, in w columns and at most h lines; nil if it is
// built in.
func (p *Picker) checks(w, h int) (out []string) {
	t, task := p.theme, p.Picks().Task
	if task == "" {
		return nil
	}
	c, known := p.mine.checked[task]
	switch {
	case p.mine.asked == task:
		out = []string{t.Dim.On("random steps are played" + t.Glyphs.Wait)}
	case !known:
	case c.err != nil:
		out = theme.WrapStyled(t.Bad.On(t.Glyphs.Cross+" "+c.err.Error()), w)
	case len(c.lines) == 0:
		out = []string{t.Dim.On("random steps were played: nothing is in the way of learning")}
	default:
		for _, line := range c.lines {
			out = append(out, theme.WrapStyled(t.Bad.On("! "+line), w)...)
		}
	}
	return out[:min(len(out), max(0, h))]
}
