package dataset

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python returns an interpreter that has the modules, or skips the test.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import "+strings.Join(modules, ",")).Run() == nil {
			return name
		}
	}
	t.Skipf("no python3 with %s", strings.Join(modules, " and "))
	return ""
}

// convert runs the adapter, with more modules in a folder.
func convert(t *testing.T, python, modules string, args ...string) (said string, err error) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "pgrlab_data.py")
	if err := os.WriteFile(script, Adapter, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, slices.Insert(args, 0, script)...)
	c.Env = append(os.Environ(), "PYTHONPATH="+modules)
	out, err := c.CombinedOutput()
	return string(out), err
}

// What the adapter makes of a file has the rows that are read from it directly. Only a state before
// a true end that has no successor has none there either.
func TestAdapterMakesTheSameRows(t *testing.T) {
	py, dir := python(t, "numpy", "h5py"), t.TempDir()
	files := []string{"d4rl.hdf5", "d4rl-next.hdf5", "robomimic.hdf5", "minari/data/main_data.hdf5"}
	all := "import pgrlab_data\n" // in one process, which takes longer to start than to convert
	for i, name := range files {
		all += fmt.Sprintf("pgrlab_data.main(['to-npz', 'testdata/%s', '%s/%d.npz', '--done', 'terminal'])\n", name, dir, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "pgrlab_data.py"), Adapter, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(py, "-c", all)
	c.Env = append(os.Environ(), "PYTHONPATH="+dir)
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, said)
	}
	for i, name := range files {
		out := filepath.Join(dir, fmt.Sprintf("%d.npz", i))
		o := Options{Done: DoneTerminal}
		want, err := Read("testdata/"+name, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(out, o)
		if err != nil || !equal(got.Rows, want.Rows) {
			t.Errorf("%s: %v: %d rows, want %d", name, err, got.Len(), want.Len())
		}
	}
}

// Minari's own writer, as far as the adapter calls it.
const minariStub = `
import dataclasses, types, sys, json
import numpy as np
@dataclasses.dataclass
class EpisodeBuffer:
    id: int; observations: object; actions: object; rewards: object; terminations: object; truncations: object; infos: dict
data_collector = types.ModuleType("minari.data_collector"); data_collector.EpisodeBuffer = EpisodeBuffer
sys.modules["minari.data_collector"] = data_collector
def create_dataset_from_buffers(dataset_id, buffer, observation_space, action_space):
    for b in buffer:
        assert len(b.observations) == len(b.rewards) + 1 and not (b.terminations & b.truncations).any()
        assert (b.terminations | b.truncations).sum() == 1
    print(json.dumps([dataset_id, len(buffer), int(sum(len(b.rewards) for b in buffer)), int(sum(b.terminations.sum() for b in buffer))]))
`

const gymnasiumStub = `
import types, sys
spaces = types.ModuleType("gymnasium.spaces")
spaces.Box = lambda *a: a
sys.modules["gymnasium.spaces"] = spaces
`

// A replay buffer of SB3, as far as the adapter reads it: of two copies of a task, and full.
const bufferScript = `
import pickle, sys
import numpy as np
import replay
b = replay.ReplayBuffer()
b.buffer_size, b.pos, b.full = 6, 2, True
t = np.roll(np.arange(6), 2)[:, None]  # the oldest row is at 2
b.observations = (10.0 * np.arange(2) + t)[:, :, None].repeat(3, 2)
b.next_observations = b.observations + 1
b.actions, b.rewards = np.zeros((6, 2, 1)), t + np.zeros((6, 2))
b.dones = (t == 3) + np.zeros((6, 2)); b.timeouts = (t == 3) & (np.arange(2) == 1)
pickle.dump(b, open(sys.argv[1], "wb"))
`

func TestAdapterOfOtherLibraries(t *testing.T) {
	py := python(t, "numpy")
	modules := t.TempDir()
	for name, text := range map[string]string{"minari.py": minariStub, "gymnasium.py": gymnasiumStub, "replay.py": "class ReplayBuffer: pass\n", "make.py": bufferScript} {
		if err := os.WriteFile(filepath.Join(modules, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := convert(t, py, modules, "to-minari", "testdata/synther.npz", "mine/test-v0"); err == nil && !strings.Contains(said, `["mine/test-v0", 20, `) || err != nil && !strings.Contains(said, "timeouts") {
		t.Errorf("to-minari: %v, %s", err, said)
	}
	buffer, out := filepath.Join(modules, "buffer.pkl"), filepath.Join(modules, "out.npz")
	if said, err := exec.Command(py, filepath.Join(modules, "make.py"), buffer).CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, said)
	}
	if said, err := convert(t, py, modules, "to-npz", buffer, out); err == nil || !strings.Contains(said, "runs code that is in it") {
		t.Errorf("a pickle: %v, %s", err, said)
	}
	if said, err := convert(t, py, modules, "to-npz", buffer, out, "--unpickle"); err != nil {
		t.Fatalf("%v, %s", err, said)
	}
	d, err := Read(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 12 || len(d.Episodes) != 4 || d.Episodes[0] != (Episode{4, 0 + 1 + 2 + 3, true}) || d.Episodes[1].Ended || d.Episodes[2].Ended || d.Row(6)[0] != 10 {
		t.Errorf("%d rows, episodes %+v, row 6 %v", d.Len(), d.Episodes, d.Row(6))
	}
	for _, c := range []struct{ source, want string }{
		{"testdata/expected.json", "want a name of Minari"}, {"testdata/minari", "give its name instead"},
	} {
		said, err := convert(t, py, "", "to-npz", c.source, out)
		if err == nil || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %v, %q, want a line on %q", c.source, err, said, c.want)
		}
	}
}
