package run

import (
	"errors"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// On the real machine this process is alive, and a process that has ended is not, whether or not
// its parent has waited for it.
func TestRealProcesses(t *testing.T) {
	me := holder{Process: Self()}
	if me.Start == 0 || me.Boot == "" || me.Space == "" {
		t.Skipf("this system does not say when processes were started: %+v", me)
	}
	if !me.here(me) || !alive(me) {
		t.Error("this process is dead")
	}
	again := me
	again.Start++
	if alive(again) {
		t.Error("a process that was started at another time is this one")
	}
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child := me
	child.PID = c.Process.Pid
	child.Start, _ = startOf(child.PID)
	if !alive(child) {
		t.Error("a child that sleeps is dead")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for { // it stays until it is waited for
		err := unix.Waitid(unix.P_PID, child.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
	if alive(child) {
		t.Error("a child that was killed lives")
	}
	c.Wait()
	if alive(child) {
		t.Error("a child that is buried lives")
	}
}
