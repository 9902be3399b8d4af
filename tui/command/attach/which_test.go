package attach

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/remote"
	"pgrlab/tui/testing/commandtest"
)

// running has four labs, the last of which was stopped by a shell.
func running(here string) []remote.Status {
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	lab := func(pid int, dir, task, method string, minute int) remote.Status {
		return remote.Status{PID: pid, Dir: dir, Task: task, Method: method, Seed: 1, Steps: 30000, Step: 10 * pid, State: "running",
			Started: at.Add(time.Duration(minute) * time.Minute), Answered: true}
	}
	return []remote.Status{
		lab(4242, filepath.Join(here, "runs", "2026-11-22-cheetah-run-sac-s1"), "cheetah-run", "sac", 0),
		lab(4243, filepath.Join(here, "runs", "2026-11-22-cheetah-run-redq-s1"), "cheetah-run", "redq", 30),
		lab(5242, filepath.Join(here, "sweeps", "a", "0003-walker-walk-sac-s4", "run"), "walker-walk", "sac", 20),
		{PID: 77, Dir: "?", State: "no answer"},
	}
}

// A line that people type selects the labs that it means.
func TestMatching(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	all := running(here)
	if err := os.MkdirAll("sweeps/a", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("sweeps/a/grid.json", []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]int{
		"": {4242, 4243, 5242, 77}, "4242": {4242}, "77": {77}, "latest": {4243}, "redq": {4243}, "REDQ": {4243},
		"cheetah": {4242, 4243}, "2026-11-22-cheetah-run-sac-s1": {4242}, "run": {5242}, "0003-walker-walk-sac-s4": {5242}, "walker": {5242}, "sweeps/a": {5242},
		"runs/2026": {4242, 4243}, "sweeps": {5242}, "nosuch": nil, "424": nil, "0003": nil, "1": nil, "2026": nil, "/": nil,
	} {
		var got []int
		for _, s := range matching(all, name) {
			got = append(got, s.PID)
		}
		if name == "/" { // a folder that holds all labs with a folder
			want = []int{4242, 4243, 5242}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q means %v, want %v", name, got, want)
		}
	}
	if got := matching(nil, rundir.Latest); got != nil {
		t.Errorf("of none the latest is %v", got)
	}
}

// What stops or pauses a lab needs its whole name: a process that has ended, or a part of a name, means
// no lab.
func TestNamed(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	all := running(here)
	for name, want := range map[string][]int{
		"": {4242, 4243, 5242, 77}, "4242": {4242}, "latest": {4243}, "2026-11-22-CHEETAH-run-sac-s1": {4242}, "runs": {4242, 4243},
		"a/0003-walker-walk-sac-s4/run/": {5242}, filepath.Join(here, "sweeps"): {5242},
		"424": nil, "1": nil, "22": nil, "cheetah": nil, "redq": nil, "weeps/a": nil, "runs/2026": nil,
	} {
		var got []int
		for _, s := range named(all, name) {
			got = append(got, s.PID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q means %v, want %v", name, got, want)
		}
	}
}

// A part of one lab's name neither stops it nor shows a screen that could drive it: the command offers the
// line that does.
func TestAPartOfANameStopsNothing(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	t.Setenv(cli.RunsVariable, here)
	all := running(here)
	for _, c := range []*cobra.Command{StopCommand(), Command(commandtest.Deps())} {
		for name, want := range map[string]string{
			"walker": c.Name() + " walker: no lab is called that, only a part of a name is: say which, as in the lines above", "1": c.Name() + ": no lab of yours has process 1: pgrlab ps lists them",
		} {
			var said strings.Builder
			c.SetErr(&said)
			dir, err := labNamed(t.Context(), c, all, name)
			if dir != "" || err == nil || err.Error() != want {
				t.Errorf("%s: %q, %v, want %s", name, dir, err, want)
			}
			if offered := strings.Contains(said.String(), "pgrlab "+c.Name()+" 5242"); offered != (name == "walker") {
				t.Errorf("%s offers:\n%s", name, said.String())
			}
		}
	}
	if dir, err := labNamed(t.Context(), StopCommand(), all, "5242"); err != nil || dir != filepath.Join("sweeps", "a", "0003-walker-walk-sac-s4", "run") {
		t.Errorf("its process means %q, %v", dir, err)
	}
}

// Strangers see the run that was named and no other: a folder means itself, whether or not a lab runs in it,
// and neither a part of a name nor a name of several runs is enough.
func TestServedIsWhatWasNamed(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	t.Setenv(cli.RunsVariable, filepath.Join(here, "runs"))
	for _, dir := range []string{"a/live", "a/other", "b/live", "b/old"} {
		folder, err := run.Create(dir, []byte("seed = 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		folder.Close()
	}
	if err := os.Symlink("a/other", "linked"); err != nil {
		t.Fatal(err)
	}
	lab := func(pid int, dir string) remote.Status {
		return remote.Status{PID: pid, Dir: filepath.Join(here, dir), Task: "cheetah-run", Answered: true}
	}
	all := []remote.Status{lab(1, "a/live"), lab(2, "a/other"), lab(3, "b/live"), {PID: 4, State: "no answer"}}
	for _, c := range []struct {
		at, name, want, wrong string
		all                   []remote.Status
	}{
		{at: "a", name: "live", want: "a/live", all: all},
		{at: "b", name: "live", want: "b/live", all: all},
		{at: ".", name: "linked", want: "a/other", all: all},
		{at: ".", name: "2", want: "a/other", all: all},
		{at: ".", name: "OTHER", want: "a/other", all: all},
		{at: "a", name: "../b/live", want: "b/live", all: all},
		{at: "b", name: "live", wrong: "serve live: no lab runs there", all: all[:2]},
		{at: "b", name: "old", wrong: "serve old: no lab runs there", all: all},
		{at: ".", name: "live", wrong: "serve live: more than one run is meant: give a process or a folder of the lines above", all: all},
		{at: ".", name: "a", wrong: "serve a: more than one run is meant", all: all},
		{at: ".", name: "oth", wrong: "serve oth: no run is called that, only a part of a name is", all: all},
		{at: ".", name: "b", wrong: "serve b: no such run", all: all[:2]},
		{at: ".", name: "4", wrong: "serve 4: its lab does not answer", all: all},
		{at: ".", name: "nowhere", wrong: "serve nowhere: no such run", all: all},
	} {
		t.Chdir(filepath.Join(here, c.at))
		serve := ServeCommand(cli.Deps{})
		serve.SetErr(io.Discard)
		got, err := exactly(serve, c.all, c.name)
		if c.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.wrong) {
				t.Errorf("in %s, %s: %q, %v, want %s", c.at, c.name, got, err, c.wrong)
			}
		} else if err != nil || got != filepath.Join(here, c.want) {
			t.Errorf("in %s, %s: %q, %v, want %s", c.at, c.name, got, err, c.want)
		}
	}
}

// A lab has its folder before it listens and can be listed. Until then a line says that it starts,
// whatever it is called.
func TestALabThatStarts(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	t.Setenv(cli.RunsVariable, "runs")
	folder, err := run.Create("runs/cheetah-s1", []byte("seed = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	want := "attach runs/cheetah-s1: its lab is starting or ending: try again in a moment"
	c := Command(commandtest.Deps())
	for _, name := range []string{"", rundir.Latest, "cheetah"} {
		if dir, err := labNamed(t.Context(), c, nil, name); dir != "" || err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v", name, dir, err)
		}
	}
	if dir, _, err := runningLab(t.Context(), c, []string{"runs/cheetah-s1"}); dir != "" || err == nil || err.Error() != want {
		t.Errorf("its folder: %q, %v", dir, err)
	}
}

// Every lab can be named by the line that offers it, by its folder and by a part of that line.
func TestOfferedLines(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	all := running(here)
	var b strings.Builder
	offerLines(&b, "attach", all)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != len(all) {
		t.Fatalf("%d lines for %d labs:\n%s", len(lines), len(all), b.String())
	}
	for i, line := range lines {
		name := strings.Fields(line)[2]
		if found := matching(all, name); len(found) != 1 || found[0].PID != all[i].PID {
			t.Errorf("%q: %q means %v", line, name, found)
		}
		if !strings.HasPrefix(line, "pgrlab attach ") {
			t.Errorf("%q is no line to type", line)
		}
	}
}

// press sends each key to a chooser in a message of its own.
func press(m *chooser, keys ...tea.KeyMsg) *chooser {
	for _, k := range keys {
		next, _ := m.Update(k)
		m = next.(*chooser)
	}
	return m
}

func typed(text string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)} }

// Arrows and typing choose a lab; esc chooses none.
func TestChooser(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	all := running(here)
	enter, down, up, esc := tea.KeyMsg{Type: tea.KeyEnter}, tea.KeyMsg{Type: tea.KeyDown}, tea.KeyMsg{Type: tea.KeyUp}, tea.KeyMsg{Type: tea.KeyEsc}
	back, space := tea.KeyMsg{Type: tea.KeyBackspace}, tea.KeyMsg{Type: tea.KeySpace}
	for _, c := range []struct {
		keys []tea.KeyMsg
		want int // 0: none, and it still asks or was left
	}{
		{[]tea.KeyMsg{enter}, 4243}, {[]tea.KeyMsg{down, enter}, 5242}, {[]tea.KeyMsg{up, up, enter}, 77}, {[]tea.KeyMsg{down, down, up, enter}, 5242},
		{[]tea.KeyMsg{typed("walker"), enter}, 5242}, {[]tea.KeyMsg{typed("SAC"), down, enter}, 5242},
		{[]tea.KeyMsg{typed("sac"), space, typed("cheetah"), enter}, 4242}, {[]tea.KeyMsg{typed("4243"), enter}, 4243},
		{[]tea.KeyMsg{typed("nosuch"), enter}, 0}, {[]tea.KeyMsg{typed("walkx"), back, enter}, 5242}, {[]tea.KeyMsg{typed("walker"), esc}, 0},
		{[]tea.KeyMsg{down, down, typed("redq"), enter}, 4243}, {[]tea.KeyMsg{typed("nosuch"), up, down, enter}, 0},
	} {
		m := press(newChooser("which?", all), c.keys...)
		got := 0
		if m.chosen != nil {
			got = m.chosen.PID
		}
		if got != c.want {
			t.Errorf("%v chooses %d, want %d", c.keys, got, c.want)
		}
	}
}

// The cursor begins on the lab in this folder that was left or started last, and without one on that of all.
func TestTheChooserBeginsOnTheLikeliest(t *testing.T) {
	here := t.TempDir()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	lab := func(dir string, started, left int) remote.Status {
		s := remote.Status{Dir: filepath.Join(here, dir), Started: at.Add(time.Duration(started) * time.Minute), Answered: true}
		if left > 0 {
			s.Left = at.Add(time.Duration(left) * time.Minute)
		}
		return s
	}
	for _, dir := range []string{"a/runs/3", "b", "ab"} {
		if err := os.MkdirAll(filepath.Join(here, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all := []remote.Status{lab("a/runs/1", 1, 9), lab("a/runs/2", 2, 0), lab("a/runs/3", 3, 5), lab("ab/runs/4", 4, 0), lab("c/5", 10, 0), {PID: 7, State: "no answer"}}
	for dir, want := range map[string]int{".": 4, "a": 0, "a/runs/3": 2, "ab": 3, "b": 4} {
		t.Chdir(filepath.Join(here, dir))
		if got := newChooser("which?", all).at; got != want {
			t.Errorf("in %s it begins on %d, want %d", dir, got, want)
		}
	}
}

// The question fits every terminal, and shows the lab that enter would choose.
func TestChooserFits(t *testing.T) {
	var all []remote.Status
	for i := range 40 {
		all = append(all, remote.Status{PID: 1000 + i, Dir: fmt.Sprintf("/runs/%d-a-very-long-name-of-a-run-folder", i), Task: "cheetah-run", Method: "pgr-curiosity", Answered: true})
	}
	for _, size := range [][2]int{{80, 24}, {40, 10}, {20, 5}, {200, 50}} {
		m := newChooser("pgrlab attach which?", all)
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for i := range 41 {
			view := m.View()
			lines := strings.Split(strings.TrimSuffix(view, "\n"), "\n")
			if len(lines) > size[1]-1 {
				t.Fatalf("%d lines on %v", len(lines), size)
			}
			for _, line := range lines {
				if n := len([]rune(line)); n >= size[0] {
					t.Fatalf("%d columns on %v: %q", n, size, line)
				}
			}
			if want := fmt.Sprintf("%s %d", m.cursor, 1000+i%40); !strings.Contains(view, want) {
				t.Fatalf("%q is not shown on %v:\n%s", want, size, view)
			}
			m = press(m, tea.KeyMsg{Type: tea.KeyDown})
		}
	}
}

// What distinguishes labs is the end of their folders' paths: it is shown on every terminal that has room
// for it, and so is the whole question.
func TestChooserShowsTheEndsOfPaths(t *testing.T) {
	var all []remote.Status
	for i := range 3 {
		all = append(all, remote.Status{PID: 12050 + i, Dir: fmt.Sprintf("/somewhere/deep/below/sweeps/out/%04d-maze-sparse-pgr-curiosity-s%d/run", i, i), Task: "maze-sparse", Method: "pgr-curiosity",
			State: "running", Step: 3_084_480, Steps: 5_000_000, Answered: true})
	}
	for w, wants := range map[int][]string{
		200: {"running  3084480/5000000  maze-sparse pgr-curiosity s0  /somewhere/deep", "esc leaves"},
		120: {"running  3084480/5000000  /somewhere/deep/below/sweeps/out/0002-maze-sparse-pgr-curiosity-s2/run", "esc leaves"},
		80:  {"running  3084480/5000000  …", "s2/run", "out/0002-maze-sparse-pgr-curiosity-s2/run", "typing filters"},
		60:  {"running  …", "0001-maze-sparse-pgr-curiosity-s1/run", "typing filters"},
		40:  {"…", "curiosity-s1/run"},
	} {
		m := newChooser("pgrlab attach which?", all)
		m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
		for _, want := range wants {
			if view := m.View(); !strings.Contains(view, want) {
				t.Errorf("%d columns: no %q in\n%s", w, want, view)
			}
		}
	}
}

// The end of a file with commands does not end a log.
func TestALogGoesOnAfterItsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(unattended{strings.NewReader("note x\n"), ctx})
			ended <- string(all)
		}()
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("it ended with its input")
		}
		cancel()
		if got := <-ended; got != "note x\n" {
			t.Errorf("%q", got)
		}
	})
}
