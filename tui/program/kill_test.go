package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/command"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// childVariable makes the test binary act as the program itself, so that tests can kill it.
const childVariable = "PGRLAB_TEST_CHILD"

// standardError returns the standard error of a process that stands for the program.
var standardError = func(args []string) io.Writer { return os.Stderr }

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == agreeing { // a child started this, on a machine with a GPU
		os.Exit(agree(os.Args[2:], os.Stdout, os.Stderr))
	}
	// A process that a run in this process starts lacks the variable, but has the program's
	// arguments.
	if os.Getenv(childVariable) != "" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(command.Main(context.Background(), childDeps(), os.Args[1:], os.Stdin, os.Stdout, standardError(os.Args[1:])))
	}
	// Tests change the home folder, and the cache of the compiled physics is below it.
	if cache, err := os.UserCacheDir(); err == nil {
		os.Setenv("XDG_CACHE_HOME", cache)
	}
	os.Exit(runTests(m))
}

// child prepares a command line of the program in a process of its own.
func child(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, &stderr
}

// canonical returns the deterministic part of the journal of a run.
func canonical(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if err := run.Canonical(f, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An act is something that a person has the program do, and that kill -9 may interrupt anywhere.
type act struct {
	name string
	// prepare makes what the act starts from; nil: nothing.
	prepare func(t *testing.T, dir string)
	// next returns the command line that begins the act on dir, or continues it after a kill, as a
	// person would; nil: the act is done.
	next func(dir string) []string
	// like is the folder of a run with the journal of the undisturbed act; "": there is none. The
	// long form makes the undisturbed act in any case.
	like string
	// made returns what the act has made in dir, which is the same whenever it was killed.
	made func(t *testing.T, dir string) string
}

// killedRun is how runs are killed: with a checkpoint every few steps, and knobs that turn within a
// fit and within a generation.
var killedRun = []string{
	"--preset", "kept.toml", "--seed", "5", "--threads", "1", "--checkpoint-every", "40ms",
	"--at", "60/fit:8:guidance=3!", "--at", "100:ratio=0.25", "--at", "120/generate:3:relevance=td!",
}

// killedCohort are two agents in lockstep.
var killedCohort = slices.Concat(killedRun, []string{"--members", "2"})

// killedFrames is a run from frames whose updates take two slices or more; a knob turns between two
// slices.
var killedFrames = []string{
	"--preset", "frames.toml", "--seed", "5", "--threads", "1", "--checkpoint-every", "40ms", "--at", "60/learn:1:lr_critic=0.001",
}

// killedMaze is a run in mazes of four rounds of the R-network; knobs turn within a round and within an
// iteration.
var killedMaze = []string{
	"--preset", "maze.toml", "--steps", "12_288", "--seed", "5", "--threads", "1", "--checkpoint-every", "40ms", "--at", "6144/reach:20:tv=off", "--at", "9216/learn:1:entropy=0.02",
}

// tinyFrames is a run of DrQ-v2 that takes a second.
const tinyFrames = `
task = "cartpole-swingup"
method = "drqv2"
scale = "demo"
steps = 110
start_steps = 40

[pixels]
side = 20
channels = 4
strides = [2, 1]
feature = 8

[evaluation]
every = 50
episodes = 2
dormant_states = 16

[agent]
hidden = [16, 16]

[agent.drqv2]
slice = 8

[knobs]
batch = 16
`

// acts are the commands that write. They start from the folders base, a run that is over, and half,
// a run that was asked to end in its middle.
var acts = []act{
	{name: "train", like: "base", next: trained(killedRun), made: canonical},
	{name: "train --lean", like: "base", next: trained(killedRun, "--lean"), made: canonical},
	{name: "train --members", next: trained(killedCohort), made: canonical},
	{name: "train from frames", next: trained(killedFrames), made: canonical},
	{name: "train in mazes", next: trained(killedMaze), made: canonical},
	{name: "train --resume", like: "base", next: resumed, made: canonical, prepare: func(t *testing.T, dir string) {
		if err := os.CopyFS(dir, os.DirFS("half")); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "fork", made: canonical, next: func(dir string) []string {
		if !isThere(filepath.Join(dir, run.ConfigName)) {
			return []string{"fork", "base@75", "--set", "guidance=5!", "--out", dir}
		}
		return resumed(dir)
	}},
	{name: "sweep", next: func(dir string) []string {
		switch g, err := sweep.Open(dir); {
		case err != nil:
			return []string{"sweep", "--out", dir, "--jobs", "2", "--preset", "tiny.toml", "--steps", "130", "--method", "sac,pgr-curiosity", "--seeds", "1"}
		case slices.ContainsFunc(g.Jobs, func(j sweep.Job) bool { _, done := g.Result(j); return !done }):
			return []string{"sweep", "--out", dir, "--jobs", "2"}
		}
		return nil
	}, made: func(t *testing.T, dir string) (all string) {
		g, err := sweep.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range g.Jobs {
			all += canonical(t, g.Run(j))
		}
		return all
	}},
	{name: "report", made: sums, next: once(func(dir string) []string {
		return []string{"report", "base", "half", "--figure", "curves", "--out", dir}
	}, "report.md", "report.json", "curves.svg", "curves.png")},
	{name: "export --format csv", made: sums, next: once(func(dir string) []string {
		return []string{"export", "base", "--format", "csv", "--out", filepath.Join(dir, "csv")}
	}, "csv")},
	{name: "export --weights", made: sums, next: once(func(dir string) []string {
		return []string{"export", "base", "--weights", "--out", filepath.Join(dir, "weights")}
	}, "weights")},
	{name: "export --buffer", made: sums, next: once(func(dir string) []string {
		return []string{"export", "base", "--buffer", "real", "--out", filepath.Join(dir, "npz")}
	}, "npz")},
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// begun says whether a run exists.
func begun(dir string) bool { return isThere(filepath.Join(dir, run.JournalName)) }

// complete says whether a run has reached its end.
func complete(dir string) bool {
	doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	return err == nil && bytes.Contains(doc, []byte(`{"type":"done"`))
}

// trained trains a run from its beginning, and resumes it afterwards.
func trained(run []string, flags ...string) func(dir string) []string {
	return func(dir string) []string {
		if begun(dir) {
			if args := resumed(dir); args != nil {
				return append(args, flags...)
			}
			return nil
		}
		os.RemoveAll(dir) // it was killed before there was a run
		return slices.Concat([]string{"train", "--out", dir}, run, flags)
	}
}

func resumed(dir string) []string {
	if complete(dir) {
		return nil
	}
	return []string{"train", "--resume", dir, "--threads", "1", "--checkpoint-every", "40ms"}
}

// once is done when all files exist.
func once(args func(dir string) []string, names ...string) func(dir string) []string {
	return func(dir string) []string {
		os.MkdirAll(dir, 0o755)
		if slices.ContainsFunc(names, func(name string) bool { return !isThere(filepath.Join(dir, name)) }) {
			return args(dir)
		}
		return nil
	}
}

// sums returns the names and checksums of all files in a folder.
func sums(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		doc, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %x\n", e.Name(), sha256.Sum256(doc))
	}
	return all.String()
}

// Kill -9 hits every command that writes at random moments, some of them in the middle of a
// checkpoint, a fit or a line of the journal. What is begun again until it is complete equals the
// undisturbed result, and nothing else is left. The long form kills a thousand times.
func TestKilledAnywhere(t *testing.T) {
	setUp(t)
	runtime, err := os.MkdirTemp("", "kill") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(runtime)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	kills, each := len(acts), 1
	if soaking() {
		kills, each = 1000, 2
	}
	if n, err := strconv.Atoi(os.Getenv("PGRLAB_KILLS")); err == nil {
		kills, each = n, 2
	}
	whole := begin(t)
	took, want := map[string]time.Duration{}, map[string]string{}
	for i, a := range acts {
		if a.like != "" && !soaking() { // already known
			took[a.name], want[a.name] = whole, canonical(t, a.like)
			continue
		}
		dir := fmt.Sprintf("whole-%d", i)
		took[a.name] = a.do(t, dir, nil)
		want[a.name] = a.made(t, dir)
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	k := &killer{random: r, left: kills, each: each, hit: map[string]int{}}
	for n := 0; k.left > 0; n++ {
		a := acts[n%len(acts)]
		dir := fmt.Sprintf("killed-%d", n)
		k.within = took[a.name]
		a.do(t, dir, k)
		if got := a.made(t, dir); got != want[a.name] {
			line, x, y, _, _ := run.Diff(strings.NewReader(want[a.name]), strings.NewReader(got))
			t.Errorf("seed %d: %s, number %d: line %d is\n%s\nwant\n%s", seed, a.name, n, line, y, x)
			continue
		}
		nothingLeft(t, dir)
		os.RemoveAll(dir)
	}
	t.Logf("kills by act: %v", k.hit)
	noneLeft(t, runtime)
}

// begin makes the folders that acts start from, and returns how long a whole run took.
func begin(t *testing.T) (whole time.Duration) {
	t.Helper()
	// The checkpoint at step 75 exists, however fast the machine is.
	kept := strings.Replace(tiny, "episodes = 2", "episodes = 2\nkeep_every = 75", 1)
	for name, doc := range map[string]string{"kept.toml": kept, "frames.toml": tinyFrames, "maze.toml": tinyMaze} {
		if err := os.WriteFile(name, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	c, said := child(t, slices.Concat([]string{"train", "--out", "base"}, killedRun)...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	whole = time.Since(start)
	middle := holdAt(t, 5, 90)
	c, _ = child(t, slices.Concat([]string{"train", "--out", "half"}, killedRun)...)
	c.Env = append(c.Env, middle.setting)
	log, err := os.Create("half.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waits := middle.await()
	c.Process.Signal(syscall.SIGTERM)
	eventually(t, "it has received the signal", func() bool {
		doc, err := os.ReadFile("half.log")
		return err == nil && bytes.Contains(doc, []byte("saving and ending"))
	})
	waits.release()
	if c.Wait(); c.ProcessState.ExitCode() != cli.StatusTerminated {
		t.Fatalf("status %d", c.ProcessState.ExitCode())
	}
	return whole
}

// A killer kills processes at random moments.
type killer struct {
	random *rand.Rand
	within time.Duration // how long the whole act takes
	left   int           // kills to go
	each   int           // the most kills of one act
	hit    map[string]int
}

// do takes an act to its end; if k is not nil, its kills make the act begin again.
func (a act) do(t *testing.T, dir string, k *killer) (took time.Duration) {
	t.Helper()
	if a.prepare != nil {
		a.prepare(t, dir)
	}
	start, kills := time.Now(), 0
	for args := a.next(dir); args != nil; args = a.next(dir) {
		c, said := child(t, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var bullet *time.Timer
		if k != nil && kills < k.each && k.left > 0 {
			target := c.Process.Pid
			if k.random.IntN(2) == 0 {
				target = -target // together with what it has started
			}
			bullet = time.AfterFunc(time.Duration(k.random.Int64N(int64(k.within))), func() { syscall.Kill(target, syscall.SIGKILL) })
		}
		err := c.Wait()
		if bullet != nil {
			bullet.Stop()
		}
		switch {
		case err == nil:
		case k != nil && c.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			kills++
			k.left--
			k.hit[a.name]++
		default:
			t.Fatalf("%s after %d kills: %v: %v:\n%s", a.name, kills, args, err, said)
		}
	}
	return time.Since(start)
}

// nothingLeft looks for files that an undisturbed act does not leave, beside those that a resume
// sets aside.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), "events.end.new") {
			return nil // of a run that was over when it was killed: the next process that continues it removes it
		}
		if name := d.Name(); strings.HasPrefix(name, ".") || strings.Contains(name, ".new") {
			t.Errorf("%s is left", path)
		} else if name == remote.NoticeName { // from an act that was over when it was killed
			if s, err := remote.Look(t.Context(), filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "is gone without a word") {
				t.Errorf("%s is left: %+v, %v", path, s, err)
			}
		}
		if d.Name() != "lock" {
			return nil
		}
		lock, err := os.Open(path)
		if err != nil {
			return err
		}
		defer lock.Close()
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
			t.Errorf("%s is held: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// noneLeft waits for the end of the processes that killed ones have started, and looks for their
// sockets. The sockets of the killed processes themselves are removed by any later list of the
// runs.
func noneLeft(t *testing.T, runtime string) {
	t.Helper()
	eventually(t, "no process is left", func() bool {
		others, _ := filepath.Glob("/proc/[0-9]*/environ")
		return !slices.ContainsFunc(others, func(file string) bool {
			doc, err := os.ReadFile(file)
			return err == nil && bytes.Contains(doc, []byte("XDG_RUNTIME_DIR="+runtime+"\x00"))
		})
	})
	c, said := child(t, "ps")
	if err := c.Run(); err != nil {
		t.Errorf("%v:\n%s", err, said)
	}
	if left, _ := filepath.Glob(filepath.Join(runtime, "pgrlab", "*")); len(left) > 0 {
		t.Errorf("sockets are left: %q", left)
	}
}
