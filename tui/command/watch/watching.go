package watch

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
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

// watching is the screen of a player: a line above, a line below, the picture between. One picture
// is made at a time, outside the event loop, and the next one is requested when it is shown: a slow
// terminal or machine gets fewer pictures.
type watching struct {
	player   *player
	pictures *tui.Pictures // nil: only characters
	style    picture.Style
	colours  termenv.Profile
	period   time.Duration
	episodes int // 0: endless

	w, h   int
	due    time.Time // when to show the next picture
	paused bool
	busy   bool // a picture is being made
	wanted asked
	shown  frameMsg
	ask    tea.Cmd // asks the terminal what it can show; nil: no question
	wake   int     // number of the wake-up that is valid
	err    error
}

// asked is what keys request of the next picture.
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

func (p *player) onScreen(ctx context.Context, in, out *os.File, pictures string, fps, episodes int) error {
	profile := theme.OwnProfile()
	characters := terminal.Characters()
	m := &watching{
		player: p, colours: profile, style: picture.For(profile, characters != theme.ASCII),
		pictures: tui.TerminalPictures(pictures, characters, out),
		period:   time.Second / time.Duration(fps), episodes: episodes,
	}
	keys, screen := m.pictures.Streams(in, out)
	asking, enough := context.WithCancel(ctx)
	defer enough()
	m.ask = m.pictures.Ask(asking)
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(keys), tea.WithOutput(screen), tea.WithFPS(maxFPS)).Run()
	m.pictures.Settle(in)
	if m.err != nil {
		return m.err
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("draw the screen: %w", err)
	}
	return nil
}

// Init waits for the size of the terminal, and asks what the terminal can show.
func (v *watching) Init() tea.Cmd { return v.ask }

// Update takes keys, sizes and finished pictures.
func (v *watching) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.w, v.h = msg.Width, msg.Height
		v.pictures.Resized(v.w, v.h)
		return v, v.again()
	case tui.PicturesAnswered:
		if v.pictures.Take(msg) {
			return v, v.again()
		}
	case tea.KeyMsg:
		return v, v.keys(msg)
	case tea.ResumeMsg:
		v.pictures.Resumed()
	case frameMsg:
		return v, v.show(msg)
	case wakeMsg:
		if int(msg) == v.wake {
			return v, v.again()
		}
	}
	return v, nil
}

// show takes a finished picture and arranges for the next one.
func (v *watching) show(f frameMsg) tea.Cmd {
	v.busy = false
	if f.err != nil {
		v.err = f.err
		return tea.Quit
	}
	v.shown = f
	if f.over {
		if v.episodes > 0 && f.episode+1 >= v.episodes {
			return tea.Quit
		}
		v.wanted.next = true
	}
	if f.w != v.w || f.h != v.h-2 { // the size has changed meanwhile
		return v.again()
	}
	if v.paused && v.wanted == (asked{}) {
		return nil
	}
	v.wake++
	number := wakeMsg(v.wake)
	return tea.Tick(time.Until(v.due), func(time.Time) tea.Msg { return number })
}

// keys takes what the terminal sent at once: keys, one by one; it ignores pasted text.
func (v *watching) keys(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Paste:
		return nil
	case msg.Type != tea.KeyRunes || len(msg.Runes) < 2:
		return v.key(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		if r == 'q' {
			return tea.Quit
		}
		all = append(all, v.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(all...)
}

func (v *watching) key(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return v.pictures.Suspend
	case " ":
		v.paused = !v.paused
	case ".":
		v.paused, v.wanted.step = true, true
	case "n":
		v.wanted.next = true
	default:
		return nil
	}
	return v.again()
}

// again requests the next picture, unless one is being made.
func (v *watching) again() tea.Cmd {
	w, h := v.w, v.h-2
	if v.busy || w < 1 || h < 1 {
		return nil
	}
	now := time.Now()
	wanted, passed := v.wanted, v.period
	switch {
	case wanted.step:
		passed = v.player.stepTime()
	case v.paused || wanted.next || now.Before(v.due):
		passed = 0
	}
	if passed > 0 || wanted.next {
		// A late picture does not speed up the next ones.
		if v.due = v.due.Add(v.period); v.due.Before(now) {
			v.due = now.Add(v.period)
		}
	}
	v.busy, v.wanted = true, asked{}
	canvas, p := v.pictures.Canvas(v.style), v.player
	v.pictures.Lost() // everything is drawn again anyway
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
		size := canvas.Scene(w, h)
		img, err := p.picture(size.X, size.Y)
		if err != nil {
			return frameMsg{err: err}
		}
		return frameMsg{scene: s, w: w, h: h, lines: canvas.Lines(img, w, h)}
	}
}

// View is the screen. After a change of size the last picture stays, cut to the new size, until the
// next one is made.
func (v *watching) View() string {
	if v.w < 1 || v.h < 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.header())
	for i := range v.h - 2 {
		b.WriteByte('\n')
		if i < len(v.shown.lines) {
			line := v.shown.lines[i]
			if v.shown.w > v.w {
				line = ansi.Truncate(line, v.w, "")
			}
			b.WriteString(line)
		}
	}
	if v.h > 1 {
		b.WriteByte('\n')
		b.WriteString(v.fit("space pause  . one step  n next episode  q quit", termenv.Style.Faint))
	}
	return printable.Styled(b.String())
}

func (v *watching) header() string {
	s := &v.shown
	state := ""
	if v.paused {
		state = "  paused"
	}
	numbers := fmt.Sprintf("episode %d  step %d/%d  reward %.3f  return %.1f%s",
		s.episode+1, s.step, v.player.task.EpisodeSteps, s.reward, s.scene.returns, state)
	name := v.player.task.Name
	if room := v.w - len(name) - len(numbers) - 4; room >= len(v.player.by) {
		name += "  " + v.player.by
	}
	return v.fit(name+"  "+numbers, termenv.Style.Bold)
}

// fit cuts a line of text to the width of the screen and applies a style, if there are styles.
func (v *watching) fit(text string, style func(termenv.Style) termenv.Style) string {
	text = ansi.Truncate(text, v.w, "")
	return style(v.colours.String(text)).String()
}
