package dry

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/bench"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// counted runs a workload twice and counts the second time.
func counted(t *testing.T, name string, precision kernel.Precision) []Program {
	t.Helper()
	dev, err := New(H100, cuda.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	w, found := bench.Find(bench.Workloads, name)
	if !found {
		t.Fatal(name)
	}
	var step func(uint64) error
	if w.Program != nil {
		p, _, err := w.Program(dev)
		if err != nil {
			t.Fatal(err)
		}
		step = p.Run
	} else if step, _, err = w.Make(dev); err != nil {
		t.Fatal(err)
	}
	if err := step(1); err != nil {
		t.Fatal(err)
	}
	dev.Classify(func() int { return 7 })
	if err := step(2); err != nil {
		t.Fatal(err)
	}
	return dev.Programs()
}

// What reaches the driver is what the recipes have; a sequence is one graph and one wait, and its launches are divided
// among its programs.
func TestWhatReachesTheDriver(t *testing.T) {
	for _, name := range []string{"critic", "icm", "env-step"} {
		var all Counts
		launches := 0
		for _, p := range counted(t, name, kernel.TF32) {
			if p.Counts[7].Launches != p.Runs[7]*p.Launches {
				t.Errorf("%s: %s: %d runs of %d launches, %+v", name, p.Name, p.Runs[7], p.Launches, p.Counts[7])
			}
			all, launches = all.plus(p.Counts[7]), launches+p.Runs[7]*p.Launches
		}
		if all.Launches != launches || all.Graphs != 1 || all.Waits != 1 || all.Up == 0 || all.Down == 0 {
			t.Errorf("%s: %+v, %d launches", name, all, launches)
		}
	}
}

// The workloads of scale release run, which a CPU takes minutes for.
func TestReleaseWorkloads(t *testing.T) {
	for name, want := range map[string]string{"launches": "nop", "fit-release": "denoiser fit", "call-release": "denoiser call of 4096 rows"} {
		if all := counted(t, name, kernel.BF16); !slices.ContainsFunc(all, func(p Program) bool { return p.Name == want && p.Runs[7] > 0 }) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// The model is within an eighth of what a card took, in ms, where the host takes little of a workload: an H100
// with build a580664a (docs/evidence/gpu.md), whose programs had these counts.
func TestTheModelBesideACard(t *testing.T) {
	const packing = 0.017 // of a layer of 2048, by which sampling was slower then
	for _, c := range []struct {
		workload     string
		launches     int
		fp32, tensor float64 // GFLOP
		rate         float64
		mb, ms       float64
	}{
		{"critic", 15, 0.1248, 0, 1, 7.96, 0.0637},
		{"redq10", 15, 1.248, 0, 1, 78.0, 0.137},
		{"env-step", 528, 8.042, 0, 1, 456, 2.38},
		{"icm", 204, 3.407, 0, 1, 176, 0.895},
		{"denoiser-1024, tf32", 60, 0.445, 9.67, Rates.TF32, 597, 0.492},
		{"denoiser-2048, tf32", 67, 0.004, 39.55, Rates.TF32, 1571, 0.997},
		{"sample-2048x4096, tf32", 11, 0, 211.9, Rates.TF32, 1215, 1.14 - 6*packing},
		{"denoiser-1024, bf16", 60, 0.445, 9.67, Rates.BF16, 587, 0.485},
		{"denoiser-2048, bf16", 67, 0.004, 39.55, Rates.BF16, 1549, 0.952},
		{"sample-2048x4096, bf16", 11, 0, 211.9, Rates.BF16, 1149, 0.871 - 6*packing},
	} {
		ms := 1e3 * (seconds(c.launches, 1e9*c.fp32, Rates.FP32, 1e6*c.mb) + seconds(0, 1e9*c.tensor, c.rate, 0))
		t.Logf("%s: model %.3f, card %.3f", c.workload, ms, c.ms)
		if r := ms / c.ms; r < 7./8 || r > 9./8 {
			t.Errorf("%s: model %.3f ms, card %.3f", c.workload, ms, c.ms)
		}
	}
}

// Memory is that of the card.
func TestMemoryEnds(t *testing.T) {
	c := newContext(driver.Info{Memory: 1 << 20})
	p, err := c.Alloc(1 << 19)
	if err != nil || p == 0 || p%alignment != 0 {
		t.Fatal(p, err)
	}
	if _, err := c.Alloc(1<<19 + 1); err == nil || !strings.Contains(err.Error(), "GPU memory") {
		t.Errorf("%v", err)
	}
	if err := c.Free(p); err != nil {
		t.Error(err)
	}
	if err := c.Free(p); err == nil {
		t.Error("it was freed twice")
	}
	if free, total, _ := c.Memory(); free != total {
		t.Errorf("%d of %d are free", free, total)
	}
}
