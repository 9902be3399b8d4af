package replay

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

var shape = Shape{Obs: 2, Act: 1}

// numbered returns a transition with n in every place.
func numbered(n int) Transition {
	v := float32(n)
	return Transition{Obs: []float32{v, v + 0.1}, Act: []float32{v + 0.2}, Reward: v + 0.3, Next: []float32{v + 0.4, v + 0.5}, Done: n%2 == 1}
}

func row(n int) []float32 {
	v := float32(n)
	return []float32{v, v + 0.1, v + 0.2, v + 0.3, v + 0.4, v + 0.5, float32(n % 2)}
}

func contents(r *Ring) (all []float32) {
	for i := range r.Len() {
		all = append(all, r.Row(i)...)
	}
	return all
}

// FuzzRing compares a ring of any size with a slice of the last transitions.
func FuzzRing(f *testing.F) {
	f.Add(3, 10)
	f.Add(chunkRows+5, 2*chunkRows+7)
	f.Fuzz(func(t *testing.T, capacity, n int) {
		capacity, n = 1+abs(capacity)%(3*chunkRows), abs(n)%(4*chunkRows)
		r := NewRing(shape, capacity)
		for i := range n {
			r.Add(numbered(i))
		}
		if r.Len() != min(n, capacity) || r.Total() != uint64(n) {
			t.Fatalf("%d added to a ring of %d: length %d, total %d", n, capacity, r.Len(), r.Total())
		}
		for i := range r.Len() {
			newest := n - 1 - (n-1-i)%capacity // the last transition stored at place i
			if !slices.Equal(r.Row(i), row(newest)) {
				t.Fatalf("%d added to a ring of %d: place %d holds %v, want transition %d", n, capacity, i, r.Row(i), newest)
			}
		}
		back := reloaded(t, r)
		r.Add(numbered(n))
		back.Add(numbered(n))
		if !slices.Equal(contents(r), contents(back)) {
			t.Fatalf("a ring of %d with %d came back changed", capacity, n)
		}
	})
}

// FuzzOperations compares any order of operations with a list that drops its oldest elements.
func FuzzOperations(f *testing.F) {
	f.Add(uint8(3), []byte{0, 0, 1, 3, 2, 0, 3, 1, 1})
	f.Fuzz(func(t *testing.T, capacity uint8, operations []byte) {
		r := NewRing(shape, 1+int(capacity)%9)
		var model []int // oldest first
		n := 0
		add := func() {
			model = append(model, n)
			model = model[max(0, len(model)-r.Cap()):]
			n++
		}
		for _, o := range operations {
			switch o % 8 {
			default:
				r.Add(numbered(n))
				add()
			case 1:
				r.AddRows(append(row(n), row(n+1)...))
				add()
				add()
			case 2:
				r.Clear()
				model = nil
			case 3:
				r = reloaded(t, r)
			}
			if r.Len() != len(model) || r.Total() != uint64(n) {
				t.Fatalf("%d rows, %d in all; want %d and %d", r.Len(), r.Total(), len(model), n)
			}
			for i := 0; i < r.Len(); i += len(r.Span(i)) / r.Shape().Width() {
				if !slices.Equal(r.Span(i)[:r.Shape().Width()], r.Row(i)) {
					t.Fatalf("the span from slot %d on begins with %v, want %v", i, r.Span(i)[:r.Shape().Width()], r.Row(i))
				}
			}
			for age := range model {
				if want := model[len(model)-1-age]; !slices.Equal(r.Row(r.Newest(age)), row(want)) {
					t.Fatalf("the row of age %d is %v, want transition %d", age, r.Row(r.Newest(age)), want)
				}
			}
		}
	})
}

// reloaded returns a ring that was saved in the middle of a file and loaded into a ring with other
// contents.
func reloaded(t *testing.T, r *Ring) *Ring {
	t.Helper()
	var file bytes.Buffer
	if err := r.Save(&file); err != nil {
		t.Fatal(err)
	}
	file.WriteString("more")
	back := NewRing(r.Shape(), r.Cap())
	back.Add(numbered(77))
	if err := back.Load(&file); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(contents(r), contents(back)) || r.Total() != back.Total() || r.next != back.next {
		t.Fatalf("a ring with %d of %d came back changed", r.Len(), r.Cap())
	}
	if file.String() != "more" {
		t.Fatal("load read beyond its end")
	}
	return back
}

func abs(n int) int { return int(math.Abs(float64(n % (1 << 30)))) }

// Whatever a file holds, Load refuses it or gives a valid ring.
func FuzzLoad(f *testing.F) {
	for _, n := range []int{0, 2, 5} {
		r := NewRing(shape, 4)
		for i := range n {
			r.Add(numbered(i))
		}
		var file bytes.Buffer
		if err := r.Save(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
		for _, at := range []int{3, 16, 24, 32, 40, file.Len() - 1} {
			broken := slices.Clone(file.Bytes())
			broken[at] ^= 0xff
			f.Add(broken)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewRing(shape, 4)
		r.Add(numbered(1))
		err := r.Load(bytes.NewReader(file))
		if err != nil && r.Len()+int(r.Total()) != 0 {
			t.Fatal("a file was refused and yet something is there")
		}
		for i := range 5 {
			r.Add(numbered(i))
		}
		if want := row(4); r.Len() != 4 || !slices.Equal(r.Row(r.Newest(0)), want) {
			t.Fatalf("after loading (%v) the ring does not work", err)
		}
	})
}

func TestLoadRefusesOtherRings(t *testing.T) {
	r := NewRing(shape, 4)
	r.Add(numbered(1))
	var file bytes.Buffer
	if err := r.Save(&file); err != nil {
		t.Fatal(err)
	}
	if err := NewRing(shape, 5).Load(bytes.NewReader(file.Bytes())); err == nil {
		t.Error("a ring of another capacity was accepted")
	}
	if err := NewRing(shape, 4).Load(bytes.NewReader(file.Bytes()[:file.Len()-1])); err == nil {
		t.Error("a torn file was accepted")
	}
}

func TestAnEmptyRingCostsNothing(t *testing.T) {
	r := NewRing(Shape{Obs: 78, Act: 12}, 1_000_000)
	if len(r.chunks) != 0 {
		t.Error("memory was taken before the first transition")
	}
	r.Add(Transition{Obs: make([]float32, 78), Act: make([]float32, 12), Next: make([]float32, 78)})
	if n := len(r.chunks[0]); n != chunkRows*(2*78+12+2) {
		t.Errorf("the first transition took %d numbers", n)
	}
}

func TestAddRowsAndClear(t *testing.T) {
	a, b := NewRing(shape, 3), NewRing(shape, 3)
	for i := range 5 {
		a.Add(numbered(i))
		b.AddRows(row(i))
	}
	if !slices.Equal(contents(a), contents(b)) {
		t.Error("rows and transitions are stored differently")
	}
	b.Clear()
	if b.Len() != 0 {
		t.Error("a cleared ring is not empty")
	}
	b.AddRows(append(row(8), row(9)...))
	if !slices.Equal(contents(b), append(row(8), row(9)...)) {
		t.Errorf("a cleared ring holds %v", contents(b))
	}
}

func TestRowsBySlots(t *testing.T) {
	r := NewRing(shape, 4)
	for i := range 6 { // slots hold 4 5 2 3
		r.Add(numbered(i))
	}
	b := NewBatch(shape, 3)
	r.Gather(b, 1, []int{0, 3})
	if b.Reward[0] != 0 || b.Reward[1] != 4.3 || b.Reward[2] != 3.3 {
		t.Errorf("gathered rewards are %v, want 0 4.3 3.3", b.Reward)
	}
	r.GatherRange(b, 1, 2)
	if b.Reward[0] != 5.3 || b.Reward[1] != 2.3 || b.Reward[2] != 3.3 {
		t.Errorf("the range's rewards are %v, want 5.3 2.3 3.3", b.Reward)
	}
	for name, wrong := range map[string]func(){
		"a row outside":     func() { NewRing(shape, 4).Row(0) },
		"no newest":         func() { NewRing(shape, 4).Newest(0) },
		"half a row":        func() { r.AddRows(make([]float32, 3)) },
		"a wrong size":      func() { r.Add(Transition{Obs: make([]float32, 3)}) },
		"no room":           func() { NewRing(shape, 0) },
		"no observations":   func() { NewRing(Shape{Act: 1}, 4) },
		"a negative number": func() { r.Row(-1) },
	} {
		if !panics(wrong) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestMixes(t *testing.T) {
	for _, c := range []struct {
		name string
		got  Mix
		want Mix
	}{
		{"half", HoldBatch(256, 0.5, 1000), Mix{128, 128}},
		{"int(B·r)", HoldBatch(10, 0.39, 1000), Mix{7, 3}},
		{"none", HoldBatch(256, 0, 0), Mix{256, 0}},
		{"all", HoldBatch(256, 1, 256), Mix{0, 256}},
		{"too few synthetic rows", HoldBatch(256, 0.5, 127), Mix{256, 0}},
		{"paper 0.5", HoldReal(256, 0.5, 1e6), Mix{128, 128}},
		{"paper 0.75", HoldReal(256, 0.75, 1e6), Mix{128, 384}},
		{"paper 0.875", HoldReal(256, 0.875, 1e6), Mix{128, 896}},
		{"r = 1 has no batch that holds real rows", HoldReal(256, 1, 1e6), Mix{256, 0}},
		{"an odd batch", HoldReal(7, 0.5, 100), Mix{4, 4}},
		{"growing, none yet", HoldReal(256, 0.875, 100), Mix{256, 0}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
}

// A batch whose rows are copied in parts equals one that is copied at once.
func TestSamplesInParts(t *testing.T) {
	real, synthetic := NewRing(shape, 100), NewRing(shape, 100)
	for i := range 100 {
		real.Add(numbered(i))
		synthetic.Add(numbered(100 + i))
	}
	m := NewMixer(rng.New(2, "mix"))
	p := NewPrioritized(PriorityConfig{Alpha: 1, Epsilon: 1}, rng.New(2, "priorities"))
	for slot := range 100 {
		p.Added(slot)
	}
	for _, size := range []int{minShared - 1, minShared, 3 * minShared} {
		alone, parted := NewBatch(shape, size), NewBatch(shape, size)
		alone.Weight, parted.Weight = make([]float32, size), make([]float32, size)
		runs := 0
		parted.Share = func(work func(part, parts int)) func() {
			return func() {
				runs++
				for _, part := range []int{2, 0, 1} {
					work(part, 3)
				}
			}
		}
		same := func(what string, sample func(b *Batch) error) {
			for _, b := range []*Batch{alone, parted} {
				if err := sample(b); err != nil {
					t.Fatal(err)
				}
			}
			for _, pair := range [][2][]float32{{alone.Obs, parted.Obs}, {alone.Act, parted.Act}, {alone.Reward, parted.Reward},
				{alone.Next, parted.Next}, {alone.Done, parted.Done}, {alone.Weight, parted.Weight}} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Errorf("%s of %d: another batch in parts", what, size)
				}
			}
		}
		occasion := uint64(0)
		for _, n := range []int{0, 1, size / 3, size / 2, size} {
			occasion++
			same("mix", func(b *Batch) error { return m.Sample(b, Mix{Real: n, Synthetic: size - n}, real, synthetic, occasion) })
		}
		same("priorities", func(b *Batch) error { return p.Sample(b, real, 0.5, 7) })
		if want := 6; size >= minShared && runs != want || size < minShared && runs != 0 {
			t.Errorf("batches of %d were shared %d times", size, runs)
		}
	}
}

func TestSamplesAreUniformAndIndexed(t *testing.T) {
	real, synthetic := NewRing(shape, 100), NewRing(shape, 100)
	for i := range 10 {
		real.Add(numbered(i))
		synthetic.Add(numbered(50 + i))
	}
	m := NewMixer(rng.New(1, "mix"))
	b := NewBatch(shape, 40)
	mix := Mix{Real: 30, Synthetic: 10}
	counts := map[int]int{}
	for occasion := range uint64(1000) {
		if err := m.Sample(b, mix, real, synthetic, occasion); err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			n := int(b.Obs[2*i])
			if (n >= 50) != (i >= 30) {
				t.Fatalf("place %d holds transition %d: real rows come first", i, n)
			}
			if w := row(n); b.Obs[2*i+1] != w[1] || b.Act[i] != w[2] || b.Reward[i] != w[3] || b.Next[2*i+1] != w[5] || b.Done[i] != w[6] {
				t.Fatalf("place %d is not transition %d", i, n)
			}
			counts[n]++
		}
	}
	for n, c := range counts {
		want := 3000.0
		if n >= 50 {
			want = 1000
		}
		if math.Abs(float64(c)-want) > 5*math.Sqrt(want) {
			t.Errorf("transition %d was sampled %d times, want about %v", n, c, want)
		}
	}
	again := NewBatch(shape, 40)
	if err := m.Sample(again, mix, real, synthetic, 999); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Obs, b.Obs) {
		t.Error("the same occasion drew another batch")
	}
	if err := m.Sample(b, Mix{Real: 20, Synthetic: 20}, real, NewRing(shape, 5), 0); err == nil {
		t.Error("rows were sampled from an empty buffer")
	}
	if err := m.Sample(b, Mix{Real: 20}, real, synthetic, 0); err == nil {
		t.Error("a mix of another size was accepted")
	}
	if n := testing.AllocsPerRun(10, func() { _ = m.Sample(b, mix, real, synthetic, 3) }); n > 0 {
		t.Errorf("a sample allocates %v times", n)
	}
}

func TestOldestGoesRoundTheRing(t *testing.T) {
	r := NewRing(Shape{Obs: 2, Act: 1}, 5)
	for i := range 8 {
		r.Add(Transition{Obs: []float32{float32(i), 0}, Act: []float32{0}, Next: []float32{0, 0}})
	}
	var got []float32
	for _, slot := range append(r.Oldest(0, 3), r.Oldest(3, 2)...) {
		got = append(got, r.Row(slot)[0])
	}
	if !slices.Equal(got, []float32{3, 4, 5, 6, 7}) {
		t.Errorf("the transitions in their order are %v", got)
	}
}

// Of every copy of an environment, whose transitions take turns, spread slots contain about equally
// many, whatever their distance.
func TestSpreadSlotsLeaveOutNoCopy(t *testing.T) {
	const copies, each = 16, 1024
	for every := 1; every <= 40; every++ {
		r, of := NewRing(Shape{Obs: 1, Act: 1}, each*every), [copies]int{}
		r.AddRows(make([]float32, each*every*r.Shape().Width()))
		for i, slot := range r.Spread(each) {
			if slot < i*every || slot >= (i+1)*every {
				t.Fatalf("slot %d is %d, want one from %d to %d", i, slot, i*every, (i+1)*every-1)
			}
			of[slot%copies]++
		}
		for copied, n := range of {
			if n < each/copies/2 || n > each/copies*3/2 { // four deviations of 64
				t.Errorf("one of %d: %d slots of copy %d, want about %d", every, n, copied, each/copies)
			}
		}
	}
	r := NewRing(Shape{Obs: 1, Act: 1}, 5)
	if got := r.Spread(3); len(got) != 0 {
		t.Errorf("of an empty ring they are %v", got)
	}
	r.AddRows(make([]float32, 2*r.Shape().Width()))
	if got := r.Spread(3); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("of two rows they are %v", got)
	}
}
