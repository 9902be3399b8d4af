package inspect

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// numbered returns frames of a real row whose bytes are its slot; the frames of the last row are
// forgotten.
type numbered struct{ rows int }

var errForgotten = errors.New("forgotten")

func (n numbered) Seen(dst *replay.FrameRow, slot int) error {
	if slot == n.rows-1 {
		return errForgotten
	}
	for i := range dst.Stack {
		dst.Stack[i], dst.Next[i] = []byte{byte(slot), byte(i), 0}, []byte{byte(slot), byte(i), 1}
	}
	return nil
}

// firstNumber is a relevance function: F is the first number of z.
type firstNumber struct{ relevance.Function }

func (firstNumber) Name() string { return "reward" }

func (firstNumber) Score(dst []float32, b *replay.Batch, rows int) error {
	for i := range rows {
		dst[i] = b.Obs[i*len(b.Obs)/b.Size]
	}
	return nil
}

// noF is the relevance function "none".
type noF struct{ relevance.Function }

func (noF) Name() string { return none }

// dreamView makes a view of random latents of 20 numbers.
func dreamView(real, syn int) View {
	shape := replay.Shape{Obs: 20, Act: 2}
	ring := func(n int, name string) *replay.Ring {
		r, row, noise := replay.NewRing(shape, n), make([]float32, shape.Width()), rng.New(3, name)
		for i := range n {
			noise.FillNormal(row, uint64(i), 0)
			r.AddRows(row)
		}
		return r
	}
	v := View{Step: 7, Real: ring(real, "real"), Syn: ring(syn, "syn"), F: relevance.Of(firstNumber{}), Learned: true, Scratch: replay.NewBatch(shape, ScoreRows)}
	v.Real.See(numbered{real})
	return v
}

// A look finds the exactly nearest real frame, for z among all s and for z′ among all s′, of rows
// sorted by F. It shows the newest frame of each stack.
func TestDreamsAreBesideTheNearestRealFrames(t *testing.T) {
	v := dreamView(200, 90)
	d := Dreams{Frames: relevance.Frames{Side: 1, Stack: 3}}
	got, err := d.Look(v, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Step != 7 || got.Order != event.DreamsByF || got.Relevance != "reward" || got.Looked != 90 || got.Real != 200 || got.Side != 1 || got.Left != 0 || len(got.Rows) != 10 || got.Rows[0].Rank != 0 || got.Rows[9].Rank != 89 {
		t.Fatalf("%+v", got)
	}
	rows := map[string][]float32{}
	largest := math.Inf(-1)
	for i := range v.Syn.Len() {
		row := v.Syn.Row(i)
		rows[fmt.Sprint(float64(row[0]))] = row
		largest = max(largest, float64(row[0]))
	}
	if got.Rows[0].F != largest {
		t.Errorf("the first has F %v, the largest is %v", got.Rows[0].F, largest)
	}
	forgotten := 0
	check := func(what string, n event.NearestFrame, z []float32, at int, next byte) {
		t.Helper()
		slot, nearest := -1, math.Inf(1)
		for i := range v.Real.Len() {
			sum := 0.0
			for k, x := range z {
				sum += math.Pow(float64(x)-float64(v.Real.Row(i)[at+k]), 2)
			}
			if sum < nearest {
				slot, nearest = i, sum
			}
		}
		want := fmt.Sprint([]byte{byte(slot), 2, next})
		if slot == 199 {
			want, forgotten = "[]", forgotten+1
		}
		if math.Abs(n.Distance-math.Sqrt(nearest)) > 1e-5 || fmt.Sprint(n.Frame) != want {
			t.Errorf("%s: %v at %g, want %s at %g", what, n.Frame, n.Distance, want, math.Sqrt(nearest))
		}
	}
	for i, r := range got.Rows {
		if i > 0 && !(r.F <= got.Rows[i-1].F) {
			t.Errorf("F of row %d is %v after %v", i, r.F, got.Rows[i-1].F)
		}
		row := rows[fmt.Sprint(r.F)]
		if r.Return != float64(row[22]) {
			t.Errorf("the return of row %d is %v, want %v", i, r.Return, row[22])
		}
		check("z", r.Z, row[:20], 0, 0)
		check("z'", r.Next, row[23:43], 23, 1)
	}
	if !(got.Usual > 0) || !(got.Usual < 8) {
		t.Errorf("real latents are %v from each other", got.Usual)
	}
	if again, err := d.Look(v, 10); err != nil || again != got {
		t.Errorf("what has not changed is looked for again: %v", err)
	}
}

// A latent nearest to the row with forgotten frames has a distance and no frame; a latent that is
// not finite has neither.
func TestDreamsWithoutAFrame(t *testing.T) {
	v := dreamView(50, 3)
	copy(v.Syn.Row(0), v.Real.Row(49))
	v.Syn.Row(1)[3] = float32(math.NaN())
	d := Dreams{Frames: relevance.Frames{Side: 1, Stack: 1}}
	v.F = relevance.Of(noF{})
	got, err := d.Look(v, 3)
	if err != nil {
		t.Fatal(err)
	}
	copies, unknown := 0, 0
	for _, r := range got.Rows {
		if r.Z.Distance == 0 && r.Z.Frame == nil {
			copies++
		}
		if math.IsNaN(r.Z.Distance) && r.Z.Frame == nil && r.Next.Frame != nil {
			unknown++
		}
		if !math.IsNaN(r.F) {
			t.Errorf("F of %+v without F", r)
		}
	}
	if got.Order != event.DreamsByReturn || copies != 1 || unknown != 1 || got.Rows[0].Return < got.Rows[2].Return {
		t.Errorf("%+v", got)
	}
}

// A look searches a bounded part, and later looks continue it. A new D_syn or another F starts
// again.
func TestDreamsAreFoundInParts(t *testing.T) {
	v := dreamView(searchedNumbers/(20*2*2)+1, 40) // two rows a look
	d := Dreams{Frames: relevance.Frames{Side: 1, Stack: 1}}
	for i, left := range []int{4, 2, 0} {
		got, err := d.Look(v, 6)
		if err != nil || got.Left != left || len(got.Rows) != 6-left {
			t.Fatalf("look %d: %v, %+v", i, err, got)
		}
	}
	v.F = relevance.Of(noF{})
	if got, err := d.Look(v, 6); err != nil || got.Order != event.DreamsByReturn || got.Left != 4 {
		t.Errorf("without F %v, %+v", err, got)
	}
	v.Syn.Clear()
	if _, err := d.Look(v, 6); err == nil {
		t.Error("dreams of no rows")
	}
	v.Syn.AddRows(make([]float32, v.Syn.Shape().Width()))
	if got, err := d.Look(v, 6); err != nil || got.Looked != 1 || len(got.Rows) != 1 {
		t.Errorf("one row: %v, %+v", err, got)
	}
}

// Another D_syn is sorted again, also if it has had as many rows, as one that is mixed may.
func TestDreamsFollowDSyn(t *testing.T) {
	v, d := dreamView(200, 90), Dreams{Frames: relevance.Frames{Side: 1, Stack: 3}}
	first, err := d.Look(v, 10)
	if err != nil {
		t.Fatal(err)
	}
	other := replay.NewRing(v.Syn.Shape(), v.Syn.Cap())
	for i := range v.Syn.Len() {
		row := slices.Clone(v.Syn.Row(i))
		row[0]++
		other.AddRows(row)
	}
	v.Syn = other
	if got, err := d.Look(v, 10); err != nil || math.Abs(got.Rows[0].F-first.Rows[0].F-1) > 1e-5 {
		t.Errorf("%v: F of the first row is %v, and was %v", err, got.Rows[0].F, first.Rows[0].F)
	}
}

// BenchmarkDreams times a look at the paper's size, and reports how many rows it searches.
func BenchmarkDreams(b *testing.B) {
	for _, rows := range []int{2_000, 10_000, 100_000} {
		shape := replay.Shape{Obs: 100, Act: 6}
		real, syn := replay.NewRing(shape, rows), replay.NewRing(shape, 10_000)
		row, noise := make([]float32, shape.Width()), rng.New(1, "rows")
		for i := range rows + 10_000 {
			noise.FillNormal(row, uint64(i), 0)
			if i < rows {
				real.AddRows(row)
			} else {
				syn.AddRows(row)
			}
		}
		real.See(numbered{rows})
		v := View{Real: real, Syn: syn, F: relevance.Of(noF{})}
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			found := 0
			for b.Loop() {
				d := Dreams{Frames: relevance.Frames{Side: 1, Stack: 3}}
				got, err := d.Look(v, 12)
				if err != nil {
					b.Fatal(err)
				}
				found = len(got.Rows)
			}
			b.ReportMetric(float64(found), "rows/look")
		})
	}
}
