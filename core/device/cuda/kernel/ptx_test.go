package kernel

import (
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
)

// There are modules for a card of each generation, and no two kernels have the same name.
func TestModules(t *testing.T) {
	for _, sm := range []int{70, 75, 80, 86, 89, 90, 120} {
		modules, err := Modules(sm)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]string{}
		for _, m := range modules {
			if need, err := driver.ReadNeed(m.Text); err != nil || sm >= 80 && need.SM < 80 {
				t.Errorf("sm %d: %s needs %+v, %v", sm, m.Name, need, err)
			}
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
		if in["add"] != "elementwise_sm70" { // it has no newer file
			t.Errorf("sm %d: add is in %q", sm, in["add"])
		}
		if in["productNN_32x32"] == "" {
			t.Errorf("sm %d: there is no matrix product", sm)
		}
		if tensor := in["productNN_TF32_64x64"] != ""; tensor != (sm >= 80) {
			t.Errorf("sm %d: products on tensor cores: %t", sm, tensor)
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

// Every product names a kernel that exists in the card's modules, with a grid and shared memory
// that they permit.
func TestProductsNameKernels(t *testing.T) {
	sizes := []int{1, 2, 3, 7, 12, 64, 90, 169, 256, 512, 1024, 2048, 4096, 100_000}
	for _, target := range []Target{{SM: 70, Precision: FP32}, {SM: 75, Precision: BF16}, {SM: 80, Precision: FP32}, {SM: 80, Precision: TF32}, {SM: 80, Precision: BF16}, {SM: 86, Precision: TF32}, {SM: 90, Precision: TF32}, {SM: 90, Precision: BF16}} {
		modules, err := Modules(target.SM)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, m := range modules {
			for _, k := range m.Kernels {
				have[k] = true
			}
		}
		for _, l := range []layout{nn, nt, tn} {
			for i := range len(sizes) * len(sizes) * len(sizes) {
				if float64(sizes[i%len(sizes)])*float64(sizes[i/len(sizes)%len(sizes)])*float64(sizes[i/len(sizes)/len(sizes)]) > 1e12 {
					continue // this would take hours
				}
				p := plain(l, sizes[i%len(sizes)], sizes[i/len(sizes)%len(sizes)], sizes[i/len(sizes)/len(sizes)], 1+i%3)
				b := &builder{target: target, program: &device.Program{Buffers: make([]device.Buffer, 1)}}
				if err := b.multiply(p); err != nil {
					t.Fatal(err)
				}
				for _, launch := range b.recipe.Launches {
					if !have[launch.Kernel] || launch.Shared > sharedOf(target.SM) || launch.Grid[0] >= 1<<31 || launch.Grid[2] > 65535 {
						t.Fatalf("%v: %+v became %+v", target, p, launch)
					}
				}
			}
		}
	}
}

// wgmma needs its operands at multiples of 1024 bytes: no static shared memory stands before dynamicShared.
func TestWarpgroupsHaveNoStaticSharedMemory(t *testing.T) {
	modules, err := Modules(90)
	if err != nil {
		t.Fatal(err)
	}
	some := false
	for _, m := range modules {
		if !strings.Contains(m.Text, "wgmma.mma_async") {
			continue
		}
		some = true
		if n := strings.Count(m.Text, ".shared .align"); n != 1 {
			t.Errorf("%s declares %d shared variables, want 1", m.Name, n)
		}
	}
	if !some {
		t.Error("no module has wgmma")
	}
}
