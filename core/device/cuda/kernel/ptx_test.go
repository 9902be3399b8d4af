package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/device"
)

// The committed PTX is what the sources give, byte for byte.
func TestPTXIsWhatTheSourcesGive(t *testing.T) {
	version, err := exec.Command("clang-19", "-dumpversion").Output()
	if err != nil {
		t.Skip("clang-19 is not installed: the committed PTX is not compared with its sources")
	}
	committed, err := filepath.Glob("ptx/*.ptx")
	if err != nil || len(committed) == 0 {
		t.Fatalf("no committed PTX: %v", err)
	}
	by := " by clang " + string(bytes.TrimSpace(version)) + "."
	if text, err := os.ReadFile(committed[0]); err != nil {
		t.Fatal(err)
	} else if head, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(head, by) {
		t.Skipf("another compiler than the one here wrote the committed PTX: %s", head)
	}
	fresh := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", "-cu", "cu", "-ptx", fresh).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, _ := filepath.Glob(filepath.Join(fresh, "*.ptx"))
	if len(made) != len(committed) {
		t.Errorf("%d files are committed, %d are generated: run go generate, remove what is stale", len(committed), len(made))
	}
	for _, file := range made {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("ptx", filepath.Base(file)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source gives: run go generate (%v)", filepath.Base(file), err)
		}
	}
}

// A card of each generation finds modules, whose kernels have names of their own.
func TestModules(t *testing.T) {
	for _, sm := range []int{70, 75, 80, 86, 89, 90, 120} {
		modules, err := Modules(sm)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]string{}
		for _, m := range modules {
			if len(m.Kernels) == 0 {
				t.Errorf("%s has no kernels", m.Name)
			}
			for _, k := range m.Kernels {
				if in[k] != "" {
					t.Errorf("sm %d: kernel %s is in %s and in %s", sm, k, in[k], m.Name)
				}
				in[k] = m.Name
			}
		}
		if in["add"] != "elementwise_sm70" { // which has no newer file
			t.Errorf("sm %d: add is in %q", sm, in["add"])
		}
	}
	if _, err := Modules(61); err == nil {
		t.Error("a card of compute capability 6.1 was served")
	}
}

func TestLowerAdd(t *testing.T) {
	p := &device.Program{
		Buffers: []device.Buffer{{Members: 1, Rows: 3, Cols: 5}, {Members: 1, Rows: 3, Cols: 5}, {Members: 1, Rows: 3, Cols: 5}},
		Instrs:  []device.Instr{{Code: device.Add, Out: 2, In: []device.Ref{0, 1}}},
	}
	r, err := Lower(p, 0, Target{SM: 80})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Launches) != 1 || r.Launches[0].Kernel != "add" || r.Launches[0].Args[3] != int64(15) {
		t.Errorf("add became %+v", r)
	}
	p.Buffers[2].Rows = 0
	if r, err = Lower(p, 0, Target{SM: 80}); err != nil || len(r.Launches) != 0 {
		t.Errorf("a result without elements became %+v, %v", r, err)
	}
}
