package watch

import (
	"errors"
	"image"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/policy"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/picture"
	"pgrlab/tui/testing/commandtest"
)

// lineEnv is a task in which the action moves a point along a line. Its pose has two numbers, and
// an episode has ten steps of 0.1 s.
type lineEnv struct {
	at   float32
	step int
	fail error
}

func (e *lineEnv) ObsSize() int { return 1 }
func (e *lineEnv) ActSize() int { return 1 }
func (e *lineEnv) Reset(episode uint64, obs []float32) error {
	e.at, e.step = float32(episode), 0
	obs[0] = e.at
	return nil
}
func (e *lineEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	e.at += action[0]
	e.step++
	obs[0] = e.at
	return 0.5, false, e.step == 10, e.fail
}
func (e *lineEnv) Pose(dst []float64) []float64 { return append(dst, float64(e.at), float64(e.step)) }
func (e *lineEnv) Save(io.Writer) error         { return errors.ErrUnsupported }
func (e *lineEnv) Load(io.Reader) error         { return errors.ErrUnsupported }
func (e *lineEnv) Close() error                 { return nil }

// lineView paints one column white for each step made.
type lineView struct{}

func (lineView) StepTime() time.Duration { return 100 * time.Millisecond }
func (lineView) Draw(pose []float64, w, h int) (*image.RGBA, error) {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		if i/4%w < int(pose[1]) {
			img.Pix[i] = 255
		}
	}
	return img, nil
}

func newPlayer(t *testing.T) (*player, *lineEnv) {
	t.Helper()
	env := &lineEnv{}
	d := commandtest.Deps()
	d.View = func(task.Task) (cli.View, error) { return lineView{}, nil }
	task := task.Task{Name: "line", ObsSize: 1, ActSize: 1, EpisodeSteps: 10, New: func(uint64) (task.Env, error) { return env, nil }}
	p := &player{task: task, by: "random actions", policy: policy.Random(task, 1)}
	if err := p.build(d, nil, 1); err != nil {
		t.Fatal(err)
	}
	return p, env
}

// Time runs as in the task, at any number of pictures per second: rounding loses nothing, and an
// episode does not end by itself.
func TestPlayerKeepsTime(t *testing.T) {
	for _, period := range []time.Duration{40 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond} {
		p, _ := newPlayer(t)
		for passed := time.Duration(0); passed < 700*time.Millisecond; passed += period {
			s, err := p.play(period)
			if err != nil {
				t.Fatal(err)
			}
			if late := (passed + period - time.Duration(s.step)*100*time.Millisecond).Abs(); late > 50*time.Millisecond {
				t.Errorf("every %v: after %v %d steps", period, passed+period, s.step)
			}
		}
		s, err := p.play(time.Hour)
		if err != nil || s.step != 10 || !s.over || s.returns != 5 {
			t.Errorf("at the end: %+v, %v", s, err)
		}
		if err := p.next(); err != nil {
			t.Fatal(err)
		}
		if s, err = p.play(0); err != nil || s.step != 0 || s.episode != 1 || s.over || s.returns != 0 {
			t.Errorf("next episode: %+v, %v", s, err)
		}
		if got, want := p.summary(), "line, random actions: 1 episode, mean return 5.0"; got != want {
			t.Errorf("summary %q, want %q", got, want)
		}
	}
}

// screen is a watching screen whose commands the test runs.
type screen struct {
	*watching
	t     *testing.T
	ended bool
}

func newScreen(t *testing.T, p *player) *screen {
	return &screen{watching: &watching{player: p, style: picture.ASCII, colours: termenv.Ascii, period: 100 * time.Millisecond}, t: t}
}

// send gives a message to the screen and runs the commands that follow, but does not wait for
// wake-ups.
func (s *screen) send(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.Update(msg)
	for cmd != nil && s.busy {
		_, cmd = s.Update(cmd())
	}
	s.ended = cmd != nil && reflect.ValueOf(cmd).Pointer() == reflect.ValueOf(tea.Quit).Pointer()
}

func key(s string) tea.KeyMsg {
	switch s {
	case "esc":
		return tea.KeyMsg{Type: tea.KeyEsc}
	case "ctrl+c":
		return tea.KeyMsg{Type: tea.KeyCtrlC}
	case " ":
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

// wakeUp makes the next picture due and wakes the screen.
func (s *screen) wakeUp() {
	s.due = time.Time{}
	s.send(wakeMsg(s.wake))
}

func (s *screen) frame(w, h int) []string {
	s.t.Helper()
	lines := strings.Split(s.View(), "\n")
	if len(lines) != h {
		s.t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			s.t.Errorf("line %d is %d wide, want at most %d: %q", i, n, w, l)
		}
	}
	return lines
}

func TestWatchingShowsTheTask(t *testing.T) {
	p, _ := newPlayer(t)
	s := newScreen(t, p)
	if s.View() != "" {
		t.Error("a screen without a size is drawn")
	}
	s.send(tea.WindowSizeMsg{Width: 80, Height: 6})
	for range 2 {
		s.wakeUp()
	}
	lines := s.frame(80, 6)
	if want := "line  random actions  episode 1  step 3/10  reward 0.500  return 1.5"; lines[0] != want {
		t.Errorf("header %q, want %q", lines[0], want)
	}
	if len(lines[1]) != 80 || lines[1][0] == lines[1][3] {
		t.Errorf("picture %q, want three bright columns", lines[1])
	}

	// A wake-up that was overtaken does nothing.
	s.send(wakeMsg(s.wake - 1))
	if s.shown.step != 3 {
		t.Errorf("step %d after an old wake-up", s.shown.step)
	}
	s.send(key(" "))
	s.wakeUp()
	if s.shown.step != 3 || !strings.HasSuffix(s.frame(80, 6)[0], "paused") {
		t.Errorf("paused: step %d, %q", s.shown.step, s.frame(80, 6)[0])
	}
	s.send(key("."))
	if s.shown.step != 4 {
		t.Errorf("one step more is %d", s.shown.step)
	}
	for _, size := range [][2]int{{200, 50}, {20, 4}, {5, 2}, {3, 1}, {40, 10}} {
		s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.frame(size[0], size[1])
	}
	s.send(key("n"))
	if s.shown.episode != 1 || s.shown.step != 0 {
		t.Errorf("next episode: %+v", s.shown.scene)
	}
}

// The next episode begins by itself, and the screen ends after the requested number of episodes.
func TestWatchingEndsAfterItsEpisodes(t *testing.T) {
	p, _ := newPlayer(t)
	s := newScreen(t, p)
	s.episodes = 2
	s.send(tea.WindowSizeMsg{Width: 60, Height: 6})
	for i := 0; !s.ended && i < 50; i++ {
		s.wakeUp()
	}
	if got := p.summary(); !strings.HasSuffix(got, "2 episodes, mean return 5.0") {
		t.Errorf("summary %q", got)
	}
}

func TestWatchingIsLeft(t *testing.T) {
	for _, k := range []string{"q", "esc", "ctrl+c"} {
		p, _ := newPlayer(t)
		s := newScreen(t, p)
		_, cmd := s.Update(key(k))
		if cmd == nil {
			t.Fatalf("%s does nothing", k)
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%s does not leave", k)
		}
	}
}

// An error of the task ends the screen, and so does a picture that is requested after the end.
func TestWatchingStopsAtAnError(t *testing.T) {
	p, env := newPlayer(t)
	s := newScreen(t, p)
	env.fail = errors.New("the simulation diverged")
	s.send(tea.WindowSizeMsg{Width: 60, Height: 6})
	if !s.ended || s.err != env.fail {
		t.Errorf("ended %t with %v", s.ended, s.err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.picture(3, 3); err != errClosed {
		t.Errorf("a picture after the end: %v", err)
	}
}

// Keys that arrive together are handled one by one, and pasted text is not taken for keys.
func TestWatchTakesBursts(t *testing.T) {
	one, _ := newPlayer(t)
	two, _ := newPlayer(t)
	single, burst := newScreen(t, one), newScreen(t, two)
	for _, r := range "..n" {
		single.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	burst.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("..n")})
	if single.paused != burst.paused || single.wanted != burst.wanted {
		t.Errorf("in one burst paused %v, asked %+v; one by one %v, %+v", burst.paused, burst.wanted, single.paused, single.wanted)
	}
	burst.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true})
	if burst.ended {
		t.Error("pasted text leaves")
	}
	burst.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(".q.")})
	if !burst.ended {
		t.Error("q in a burst does not leave")
	}
}
