package program

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// Kill -9 hits a run that waits some env steps after a checkpoint, which has lines of losses before
// it. Resumed, it writes what an undisturbed run writes: no line is lost or there twice.
func TestKilledAfterACheckpoint(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	kept := strings.Replace(tiny, "episodes = 2", "episodes = 2\nkeep_every = 75", 1)
	if err := os.WriteFile("kept.toml", []byte(kept), 0o644); err != nil {
		t.Fatal(err)
	}
	h := holdAt(t, 5, 110)
	c, _ := child(t, slices.Concat([]string{"train", "--out", "killed"}, killedRun)...)
	c.Env = append(c.Env, h.setting)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	held := h.await()
	eventually(t, "a checkpoint of step 75 or later is there", func() bool {
		found, _ := run.Checkpoints("killed")
		return slices.ContainsFunc(found, func(c run.Found) bool { return c.Step >= 75 })
	})
	c.Process.Kill()
	c.Wait()
	held.dies()
	again, said := child(t, resumed("killed")...)
	if err := again.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	if !strings.Contains(said.String(), "resumed") {
		t.Errorf("it began from its start:\n%s", said)
	}
	if got, want := canonical(t, "killed"), undisturbed(t, killedRun); got != want {
		line, x, y, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
		t.Errorf("line %d is\n%s\nwant\n%s", line, y, x)
	}
}
