package attach

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

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
	rows     []string // what typing is compared with
	cursor   string   // marks the line that enter takes
	cut      string   // stands for the beginning of a folder's path

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
		m.cursor, m.cut = ">", ".."
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
	return &chooser{question: question, all: all, rows: LabRows(all), cursor: "▸", cut: "…", at: likeliest(all), w: 80, h: 24}
}

// likeliest is the index of the lab that a person most likely means: of those in this folder, if there are
// any, the one that was left or started last.
func likeliest(all []remote.Status) (at int) {
	here, _ := os.Getwd()
	near := func(s remote.Status) int {
		if strings.HasPrefix(s.Dir+"/", strings.TrimSuffix(here, "/")+"/") {
			return 1
		}
		return 0
	}
	touched := func(s remote.Status) time.Time {
		if s.Left.After(s.Started) {
			return s.Left
		}
		return s.Started
	}
	for i, s := range all {
		if c := cmp.Or(cmp.Compare(near(s), near(all[at])), touched(s).Compare(touched(all[at]))); c > 0 {
			at = i
		}
	}
	return at
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
	lines := []string{theme.FirstFitting([]string{
		c.question + "  up and down choose, typing filters, enter takes it, esc leaves",
		c.question + "  up, down, enter, esc; typing filters", c.question,
	}, c.w-1)}
	rows := c.shown()
	room := max(1, c.h-3)
	first := max(0, min(c.at-room/2, len(left)-room))
	for n := first; n < min(len(left), first+room); n++ {
		mark := strings.Repeat(" ", ansi.StringWidth(c.cursor))
		if n == c.at {
			mark = c.cursor
		}
		i := left[n]
		lines = append(lines, fmt.Sprintf("%s %-8d%s", mark, c.all[i].PID, rows[i]))
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

// leastFolder is how many columns of a folder's path are shown at least, beside anything else.
const leastFolder = 24

// shown are the rows as far as they fit. The end of the folder's path distinguishes the labs, so what it
// mostly repeats gives way, and then its beginning.
func (c *chooser) shown() []string {
	room := c.w - 1 - ansi.StringWidth(c.cursor) - len(" 1234567 ")
	columns := labColumns(c.all)
	for _, from := range [][]int{{0, 1, 2, 3}, {0, 1, 3}} {
		if rows := aligned(columns, from); widest(rows) <= room {
			return rows
		}
	}
	var rows []string
	for _, from := range [][]int{{0, 1}, {0}, {}} {
		if rows = aligned(columns, from); room-widest(rows)-2 >= leastFolder || len(from) == 0 {
			break
		}
	}
	before := widest(rows)
	for i, row := range rows {
		if before > 0 {
			row += strings.Repeat(" ", before-ansi.StringWidth(row)+2)
		}
		dir := columns[i][3]
		if over := ansi.StringWidth(row) + ansi.StringWidth(dir) - room; over > 0 {
			dir = ansi.TruncateLeft(dir, over+ansi.StringWidth(c.cut), c.cut)
		}
		rows[i] = row + dir
	}
	return rows
}

// widest is the width of the widest row.
func widest(rows []string) (w int) {
	for _, row := range rows {
		w = max(w, ansi.StringWidth(row))
	}
	return w
}

// LabRows describe labs in aligned columns: state, steps, what is learned, the folder.
func LabRows(all []remote.Status) []string { return aligned(labColumns(all), []int{0, 1, 2, 3}) }

// labColumns are the columns that describe labs.
func labColumns(all []remote.Status) [][]string {
	columns := make([][]string, len(all))
	for i, s := range all {
		columns[i] = []string{"no answer", "", "", printable.Line(rundir.Near(s.Dir))}
		if s.Answered {
			columns[i] = []string{s.State, fmt.Sprintf("%d/%d", s.Step, s.Steps), fmt.Sprintf("%s %s s%d", s.Task, s.Method, s.Seed), printable.Line(rundir.Near(s.Dir))}
		}
	}
	return columns
}

// aligned are rows of some of the columns, below each other.
func aligned(columns [][]string, from []int) []string {
	rows := make([]string, len(columns))
	for _, k := range from {
		width := 0
		for _, row := range columns {
			width = max(width, ansi.StringWidth(row[k]))
		}
		for i, row := range columns {
			rows[i] += row[k] + strings.Repeat(" ", width-ansi.StringWidth(row[k])+2)
		}
	}
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}
