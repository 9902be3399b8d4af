package attach

import (
	"context"
	"fmt"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"pgrlab/core/printable"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
	"pgrlab/tui/theme"
)

// A chooser asks on a terminal which of several labs is meant: arrows move, and typing keeps the
// labs whose line contains every word typed.
type chooser struct {
	question string
	all      []remote.Status
	rows     []string
	cursor   string // marks the line that enter takes

	filter string
	at     int // index among the labs left
	w, h   int
	chosen *remote.Status
	over   bool
}

// chooseLab shows the question below the present output, and removes it afterwards.
func chooseLab(ctx context.Context, question string, all []remote.Status, in, out *os.File) (remote.Status, error) {
	m := newChooser(question, all)
	if terminal.Characters() != theme.Unicode {
		m.cursor = ">"
	}
	return m.run(ctx, tea.WithInput(in), tea.WithOutput(out))
}

// run asks until a lab is chosen.
func (c *chooser) run(ctx context.Context, options ...tea.ProgramOption) (remote.Status, error) {
	if _, err := tea.NewProgram(c, append(options, tea.WithContext(ctx))...).Run(); err != nil && ctx.Err() != nil {
		return remote.Status{}, context.Cause(ctx)
	}
	if c.chosen == nil {
		return remote.Status{}, errNoChoice
	}
	return *c.chosen, nil
}

func newChooser(question string, all []remote.Status) *chooser {
	return &chooser{question: question, all: all, rows: LabRows(all), cursor: "▸", w: 80, h: 24}
}

// Init waits for keys.
func (c *chooser) Init() tea.Cmd { return nil }

// Update takes keys and sizes.
func (c *chooser) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.w, c.h = msg.Width, msg.Height
	case tea.KeyMsg:
		left := c.left()
		switch msg.Type {
		case tea.KeyCtrlC, tea.KeyEsc, tea.KeyCtrlD:
			c.over = true
		case tea.KeyEnter:
			if c.over = len(left) > 0; c.over {
				c.chosen = &c.all[left[c.at]]
			}
		case tea.KeyUp, tea.KeyCtrlP, tea.KeyShiftTab:
			c.at = (c.at + len(left) - 1) % max(1, len(left))
		case tea.KeyDown, tea.KeyCtrlN, tea.KeyTab:
			c.at = (c.at + 1) % max(1, len(left))
		case tea.KeyBackspace:
			if r := []rune(c.filter); len(r) > 0 {
				c.filter, c.at = string(r[:len(r)-1]), 0
			}
		case tea.KeyCtrlU:
			c.filter, c.at = "", 0
		case tea.KeySpace:
			c.filter += " "
		case tea.KeyRunes: // on a slow line several come in one message
			c.filter, c.at = c.filter+string(msg.Runes), 0
		}
		if c.over {
			return c, tea.Quit
		}
	}
	return c, nil
}

// left are the labs that pass the filter.
func (c *chooser) left() []int {
	var left []int
	for i, row := range c.rows {
		text, fits := strings.ToLower(fmt.Sprintf("%d %s", c.all[i].PID, row)), true
		for _, word := range strings.Fields(strings.ToLower(c.filter)) {
			fits = fits && strings.Contains(text, word)
		}
		if fits {
			left = append(left, i)
		}
	}
	return left
}

// View is the question, the labs left and the typed text.
func (c *chooser) View() string {
	if c.over {
		return ""
	}
	left := c.left()
	lines := []string{c.question + "  up and down choose, typing filters, enter takes it, esc leaves"}
	room := max(1, c.h-3)
	first := max(0, min(c.at-room/2, len(left)-room))
	for n := first; n < min(len(left), first+room); n++ {
		mark := strings.Repeat(" ", ansi.StringWidth(c.cursor))
		if n == c.at {
			mark = c.cursor
		}
		i := left[n]
		lines = append(lines, fmt.Sprintf("%s %-8d%s", mark, c.all[i].PID, c.rows[i]))
	}
	if len(left) == 0 {
		lines = append(lines, "  none of them contains that")
	}
	if c.filter != "" {
		lines = append(lines, "filter: "+c.filter)
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], c.w-1, "")
	}
	return printable.Styled(strings.Join(lines, "\n") + "\n")
}

// LabRows describe labs in aligned columns: state, steps, what is learned, the folder.
func LabRows(all []remote.Status) []string {
	columns := make([][]string, len(all))
	var widths [4]int
	for i, s := range all {
		columns[i] = []string{"no answer", "", "", printable.Line(rundir.Near(s.Dir))}
		if s.Answered {
			columns[i] = []string{s.State, fmt.Sprintf("%d/%d", s.Step, s.Steps), fmt.Sprintf("%s %s s%d", s.Task, s.Method, s.Seed), printable.Line(rundir.Near(s.Dir))}
		}
		for k, text := range columns[i] {
			widths[k] = max(widths[k], ansi.StringWidth(text))
		}
	}
	rows := make([]string, len(all))
	for i, row := range columns {
		for k, text := range row {
			rows[i] += text + strings.Repeat(" ", widths[k]-ansi.StringWidth(text)+2)
		}
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}
