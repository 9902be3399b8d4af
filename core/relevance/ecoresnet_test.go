package relevance

import (
	"bytes"
	"math"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
	"pgrlab/core/testing/gradcheck"
)

// smallResnet has few channels.
func smallResnet() ECOConfig {
	c := smallECO()
	c.Embedding, c.Channels = EmbeddingResNet, []int{2, 3, 4, 5}
	c.Features, c.Comparator = 6, []int{5, 4}
	return c
}

// resnetFrame is one of the frames in testdata/ecoresnet.py.
func resnetFrame(f Frames, row, which int) []byte {
	frame := make([]byte, f.size())
	for i := range frame {
		frame[i] = byte((i*i/7 + 31*i*(2*row+which+1) + 77*row) % 256)
	}
	return frame
}

// resnetWeights sets the weights of testdata/ecoresnet.py.
func resnetWeights(n *ecoNet) {
	for number, p := range n.params() {
		goldenWeights(p, number)
	}
	layers := 2 * (len(n.embedding.decayed()) + 1 + 2 + len(n.rest))
	for number, p := range n.params()[layers:] {
		for i := range p.Data {
			p.Data[i] = float32((float64((i*7919+(layers+number)*104729+13)%2003)/1001 - 1) / 4)
			if number%2 == 0 { // γ
				p.Data[i]++
			}
		}
	}
}

// An update, the running statistics after it, and a comparison that uses them agree with PyTorch
// 1.13 in float64; testdata/ecoresnet.py made the numbers. The tolerances are those of float32
// after nineteen norms of four rows, as shares of a tensor's largest number.
func TestResnetAgreesWithPyTorch(t *testing.T) {
	var said struct {
		Loss               float64
		Gradients, Running [][]float64
		Likelier           []float64
	}
	golden.Read(t, "testdata/ecoresnet.json", &said)
	c, f := smallResnet(), Frames{Side: 36, Stack: 1}
	c.LR = 1e-30 // weights stay, statistics move
	dev := cputest.New(t, cpu.Options{Threads: 2, LeastShare: 1})
	m, err := NewECO(c, three, f, c.Batch, newLog(c, 3, f, c.Batch), dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	resnetWeights(m.net)
	for i := range c.Batch {
		for which, to := range [][]float32{m.programs.x, m.programs.y} {
			m.show(to[i*m.width:], experience.Look{Frame: resnetFrame(f, i, which)})
		}
		m.programs.labels[2*i+i%2] = 1
	}
	built, err := m.net.build(m.width, c.Batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, to := range []*op.Node{built.x, built.y, built.labels} {
		copy(built.graph.Tensor(to).Data, [][]float32{m.programs.x, m.programs.y, m.programs.labels}[i])
	}
	loss, grads := gradcheck.On(newDevice(t))(t, built.graph, built.loss, m.net.params())
	golden.Near(t, "loss", loss, said.Loss, 1e-5)
	alike := func(what string, got []float32, want []float64, tolerance float64) {
		t.Helper()
		largest := 1e-2
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
		}
		for i, v := range got {
			if !(math.Abs(float64(v)-want[i]) <= tolerance*largest) {
				t.Fatalf("%s: number %d is %v, PyTorch says %v", what, i, v, want[i])
			}
		}
	}
	for i, p := range m.net.params() {
		alike("gradient of "+p.Name, grads[i], said.Gradients[i], 1e-3)
	}
	if err := m.programs.step.Run(0); err != nil {
		t.Fatal(err)
	}
	for i, b := range m.net.allNorms() {
		width := len(b.gamma.Data)
		got := append(append([]float32{}, b.running.Data[:width]...), b.running.Data[op.StatsUnbiased*width:]...)
		alike("running statistics of "+b.gamma.Name, got, said.Running[i], 1e-4)
	}
	var halves [2][]float32
	for which := range halves {
		if err := m.embed(c.Batch, func(i int) experience.Look { return experience.Look{Frame: resnetFrame(f, i, which)} }); err != nil {
			t.Fatal(err)
		}
		halves[which] = append(halves[which], m.programs.halves[which]...)
	}
	got, width := make([]float32, c.Batch), m.memories.width
	pairs := comparison{programs: &m.programs, dst: got}
	for i := range c.Batch {
		if err := pairs.add(halves[0][i*width:(i+1)*width], halves[1][i*width:(i+1)*width]); err != nil {
			t.Fatal(err)
		}
	}
	if err := pairs.run(); err != nil {
		t.Fatal(err)
	}
	alike("likelier", got, said.Likelier, 1e-4)
}

// A run with the ResNet goes on from anywhere, allocates nothing, and takes as much memory as
// forecast.
func TestResnetOfFrames(t *testing.T) {
	c, f := smallResnet(), Frames{Side: 9, Stack: 1}
	c.Batch, c.Epochs, c.Channels = 8, 1, []int{2, 2, 2, 2}
	goesOnFromAnywhere(t, c, f, 45)
	c.Epochs = 2
	allocatesNothing(t, c, f)
	m := newECOOf(t, c, f, 2)
	weights := 0
	for _, p := range m.net.embedding.params() {
		weights += len(p.Data)
	}
	for _, b := range m.net.embedding.norms() {
		weights += 2 * len(b.gamma.Data)
	}
	if forecast, _ := c.embeddingSize(3, f); forecast < float64(weights) || forecast > 1.3*float64(weights) {
		t.Errorf("%d weights, forecast are %v", weights, forecast)
	}
	c.Channels = nil
	whole, made := c.embeddingSize(3, Frames{Side: 84, Stack: 1})
	if whole < 11.1e6 || whole > 11.9e6 {
		t.Errorf("a ResNet-18 has %v weights, want about 11.2 million", whole)
	}
	if need := c.MemoryIn(replay.Shape{Obs: 160, Act: 9}, Frames{Side: 84, Stack: 1}, 12); !(made > 0) || !(need > 0) {
		t.Errorf("it makes %v numbers and takes %v bytes", made, need)
	}
}

// One worker and two learn the same.
func TestResnetOnTwoWorkers(t *testing.T) {
	saved := func(threads int) []byte {
		dev := cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
		c, f := smallResnet(), Frames{Side: 9, Stack: 1}
		c.Batch = 8
		m, err := NewECO(c, three, f, 2, newLog(c, 3, f, 2), dev, 5)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		meet(t, m, &strolls{copies: 2, length: 13, side: 9}, 45)
		var b bytes.Buffer
		if err := m.Save(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(saved(1), saved(2)) {
		t.Error("one worker and two learn otherwise")
	}
}
