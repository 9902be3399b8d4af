package sweep

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// A worker keeps its name until it ends, reports its progress, and tries failed jobs again when the
// sweep is asked to, while other jobs run.
func TestAWorkerTriesAgain(t *testing.T) {
	leave := fifo(t)
	e, said := script(t, 3, `[ $2 = 2 ] && { read line < '`+leave.Name()+`'; finish $1 $2; exit 0; }; [ $n = 2 ] && finish $1 $2 && exit 0; exit 1`)
	g := e.Grid
	r, err := g.Register(Worker{Name: "a", Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Register(Worker{Name: "a", Jobs: 2}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("a twin: %v", err)
	}
	r.Keep(e)
	ended := make(chan error)
	go func() { ended <- e.Run(t.Context()) }()
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline, _ := t.Deadline(); !is(); time.Sleep(5 * time.Millisecond) {
			if time.Until(deadline) < 5*time.Second {
				t.Fatalf("never: %s: %s", what, said())
			}
		}
	}
	until("two jobs failed, one runs", func() bool {
		w, err := g.Worker("a")
		return err == nil && slices.Equal(w.Failed, []int{0, 1}) && slices.Equal(w.Running, []int{2}) && w.PID == os.Getpid()
	})
	if failed := g.FailedJobs(); len(failed) != 2 || failed[0].Index != 0 {
		t.Errorf("failed are %v", failed)
	}
	if !g.IsAtWork("a") || g.IsAtWork("b") {
		t.Error("it mistakes which worker is at work")
	}
	if err := g.AskAgain(); err != nil {
		t.Fatal(err)
	}
	until("they are tried again", func() bool { return len(g.Missing()) == 1 })
	leave.WriteString("\n")
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, said())
	}
	r.End(e.States(), "done")
	if w, _ := g.Worker("a"); w.Ended != "done" || len(w.Failed) != 0 || g.IsAtWork("a") {
		t.Errorf("at the end %+v", w)
	}
	if err := g.EndWorker("a"); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal for one that has ended: %v", err)
	}
}

// On a disk without locks a worker of this machine is known by its process: it has its name to itself, and
// can be asked to end.
func TestWorkersOnADiskWithoutLocks(t *testing.T) {
	e, _ := script(t, 1, "")
	g := e.Grid
	real := flock
	defer func() { flock = real }()
	flock = func(*os.File, int) error { return syscall.ENOLCK }
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	defer signal.Stop(asked)
	r, err := g.Register(Worker{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	r.Keep(e)
	if _, err := g.Register(Worker{Name: "a"}); !errors.Is(err, ErrElsewhere) || !g.IsAtWork("a") {
		t.Errorf("a twin: %v", err)
	}
	if err := g.EndWorker("a"); err != nil {
		t.Error(err)
	} else {
		<-asked
	}
	r.End(nil, "done")
	if g.IsAtWork("a") || g.IsAtWork("b") {
		t.Error("one that has ended, or never was, is at work")
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	w, err := g.Worker("a")
	if err != nil {
		t.Fatal(err)
	}
	if w.Ended, w.PID = "", ended.Process.Pid; replaceJSON(g.folder, filepath.Join(workerDir("a"), workerName), w) != nil || g.IsAtWork("a") {
		t.Error("one that was killed is at work")
	}
	if r, err = g.Register(Worker{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	r.Keep(e)
	r.End(nil, "done")
}

// Each request to save reaches an attempt once; one from before it began does not.
func TestAttemptsSaveWhenAsked(t *testing.T) {
	e, _ := script(t, 1, "")
	synctest.Test(t, func(t *testing.T) {
		if err := e.Grid.AskToSave(); err != nil {
			t.Fatal(err)
		}
		saves := 0
		stop := e.Grid.WhenAskedToSave(func() { saves++ })
		for want, ask := range []bool{false, true, true, false} {
			time.Sleep(time.Second)
			if ask {
				if err := e.Grid.AskToSave(); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2*beat + time.Millisecond)
			synctest.Wait()
			if want = min(want, 2); saves != want {
				t.Errorf("%d saves, want %d", saves, want)
			}
		}
		stop()
	})
}

// A process that sees another folder, or this folder without its locks, is distinguished from one
// that shares the disk. Another process looks, as another machine would.
func TestATokenShowsWhatIsShared(t *testing.T) {
	e, _ := script(t, 1, "")
	token, err := e.Grid.Token()
	if err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(token.file.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		t.Errorf("NFS would not lock it: flags %x, %v", flags, err)
	}
	seen, err := See(e.Grid.Path(), token.Name)
	if err != nil || seen.Taken || token.Shared(seen) != nil {
		t.Errorf("the same disk: %+v, %v, %v", seen, err, token.Shared(seen))
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-r", e.Grid.Path(), copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if seen, err := See(copied, token.Name); err != nil || !seen.Taken || token.Shared(seen) == nil {
		t.Errorf("the same files without the lock: %+v, %v", seen, err)
	}
	if seen, err := See(t.TempDir(), token.Name); err != nil || token.Shared(seen) == nil {
		t.Errorf("another disk: %+v, %v", seen, err)
	}
	if _, err := See(e.Grid.Path(), "token-../grid.json"); err == nil {
		t.Error("another file is shown")
	}
	if err := token.Close(); err != nil {
		t.Error(err)
	}
	if seen, _ := See(e.Grid.Path(), token.Name); token.Shared(seen) == nil {
		t.Error("a token that was removed is seen")
	}
}

// A job that a worker had given up before it ended is not failed if a later attempt at it has saved itself.
func TestWhatWasGivenUpMaySaveItselfLater(t *testing.T) {
	e, _ := script(t, 1, "exit 1")
	g := e.Grid
	dir := filepath.Join(g.Dir(g.Jobs[0]), "..", workersName, "a")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "worker.json"), []byte(`{"failed":[0],"ended":"1 of 2 jobs failed"}`), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if failed := g.FailedJobs(); len(failed) != 1 {
		t.Errorf("without another attempt %d jobs failed, want 1", len(failed))
	}
	a, err := g.Begin(g.Jobs[0])
	if err == nil {
		err = a.End(Ending{How: "saved", Status: StatusAgain})
	}
	if err != nil {
		t.Fatal(err)
	}
	if failed := g.FailedJobs(); len(failed) != 0 {
		t.Errorf("after an attempt that saved itself %d jobs failed", len(failed))
	}
}
