package cuda

import (
	"bytes"
	"fmt"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
)

// latents is DrQ-v2 beside a generator, with a batch in parts.
func latents() drqv2.Config {
	c := drqv2.DefaultConfig(2)
	c.Pixels = agent.Pixels{Side: 16, Stack: 2, Pad: 2, Channels: 4, Strides: []int{2, 1}, Feature: 4}
	c.Hidden, c.Slice = []int{8, 8}, 6
	return c
}

// dreamer is an agent beside a generator, with the data that it learns from. Its D_syn is the same
// on all devices.
type dreamer struct {
	*drqv2.Latent
	config  drqv2.Config
	work    agent.Work
	between func() error // called once, after the next slice
}

func newDreamer(t testing.TB, c drqv2.Config, dev device.Device) *dreamer {
	t.Helper()
	x, err := drqv2.NewLatent(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	shape := replay.Shape{Obs: 2 * c.Pixels.Feature, Act: c.Act}
	d := &dreamer{Latent: x, config: c, between: func() error { return nil }, work: agent.Work{Enough: true, Rates: agent.Rates{LRActor: 3e-3, LRCritic: 3e-3, Tau: 0.1}, Source: agent.BatchSource{
		Mixer: replay.NewMixer(rng.New(7, "mixer")), Frames: experience.Frames{Log: reel(c), Stream: rng.New(8, "windows")},
		Real: replay.NewRing(shape, 50), Synthetic: replay.NewRing(shape, 20), Mix: replay.Mix{Real: 10, Synthetic: 4},
	}}}
	for i := range uint64(20) { // some are beyond the range of tanh, some are ends
		row := make([]float32, shape.Width())
		rng.New(6, "dreams").FillUniform(row, i, 0)
		for j := range row {
			row[j] = 2.2*row[j] - 1.1
		}
		row[len(row)-1] = float32((i + 3) % 4 / 3)
		d.work.Source.Synthetic.AddRows(row)
	}
	return d
}

// reel is a memory of two episodes.
func reel(c drqv2.Config) *experience.Log {
	f, pictures := experience.NewLog(experience.Shape{Bytes: c.Pixels.Side * c.Pixels.Side * agent.Colours, Act: c.Act, Copies: 1}, experience.Keep{Looks: 100}), snow(28, c.Pixels.Side)
	for episode := range 2 {
		f.Begin(0, experience.Look{Frame: pictures[14*episode]})
		for i := range 13 {
			f.Add(0, experience.Step{Action: []float32{float32(i) / 13, -0.5}, Reward: float32(i % 4), Next: experience.Look{Frame: pictures[14*episode+i+1]}, End: endIf(episode == 0 && i == 12)})
		}
	}
	return f
}

// phase makes all units of a phase at an env step: 0 is an update, 1 a pass over D_real.
func (d *dreamer) phase(t testing.TB, s *said, number, step int) {
	t.Helper()
	phase := d.Phases()[number]
	d.work.Step = step
	if !phase.Due(&d.work) {
		t.Fatalf("%s is not due at env step %d", phase.Name, step)
	}
	total, err := phase.Start(&d.work)
	if err != nil {
		t.Fatal(err)
	}
	for done, n := 0, 0; done < total; done += n {
		var made []agent.UpdateResult
		if n, made, err = phase.Slice(&d.work, done); err != nil {
			t.Fatal(err)
		}
		between := d.between
		d.between = func() error { return nil }
		if err := between(); err != nil {
			t.Fatal(err)
		}
		for _, m := range made {
			if m.Err != nil {
				t.Fatal(m.Err)
			}
			s.say(fmt.Sprintf("the update of env step %d", step), 10, float32(m.Losses.Critic), float32(m.Losses.QMean), float32(m.Losses.Actor))
		}
	}
}

// encode makes D_real again, as before a refit.
func (d *dreamer) encode(t testing.TB, s *said) {
	t.Helper()
	d.work.Refit = true
	d.phase(t, s, 1, 2)
	d.work.Refit = false
	real := d.work.Source.Real
	if real.Len() != 13+11 { // windows of 3 env steps, shorter ones before a true end
		t.Fatalf("D_real has %d rows", real.Len())
	}
	for i := range real.Len() {
		s.say(fmt.Sprintf("row %d of D_real", i), 10, real.Row(i)...)
	}
}

// values records the values that relevance functions ask for.
func (d *dreamer) values(t testing.TB, s *said) {
	t.Helper()
	from, shape := d.work.Source.Synthetic, replay.Shape{Obs: 2 * d.config.Pixels.Feature, Act: d.config.Act}
	b := replay.NewBatch(shape, from.Len())
	from.GatherRange(b, 0, from.Len())
	dst := make([]float32, b.Size)
	if err := d.Q(dst, b.Obs, b.Size); err != nil {
		t.Fatal(err)
	}
	s.say("values", 30, dst...)
	if err := d.TDError(dst, b, b.Size); err != nil {
		t.Fatal(err)
	}
	s.say("errors", 30, dst...)
}

// dreaming is a story of such an agent: updates before there is a generation, D_real, mixed
// updates, and updates of the heads alone. A GPU is given back and taken again within a mixed update.
func dreaming(t *testing.T, dev device.Device) (d *dreamer, s said) {
	t.Helper()
	d = newDreamer(t, latents(), dev)
	mix := d.work.Source.Mix
	d.work.Source.Mix = replay.Mix{Real: 10}
	d.phase(t, &s, 0, 2)
	d.work.Source.Mix = mix
	d.encode(t, &s)
	d.phase(t, &s, 0, 4)
	d.phase(t, &s, 0, 6)
	if gpu, is := dev.(*Device); is {
		d.between = gpu.Park
	}
	d.phase(t, &s, 0, 16)
	d.phase(t, &s, 0, 20)
	d.work.Source.Mix = replay.Mix{Synthetic: 6}
	d.phase(t, &s, 0, 22)
	d.work.Source.Mix = mix
	d.values(t, &s)
	saved(t, &s, d)
	return d, s
}

// DrQ-v2 beside a generator gives the same results on the device as on the CPU, and what the device
// has saved continues there, and on the CPU, as if it had not been saved.
func TestLatents(t *testing.T) {
	dev, on := unchecked(t, Options{}), onCPU(t)
	got, s := dreaming(t, dev)
	_, want := dreaming(t, on)
	agree(t, s, want, 1e-5)

	var file bytes.Buffer
	if err := got.Save(&file); err != nil {
		t.Fatal(err)
	}
	goOn := func(d *dreamer) (s said) {
		d.phase(t, &s, 0, 18)
		saved(t, &s, d)
		return s
	}
	want = goOn(got)
	for name, there := range map[string]device.Device{"device": dev, "cpu": on} {
		t.Run("loaded on the "+name, func(t *testing.T) {
			again := newDreamer(t, latents(), there)
			again.phase(t, new(said), 0, 2) // so that other weights exist already
			if err := again.Load(bytes.NewReader(file.Bytes())); err != nil {
				t.Fatal(err)
			}
			agree(t, goOn(again), want, 1e-5)
		})
	}
}

// The forecast of an agent's memory on the host is an upper bound of what it takes of a GPU, at the
// sizes of scale demo.
func TestMemoryOfFramesIsForecast(t *testing.T) {
	c := drqv2.DefaultConfig(6)
	c.Pixels = agent.Pixels{Side: 64, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 2, 1, 1}, Feature: 50}
	c.Hidden, c.Slice = []int{256, 256}, 64
	uses := agent.Uses{Mixes: []replay.Mix{{Real: 128}}, Copies: 1, Evaluated: 10, Probed: 256}
	dev := card(t, Options{})
	x, err := drqv2.New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Prepare(uses); err != nil {
		t.Fatal(err)
	}
	if took, said := float64(dev.Taken()), c.Memory(128, uses.Probed); took > said || took < said/4 {
		t.Errorf("%s are taken, %.1f MB forecast", dev.Memory(), said/1e6)
	}
}

// A mixed update allocates nothing above the driver.
func TestAMixedUpdateDoesNotAllocate(t *testing.T) {
	machine, does := emulator.New(emulator.Options{Unchecked: true}), false
	dev := deviceOf(t, func() (driver.Context, error) {
		c, err := machine.Open(0)
		return idle{c, &does}, err
	}, Options{})
	d := newDreamer(t, latents(), dev)
	update := func() {
		phase := d.Phases()[0]
		total, err := phase.Start(&d.work)
		if err != nil {
			t.Fatal(err)
		}
		for done := range total {
			if _, _, err := phase.Slice(&d.work, done); err != nil {
				t.Fatal(err)
			}
		}
	}
	update()
	before := testing.AllocsPerRun(20, func() { d.Phases() })
	does = true
	if n := testing.AllocsPerRun(20, update); n > before {
		t.Errorf("%g allocations in a mixed update, %g of them for the list of phases", n, before)
	}
}
