package cuda

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// story is an agent that makes env steps on rings that grow, with the numbers that it reports.
type story struct {
	t               *testing.T
	dev             device.Device
	agent           *sac.Agent
	real, synthetic *replay.Ring
	mixer           replay.Mixer
	updates         uint64
	rates           agent.Rates
	said
}

const storyUpdates, storyBatch = 4, 12

func newStory(t *testing.T, c sac.Config, dev device.Device, rows int) *story {
	t.Helper()
	s := &story{t: t, dev: dev, real: replay.NewRing(shape, rows+20), mixer: replay.NewMixer(rng.New(6, "replay")), rates: agent.DefaultRates}
	s.agent = s.newAgent(c, dev)
	for range rows {
		s.lives()
	}
	return s
}

func (s *story) newAgent(c sac.Config, dev device.Device) *sac.Agent {
	s.t.Helper()
	a, err := sac.New(c, dev, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { a.Close() })
	return a
}

// lives adds a transition.
func (s *story) lives() {
	row := make([]float32, shape.Width())
	rng.New(3, "rows").FillNormal(row, s.real.Total(), 0)
	row[len(row)-1] = 0
	s.real.AddRows(row)
}

// step makes an env step, and records its results.
func (s *story) step() []agent.UpdateResult {
	s.t.Helper()
	s.lives()
	d := agent.BatchSource{Mixer: s.mixer, Real: s.real, Synthetic: s.synthetic, First: s.updates, Mix: replay.Mix{Real: storyBatch}}
	if s.synthetic != nil {
		d.Mix = replay.HoldBatch(storyBatch, 0.5, s.synthetic.Len())
	}
	made, err := s.agent.UpdateN(storyUpdates, d, s.rates, true)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, m := range made {
		what := fmt.Sprintf("update %d", s.updates+uint64(i))
		if m.Err != nil {
			s.say(what+": "+m.Err.Error(), 1)
			continue
		}
		s.say(what, 30, float32(m.Losses.Critic), float32(m.Losses.QMean), float32(m.Losses.AlphaValue))
		if m.Stepped {
			s.say("policy of "+what, 30, float32(m.Losses.Actor), float32(m.Losses.Alpha))
		}
	}
	s.updates += storyUpdates
	return made
}

// weights records everything that a saved agent's policy has learned.
func (s *story) weights() {
	s.t.Helper()
	var file bytes.Buffer
	if err := s.agent.SavePolicy(&file); err != nil {
		s.t.Fatal(err)
	}
	tensors, err := nn.Read(&file)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, x := range tensors {
		s.say(x.Name, 100, x.Data...)
	}
}

func storied() sac.Config {
	return sac.Config{Obs: shape.Obs, Act: shape.Act, Hidden: []int{8}, Critics: 2, Subset: 2, Gamma: 0.9, PolicyDelay: 2, InitialAlpha: 0.2}
}

// whole makes the env steps of a story: on real transitions, with another learning rate, when the
// ring is full and its oldest rows are replaced, with synthetic transitions, and with another
// generation of them.
func whole(t *testing.T, c sac.Config, dev device.Device, generations int) said {
	s := newStory(t, c, dev, 40)
	s.step()
	s.rates.LRActor, s.rates.LRCritic, s.rates.Tau = 1e-2, 3e-3, 0.1
	s.step()
	for s.real.Total() < 75 {
		s.lives()
	}
	s.step()
	for i := range generations {
		s.synthetic = replay.NewRing(shape, 30)
		rows := make([]float32, 30*shape.Width())
		rng.New(3, "synthetic").FillNormal(rows, uint64(i), 0)
		s.synthetic.AddRows(rows)
		s.step()
	}
	s.weights()
	return s.said
}

// Whole env steps on the device give the same results as the CPU's updates, one by one on batches
// from the host.
func TestEnvSteps(t *testing.T) {
	redq := storied()
	redq.Critics = 4
	on := onCPU(t)
	t.Run("sac", func(t *testing.T) {
		agree(t, whole(t, storied(), card(t, Options{}), 2), whole(t, storied(), on, 2), 1e-5)
	})
	t.Run("redq", func(t *testing.T) { agree(t, whole(t, redq, unchecked(t, Options{}), 0), whole(t, redq, on, 0), 1e-5) })
}

// A batch in the middle of an env step contains a number that is rejected, so its rows differ from
// those of its first numbers.
func TestAnEnvStepWithARejection(t *testing.T) {
	const rows = 60_000
	tell := func(dev device.Device) said {
		s := newStory(t, storied(), dev, rows)
		for rejection(s.mixer.Streams()[0], s.updates+1, rows+1, storyBatch) < 0 {
			s.updates++
		}
		s.step()
		return s.said
	}
	agree(t, tell(unchecked(t, Options{})), tell(onCPU(t)), 1e-5)
}

// If there is no memory for the rings, the host samples the batches.
func TestEnvStepsWithoutRoom(t *testing.T) {
	tell := func(dev device.Device) said {
		s := newStory(t, storied(), dev, 40)
		if err := s.agent.Prepare(agent.Uses{Mixes: []replay.Mix{{Real: storyBatch}}, Source: &agent.SourceSize{Updates: storyUpdates, Mixer: s.mixer, Real: 1_000_000, Synthetic: 10}}); err != nil {
			t.Fatal(err)
		}
		if s.agent.Fused() {
			t.Error("the device samples the batches")
		}
		s.step()
		return s.said
	}
	dev := unchecked(t, Options{Memory: 4 << 20})
	agree(t, tell(dev), tell(onCPU(t)), 1e-5)
	if m := dev.Memory(); m.Transitions != 0 {
		t.Errorf("there is %v", m)
	}
}

// many is a number of transitions so large that a batch has some that no other batch has.
const many = 400

// slotOf returns a slot that occurs in the batch of one occasion, and in no other of the first n.
func slotOf(t *testing.T, m replay.Mixer, occasion uint64, n int) int {
	t.Helper()
	sampled := make([][]int, n)
	for o := range sampled {
		q := m.Streams()[0].At(uint64(o))
		for range storyBatch {
			sampled[o] = append(sampled[o], q.IntN(many+1+o/storyUpdates)) // the ring grows
		}
	}
	for _, slot := range sampled[occasion] {
		elsewhere := false
		for o := range sampled {
			elsewhere = elsewhere || uint64(o) != occasion && slices.Contains(sampled[o], slot)
		}
		if slot < many && !elsewhere {
			return slot
		}
	}
	t.Fatalf("every row of batch %d is in another one too", occasion)
	return 0
}

// Numbers that are not finite appear in the middle of an env step. That update has no effect,
// wherever in it they appear, the other updates are made, and the story continues as on the CPU.
func TestAnEnvStepThatStops(t *testing.T) {
	on, dev := onCPU(t), unchecked(t, Options{})
	const reward, act = 5, 3 // columns of a row
	for name, c := range map[string]struct {
		occasion uint64
		column   int
		value    float32
		stepped  bool
	}{
		"the target and critic": {storyUpdates + 2, reward, float32(math.Inf(1)), false},
		"the target":            {storyUpdates + 1, reward, float32(math.NaN()), false},
		"the critic":            {storyUpdates + 3, act, 1e25, true}, // the policy looks at no actions
	} {
		t.Run(name, func(t *testing.T) {
			tell := func(dev device.Device) said {
				s := newStory(t, storied(), dev, many)
				s.real.Row(slotOf(t, s.mixer, c.occasion, 2*storyUpdates))[c.column] = c.value
				s.step()
				made := s.step()
				if m := made[c.occasion-storyUpdates]; m.Err == nil || m.Stepped != c.stepped {
					t.Fatalf("it made %+v", m)
				}
				s.weights()
				if s.agent.Updates() != s.updates {
					t.Errorf("%d updates are counted, want %d", s.agent.Updates(), s.updates)
				}
				return s.said
			}
			got, want := tell(dev), tell(on)
			agree(t, got, want, 1e-5)
			for i := range want {
				if unnumbered(got[i].what) != unnumbered(want[i].what) {
					t.Errorf("%q, want %q", got[i].what, want[i].what)
				}
			}
		})
	}
}

// unnumbered leaves out the numbers of steps and results: a device on which layers join more has fewer.
func unnumbered(what string) string {
	return regexp.MustCompile(`\b(step |b)\d+`).ReplaceAllString(what, "$1")
}

// An agent that was saved and loaded, and one whose device was parked, continue bit for bit.
func TestEnvStepsGoOn(t *testing.T) {
	c := storied()
	c.Critics = 3
	dev := unchecked(t, Options{})
	s := newStory(t, c, dev, 40)
	s.step()
	var file bytes.Buffer
	if err := s.agent.Save(&file); err != nil {
		t.Fatal(err)
	}
	other := newStory(t, c, unchecked(t, Options{}), 40)
	if err := other.agent.Load(&file); err != nil {
		t.Fatal(err)
	}
	other.lives()
	other.updates, s.said = s.updates, nil
	for step := range 2 {
		if step == 1 {
			if err := dev.Park(); err != nil {
				t.Fatal(err)
			}
		}
		s.step()
		other.step()
	}
	var a, b bytes.Buffer
	if err := s.agent.Save(&a); err != nil {
		t.Fatal(err)
	}
	if err := other.agent.Save(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the agents differ")
	}
	agree(t, s.said, other.said, 0)
}
