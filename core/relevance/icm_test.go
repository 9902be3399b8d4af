package relevance

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/gradcheck"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

func smallICM() ICMConfig {
	c := DefaultICM()
	c.Hidden, c.Batch, c.ScoreRows = 4, 6, 4
	return c
}

func fillBatch(b *replay.Batch, stream uint64) {
	for i, x := range [][]float32{b.Obs, b.Act, b.Next} {
		rng.New(stream, "icm batch").FillNormal(x, uint64(i), 0)
	}
}

// Loss and gradient of the update agree with the reference, where h(s') in the forward term is a
// constant: if a gradient flowed through it, the encoder's gradient would differ.
func TestUpdateAgainstTheReference(t *testing.T) {
	c := smallICM()
	n := newICMNet(c, three, rng.New(2, "icm test"))
	for machine, evaluate := range gradcheck.Machines(newDevice(t)) {
		g, err := buildICM("update", n, c.Batch, (*icmGraph).buildLoss)
		if err != nil {
			t.Fatal(err)
		}
		b := &replay.Batch{Obs: g.graph.Tensor(g.obs).Data, Act: g.graph.Tensor(g.act).Data, Next: g.graph.Tensor(g.next).Data}
		fillBatch(b, 1)
		target := layers(n.encoder, rowsOf(b.Next, three.Obs))
		reference := func() float64 { return referenceLoss(n, b, target) }
		loss, grads := evaluate(t, g.graph, g.loss, n.params())
		near(t, machine+": loss", loss, reference(), 1e-5*reference())
		for i, p := range n.params() {
			for j := range p.Data {
				got, want := float64(grads[i][j]), gradcheck.Quotient(&p.Data[j], reference)
				if !(math.Abs(got-want) <= 2e-4*(0.1+math.Abs(want))) {
					t.Errorf("%s: gradient of %s[%d] is %g, difference quotient %g", machine, p.Name, j, got, want)
				}
			}
		}
	}
}

// newDevice has one worker in tests, because their programs are too small to share and the machine
// is busy; in benchmarks it has all that the machine offers.
func newDevice(t testing.TB) device.Device {
	t.Helper()
	threads := 1
	if _, ok := t.(*testing.B); ok {
		threads = 0
	}
	return cputest.New(t, cpu.Options{Threads: threads})
}

// three is the shape of most tests: three observations and two actions.
var three = replay.Shape{Obs: 3, Act: 2}

func newICM(t testing.TB, c ICMConfig) *ICM { return newICMFor(t, c, three) }

func newICMFor(t testing.TB, c ICMConfig, shape replay.Shape) *ICM {
	t.Helper()
	m, err := NewICM(c, shape, newDevice(t), 5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// The test covers scores and predicted actions of more rows than one run takes, with a number that
// is not a multiple of it.
func TestScoreIsTheMeanSquaredError(t *testing.T) {
	c := smallICM()
	m := newICM(t, c)
	const rows = 11
	b := replay.NewBatch(replay.Shape{Obs: 3, Act: 2}, rows)
	fillBatch(b, 3)
	obs, act, next := rowsOf(b.Obs, 3), rowsOf(b.Act, 2), rowsOf(b.Next, 3)
	h, after := layers(m.net.encoder, obs), layers(m.net.encoder, next)
	predicted := referencePrediction(m.net, h, act)
	for _, count := range []int{11, 4, 1} {
		scores := make([]float32, rows)
		if err := m.Score(scores, b, count); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			want := 0.0
			if i < count {
				want = meanSquare(predicted[i:i+1], after[i:i+1])
			}
			near(t, "score", float64(scores[i]), want, 1e-5*want)
		}
	}
	for i, b := range m.net.norms { // statistics that differ from the initial ones
		for j := range b.running.Data {
			b.running.Data[j] += 0.1 * float32(i+j)
		}
	}
	actions := make([]float32, rows*2)
	if err := m.PredictActions(actions, b, rows); err != nil {
		t.Fatal(err)
	}
	for i, want := range referenceActions(m.net, h, after, false) {
		for j := range want {
			near(t, "action", float64(actions[2*i+j]), want[j], 1e-4)
		}
	}
	near(t, "paper's scale", defaultScale(), 128, 0)
}

// defaultScale is the factor between ½‖·‖² and the mean at H = 256.
func defaultScale() float64 {
	c := DefaultICM()
	return (&ICM{config: c}).PaperScale()
}

// The running statistics follow running ← running + 0.1·(batch − running) with the unbiased
// variance, like PyTorch's BatchNorm1d.
func TestRunningStatistics(t *testing.T) {
	m := newICM(t, smallICM())
	width := m.config.Hidden
	wantMean, wantVariance := make([]float64, width), slices.Repeat([]float64{1}, width)
	for update := range 3 {
		fillBatch(m.Batch(), uint64(update))
		// This runs before the step: the batch is seen by the old weights.
		h := layers(m.net.encoder, rowsOf(m.Batch().Obs, 3))
		next := layers(m.net.encoder, rowsOf(m.Batch().Next, 3))
		mean, _, unbiased := statistics(linear(m.net.inverse[0], beside(h, next)))
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		for j := range width {
			wantMean[j] += 0.1 * (mean[j] - wantMean[j])
			wantVariance[j] += 0.1 * (unbiased[j] - wantVariance[j])
			near(t, "running mean", float64(m.net.norms[0].running.Data[op.StatsMean*width+j]), wantMean[j], 1e-5)
			near(t, "running variance", float64(m.net.norms[0].running.Data[op.StatsUnbiased*width+j]), wantVariance[j], 1e-5)
		}
	}
}

// A model that is trained, saved and loaded into a new object goes on bit for bit, and so does the
// loaded one.
func TestSavedHalfway(t *testing.T) {
	m, c := newICM(t, smallICM()), smallICM()
	train := func(m *ICM, from, to uint64) (losses []float64) {
		for i := from; i < to; i++ {
			fillBatch(m.Batch(), i)
			loss, err := m.Train()
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, loss)
		}
		return losses
	}
	train(m, 0, 300)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := slices.Clone(file.Bytes())
	loaded, err := NewICM(c, three, newDevice(t), 99)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if err := loaded.Load(&file); err != nil {
		t.Fatal(err)
	}
	if file.Len() != 0 {
		t.Errorf("load left %d bytes", file.Len())
	}
	if want, got := train(m, 300, 320), train(loaded, 300, 320); !slices.Equal(want, got) {
		t.Errorf("losses of the loaded model are %v, want %v", got, want)
	}
	b := m.Batch()
	want, got := make([]float32, b.Size), make([]float32, b.Size)
	if err := m.Score(want, b, b.Size); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Score(got, b, b.Size); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want, got) {
		t.Errorf("scores of the loaded model are %v, want %v", got, want)
	}
	if err := loaded.Load(bytes.NewReader(saved[:len(saved)-1])); err == nil || !strings.HasPrefix(err.Error(), "load curiosity: ") {
		t.Errorf("a cut file: error %v", err)
	}
	if c.Hidden++; newICM(t, c).Load(bytes.NewReader(saved)) == nil {
		t.Error("weights load into a model of another width")
	}
}

func TestICMConfigIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*ICMConfig){
		"hidden": func(c *ICMConfig) { c.Hidden = 0 }, "batch": func(c *ICMConfig) { c.Batch = 1 },
		"lr": func(c *ICMConfig) { c.LR = 0 }, "momentum": func(c *ICMConfig) { c.Momentum = math.NaN() },
	} {
		c := DefaultICM()
		spoil(&c)
		if _, err := NewICM(c, three, newDevice(t), 1); err == nil {
			t.Errorf("%s: a spoiled configuration passes", name)
		}
	}
}

// The sizes are those of the released model at quadruped-walk, with 78 observations and 12 actions:
// 1.15 million at H = 256, 0.297 million at 128. The block counts once.
func TestParameterCount(t *testing.T) {
	count := func(hidden int) (n int) {
		c := DefaultICM()
		c.Hidden = hidden
		for _, p := range newICMNet(c, replay.Shape{Obs: 78, Act: 12}, rng.New(1, "count")).params() {
			n += len(p.Data)
		}
		return n
	}
	near(t, "weights at 256", float64(count(256)), 1.15e6, 5e3)
	near(t, "weights at 128", float64(count(128)), 0.297e6, 1e3)
}

// A program of its own scores few rows, with the same results.
func TestScoresOfSmallBatches(t *testing.T) {
	c := smallICM()
	c.ScoreRows = 64
	m := newICM(t, c)
	b := replay.NewBatch(three, 64)
	fillBatch(b, 1)
	want, got := make([]float32, 64), make([]float32, 64)
	if err := m.Score(want, b, 64); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{1, 2, 5, 16, 17, 32} {
		clear(got)
		if err := m.Score(got, b, rows); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-6*math.Abs(float64(want[i]))) {
				t.Errorf("row %d of %d scores %v, of 64 %v", i, rows, got[i], want[i])
			}
		}
		if got[rows] != 0 {
			t.Errorf("a score was written after the %d rows", rows)
		}
	}
	if m.scorers.Len() != 1+5 {
		t.Errorf("%d programs, want those of 1, 2, 8, 16, 32 and 64 rows", m.scorers.Len())
	}
}
