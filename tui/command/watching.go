package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/printable"
	"pgrlab/tui"
	"pgrlab/tui/picture"
)

// watching is the screen of a player: a line above, a line below, the picture
// between. One picture is made at a time, outside the event loop, and the next
// one is asked for when it is shown: a slow terminal or machine gets fewer.
type watching struct {
	player   *player
	style    picture.Style
	colours  termenv.Profile
	period   time.Duration
	episodes int // 0: endless

	w, h   int
	due    time.Time // of the next picture
	paused bool
	busy   bool // a picture is being made
	ask    asked
	shown  frameMsg
	wake   int // number of the wake-up that counts
	err    error
}

// asked is what keys want of the next picture.
type asked struct{ step, next bool }

// frameMsg is a finished picture.
type frameMsg struct {
	scene
	w, h  int
	lines []string
	err   error
}

// wakeMsg says that the next picture is due, unless a later wake-up was set.
type wakeMsg int

func (p *player) onScreen(ctx context.Context, in, out *os.File, fps, episodes int) error {
	profile := termenv.NewOutput(out, termenv.WithTTY(true)).EnvColorProfile()
	m := &watching{
		player: p, colours: profile, style: picture.For(profile, characters() == tui.Unicode),
		period: time.Second / time.Duration(fps), episodes: episodes,
	}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(mostFPS)).Run()
	if m.err != nil {
		return m.err
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("draw the screen: %w", err)
	}
	return nil
}

// Init waits for the size of the terminal.
func (m *watching) Init() tea.Cmd { return nil }

// Update takes keys, sizes and finished pictures.
func (m *watching) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return m, m.again()
	case tea.KeyMsg:
		return m, m.keys(msg)
	case frameMsg:
		return m, m.show(msg)
	case wakeMsg:
		if int(msg) == m.wake {
			return m, m.again()
		}
	}
	return m, nil
}

// show takes a finished picture and sees to the next one.
func (m *watching) show(f frameMsg) tea.Cmd {
	m.busy = false
	if f.err != nil {
		m.err = f.err
		return tea.Quit
	}
	m.shown = f
	if f.over {
		if m.episodes > 0 && f.episode+1 >= m.episodes {
			return tea.Quit
		}
		m.ask.next = true
	}
	if f.w != m.w || f.h != m.h-2 { // the size has changed meanwhile
		return m.again()
	}
	if m.paused && m.ask == (asked{}) {
		return nil
	}
	m.wake++
	number := wakeMsg(m.wake)
	return tea.Tick(time.Until(m.due), func(time.Time) tea.Msg { return number })
}

// keys takes what the terminal sent at once: keys, one by one; pasted text is none.
func (m *watching) keys(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Paste:
		return nil
	case msg.Type != tea.KeyRunes || len(msg.Runes) < 2:
		return m.key(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		if r == 'q' {
			return tea.Quit
		}
		all = append(all, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(all...)
}

func (m *watching) key(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case " ":
		m.paused = !m.paused
	case ".":
		m.paused, m.ask.step = true, true
	case "n":
		m.ask.next = true
	default:
		return nil
	}
	return m.again()
}

// again asks for the next picture, unless one is being made.
func (m *watching) again() tea.Cmd {
	w, h := m.w, m.h-2
	if m.busy || w < 1 || h < 1 {
		return nil
	}
	now := time.Now()
	wanted, passed := m.ask, m.period
	switch {
	case wanted.step:
		passed = m.player.view.StepTime()
	case m.paused || wanted.next || now.Before(m.due):
		passed = 0
	}
	if passed > 0 || wanted.next {
		// A late picture does not hasten the next ones.
		if m.due = m.due.Add(m.period); m.due.Before(now) {
			m.due = now.Add(m.period)
		}
	}
	m.busy, m.ask = true, asked{}
	style, p := m.style, m.player
	return func() tea.Msg {
		if wanted.next {
			if err := p.next(); err != nil {
				return frameMsg{err: err}
			}
		}
		s, err := p.play(passed)
		if err != nil {
			return frameMsg{err: err}
		}
		img, err := p.picture(w, 2*h)
		if err != nil {
			return frameMsg{err: err}
		}
		return frameMsg{scene: s, w: w, h: h, lines: picture.Lines(img, w, h, style)}
	}
}

// View is the screen. After a change of size the last picture stands until the
// next one is made, cut to the new size.
func (m *watching) View() string {
	if m.w < 1 || m.h < 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString(m.header())
	for i := range m.h - 2 {
		b.WriteByte('\n')
		if i < len(m.shown.lines) {
			line := m.shown.lines[i]
			if m.shown.w > m.w {
				line = ansi.Truncate(line, m.w, "")
			}
			b.WriteString(line)
		}
	}
	if m.h > 1 {
		b.WriteByte('\n')
		b.WriteString(m.fit("space pause  . one step  n next episode  q quit", termenv.Style.Faint))
	}
	return printable.Styled(b.String())
}

func (m *watching) header() string {
	s := &m.shown
	state := ""
	if m.paused {
		state = "  paused"
	}
	numbers := fmt.Sprintf("episode %d  step %d/%d  reward %.3f  return %.1f%s",
		s.episode+1, s.step, m.player.task.EpisodeSteps, s.reward, s.scene.returns, state)
	name := m.player.task.Name
	if room := m.w - len(name) - len(numbers) - 4; room >= len(m.player.who) {
		name += "  " + m.player.who
	}
	return m.fit(name+"  "+numbers, termenv.Style.Bold)
}

// fit cuts a line of text to the screen and gives it a style, where there are any.
func (m *watching) fit(text string, style func(termenv.Style) termenv.Style) string {
	text = ansi.Truncate(text, m.w, "")
	return style(m.colours.String(text)).String()
}
