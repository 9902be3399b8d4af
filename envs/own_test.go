package envs_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/envs"
	"pgrlab/envs/mujoco"
	"pgrlab/envs/taskfile"
)

// alike are built-in tasks as task files.
var alike = map[string]string{
	"cheetah-run": `
observe = ["qpos[1:]", "qvel"]
reward = 'tolerance(sensor("torso_subtreelinvel")[0], 10, inf, 10, 0, "linear")'
[reset]
qpos = "limited()"
settle = 200
`,
	"Hopper-v2": `
order = "gym"
substeps = 4
observe = ["qpos[1:]", "clip(qvel, -10, 10)"]
reward = "(qpos[0] - prev.qpos[0])/dt + 1 - 0.001*dot(ctrl, ctrl)"
terminate = "not (qpos[1] > 0.7 and abs(qpos[2]) < 0.2 and max(abs(qpos[2:])) < 100 and max(abs(qvel)) < 100)"
[reset]
qpos = "qpos0 + uniform(-0.005, 0.005)"
qvel = "uniform(-0.005, 0.005)"
`,
	"walker-walk": `
substeps = 10
observe = [
  'xmat("torso")[0]', 'xmat("torso")[2]',
  'xmat("right_thigh")[0]', 'xmat("right_thigh")[2]', 'xmat("right_leg")[0]', 'xmat("right_leg")[2]', 'xmat("right_foot")[0]', 'xmat("right_foot")[2]',
  'xmat("left_thigh")[0]', 'xmat("left_thigh")[2]', 'xmat("left_leg")[0]', 'xmat("left_leg")[2]', 'xmat("left_foot")[0]', 'xmat("left_foot")[2]',
  'xpos("torso")[2]', 'qvel',
]
reward = '''
let standing = (3*tolerance(xpos("torso")[2], 1.2, inf, 0.6) + (1 + xmat("torso")[8])/2)/4;
standing * (5*tolerance(sensor("torso_subtreelinvel")[0], 1, inf, 0.5, 0.5, "linear") + 1) / 6
'''
[reset]
qpos = "[0, 0, uniform(-pi, pi), 0, 0, 0, 0, 0, 0] + limited()"
`,
}

// The flags that built-in bodies have and others do not.
const flags = `<option><flag midphase="disable" island="disable"/></option></mujoco>`

// write makes a task file of a built-in task.
func write(t *testing.T, name, text string) (task envs.Task, file string) {
	t.Helper()
	task, err := envs.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "task.toml")
	for path, text := range map[string]string{
		file: "name = \"" + name + "\"\nmodel = \"body.xml\"\n" + text,
		filepath.Join(filepath.Dir(file), "body.xml"): strings.Replace(task.Model(), "</mujoco>", flags, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return task, file
}

// A built-in task that is written as a task file has the same traces, in every bit: starts,
// observations, rewards and ends.
func TestTaskFilesLikeBuiltInTasks(t *testing.T) {
	if _, err := mujoco.Find(); err != nil {
		t.Skip(err)
	}
	for name, text := range alike {
		task, file := write(t, name, text)
		own, err := taskfile.Load(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := own.Task, task; a.Name != "file:"+name || a.ObsSize != b.ObsSize || a.ActSize != b.ActSize || a.EpisodeSteps != b.EpisodeSteps || a.Terminates != b.Terminates {
			t.Errorf("%s: %+v, want %+v", name, a, b)
		}
		sameEnds(t, own.Task, task)
		trace := func(task envs.Task, controls string) string {
			var out bytes.Buffer
			if err := envs.Trace(t.Context(), &out, envs.TraceOptions{Task: task, Steps: 1100, Controls: controls, Seed: 7}); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		for _, controls := range []string{"random", "triangle"} {
			got, want := strings.Split(trace(own.Task, controls), "\n"), strings.Split(trace(task, controls), "\n")
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("%s, %s controls, line %d:\n%s\nwant\n%s", name, controls, i, got[min(i, len(got)-1)], want[i])
				}
			}
		}
	}
}

// sameEnds compares what both say of the ends of transitions, some of which are near the bounds.
func sameEnds(t *testing.T, own, task envs.Task) {
	t.Helper()
	if own.Ends == nil || task.Ends == nil {
		if own.Ends != nil || task.Ends != nil {
			t.Errorf("%s: only one says where episodes end", task.Name)
		}
		return
	}
	r, over := rand.New(rand.NewPCG(1, 2)), 0
	next := make([]float32, task.ObsSize)
	for range 1000 {
		for i := range next {
			next[i] = float32(r.NormFloat64())
		}
		next[0], next[1] = 0.7+0.1*float32(r.NormFloat64()), 0.2*float32(r.NormFloat64())
		if r.IntN(20) == 0 {
			next[r.IntN(5)] = 101
		}
		ends := task.Ends(nil, nil, next)
		if own.Ends(nil, nil, next) != ends {
			t.Fatalf("%s: %v ends %v, and not as a task file", task.Name, next, ends)
		}
		if ends {
			over++
		}
	}
	if over < 100 || over > 900 {
		t.Errorf("%s: %d of 1000 ends", task.Name, over)
	}
}
