package policy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// A saved policy acts as the agent that saved it, whatever its seed and critics.
func TestALoadedPolicyActsAsTheSavedOne(t *testing.T) {
	dev := tiny.Device(t)
	c := tiny.Config()
	c.Agent.Critics, c.Agent.Subset = 3, 2
	a, err := newLearner(&c, tiny.Task(), dev, 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved bytes.Buffer
	if err := a.SavePolicy(&saved); err != nil {
		t.Fatal(err)
	}
	file := saved.Bytes()
	p, err := Load(&c, tiny.Task(), dev, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	obs := []float32{.3, -2}
	want, got := make([]float32, tiny.Act), make([]float32, tiny.Act)
	if err := a.Act(&agent.Acting{Copies: 1, Obs: obs, Actions: want, Mode: agent.Mean}); err != nil {
		t.Fatal(err)
	}
	if err := p.Act(got, obs, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || want[0] == 0 {
		t.Errorf("acts %v, the saved agent %v", got, want)
	}
	other := tiny.Task()
	other.ObsSize++
	if _, err := Load(&c, other, dev, bytes.NewReader(file)); err == nil {
		t.Error("the policy of another task was loaded")
	}
}

// newLearner makes the learner of a configuration.
func newLearner(c *config.Config, task task.Task, dev device.Device, seed uint64) (*agent.Made, error) {
	learner, deps := c.Learner(task)
	deps.Device, deps.Seed = dev, seed
	return learner.New(deps)
}

// A file that is not a whole policy of the task is refused in a line: cut off, with more
// after it, of another network, with numbers that are none.
func TestDamagedPolicies(t *testing.T) {
	dev, c, file := tiny.Device(t), tiny.Config(), savedPolicy(t)
	nan := bytes.Clone(file)
	copy(nan[len(nan)-4:], []byte{0, 0, 0xc0, 0x7f})
	other := tiny.Config()
	other.Agent.Hidden = []int{8, 9}
	huge := tiny.Config()
	huge.Agent.Hidden = []int{3_000_000, 3_000_000}
	for name, d := range map[string]struct {
		config config.Config
		file   []byte
		want   string
	}{
		"nothing":                {c, nil, "not a file of weights"},
		"something else":         {c, []byte("{}\n"), "not a file of weights"},
		"cut off":                {c, file[:len(file)-1], "the file is cut off"},
		"more after it":          {c, append(bytes.Clone(file), 0), "something follows"},
		"no numbers":             {c, nan, "holds NaN"},
		"of another network":     {other, file, "is it of a run on world?"},
		"of what no machine has": {huge, file, "needs about "},
	} {
		_, err := Load(&d.config, tiny.Task(), dev, bytes.NewReader(d.file))
		if err == nil || !strings.Contains(err.Error(), d.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, d.want)
		}
		if _, err := ReadLayers(bytes.NewReader(d.file)); err == nil && !bytes.Equal(d.file, file) {
			t.Errorf("%s is exported", name)
		}
	}
}

// savedPolicy is the policy.bin of an untrained agent.
func savedPolicy(t testing.TB) []byte {
	t.Helper()
	c := tiny.Config()
	a, err := newLearner(&c, tiny.Task(), tiny.Device(t), 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved bytes.Buffer
	if err := a.SavePolicy(&saved); err != nil {
		t.Fatal(err)
	}
	return saved.Bytes()
}

// Whatever is in the place of a policy, it is refused in a line or acts.
func FuzzPolicy(f *testing.F) {
	file, dev := savedPolicy(f), tiny.Device(f)
	f.Add(file, uint32(0), uint64(0), uint16(0))
	for i := range 64 {
		f.Add(file, uint32(8*i), uint64(math.MaxUint64)>>i, uint16(7*i))
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint32, value uint64, cut uint16) {
		text = bytes.Clone(text[:max(0, len(text)-int(cut)/64)])
		for k := 0; k < 8 && len(text) > 8; k++ {
			text[int(at)%(len(text)-7)+k] ^= byte(value >> (8 * k))
		}
		c := tiny.Config()
		if layers, err := ReadLayers(bytes.NewReader(text)); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("not a line: %v", err)
		} else if err == nil && len(layers) < 2 {
			t.Errorf("%d layers", len(layers))
		}
		p, err := Load(&c, tiny.Task(), dev, bytes.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not a line: %v", err)
			}
			return
		}
		defer p.Close()
		action := make([]float32, tiny.Act)
		if err := p.Act(action, []float32{.3, -2}, 0); err != nil {
			t.Error(err)
		}
	})
}

func TestRandomActionsFollowTheSeed(t *testing.T) {
	draw := func(seed, step uint64) []float32 {
		a := make([]float32, 6)
		if err := Random(task.Task{ActSize: 6}, seed).Act(a, nil, step); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := draw(1, 0)
	if !slices.Equal(first, draw(1, 0)) || slices.Equal(first, draw(2, 0)) || slices.Equal(first, draw(1, 1)) {
		t.Error("actions are not a function of seed and step")
	}
	if lo, hi := slices.Min(first), slices.Max(first); lo < -1 || hi >= 1 || lo > 0 || hi < 0 {
		t.Errorf("actions %v", first)
	}
}

// A policy's file that is cut anywhere, or has any bit flipped, is refused in a line or
// holds the weights that were saved; weights out of a checkpoint have no checksum.
func TestAPolicyHasAChecksum(t *testing.T) {
	dev := tiny.Device(t)
	c := tiny.Config()
	a, err := newLearner(&c, tiny.Task(), dev, 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved, bare bytes.Buffer
	if err := errors.Join(Save(&saved, a.SavePolicy), a.SavePolicy(&bare)); err != nil {
		t.Fatal(err)
	}
	want, err := ReadLayers(&bare)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	check := func(what string, file []byte) {
		layers, err := ReadLayers(bytes.NewReader(file))
		p, loaded := Load(&c, tiny.Task(), dev, bytes.NewReader(file))
		if loaded == nil {
			p.Close()
		}
		if (err == nil) != (loaded == nil) {
			t.Errorf("%s: read %v, loaded %v", what, err, loaded)
		}
		if err == nil && !reflect.DeepEqual(layers, want) {
			t.Errorf("%s: other weights, and nothing is said", what)
		}
		if err != nil {
			if refused++; strings.Contains(err.Error()+loaded.Error(), "\n") {
				t.Errorf("%s: more than a line: %q, %q", what, err, loaded)
			}
		}
	}
	whole := saved.Bytes()
	check("as it was", whole)
	if refused > 0 {
		t.Fatal("the policy as it was saved is refused")
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/300 {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		check(fmt.Sprintf("byte %d flipped", i), bad)
		check(fmt.Sprintf("%d of %d bytes", i, len(whole)), whole[:i])
	}
	for i := range len(sealMark) + sha256.Size { // all of the seal
		bad := slices.Clone(whole)
		bad[len(bad)-1-i] ^= 4
		check(fmt.Sprintf("byte -%d flipped", i), bad)
		check(fmt.Sprintf("without %d bytes", i), whole[:len(whole)-i])
	}
	if refused < 300 {
		t.Errorf("only %d were refused", refused)
	}
}

// The layers of a policy that sees frames, or remembers its episode, are refused in one line: convolutions and
// recurrent layers are none of those that other programs are given.
func TestLayersThatAreNotExported(t *testing.T) {
	remembers := tiny.Config()
	remembers.Agent.Learner, remembers.Generator.Kind, remembers.Generator.Conditional, remembers.Knobs.Relevance = "dreamer", config.GeneratorNone, false, "none"
	for want, c := range map[string]config.Config{"sees frames": tiny.Pixels(), "remembers its episode": remembers} {
		task, dev := tiny.Task(), tiny.Device(t)
		learner, deps := c.Learner(task)
		deps.Device = dev
		a, err := learner.New(deps)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var file bytes.Buffer
		if err := Save(&file, a.SavePolicy); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLayers(bytes.NewReader(file.Bytes())); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// So are those of a policy that chooses among actions.
func TestTheLayersOfAPolicyThatChooses(t *testing.T) {
	var file bytes.Buffer
	if err := nn.Save(&file, []*op.Tensor{op.NewTensor("trunk.1.W", 2, 3)}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLayers(&file); err == nil || !strings.Contains(err.Error(), "chooses among actions") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
