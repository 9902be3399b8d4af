package mujoco

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pendulum is a double pendulum whose end hits a floor: it has joints, a motor, contacts and
// sensors in one text.
const pendulum = `<mujoco>
  <size memory="1M"/>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="upper" pos="0 0 0.9">
      <joint name="shoulder" axis="0 1 0" damping="0.01"/>
      <geom name="upper" type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      <body name="lower" pos="0.5 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.01"/>
        <geom name="lower" type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="elbow" joint="elbow" gear="2"/></actuator>
  <sensor><jointvel name="elbow" joint="elbow"/></sensor>
</mujoco>`

func instance(t testing.TB) *Instance {
	t.Helper()
	r, err := Load(context.Background())
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Instance()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

func data(t testing.TB, in *Instance, mjcf string) *Data {
	t.Helper()
	m, err := in.Model(mjcf)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Data()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// swing steps n times with a changing control and returns the positions.
func swing(t testing.TB, d *Data, n int) []float64 {
	t.Helper()
	for i := range n {
		d.Ctrl[0] = float64(i%7)/3 - 1
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clone(d.QPos)
}

func TestModelDescribesItself(t *testing.T) {
	d := data(t, instance(t), pendulum)
	m := d.Model()
	if m.NQ != 2 || m.NV != 2 || m.NU != 1 || m.NA != 0 || m.NSensorData != 1 {
		t.Errorf("sizes nq %d nv %d nu %d na %d nsensordata %d", m.NQ, m.NV, m.NU, m.NA, m.NSensorData)
	}
	for _, name := range []struct {
		kind Object
		name string
		want int
	}{{Body, "lower", 2}, {Joint, "elbow", 1}, {Geom, "floor", 0}, {Actuator, "elbow", 0}, {Sensor, "elbow", 0}} {
		if i, err := m.Index(name.kind, name.name); err != nil || i != name.want {
			t.Errorf("%s %s: index %d (%v), want %d", name.kind, name.name, i, err, name.want)
		}
	}
	if _, err := m.Index(Joint, "knee"); err == nil {
		t.Error("found a joint that does not exist")
	}
	if dt, err := m.Timestep(); err != nil || dt != 0.005 {
		t.Errorf("timestep %v (%v)", dt, err)
	}
	if kinds, err := m.Int32s("geom_type"); err != nil || !slices.Equal(kinds, []int32{0, 3, 3}) {
		t.Errorf("geom types %v (%v), want a plane and two capsules", kinds, err)
	}
	mass, err := m.Float64s("body_mass")
	capsule := 1000 * math.Pi * 0.05 * 0.05 * (0.5 + 4./3*0.05) // density times volume
	if err != nil || len(mass) != 3 || math.Abs(mass[1]-capsule) > 1e-12*capsule {
		t.Errorf("masses %v (%v), want %v", mass, err, capsule)
	}
	if rgba, err := m.Float32s("geom_rgba"); err != nil || len(rgba) != 12 || rgba[0] != 0.5 || rgba[3] != 1 {
		t.Errorf("colours %v (%v), want three times half grey", rgba, err)
	}
	if _, err := m.Float32s("body_mass"); err == nil {
		t.Error("read masses as single precision")
	}
	for _, name := range []string{"geom_type", "nothing"} {
		if _, err := m.Float64s(name); err == nil {
			t.Errorf("read %s as doubles", name)
		}
	}
}

// A step has two halves for every integrator but RK4.
func TestStepIsStep1AndStep2(t *testing.T) {
	for number, integrator := range map[int]string{0: "Euler", 2: "implicit", 3: "implicitfast"} {
		t.Run(integrator, func(t *testing.T) { stepsInHalves(t, integrator, number) })
	}
}

func stepsInHalves(t *testing.T, integrator string, number int) {
	in := instance(t)
	text := strings.Replace(pendulum, "timestep", `integrator="`+integrator+`" timestep`, 1)
	whole, halves := data(t, in, text), data(t, in, text)
	if n, err := whole.Model().Integrator(); err != nil || n != number {
		t.Fatalf("integrator %d, %v", n, err)
	}
	for range 200 {
		if err := errors.Join(whole.Step(), halves.Step1(), halves.Step2()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(whole.QPos, halves.QPos) || whole.QPos[0] == 0 {
		t.Errorf("positions %v after whole steps, %v after halves", whole.QPos, halves.QPos)
	}
	if now, err := whole.Time(); err != nil || math.Abs(now-1) > 1e-9 {
		t.Errorf("time %v (%v), want 1 s", now, err)
	}
	if err := errors.Join(whole.SetTime(0.25), whole.Forward()); err != nil {
		t.Error(err)
	}
	if now, _ := whole.Time(); now != 0.25 {
		t.Errorf("time %v after setting 0.25", now)
	}
	if err := whole.Reset(); err != nil || whole.QPos[0] != 0 || whole.QVel[0] != 0 {
		t.Errorf("reset left %v %v (%v)", whole.QPos, whole.QVel, err)
	}
}

func TestDisabledActuationIgnoresControls(t *testing.T) {
	in := instance(t)
	d, still := data(t, in, pendulum), data(t, in, pendulum)
	if err := d.Model().Disable(DisableActuation); err != nil {
		t.Fatal(err)
	}
	if flags, err := d.Model().Disabled(); err != nil || flags != DisableActuation {
		t.Fatalf("flags %d (%v)", flags, err)
	}
	d.Ctrl[0] = 1
	if err := errors.Join(d.Step(), still.Step()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.QVel, still.QVel) {
		t.Errorf("velocities %v, want those without control %v", d.QVel, still.QVel)
	}
}

func TestBadModelIsAnError(t *testing.T) {
	in := instance(t)
	for text, want := range map[string]string{
		`<mujoco><worldbody><geom type="nope"/></worldbody></mujoco>`:          "invalid keyword: 'nope'",
		`<mujoco><worldbody><body><joint/></body></worldbody></mujoco>`:        "mass and inertia",
		`<mujoco><worldbody><geom mesh="m" type="mesh"/></worldbody></mujoco>`: "mesh",
		"not XML": "XML parse error",
		"":        "empty",
	} {
		_, err := in.Model(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("model %q: error %q, want one line with %q", text, err, want)
		}
	}
	if q := swing(t, data(t, in, pendulum), 10); q[0] == 0 {
		t.Error("a good model does not move after bad ones")
	}
	if n := len(in.val.items) - len(in.val.free); n > in.val.kept {
		t.Errorf("%d values alive, want at most the %d of the start", n, in.val.kept)
	}
}

func TestExhaustedArenaIsAnError(t *testing.T) {
	in := instance(t)
	d := data(t, in, strings.Replace(pendulum, `"1M"`, `"2K"`, 1))
	var err error
	for range 400 { // until the arm lies on the floor
		if err = d.Step(); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("2 KB were enough for every step")
	}
	want := swing(t, data(t, instance(t), pendulum), 200)
	if got := swing(t, data(t, in, pendulum), 200); !slices.Equal(got, want) {
		t.Errorf("after the error, positions %v, want %v", got, want)
	}
}

func TestViewsFollowTheMemory(t *testing.T) {
	in := instance(t)
	d := data(t, in, pendulum)
	swing(t, d, 100)
	before, size := slices.Clone(d.QPos), in.MemorySize()
	for in.MemorySize() == size { // make data until the memory grows, and therefore moves
		if _, err := d.Model().Data(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(d.QPos, before) {
		t.Fatalf("positions %v after growth, %v before", d.QPos, before)
	}
	moved := swing(t, d, 100)
	other := data(t, instance(t), pendulum)
	swing(t, other, 100)
	if want := swing(t, other, 100); !slices.Equal(moved, want) {
		t.Errorf("positions %v after growth, want %v", moved, want)
	}
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	in := instance(t)
	data(t, in, pendulum).Model().Free()
	size := in.MemorySize()
	for range 100 {
		data(t, in, pendulum).Model().Free()
	}
	if in.MemorySize() != size || len(in.views) != 0 {
		t.Errorf("memory %d after 100 models, %d after one; %d views left", in.MemorySize(), size, len(in.views))
	}
}

func TestInstancesRunInParallel(t *testing.T) {
	want := swing(t, data(t, instance(t), pendulum), 500)
	var wg sync.WaitGroup
	got := make([][]float64, 4)
	for i := range got {
		d := data(t, instance(t), pendulum)
		wg.Go(func() { got[i] = swing(t, d, 500) })
	}
	wg.Wait()
	for i, q := range got {
		if !slices.Equal(q, want) {
			t.Errorf("instance %d ended at %v, want %v", i, q, want)
		}
	}
}

// TestWarnings checks that the engine warns of a state that is not finite, and of nothing else, and
// that a reset clears the warning.
func TestWarnings(t *testing.T) {
	in := instance(t)
	d := data(t, in, strings.Replace(pendulum, `"0.005"/>`, `"0.005"><flag autoreset="disable"/></option>`, 1))
	swing(t, d, 200)
	if w := d.Warning(); w != "" {
		t.Errorf("an ordinary motion warns of %s", w)
	}
	for want, bad := range map[string]func(){
		"a bad position (1)": func() { d.QPos[1] = math.NaN() },
		"a bad velocity (1)": func() { d.QVel[1] = 1e11 },
		"a bad control (0)":  func() { d.Ctrl[0] = math.Inf(1) },
	} {
		if err := d.Reset(); err != nil {
			t.Fatal(err)
		}
		if w := d.Warning(); w != "" {
			t.Errorf("after a reset: %s", w)
		}
		bad()
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
		if w := d.Warning(); w != want {
			t.Errorf("warning %q, want %q", w, want)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	d := data(t, instance(t), pendulum)
	if n := testing.AllocsPerRun(100, func() { d.Step() }); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
}

func TestImportedSlots(t *testing.T) {
	module := []byte{0, 'a', 's', 'm', 1, 0, 0, 0,
		1, 1, 0, // an empty type section
		9, 16, 2, // two segments: slots 1, 2, 3 and 128
		0, 0x41, 1, 0x0b, 3, 7, 2, 2, // functions 7, 2, 2
		0, 0x41, 0x80, 1, 0x0b, 1, 0} // function 0
	slots, err := importedSlots(module, 7)
	if err != nil || len(slots) != 3 || slots[2] != 2 || slots[3] != 2 || slots[128] != 0 {
		t.Errorf("slots %v (%v)", slots, err)
	}
	for n := 12; n < len(module); n++ {
		if _, err := importedSlots(module[:n], 7); err == nil {
			t.Errorf("a module cut at %d bytes is no error", n)
		}
	}
}

func TestWrongBinaryIsRefused(t *testing.T) {
	err := verify([]byte("something else"), "/tmp/mujoco.wasm")
	if err == nil || !strings.Contains(err.Error(), "make build") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line that says what to do", err)
	}
}

// TestUnusableCache compiles an empty module where the cache directory cannot
// be made.
func TestUnusableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"", file} {
		t.Setenv("HOME", home)
		t.Setenv("XDG_CACHE_HOME", home)
		r, err := compileCached(context.Background(), []byte{0, 'a', 's', 'm', 1, 0, 0, 0})
		if err != nil {
			t.Errorf("home %q: %v", home, err)
			continue
		}
		r.wazero.Close(context.Background())
	}
}

func BenchmarkStep(b *testing.B) {
	d := data(b, instance(b), pendulum)
	for b.Loop() {
		if err := d.Step(); err != nil {
			b.Fatal(err)
		}
	}
}
