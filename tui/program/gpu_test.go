package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/testing/emulator"
	"pgrlab/tui/command/cli"
)

// tinyRun learns from its 30th step on, with networks small enough for an interpreted GPU, and
// episodes of 20 env steps.
const tinyRun = `
task = "cartpole-swingup"
method = "sac"
scale = "demo"
steps = 36
start_steps = 30
[environment]
action_repeat = 50
[agent]
hidden = [8]
[evaluation]
every = 18
episodes = 1
dormant_states = 8
[knobs]
batch = 8
utd = 1
`

// interpreted returns deps with one interpreted GPU.
func interpreted(d cli.Deps, o emulator.Options) cli.Deps {
	o.Unchecked = true
	machine := emulator.New(o)
	d.CheckGPU = nil
	d.ChooseGPU = func(name string) (cli.GPU, string, error) {
		all, err := machine.Devices()
		if err != nil {
			return cli.GPU{}, "", err
		}
		c, err := driver.Choose(all, name, cuda.Least, nil)
		return describe(driver.Seen{Info: c.Device}), c.Why, err
	}
	d.GPUs = func() (found cli.GPUs) {
		all, err := machine.Devices()
		if err != nil {
			found.Error = err.Error()
		}
		for _, one := range all {
			found.Found = append(found.Found, describe(driver.Seen{Info: one}))
		}
		return found
	}
	d.Device = func(r cli.DeviceRequest) (cli.Device, error) {
		if r.GPU == nil {
			return newDevice(r)
		}
		precision, err := kernel.ParsePrecision(r.Precision)
		if err != nil {
			return nil, err
		}
		g, err := cuda.New(func() (driver.Context, error) { return machine.Open(r.GPU.Index) }, cuda.Options{Precision: precision, Memory: uint64(r.Memory)})
		if err != nil {
			return nil, err
		}
		return gpu{g}, nil
	}
	return d
}

// A GPU is lost while a run trains on it. The run ends with the command line that continues without
// the GPU, saves nothing through it, and resumes from its last checkpoint.
func TestTrainLosesItsGPU(t *testing.T) {
	launches := 0
	d := interpreted(setUp(t), emulator.Options{Fail: func(call string) int {
		if call == "cuGraphLaunch" {
			launches++
		}
		if launches == 12 {
			return 719
		}
		return 0
	}})
	if err := os.WriteFile("lost.toml", []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", "lost.toml", "--precision", "fp32", "--checkpoint-every", "1ns", "--out", "run"); status != cli.StatusFailed {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	if said := stderr.String(); !strings.Contains(said, "the device is lost") || !strings.Contains(said, "saved last at ") || !strings.Contains(said, "on another device: pgrlab train --resume run --device cpu") {
		t.Errorf("it says\n%s", said)
	}
	n := types(t, "run")
	if n["failed"] != 1 || n["done"] != 0 || n["pause"] != 0 {
		t.Errorf("lines of the journal: %v", n)
	}
	if _, err := os.Stat(filepath.Join("run", "policy.bin")); err == nil {
		t.Error("a policy was saved through a GPU that is lost")
	}
	stderr.Reset()
	if status, _ := pgrlab(t, d, &stderr, "train", "--resume", "run", "--device", "cpu"); status != cli.StatusDone {
		t.Fatalf("resumed: status %d\n%s", status, stderr.String())
	}
	if n := types(t, "run"); n["failed"] != 0 || n["done"] != 1 {
		t.Errorf("resumed, lines of the journal: %v\n%s", n, stderr.String())
	}
}

// A whole run uses an interpreted GPU: auto chooses it, the journal records it, and a resume keeps
// its precision.
func TestTrainOnAGPU(t *testing.T) {
	d := interpreted(setUp(t), emulator.Options{})
	dir := t.TempDir()
	preset := filepath.Join(dir, "tiny.toml")
	if err := os.WriteFile(preset, []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "run")
	var stderr bytes.Buffer
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", preset, "--precision", "fp32", "--out", out); status != 0 {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	for _, want := range []string{"computes on cuda:0, emulated GPU (GPU-00000000-0000-0000-0000-000000000000), fp32: 4 GiB free", " of GPU memory: networks "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, stderr.String())
		}
	}
	config, err := os.ReadFile(filepath.Join(out, "config.toml"))
	if err != nil || !strings.Contains(string(config), "device = 'cuda'") || !strings.Contains(string(config), "precision = 'fp32'") {
		t.Errorf("config.toml: %v\n%s", err, config)
	}
	journal, err := os.ReadFile(filepath.Join(out, "events.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"device":"cuda emulated GPU fp32","precision":"fp32"`) || !strings.Contains(string(journal), `"type":"done"`) {
		t.Errorf("events.jsonl: %v\n%s", err, journal)
	}
}

// briefFrames is a run from frames that is small enough for an interpreted GPU.
const briefFrames = `
task = "cartpole-swingup"
method = "drqv2"
scale = "demo"
steps = 26
start_steps = 20
[pixels]
side = 12
channels = 3
strides = [2, 1]
feature = 4
[agent]
hidden = [8]
[agent.drqv2]
slice = 4
[evaluation]
every = 0
[knobs]
batch = 8
`

// A run from frames on an interpreted GPU, which a resume keeps; without enough memory on it the run
// is refused in one line.
func TestTrainFromFramesOnAGPU(t *testing.T) {
	d := interpreted(setUp(t), emulator.Options{})
	if err := os.WriteFile("frames.toml", []byte(briefFrames), 0o644); err != nil {
		t.Fatal(err)
	}
	train := func(args ...string) (int, string) {
		var stderr bytes.Buffer
		status, _ := pgrlab(t, d, &stderr, append([]string{"train"}, args...)...)
		return status, stderr.String()
	}
	cuda := []string{"--preset", "frames.toml", "--device", "cuda", "--precision", "fp32"}
	status, said := train(append(cuda, "--out", "run")...)
	if status != cli.StatusDone || !strings.Contains(said, "computes on cuda:0") || !strings.Contains(said, " of GPU memory: networks ") {
		t.Fatalf("status %d\n%s", status, said)
	}
	if status, said = train("--resume", "run", "--steps", "30"); status != cli.StatusDone || !strings.Contains(said, "computes on cuda:0") {
		t.Errorf("gone on: status %d\n%s", status, said)
	}
	journal, err := os.ReadFile(filepath.Join("run", "events.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"device":"cuda emulated GPU fp32"`) || !strings.Contains(string(journal), `"step":30`) {
		t.Errorf("%v\n%s", err, journal)
	}
	status, said = train(append(cuda, "--gpu-mem", "1MiB", "--set", "agent.hidden=[256, 256]", "--out", "none")...)
	last := said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]
	if status != cli.StatusFailed || !strings.Contains(last, "asked, and the limit of 1 MiB leaves") || isThere("none") {
		t.Errorf("without memory: status %d\n%s", status, said)
	}
}

// cardsVariable gives the processes of a test that number of interpreted GPUs.
const cardsVariable = "PGRLAB_TEST_CARDS"

// childDeps are the parts of a process that stands for the program.
func childDeps() cli.Deps {
	n, _ := strconv.Atoi(os.Getenv(cardsVariable))
	if n == 0 {
		return testDeps()
	}
	var cards []driver.Info
	for i := range n {
		cards = append(cards, driver.Info{Name: "emulated GPU", UUID: fmt.Sprintf("GPU-%08d-0000-0000-0000-000000000000", i), Capability: [2]int{8, 0}, Memory: 4 << 30})
	}
	return interpreted(testDeps(), emulator.Options{Devices: cards})
}

// A sweep uses all cards of a machine, with one job at a time on each, or only those that are
// named. Its grid names no card, so that the sweep can go on with other cards.
func TestASweepOnAllCards(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv(cardsVariable, "2")
	if err := os.WriteFile("tiny.toml", []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	first := holdAt(t, 1, 10)
	all, said := child(t, "sweep", "--preset", "tiny.toml", "--seeds", "1-2", "--out", "all", "--device", "all")
	all.Env = append(all.Env, first.setting)
	if err := all.Start(); err != nil {
		t.Fatal(err)
	}
	waits := first.await()
	on := func(job int) (card string) {
		log, _ := os.ReadFile(filepath.Join("all", fmt.Sprintf("%04d-cartpole-swingup-sac-s%d", job, job+1), "attempts", "1", "log"))
		_, card, _ = strings.Cut(string(log), "computes on ")
		card, _, _ = strings.Cut(card, ",")
		return card
	}
	eventually(t, "the other job has a card", func() bool { return on(1) != "" })
	waits.release()
	if err := all.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if a, b := on(0), on(1); a == b || !strings.HasPrefix(a, "cuda:") || !strings.HasPrefix(b, "cuda:") {
		t.Errorf("on %q and %q: %s", a, b, said)
	}
	config, err := os.ReadFile(filepath.Join("all", "0000-cartpole-swingup-sac-s1", "job.toml"))
	if err != nil || !strings.Contains(string(config), "device = 'cuda'") {
		t.Errorf("%v: %s", err, config)
	}
	begun := holdAt(t, 1, 5)
	one, _ := child(t, "sweep", "--preset", "tiny.toml", "--seeds", "1", "--out", "one", "--device", "cuda:1")
	one.Env = append(one.Env, begun.setting)
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	under := begun.await()
	var log []byte
	eventually(t, "it has said where it computes", func() bool { // it does not say so before it trains
		log, _ = os.ReadFile(filepath.Join("one", "0000-cartpole-swingup-sac-s1", "attempts", "1", "log"))
		return strings.Contains(string(log), "computes on ")
	})
	one.Process.Kill()
	syscall.Kill(under.pid, syscall.SIGKILL)
	one.Wait()
	under.dies()
	if !strings.Contains(string(log), "computes on cuda:1,") {
		t.Errorf("%s", log)
	}
}

// With --pack a card gets another job once the first has said how much memory it takes.
func TestASweepThatSharesACard(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv(cardsVariable, "1")
	if err := os.WriteFile("tiny.toml", []byte(tinyRun), 0o644); err != nil {
		t.Fatal(err)
	}
	evaluated := holdAt(t, 1, 25)
	packed, said := child(t, "sweep", "--preset", "tiny.toml", "--seeds", "1-2", "--out", "packed", "--device", "all", "--pack")
	packed.Env = append(packed.Env, evaluated.setting)
	if err := packed.Start(); err != nil {
		t.Fatal(err)
	}
	waits := evaluated.await()
	second := filepath.Join("packed", "0001-cartpole-swingup-sac-s2")
	eventually(t, "the second is done beside the first", func() bool { return isThere(filepath.Join(second, "result.json")) })
	waits.release()
	if err := packed.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	journal, err := os.ReadFile(filepath.Join(second, "run", "events.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"device_bytes":`) {
		t.Errorf("%v: it does not say what it has taken", err)
	}
}

// The least driver is of the kernels that the cards of the machine run: an H100 runs newer ones than the oldest card
// that is supported.
func TestLeastDriverIsOfTheCards(t *testing.T) {
	card := func(major int) driver.Seen { return driver.Seen{Info: driver.Info{Capability: [2]int{major, 0}}} }
	none, old, hopper := minDriver(nil), minDriver([]driver.Seen{card(8)}), minDriver([]driver.Seen{card(8), card(9)})
	if none != "450.80.02 (CUDA 11.0)" || old != none || hopper != "525.60.13 (CUDA 12.0)" {
		t.Errorf("%s without cards, %s with an A100, %s with an H100", none, old, hopper)
	}
}
