package sac

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
	"pgrlab/core/testing/golden"
	"pgrlab/core/testing/mirrortest"
	"pgrlab/core/testing/racing"
)

func pairOn(t *testing.T, dev device.Device) *pair {
	t.Helper()
	c := small()
	c.Critics, c.PolicyDelay = 4, 3
	p, err := newPair(c, agent.Deps{Device: dev, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// judged are rows with F in their notes, which is not their reward.
func judged(rows int, of string) *replay.Ring {
	shape := replay.Shape{Obs: small().Obs, Act: small().Act}
	from, ring := filled(shape, rows, of), replay.NewRing(shape, rows)
	ring.Annotate()
	for i := range rows {
		ring.AddNoted(from.Row(i), replay.Note{F: float32(i) / 10})
	}
	return ring
}

// source returns half real and half synthetic batches.
func source(syn *replay.Ring) agent.BatchSource {
	shape := replay.Shape{Obs: small().Obs, Act: small().Act}
	return agent.BatchSource{
		Mixer: replay.NewMixer(rng.New(1, "batches")), Real: filled(shape, 30, "real"), Synthetic: syn, Mix: replay.Mix{Real: 4, Synthetic: 4},
	}
}

// stepped makes env steps of 7 updates.
func stepped(t *testing.T, l agent.Batches, from agent.BatchSource, steps int) (all []agent.UpdateResult) {
	t.Helper()
	for range steps {
		made, err := l.UpdateN(7, from, agent.DefaultRates, true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made...)
		from.First += 7
	}
	return all
}

// The exploiter is the agent that learner sac would be, number for number. The explorer is one that learns
// from generated rows with F as their rewards; F of the rows, and not their rewards, reaches it.
func TestThePairIsTwoAgents(t *testing.T) {
	dev := newDevice(t, 1)
	p, from := pairOn(t, dev), source(judged(20, "synthetic"))
	made := stepped(t, p, from, 3)

	alone, err := New(p.config, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	want := stepped(t, alone, from, 3)
	sameBits(t, p.Agent, alone)

	explorer, err := create(p.config, dev, rng.New(1, "agent").Sub("explorer"))
	if err != nil {
		t.Fatal(err)
	}
	defer explorer.Close()
	rewarded := replay.NewRing(from.Synthetic.Shape(), 20)
	for i := range 20 {
		row := slices.Clone(from.Synthetic.Row(i))
		row[p.config.Obs+p.config.Act] = float32(i) / 10
		rewarded.AddRows(row)
	}
	found := stepped(t, explorer, agent.BatchSource{Mixer: p.mixer, Synthetic: rewarded, Mix: replay.Mix{Synthetic: 8}}, 3)
	sameBits(t, p.explorer, explorer)
	for i, m := range made {
		x, l := m.Losses.Explorer, found[i].Losses
		if m.Losses.Critic != want[i].Losses.Critic || x.Critic != l.Critic || x.QMean != l.QMean || x.Alpha != l.AlphaValue || m.Stepped && x.Actor != l.Actor {
			t.Fatalf("update %d: %+v, alone they have %+v and %+v", i, m.Losses, want[i].Losses, l)
		}
	}
}

// Training has the explorer's actions, evaluations and a saved policy those of the exploiter. Before there
// are generated rows the explorer learns nothing.
func TestWhoOfThePairActs(t *testing.T) {
	p := pairOn(t, newDevice(t, 1))
	before := flat(p.explorer.nets.state(), 0, 1)
	from := source(nil)
	from.Mix = replay.Mix{Real: 8}
	stepped(t, p, from, 1)
	if !slices.Equal(before, flat(p.explorer.nets.state(), 0, 1)) {
		t.Error("the explorer learns without generated rows")
	}
	act := func(l agent.Policy, mode agent.Mode) []float32 {
		a := agent.Acting{Copies: 1, Obs: []float32{1, 2, 3, -4, 0.5}, Actions: make([]float32, 2), Episodes: []uint64{1}, Step: 3, Mode: mode}
		if err := l.Act(&a); err != nil {
			t.Fatal(err)
		}
		return a.Actions
	}
	for mode, of := range map[agent.Mode]*Agent{agent.Explore: p.explorer, agent.Mean: p.Agent, agent.Sample: p.Agent} {
		if got, want := act(p, mode), act(of, mode); !slices.Equal(got, want) || slices.Equal(act(p.explorer, mode), act(p.Agent, mode)) {
			t.Errorf("%v: it acts %v, want %v", mode, got, want)
		}
	}
	var file bytes.Buffer
	if err := p.SavePolicy(&file); err != nil {
		t.Fatal(err)
	}
	alone := newAgent(t, p.config, 5)
	if err := alone.LoadPolicy(&file); err != nil || !slices.Equal(act(alone, agent.Mean), act(p.Agent, agent.Mean)) {
		t.Errorf("the saved policy is not the exploiter's: %v", err)
	}
}

// A loaded pair goes on bit for bit, on another device too, and with another D_syn in the same place.
func TestALoadedPairGoesOn(t *testing.T) {
	inner := newDevice(t, 1)
	first, second := source(judged(20, "synthetic")), source(judged(25, "other"))
	for _, dev := range []device.Device{inner, mirrortest.New(inner)} {
		whole, cut, loaded := pairOn(t, inner), pairOn(t, dev), pairOn(t, dev)
		stepped(t, whole, first, 2)
		stepped(t, cut, first, 2)
		stepped(t, loaded, second, 1) // a state for Load to overwrite
		var file bytes.Buffer
		if err := cut.Save(&file); err != nil {
			t.Fatal(err)
		}
		if err := loaded.Load(&file); err != nil || file.Len() > 0 {
			t.Fatalf("%v, %d bytes are left", err, file.Len())
		}
		for _, from := range []agent.BatchSource{first, second} {
			stepped(t, whole, from, 2)
			stepped(t, loaded, from, 2)
		}
		var a, b bytes.Buffer
		if err := whole.Save(&a); err != nil {
			t.Fatal(err)
		}
		if err := loaded.Save(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: the loaded pair is another one", dev.Name())
		}
	}
}

// On an interpreted GPU both make all updates of an env step in one launch each, with losses that differ
// from the CPU's by rounding.
func TestAPairInLaunches(t *testing.T) {
	if racing.On {
		t.Skip("the detector sees the interpreter in tests of its own")
	}
	machine := emulator.New(emulator.Options{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	from := source(judged(20, "synthetic"))
	uses := agent.Uses{Mixes: []replay.Mix{{Real: 8}, from.Mix}, Copies: 1, Source: &agent.SourceSize{Updates: 7, Mixer: from.Mixer, Real: 30, Synthetic: 20}}
	var all [2][]agent.UpdateResult
	for i, dev := range []device.Device{newDevice(t, 1), dev} {
		p := pairOn(t, dev)
		if err := p.Prepare(uses); err != nil {
			t.Fatal(err)
		}
		if p.Fused() != (i == 1) {
			t.Errorf("device %d: in one launch is %v", i, p.Fused())
		}
		all[i] = slices.Clone(stepped(t, p, from, 2))
		p.Close()
	}
	for i, want := range all[0] {
		got := all[1][i].Losses
		golden.Near(t, "the exploiter's critics", got.Critic, want.Losses.Critic, 1e-3)
		golden.Near(t, "the explorer's critics", got.Explorer.Critic, want.Losses.Explorer.Critic, 1e-3)
		golden.Near(t, "the explorer's Q", got.Explorer.QMean, want.Losses.Explorer.QMean, 1e-3)
	}
}

// The first half of rollouts are the explorer's, the others the exploiter's.
func TestRolloutsAreOfBoth(t *testing.T) {
	p := pairOn(t, newDevice(t, 1))
	o, act := p.config.Obs, p.config.Act
	for _, n := range []int{1, 2, 5} {
		obs := make([]float32, n*o)
		rng.New(3, "obs").FillNormal(obs, uint64(n), 0)
		of := func(policy agent.Policy, obs []float32) []float32 {
			a := agent.Acting{Copies: len(obs) / o, Obs: obs, Actions: make([]float32, len(obs)/o*act), Step: 7, Mode: agent.Sample}
			if err := policy.Act(&a); err != nil {
				t.Fatal(err)
			}
			return a.Actions
		}
		half := (n + 1) / 2
		want := of(p.explorer, obs[:half*o])
		if half < n {
			want = append(want, of(p.Agent, obs[half*o:])...)
		}
		if got := of(both{p}, obs); !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v", n, got, want)
		}
	}
	if err := (both{p}).Act(&agent.Acting{Copies: 2, Obs: make([]float32, o), Actions: make([]float32, 2*act)}); err == nil {
		t.Error("one observation for two rows")
	}
}

// Where F is not a number, the explorer's update stops and says so; the exploiter's is made.
func TestAnExplorerThatDiverges(t *testing.T) {
	dev := newDevice(t, 1)
	p, from := pairOn(t, dev), source(judged(20, "synthetic"))
	broken := replay.NewRing(from.Synthetic.Shape(), 20)
	broken.Annotate()
	for i := range 20 {
		broken.AddNoted(from.Synthetic.Row(i), replay.Note{F: float32(math.NaN())})
	}
	from.Synthetic = broken
	made := stepped(t, p, from, 1)
	alone := newAgent(t, p.config, 1)
	stepped(t, alone, from, 1)
	sameBits(t, p.Agent, alone)
	for i, m := range made {
		var where *plan.NotFinite
		if !errors.As(m.Err, &where) || !strings.HasPrefix(m.Err.Error(), "explorer: ") {
			t.Errorf("update %d: %v", i, m.Err)
		}
	}
}

// Updates of both allocate nothing once they have been made.
func TestAPairDoesNotAllocate(t *testing.T) {
	p, from := pairOn(t, newDevice(t, 1)), source(judged(20, "synthetic"))
	step := func() {
		from.First += 7
		if _, err := p.UpdateN(7, from, agent.DefaultRates, true); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(20, step); n > 0 {
		t.Errorf("%g allocations in an env step", n)
	}
}
