package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/tui/remote"
)

// In a shell, ctrl-z returns the prompt, the shell has no stopped job, and the run survives the
// shell and its terminal; a run whose program file is gone also survives.
func TestTheShellIsLeft(t *testing.T) {
	setUp(t)
	private(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	program, err := filepath.Abs("program")
	if err == nil {
		err = copyFile(os.Args[0], program)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := sitDownAt(t, []string{"PS1=prompt> "}, bash, "--norc", "--noprofile", "-i")
	p.press("./program --preset tiny.toml --steps 1_000_000 --out run\n", "KNOBS")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	p.press("\x1a", "pgrlab attach run")
	p.await("prompt> ")
	p.press("echo status=$? jobs=[$(jobs)]\n", "status=0 jobs=[]")
	before, err := remote.Look(context.Background(), "run")
	if err != nil {
		t.Fatal(err)
	}
	p.terminal.Close() // the kernel sends the shell a hang-up
	<-p.ended
	eventually(t, "it goes on", func() bool {
		now, err := remote.Look(context.Background(), "run")
		return err == nil && now.PID == before.PID && now.Step > before.Step
	})
	if before.PID == p.command.Process.Pid || before.State != "running" {
		t.Errorf("%+v", before)
	}
	if said := pgrlabStop(t, "run"); !strings.Contains(said, "stopped and saved") {
		t.Error(said)
	}
	awaitEnds(t, "run")
}

func copyFile(from, to string) error {
	doc, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, doc, 0o755)
}

// The first screen, and that of a run that is over, have nothing to hand over: ctrl-z stops the
// program as it stops any other, and fg returns to its screen.
func TestCtrlZWithoutARun(t *testing.T) {
	setUp(t)
	private(t)
	c, said := child(t, "train", "--preset", "tiny.toml", "--out", "over")
	if err := c.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	for name, on := range map[string]struct{ args, shows string }{
		"first screen": {"", "PGRLAB"}, "replay": {"replay over", "KNOBS"}, "over": {"--preset tiny.toml --out short", "DONE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sitDownAt(t, []string{"PS1=prompt> "}, bash, "--norc", "--noprofile", "-i")
			p.press(os.Args[0]+" "+on.args+"\n", on.shows)
			p.press("\x1a", "Stopped")
			p.await("prompt> ")
			p.press("fg\n", on.shows)
			p.press("q", "prompt> ")
			p.press("jobs; echo jobs=over\n", "jobs=over")
			if name == "first screen" {
				if all, _ := filepath.Glob("runs/*"); len(all) > 0 {
					t.Errorf("runs: %v", all)
				}
			}
		})
	}
}

// When the program is stopped before its terminal has answered what it can show, the answer does
// not reach the shell. After fg come the remaining questions, and the pictures.
func TestCtrlZBeforeTheTerminalHasAnswered(t *testing.T) {
	setUp(t)
	private(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	const (
		version, details = "\x1b[>0q\x1b[c", "\x1b[16t\x1b[?1;1;0S\x1b[c"
		is               = "\x1bP>|foot(1.21.0)\x1b\\\x1b[?62;4;22;28;29c"
		can              = "\x1b[6;14;7t\x1b[?1;0;1024S\x1b[?62;4;22;28;29c"
		sixels           = "\x1bP0;1q"
	)
	for name, c := range map[string]struct{ typed, asked string }{
		"at once": {"\x1a" + is, details}, "never": {"\x1a", version},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sitDownAt(t, []string{"PS1=prompt> "}, bash, "--norc", "--noprofile", "-i")
			p.press(os.Args[0]+" watch --task cartpole-balance --pictures auto\n", version)
			p.press(c.typed, "Stopped")
			p.press("echo of=$((1+1))\n", "of=2")
			p.press("fg\n", c.asked)
			if c.asked == version {
				p.press(is, details)
			}
			p.press(can, sixels)
			p.press("\x1a", "Stopped")
			p.press("fg\n", sixels)
			p.press("q", "prompt> ")
		})
	}
}

// The screen of a person who is attached stays when the run ends, and says what can be done next;
// ctrl-z stops the process of the screen, and not the run.
func TestTheAttachedScreenStays(t *testing.T) {
	setUp(t)
	private(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	h := holdAt(t, 5, 110)
	c, said := child(t, append([]string{"train", "--out", "run"}, changing...)...)
	c.Env = append(c.Env, h.setting)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	held := h.await()
	p := sitDownAt(t, append([]string{"PS1=prompt> "}, colourless...), bash, "--norc", "--noprofile", "-i")
	p.press(os.Args[0]+" attach run\n", "KNOBS")
	p.press("\x1a", "Stopped")
	if s, err := remote.Look(context.Background(), "run"); err != nil || s.Screens != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	p.press("fg\n", "KNOBS")
	p.press("jj", knobNumber(4))
	p.forget()
	held.release()
	p.await("the run has ended: q asks what next")
	if err := c.Wait(); err != nil { // no watcher delays it
		t.Errorf("%v:\n%s", err, said)
	}
	p.press("q", "to the first screen")
	p.press("r", "TASK  ")
	p.await("its report: pgrlab report run")
	p.press("echo status=$?\n", "status=0")
}
