package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/sweep"
)

// page runs the command lines of docs/cluster.md as printed there, with a smaller network and fewer
// processors, in sweeps that do not end by themselves.
type page struct {
	t    *testing.T
	ssh  []string // added to lines that reach hosts
	more []string // added to lines that begin a sweep
}

// smaller replaces words of the page where the test machine is smaller.
var smaller = map[string]string{"demo": "tiny.toml", "--cpus-per-task=5": "--cpus-per-task=2"}

// onTiny is a path of the page for the sweeps that are made here: preset demo is on cheetah-run, and tiny.toml not.
func onTiny(path string) string {
	return strings.ReplaceAll(path, "-cheetah-run-", "-cartpole-swingup-")
}

// do runs a line.
func (p *page) do(line string) {
	p.t.Helper()
	words := strings.Fields(line)[1:]
	for i, w := range words {
		if small, is := smaller[w]; is {
			w = small
		}
		words[i] = onTiny(w)
	}
	switch {
	case slices.Contains(words, "--on"):
		if slices.Contains(words, "--preset") {
			words = append(words, "--steps", "10000000", "--device", "cpu")
		}
		p.opens(slices.Concat(words, p.ssh, p.more))
	case words[0] == "attach":
		who := sitDown(p.t, nil, words...)
		who.await("RETURN")
		who.press("q", "leave it training")
		who.press("d", "detached at step")
		if status := who.status(); status != 0 {
			p.t.Errorf("%s: status %d", line, status)
		}
	default:
		if slices.Contains([]string{"cancel", "requeue"}, words[1]) {
			words = append(words, p.ssh...)
		}
		if out, err := onCluster(p.t, words...); err != nil || out == "" {
			p.t.Errorf("%s: %v: %s", line, err, out)
		}
	}
}

// opens opens the view of a sweep, and closes it when the sweep has begun or was found.
func (p *page) opens(words []string) {
	p.t.Helper()
	log, err := os.Create("view.log")
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	view, _ := child(p.t, words...)
	view.Stderr = log
	if err := view.Start(); err != nil {
		p.t.Fatal(err)
	}
	defer view.Process.Kill()
	said := func() string { text, _ := os.ReadFile("view.log"); return string(text) }
	eventually(p.t, strings.Join(words, " ")+" shows the sweep", func() bool { return strings.Contains(said(), "0 of 10 done") })
	view.Process.Signal(syscall.SIGINT)
	if view.Wait(); view.ProcessState.ExitCode() != 130 || !strings.Contains(said(), "go on without this view") {
		p.t.Errorf("%q: status %d: %s", words, view.ProcessState.ExitCode(), said())
	}
}

// linesOn returns the commands of docs/cluster.md for sweeps on hosts or on Slurm.
func linesOn(t *testing.T, onSSH bool) []string {
	t.Helper()
	all := commandsOf(t, "cluster.md")
	first := slices.IndexFunc(all, func(line string) bool { return strings.Contains(line, "--on ssh:") })
	if first < 0 {
		t.Fatal("no sweep is on hosts")
	}
	if onSSH {
		return all[first:]
	}
	return all[:first]
}

// Every command of docs/cluster.md about Slurm does what the page says.
func TestTheCommandsOfTheClusterOnSlurm(t *testing.T) {
	lines := linesOn(t, false)
	startSlurm(t)
	setUp(t)
	t.Setenv(childVariable, "1")
	p := page{t: t}
	for _, line := range lines {
		if strings.HasPrefix(line, "pgrlab attach") { // the first sweep was cancelled above
			run := onTiny(filepath.Clean(strings.Fields(line)[2]))
			p.do("pgrlab sweep cancel sweeps/b")
			p.do("pgrlab sweep --out sweeps/a --on slurm")
			before := stepOf(t, run)
			eventually(t, run+" trains", func() bool { return stepOf(t, run) > before && exists(filepath.Join(run, "attach.json")) })
		}
		if strings.HasPrefix(line, "pgrlab sweep poke") {
			pokes(t, filepath.Clean(strings.Fields(line)[3]))
			continue
		}
		p.do(line)
	}
	p.do("pgrlab sweep cancel sweeps/a")
}

// pokes pokes a sweep on Slurm while jobs run and others wait, which write no checkpoint of their own.
func pokes(t *testing.T, dir string) {
	t.Helper()
	g, err := sweep.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	first := g.Run(g.Jobs[0])
	eventually(t, first+" trains", func() bool { return stepOf(t, first) > 0 })
	before := latestCheckpoint(first)
	if out, err := onCluster(t, "sweep", "poke", dir); err != nil || !strings.Contains(out, "jobs save themselves") {
		t.Errorf("sweep poke %s: %v: %s", dir, err, out)
	}
	eventually(t, first+" saves itself", func() bool { return latestCheckpoint(first) > before })
	if out, err := onCluster(t, "sweep", "status", dir, "--json"); err != nil || strings.Count(out, `"missing"`) == 0 {
		t.Errorf("no job waits: %v: %s", err, out)
	}
}

// latestCheckpoint is the name of a run's newest checkpoint, greater than those before it.
func latestCheckpoint(dir string) (name string) {
	all, _ := filepath.Glob(filepath.Join(dir, "checkpoints", "*.ckpt"))
	for _, one := range all {
		name = max(name, one)
	}
	return name
}

// Every command of docs/cluster.md about hosts does what the page says.
func TestTheCommandsOfTheClusterOverSSH(t *testing.T) {
	if !soaking() {
		t.Skip("the short form is TestAShortSweepOverSSH: PGRLAB_SOAK=1")
	}
	lines := linesOn(t, true)
	setUp(t)
	option, _ := startHosts(t, []string{"box1", "box2"}, nil)
	p := page{t: t, ssh: []string{"--ssh", option}, more: []string{"--jobs", "1"}}
	for _, line := range lines {
		p.do(line)
	}
}
