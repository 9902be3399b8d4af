package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/fan"
	"pgrlab/core/rng"
	"pgrlab/core/run"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// fanOf are the fork folders of a run.
func fanOf(t *testing.T, run string, n int) []string {
	t.Helper()
	dirs, err := filepath.Glob(run + "-fork-*")
	if err != nil || len(dirs) != n {
		t.Fatalf("%d forks, want %d: %v", len(dirs), n, err)
	}
	return dirs
}

// evaluations counts the evaluations of a run after an env step.
func evaluations(t *testing.T, dir string, after int) (n int) {
	t.Helper()
	events, err := history.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == event.TypeEvaluated && e.Step > after {
			n++
		}
	}
	return n
}

// A run that is held for a fan of forks ends as it would have without: its canonical journal is the same.
// The forks have the same number of evaluations, and both looks at them are in the journal.
func TestAFanLeavesTheRunAsItIs(t *testing.T) {
	d := setUp(t)
	private(t)
	length := []string{"--preset", "tiny.toml", "--seed", "5", "--steps", "600"}
	at := holdAt(t, 5, 100)
	p := sitDown(t, []string{colourless[0], at.setting}, append(length, "--out", "run")...)
	parent := at.await()
	p.press(":", "")
	p.press("fan 8 40 hold ratio=0.75\r", "saving at the end of this slice")
	parent.release()
	p.await("8 forks")
	ends(t, "run")
	for _, dir := range fanOf(t, "run", 8) {
		ends(t, dir)
	}
	p.await("0 shows it") // the run may be over, so that no event comes
	eventually(t, "the look is in the journal", func() bool { return types(t, "run")[event.TypeForkLook] > 0 })
	n := types(t, "run")
	if n[event.TypeFork] != 1 || n[event.TypeForkLook] < 1 || n[event.TypeForkLook] > 2 {
		t.Errorf("%v", n)
	}
	counts := map[int]int{}
	for _, dir := range fanOf(t, "run", 8) {
		counts[evaluations(t, dir, 110)]++
	}
	if len(counts) != 1 {
		t.Errorf("numbers of evaluations: %v", counts)
	}
	if status, _ := pgrlab(t, d, standardError(nil), append([]string{"train", "--out", "alone"}, length...)...); status != 0 {
		t.Fatalf("status %d", status)
	}
	if status, out := pgrlab(t, d, standardError(nil), "journal", "diff", "run", "alone"); status != 0 {
		t.Errorf("the run differs from one without a fan: %s", out)
	}
}

// A fan whose run is killed in the middle has the same forks after a resume, which train on, and the
// verdict of all of them.
func TestAFanSurvivesAKill(t *testing.T) {
	if !soaking() {
		t.Skip("starts 16 processes: PGRLAB_SOAK=1")
	}
	d := setUp(t)
	private(t)
	p := sitDown(t, colourless, "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", "run")
	p.await("#1 ")
	p.press(":", "")
	p.press("fan 8 120 beside ratio=0.75\r", "8 forks")
	begun := ""
	eventually(t, "a fork trains", func() bool {
		dirs, _ := filepath.Glob("run-fork-*/train.log")
		if len(dirs) > 0 {
			begun = filepath.Dir(dirs[0])
		}
		return begun != ""
	})
	p.command.Process.Signal(syscall.SIGKILL)
	<-p.ended
	dirs := fanOf(t, "run", 8)
	ends(t, begun) // it has no turns any more, and trains on

	p = sitDown(t, colourless, "--resume", "run")
	p.await("8 forks")
	p.press("0", "r resume")
	p.press("r", "on: in turns, as before")
	for _, dir := range dirs {
		ends(t, dir)
	}
	p.await("look 2 of 2: ")
	p.press("q", "stop and save")
	p.press("s", "what its forks say")
	<-p.ended
	events, err := history.ReadJournal("run")
	if err != nil {
		t.Fatal(err)
	}
	verdict := ""
	for _, e := range events {
		if l, is := e.Body.(event.Looked); is {
			first, _, _ := strings.Cut(l.Verdict, ":")
			verdict = fmt.Sprintf("%s: return %+.3g", first, float64(l.Difference))
		}
	}
	var said strings.Builder
	status, out := pgrlab(t, d, &said, append([]string{"report"}, dirs...)...)
	if status != 0 || verdict == "" || !strings.Contains(strings.Join(strings.Fields(out), " "), verdict) {
		t.Errorf("status %d, the screen says %q, the report\n%s%s", status, verdict, out, fmt.Sprint(&said))
	}
}

// Of fans in which nothing is changed, dealt over real forks of one checkpoint, at most 5 % have a verdict.
func TestPlaceboFansOfRealForks(t *testing.T) {
	if !soaking() {
		t.Skip("trains 40 forks: PGRLAB_SOAK=1")
	}
	d := setUp(t)
	private(t)
	do := func(args ...string) {
		t.Helper()
		if status, _ := pgrlab(t, d, standardError(nil), args...); status != 0 {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	do("train", "--preset", "tiny.toml", "--steps", "200", "--set", "evaluation.every=10", "--set", "evaluation.keep_every=150", "--out", "run")
	var returns [][]float64
	for seed := range 40 {
		dir := fmt.Sprint("f", seed)
		do("fork", "run@150", "--steps", "250", "--seed", fmt.Sprint(100+seed), "--out", dir)
		do("train", "--resume", dir)
		events, err := history.ReadJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		var one []float64
		for _, e := range events {
			if v, is := e.Body.(event.Evaluated); is && e.Step > 150 {
				one = append(one, float64(v.ReturnMean))
			}
		}
		returns = append(returns, one)
	}
	fans, wrong := 1_000, 0
	for n := range fans {
		chance := rng.New(uint64(n), "placebo fans of real forks")
		draws, left := chance.Sub("forks").At(0), slices.Clone(returns)
		var forks []fan.Fork
		for _, changed := range fan.Deal(chance.Sub("deal"), 4) {
			i := draws.IntN(len(left))
			forks = append(forks, fan.Fork{Changed: changed, Returns: left[i]})
			left = slices.Delete(left, i, i+1)
		}
		r := fan.Judge([]fan.Batch{fan.NewBatch(forks, len(returns[0]), fan.Least(returns...))})
		if r.Verdict == fan.Better || r.Verdict == fan.Worse {
			wrong++
		}
	}
	t.Logf("%d of %d fans without an effect have a verdict; %d evaluations a fork", wrong, fans, len(returns[0]))
	if wrong > fans/20 || wrong == 0 {
		t.Errorf("%d of %d fans without an effect have a verdict", wrong, fans)
	}
}

// A fork that another process trains has not failed, also if it was begun again in the moment of that.
func TestAForkOfAnotherProcessHasNotFailed(t *testing.T) {
	setUp(t)
	doc, err := os.ReadFile("tiny.toml")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := run.Create("fork", doc)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	b := forks.Group{Begin: func(dir string) *exec.Cmd {
		c, _ := child(t, "train", "--resume", dir, "--"+forks.TurnsFlag)
		return c
	}}
	room := func() forks.Room { return forks.Room{AtATime: 1, Begun: 1} }
	all, over, err := b.Add(room, func() ([]pane.Child, error) { return []pane.Child{{Dir: "fork"}}, nil })
	if err != nil {
		t.Fatal(err)
	}
	over()
	if err := all[0].Failed(); !errors.Is(err, pane.ErrStopped) || !strings.Contains(err.Error(), "in use by another pgrlab: pgrlab attach fork shows it") {
		t.Error(err)
	}
}
