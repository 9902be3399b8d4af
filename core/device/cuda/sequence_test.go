package cuda

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
)

// picky fits one of four rows; the occasion chooses the row.
type picky struct {
	row, w, y, rate *op.Tensor
	choose, fit     *plan.Program
	adam            *plan.Adam
}

func newPicky(t *testing.T, dev *Device) *picky {
	t.Helper()
	p := &picky{row: op.NewTensor("row", 1, 1), w: tensor("w", 4, 3), rate: op.NewTensor("rate", 1)}
	p.rate.Data[0] = 0.01
	p.adam = plan.NewAdam([]*op.Tensor{p.w}, plan.DefaultAdam, p.rate)
	var err error
	if p.choose, err = plan.CompileRoutine("choose", plan.Choose{Out: p.row, Of: 4, Stream: rng.New(2, "pick")}, dev); err != nil {
		t.Fatal(err)
	}
	p.y = tensor("y", 1, 3)
	var loss *op.Node
	g, err := op.Build("fit", func(g *op.Graph) {
		loss = g.SquaredError(g.Gather(g.Bind(p.w), g.Bind(p.row)), g.Bind(p.y), 6)
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.fit, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: p.adam}, dev); err != nil {
		t.Fatal(err)
	}
	return p
}

// alone runs both programs n times, one by one, and returns the losses.
func (p *picky) alone(n int) (losses []float64, stopped int, err error) {
	for i := range n {
		if err := p.choose.Run(uint64(i)); err != nil {
			return losses, i, err
		}
		if err := p.fit.Run(uint64(i)); err != nil {
			return losses, i, err
		}
		losses = append(losses, p.fit.Loss())
	}
	return losses, -1, nil
}

func (p *picky) sequence(t *testing.T, dev *Device, n int) (s *plan.Sequence, occasions []uint64) {
	t.Helper()
	var programs []*plan.Program
	for i := range n {
		programs = append(programs, p.choose, p.fit)
		occasions = append(occasions, uint64(i), uint64(i))
	}
	s, err := plan.NewSequence(dev, programs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, occasions
}

func same(t *testing.T, got, want *picky, on, as *Device) {
	t.Helper()
	for dev, p := range map[*Device]*picky{on: got, as: want} {
		if err := plan.Fetch(dev, p.w, p.row); err != nil {
			t.Fatal(err)
		}
	}
	close32(t, "the row", got.row.Data, want.row.Data, 0)
	for i, w := range want.w.Data {
		if math.Float32bits(got.w.Data[i]) != math.Float32bits(w) {
			t.Fatalf("w is %v, want %v", got.w.Data, want.w.Data)
		}
	}
	if got.adam.T != want.adam.T {
		t.Errorf("%d steps, want %d", got.adam.T, want.adam.T)
	}
}

// A sequence does exactly what its programs do one by one, also after a knob was turned, after the
// device was parked, and if one of the programs stops in the middle.
func TestASequence(t *testing.T) {
	t.Run("one graph", func(t *testing.T) { aSequence(t, graphWork, 1) })
	t.Run("a graph for each step", func(t *testing.T) { aSequence(t, 0, 4) })
}

func aSequence(t *testing.T, longest float64, graphs int) {
	const n = 6
	on, as := card(t, Options{}), card(t, Options{})
	on.longest = longest
	got, want := newPicky(t, on), newPicky(t, as)
	s, occasions := got.sequence(t, on, n)
	for one := range on.sequences {
		if len(one.graphs) < graphs || graphs == 1 && len(one.graphs) > 1 {
			t.Errorf("%d graphs, want %d", len(one.graphs), graphs)
		}
	}
	for round := range 3 {
		switch round {
		case 1:
			got.rate.Data[0], want.rate.Data[0] = 0.3, 0.3
		case 2:
			if err := on.Park(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Run(occasions); err != nil {
			t.Fatal(err)
		}
		losses, _, err := want.alone(n)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range losses {
			if s.Loss(2*i+1) != l {
				t.Errorf("round %d: loss %d is %v, want %v", round, i, s.Loss(2*i+1), l)
			}
		}
		same(t, got, want, on, as)
	}
	for p, dev := range map[*picky]*Device{got: on, want: as} {
		p.w.Data[3*rowOf(3)+1] = float32(math.Inf(1)) // in the row that the fourth fit picks
		if err := plan.Push(dev, p.w); err != nil {
			t.Fatal(err)
		}
	}
	_, at, expected := want.alone(n)
	err := s.Run(occasions)
	var stopped *plan.Stopped
	if !errors.As(err, &stopped) || stopped.Program != 2*at+1 || err.Error() != expected.Error() {
		t.Fatalf("%v at %+v, want %v at %d", err, stopped, expected, at)
	}
	if at < 1 || at == n-1 {
		t.Errorf("it stopped at %d, which is no middle", at)
	}
	same(t, got, want, on, as)
}

// rowOf returns the row that occasion i picks.
func rowOf(i uint64) int {
	pick := make([]int, 1)
	rng.New(2, "pick").At(i).Choose(pick, 4)
	return pick[0]
}

// A sequence is refused if a program is closed or the device is lost.
func TestASequenceNeedsOpenPrograms(t *testing.T) {
	dev := card(t, Options{})
	p := newPicky(t, dev)
	if err := p.fit.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.NewSequence(dev, []*plan.Program{p.choose, p.fit}); err == nil {
		t.Error("a sequence of a program that was closed")
	}
	lost := emulated(t, emulator.Options{LoseAt: 40}, Options{})
	p = newPicky(t, lost)
	s, occasions := p.sequence(t, lost, 2)
	var err error
	for range 40 {
		if err = s.Run(occasions); err != nil {
			break
		}
	}
	var gone *driver.LostDevice
	if !errors.As(err, &gone) {
		t.Errorf("a lost device: %v", err)
	}
}

// A program of a sequence may have a result without elements.
func TestASequenceWithAnEmptyResult(t *testing.T) {
	dev := card(t, Options{})
	x := op.NewTensor("x", 0, 3)
	var y *op.Node
	g, err := op.Build("nothing", func(g *op.Graph) { y = g.ReLU(g.Bind(x)) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Outputs: []*op.Node{y}}, dev)
	if err != nil {
		t.Fatal(err)
	}
	s, err := plan.NewSequence(dev, []*plan.Program{p})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Run([]uint64{0}); err != nil {
		t.Fatal(err)
	}
}

// Runs of a sequence have their own numbers in the place of a tensor, also where one of them stops; a program that does not
// read the tensor has none.
func TestOwnNumbers(t *testing.T) {
	const n = 4
	on, as := card(t, Options{}), card(t, Options{})
	got, want := newPicky(t, on), newPicky(t, as)
	var programs []*plan.Program
	var occasions []uint64
	for i := range n {
		programs, occasions = append(programs, got.choose, got.fit), append(occasions, uint64(i), uint64(i))
	}
	s, err := plan.NewSequence(on, programs, got.rate, got.y)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Own(0, got.rate) != nil || len(s.Own(1, got.rate)) != 1 {
		t.Fatalf("the numbers of a program without a rate are %v, of another %v", s.Own(0, got.rate), s.Own(1, got.rate))
	}
	got.rate.Data[0] = 100 // which nothing reads
	for round := range 3 {
		for i := range n {
			s.Own(2*i+1, got.rate)[0] = 0.01 * float32(i+1)
			want.rate.Data[0] = 0.01 * float32(i+1)
			copy(s.Own(2*i+1, got.y), got.y.Data)
			for _, p := range []*plan.Program{want.choose, want.fit} {
				if err := p.Run(uint64(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Run(occasions); err != nil {
			t.Fatal(err)
		}
		same(t, got, want, on, as)
		if round == 1 {
			if err := on.Park(); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Own(5, got.y)[1] = float32(math.Inf(1))
	var stopped *plan.Stopped
	if err := s.Run(occasions); !errors.As(err, &stopped) || stopped.Program != 5 {
		t.Errorf("with a row that is not finite: %v", err)
	}
}
