package relevance

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/nn"
	"pgrlab/core/rng"
)

// smallFrames are the smallest frames that survive the convolutions.
var smallFrames = Frames{Side: 18, Stack: 1}

// smallECOOfFrames configures episodic curiosity on them, with rounds that take milliseconds.
func smallECOOfFrames() ECOConfig {
	c := smallECO()
	c.Embedding, c.Channels = EmbeddingSmall, []int{2, 3, 2}
	return c
}

// convolved computes a convolution pixel by pixel, on images as rows.
func convolved(l nn.Conv, x matrix) matrix {
	g, out := l.Over, len(l.B.Data)
	_, width := g.Out()
	all := make(matrix, len(x))
	for r := range x {
		for place := range g.Places() {
			for o := range out {
				sum := float64(l.B.Data[o])
				for tap := range g.Kernel * g.Kernel {
					down, across := place/width*g.Stride-g.Pad+tap/g.Kernel, place%width*g.Stride-g.Pad+tap%g.Kernel
					if down < 0 || across < 0 || down >= g.Height || across >= g.Width {
						continue
					}
					for c := range g.Channels {
						sum += x[r][(down*g.Width+across)*g.Channels+c] * float64(l.W.Data[(tap*g.Channels+c)*out+o])
					}
				}
				all[r] = append(all[r], sum)
			}
		}
	}
	return all
}

// The update from frames agrees with a reference that has convolutions in front.
func TestRNetworkOfFramesAgainstTheReference(t *testing.T) {
	c := smallECOOfFrames()
	n := newECONet(c, 3, smallFrames, rng.New(2, "eco test"))
	e := n.embedding.(smallEmbedding)
	againstTheReference(t, n, func(x matrix) matrix {
		for _, l := range e.convs {
			x = positive(convolved(l, x))
		}
		return linear(e.out, x)
	}, smallFrames.size(), 4, 3e-3) // a difference quotient with a step of 1e-3 crosses kinks of ReLU
}

// F of frames is computed from the observed frames, each as bytes/255: it is the comparator's F for
// embeddings that are computed one by one.
func TestFOfFrames(t *testing.T) {
	m, s := newECOOf(t, smallECOOfFrames(), smallFrames, 2), &strolls{copies: 2, length: 13, side: smallFrames.Side}
	meet(t, m, s, 40)
	if !m.Learned() || m.memories.n[0] != 0 {
		t.Fatalf("%d rounds, %v entries", m.rounds, m.memories.n)
	}
	f, at := make([]float32, 2), s.next()
	met(t, m, f, at)
	half := func(o []byte, which int) []float32 {
		for i, b := range o {
			m.programs.obs[i] = float32(b) / 255
		}
		if err := m.programs.embed.Run(0); err != nil {
			t.Fatal(err)
		}
		return append([]float32{}, m.programs.halves[which][:m.memories.width]...)
	}
	for i := range 2 {
		var logit [1]float32
		c := comparison{programs: &m.programs, dst: logit[:]}
		if err := c.add(half(at.NextSeen[i], 0), half(at.Seen[i], 1)); err != nil {
			t.Fatal(err)
		}
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		near(t, "F", float64(f[i]), 0.03*(0.5-similarity(logit[0])), 1e-8)
		if kept := m.memories.look(i * m.memories.size).Frame; !bytes.Equal(kept, at.Seen[i]) {
			t.Errorf("copy %d does not remember its first frame", i)
		}
	}
	if slot := int(s.step-1) % m.history.steps; !bytes.Equal(m.history.at(int32(2*slot+1)).Frame, at.Seen[1]) {
		t.Error("the history has another frame")
	}
}

// From frames, too, the network tells near from far, and F is computed from the entries that Recall
// returns.
func TestRNetworkLearnsFromFrames(t *testing.T) {
	c := smallECOOfFrames()
	c.Channels, c.Features, c.Comparator = []int{8, 8, 8}, 16, []int{16}
	c.History, c.Batch, c.Epochs, c.LR = 1600, 32, 6, 3e-3
	m, s := newECOOf(t, c, smallFrames, 2), &strolls{copies: 2, length: 30, side: smallFrames.Side}
	meet(t, m, s, 3*800)
	if m.accuracy < 0.9 {
		t.Errorf("accuracy %v after 3 rounds, want 0.9", m.accuracy)
	}
	f := make([]float32, 2)
	for range 10 {
		at := s.next()
		met(t, m, f, at)
		got, err := m.Recall(1, experience.Look{Frame: at.NextSeen[1]})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Entries) != m.memories.n[1] || len(got.Entries) < c.Entries && math.Abs(float64(f[1])-c.Alpha*(c.Beta-got.Percentile)) > 1e-7 {
			t.Errorf("F is %v, recalled %d entries of %d, P90 %v", f[1], len(got.Entries), m.memories.n[1], got.Percentile)
		}
	}
}

// Frames that cannot be compared are refused in one line.
func TestRefusedFramesOfECO(t *testing.T) {
	for want, of := range map[string]struct {
		set    func(c *ECOConfig)
		frames Frames
	}{
		"want pixels.side 18 or more": {nil, Frames{17, 1}},
		"pixels.stack is 3, want 1":   {nil, Frames{42, 3}},
		"embedding is \"large\"":      {func(c *ECOConfig) { c.Embedding = "large" }, smallFrames},
		"channels are [4 4]":          {func(c *ECOConfig) { c.Channels = []int{4, 4} }, smallFrames},
		"want at least 1 each":        {func(c *ECOConfig) { c.Channels = []int{4, 0, 1} }, smallFrames},
	} {
		c := DefaultECO()
		if of.set != nil {
			of.set(&c)
		}
		_, err := NewECO(c, three, of.frames, 2, newLog(c, 3, smallFrames, 2), newDevice(t), 1)
		if err == nil || !strings.HasPrefix(err.Error(), "eco: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
