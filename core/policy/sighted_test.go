package policy

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/testing/tiny"
)

// A policy of frames that is loaded acts as the agent that saved it: on the newest frames of
// its episode, the first one standing for those before it.
func TestALoadedPolicyOfFramesActsAsTheSavedOne(t *testing.T) {
	dev, c, task := tiny.Device(t), tiny.Pixels(), tiny.Task()
	a, err := newLearner(&c, task, dev, 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved bytes.Buffer
	if err := a.SavePolicy(&saved); err != nil {
		t.Fatal(err)
	}
	p, err := Load(&c, task, dev, bytes.NewReader(saved.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, sees := p.(Sighted)
	if !sees || s.Side() != c.Pixels.Side || s.Seen() != nil {
		t.Fatalf("%T sees nothing", p)
	}
	frame := func(shade byte) []byte { return bytes.Repeat([]byte{shade, 2 * shade, 255 - shade}, s.Side()*s.Side()) }
	given := make([]byte, len(frame(0)))
	for episode := range 2 {
		s.Begin()
		var all [][]byte
		for step := range 5 {
			copy(given, frame(byte(20*step+7*episode))) // the caller's memory is its own
			s.See(given)
			if all = append(all, frame(byte(20*step+7*episode))); step == 0 {
				all = [][]byte{all[0], all[0], all[0]}
			}
			stack := all[len(all)-c.Pixels.Stack:]
			want, got := make([]float32, tiny.Act), make([]float32, tiny.Act)
			if err := a.Act(&agent.Acting{Copies: 1, Stacks: [][][]byte{stack}, Actions: want, Mode: agent.Mean}); err != nil {
				t.Fatal(err)
			}
			if err := p.Act(got, nil, 0); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || want[0] == 0 || !slices.EqualFunc(s.Seen(), stack, bytes.Equal) {
				t.Fatalf("episode %d, step %d: acts %v, the saved agent %v", episode, step, got, want)
			}
		}
	}
}
