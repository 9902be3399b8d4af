package runflags

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
	"pgrlab/tui/testing/commandtest"
)

func TestSettleDevice(t *testing.T) {
	given := func(names ...string) func(string) bool {
		return func(name string) bool { return strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") }
	}
	sees := config.Config{Device: "auto", Agent: agent.Config{Learner: "drqv2"}}
	sawOnGPU := sees
	sawOnGPU.Device, sawOnGPU.Precision = "cuda", "fp32"
	for _, c := range []struct {
		about           string
		flags           Flags
		config          config.Config // what the preset says
		none            error         // why there is no GPU
		device          string
		precision, said string // said: in the line for people, or in the error where device is ""
	}{
		{"nothing said, a GPU", Flags{Device: "auto"}, config.Config{Device: "auto"}, nil, "cuda", "tf32", "computes on cuda:1, Test GPU (GPU-1234), tf32: 79 GiB free"},
		{"nothing said, none", Flags{Device: "auto"}, config.Config{Device: "auto"}, commandtest.ErrNoDriver, "cpu", "", "computes on the CPU: no CUDA driver: libcuda.so.1 was not found"},
		{"cpu", Flags{Device: "cpu", Changed: given("device")}, config.Config{Device: "auto"}, nil, "cpu", "", ""},
		{"cuda", Flags{Device: "cuda", precision: "bf16", Changed: given("device")}, config.Config{Device: "auto"}, nil, "cuda", "bf16", "bf16"},
		{"cuda, none", Flags{Device: "cuda:3", Changed: given("device")}, config.Config{Device: "auto"}, commandtest.ErrNoDriver, "", "", "no CUDA driver"},
		{"a run on the CPU stays there", Flags{Device: "auto"}, config.Config{Device: "cpu"}, nil, "cpu", "", ""},
		{"unless a flag says otherwise", Flags{Device: "auto", Changed: given("device")}, config.Config{Device: "cpu"}, nil, "cuda", "tf32", "cuda:1"},
		{"a run on a GPU keeps its precision", Flags{Device: "auto", Resume: "x"}, config.Config{Device: "cuda", Precision: "fp32"}, nil, "cuda", "fp32", "fp32"},
		{"and goes on without one", Flags{Device: "auto", Resume: "x"}, config.Config{Device: "cuda", Precision: "fp32"}, commandtest.ErrNoDriver, "cpu", "", "goes on with the CPU"},
		{"a preset's GPU that is not there", Flags{Device: "auto"}, config.Config{Device: "cuda"}, commandtest.ErrNoDriver, "", "", "no CUDA driver"},
		{"UUID", Flags{Device: "GPU-12", Changed: given("device")}, config.Config{}, nil, "cuda", "tf32", "GPU-1234"},
		{"odd precision", Flags{Device: "cuda", precision: "fp16", Changed: given("device")}, config.Config{}, nil, "", "", `unknown precision "fp16"`},
		{"precision of the CPU", Flags{Device: "cpu", precision: "fp32", Changed: given("device")}, config.Config{}, nil, "", "", "--precision and --gpu-mem are for GPUs"},
		{"odd index", Flags{Device: "cuda:x", Changed: given("device")}, config.Config{}, nil, "", "", "want cuda:0, cuda:1"},
		{"frames, nothing said", Flags{Device: "auto"}, sees, nil, "cuda", "tf32", "79 GiB free"},
		{"frames on the CPU", Flags{Device: "cpu", Changed: given("device")}, sees, nil, "cpu", "", ""},
		{"frames on a GPU", Flags{Device: "cuda", Changed: given("device")}, sees, nil, "cuda", "tf32", "79 GiB free"},
		{"frames on a GPU that is not there", Flags{Device: "cuda", Changed: given("device")}, sees, commandtest.ErrNoDriver, "", "", "no CUDA driver"},
		{"frames on the GPU of a run before", Flags{Device: "auto", Resume: "x"}, sawOnGPU, nil, "cuda", "fp32", "fp32"},
		{"and without it", Flags{Device: "auto", Resume: "x"}, sawOnGPU, commandtest.ErrNoDriver, "cpu", "", "goes on with the CPU"},
		{"odd name", Flags{Device: "gpu", Changed: given("device")}, config.Config{}, nil, "", "", "unknown device"},
	} {
		r, config := c.flags, c.config
		if r.Changed == nil {
			r.Changed = given()
		}
		err := r.settleDevice(commandtest.DepsWithGPU(c.none), &config)
		said := r.Place.Said
		if err != nil {
			said = err.Error()
		}
		if (err != nil) != (c.device == "") || err == nil && (config.Device != c.device || config.Precision != c.precision) || !strings.Contains(said, c.said) {
			t.Errorf("%s: %s %q, said %q; want %s %q, %q", c.about, config.Device, config.Precision, said, c.device, c.precision, c.said)
		}
		if err == nil && (r.Place.GPU != nil) != (c.device == "cuda") {
			t.Errorf("%s: the device is %+v", c.about, r.Place.GPU)
		}
	}
}

// Before a GPU is taken, it is checked in the requested precision. If its results are wrong, auto
// computes on the CPU, and a GPU that was asked for is taken with a warning.
func TestAWrongGPU(t *testing.T) {
	var tried []string
	d := commandtest.DepsWithGPU(nil)
	d.CheckGPU = func(g cli.GPU, precision string, said func(string)) error {
		tried = append(tried, g.UUID+" "+precision)
		return errors.New("tile 64x64: off by 7\nof 1")
	}
	quiet := func(string) {}
	const wrong = "cuda:1 does not do what the CPU does: tile 64x64: off by 7 of 1"
	for _, c := range []struct {
		device, precision, said string
		gpu                     bool
	}{
		{"auto", "bf16", "computes on the CPU: " + wrong + ": choose it by --device cuda:1 all the same", false},
		{"cuda", "fp32", "computes on cuda:1, Test GPU (GPU-1234), fp32: 79 GiB free: beware: " + wrong, true},
		{"cuda:1", "tf32", "beware: " + wrong, true},
		{"GPU-12", "tf32", "beware: " + wrong, true},
		{"cpu", "", "", false},
	} {
		tried = nil
		where, err := machine.FindDevice(d, c.device, c.precision, quiet)
		if err != nil || (where.GPU != nil) != c.gpu || !strings.HasSuffix(where.Said, c.said) {
			t.Errorf("%s: %+v, %v; want %q", c.device, where, err, c.said)
		}
		if n := len(tried); c.device != "cpu" && (n != 1 || tried[0] != "GPU-1234 "+c.precision) || c.device == "cpu" && n != 0 {
			t.Errorf("%s: tried %q", c.device, tried)
		}
	}
	d.CheckGPU = func(cli.GPU, string, func(string)) error { return fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded) }
	if where, err := machine.FindDevice(d, "auto", "tf32", quiet); err != nil || !strings.HasPrefix(where.Said, "computes on the CPU: cuda:1 could not be checked: no answer") {
		t.Errorf("a slow one: %+v, %v", where, err)
	}
	d.CheckGPU = func(cli.GPU, string, func(string)) error { return nil }
	if where, err := machine.FindDevice(d, "auto", "tf32", quiet); err != nil || where.GPU == nil || strings.Contains(where.Said, "beware") {
		t.Errorf("a right one: %+v, %v", where, err)
	}
}

// What takes long before there is a run is reported: a driver that starts slowly, and what its kernels'
// check says.
func TestASlowGPUIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := commandtest.DepsWithGPU(nil)
		choose := d.ChooseGPU
		d.ChooseGPU = func(name string) (cli.GPU, string, error) { time.Sleep(time.Minute); return choose(name) }
		d.CheckGPU = func(_ cli.GPU, _ string, said func(string)) error { said("compiling"); return nil }
		var said bytes.Buffer
		r := Flags{Device: "auto", Changed: func(string) bool { return false }, Stderr: func() io.Writer { return &said }}
		config := config.Config{Device: "auto"}
		if err := r.settleDevice(d, &config); err != nil || !strings.HasPrefix(said.String(), "waits for the CUDA driver") || !strings.HasSuffix(said.String(), "\ncompiling\n") {
			t.Errorf("%v, said %q", err, said.String())
		}
	})
}
