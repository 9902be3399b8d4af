package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// A person names tasks of her own on the first screen: a program, which is played and may then be started, and a
// task file. What is wrong with a name is said, and the run is of the task that was named.
func TestAPersonNamesATask(t *testing.T) {
	_, _, _, of := ownEnvironments(t)
	writeBall(t)
	const down, left, right = "\x1b[B", "\x1b[D", "\x1b[C"
	p := sitDown(t, nil)
	p.await("PGRLAB")
	p.press(down+left, "own task file…")
	p.press(left, "own environment…")
	p.press("\r", "command or gym:ID:")
	p.press("python3 absent.py\r", "✗ start python3")
	p.press("\r", "command or gym:ID:")
	p.press(of("walk")+"\r", "200 steps are")
	p.press(right+right, "own task file…")
	p.press("\r", "ball.toml")
	p.press("ball.toml\r", "2 numbers")
	p.press("\r", "STARTING")
	p.await("KNOBS")
	p.press("q", "leave it training")
	p.press("s", "run folder")
	if status := p.status(); status != 0 {
		t.Errorf("status %d", status)
	}
	found, _ := os.ReadDir("runs")
	if len(found) != 1 {
		t.Fatalf("the runs are %v", found)
	}
	doc, err := os.ReadFile(filepath.Join("runs", found[0].Name(), run.ConfigName))
	if err != nil || !strings.Contains(string(doc), "'file:ball'") {
		t.Errorf("%v: %.300s", err, doc)
	}
}

// writeBall writes a task file, ball.toml, into the working folder.
func writeBall(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"ball.xml": `<mujoco><worldbody><body name="ball"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1"/></body></worldbody>` +
			`<actuator><motor joint="x" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>`,
		"ball.toml": "model = \"ball.xml\"\nobserve = [\"qpos\", \"qvel\"]\nreward = \"-abs(qpos[0])\"\nepisode_steps = 50\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
