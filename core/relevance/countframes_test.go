package relevance

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
)

func newFrameCount(t testing.TB, c CountConfig, side, threads int) *FrameCount {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: threads})
	m, err := NewFrameCount(c, little, Frames{Side: side, Stack: 3}, dev)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A pixel of the grey picture is compared with its area in a frame of which each pixel is divided
// into 42 × 42 pieces.
func TestGreyIsTheMeanOfItsArea(t *testing.T) {
	for _, side := range []int{9, 42, 64, 84, 100} {
		frame := filmed(1, side, 5).Frames[0].Stack[2]
		got := make([]uint8, pixels)
		newGrey(side, 8).picture(got, frame)
		for _, at := range []int{0, 17, 41, 42 * 20, 42*20 + 21, 42*33 + 8, pixels - 1} {
			y, x, sum := at/greySide, at%greySide, 0.0
			for py := y * side; py < (y+1)*side; py++ {
				for px := x * side; px < (x+1)*side; px++ {
					p := frame[3*(py/42*side+px/42):]
					sum += 0.299*float64(p[0]) + 0.587*float64(p[1]) + 0.114*float64(p[2])
				}
			}
			if want := math.Floor(8 * sum / float64(side*side) / 256); float64(got[at]) != want {
				t.Errorf("%d pixels: symbol %d is %d, want %g", side, at, got[at], want)
			}
		}
	}
	for value, want := range map[byte]uint8{0: 0, 31: 0, 32: 1, 255: 7} {
		got := make([]uint8, pixels)
		newGrey(84, 8).picture(got, bytes.Repeat([]byte{value}, 84*84*3))
		if got[0] != want || got[pixels-1] != want {
			t.Errorf("a frame of %d has symbols %d and %d, want %d", value, got[0], got[pixels-1], want)
		}
	}
}

// plainFrameCount is FrameCount written out directly: one observation after the other, with
// logarithms.
type plainFrameCount struct {
	side  int
	trees [pixels + 2]*contextTree
	seen  uint64
}

func (m *plainFrameCount) visit(b *replay.Batch, i int, tree func(t *contextTree, context []uint8, symbol uint8)) {
	var picture [greySide][greySide]uint8
	symbols := make([]uint8, pixels)
	newGrey(m.side, 8).picture(symbols, b.Frames[i].Stack[2])
	at := func(y, x int) uint8 {
		if y < 0 || x < 0 || x >= greySide {
			return 0
		}
		return picture[y][x]
	}
	for y := range picture {
		for x := range picture[y] {
			picture[y][x] = symbols[y*greySide+x]
			tree(m.trees[y*greySide+x], []uint8{at(y, x-1), at(y-1, x), at(y-1, x-1), at(y-1, x+1)}, picture[y][x])
		}
	}
	first, second := uint8(4*(b.Act[2*i]+1)), uint8(4*(b.Act[2*i+1]+1))
	tree(m.trees[pixels], []uint8{0, 0, 0, 0}, first)
	tree(m.trees[pixels+1], []uint8{first, 0, 0, 0}, second)
}

// FrameCount, with one and two workers, trees in parts, rows in slices and products of factors,
// agrees with the plain version, also after loading from a file.
func TestFrameCountAgainstThePlainOne(t *testing.T) {
	const side, rows = 20, 150 // more rows than a slice has
	seen, strange := filmed(rows, side, 1), filmed(5, side, 2)
	plain := plainFrameCount{side: side}
	for i := range plain.trees {
		plain.trees[i] = newContextTree(8, 4)
	}
	for i := range rows {
		plain.seen++
		plain.visit(seen, i, func(t *contextTree, context []uint8, symbol uint8) { t.update(context, symbol, switching(plain.seen)) })
	}
	var first []float32
	for _, threads := range []int{1, 2} {
		m := newFrameCount(t, DefaultCount(), side, threads)
		m.Begin(nil, 0)
		if err := m.Observe(seen, rows); err != nil || m.Seen() != rows {
			t.Fatal(m.Seen(), err)
		}
		got := make([]float32, rows+5)
		if err := m.Score(got, seen, rows); err != nil {
			t.Fatal(err)
		}
		if err := m.Score(got[rows:], strange, 5); err != nil {
			t.Fatal(err)
		}
		for i, f := range got {
			b, row := seen, i
			if i >= rows {
				b, row = strange, i-rows
			}
			now, after := 0.0, 0.0
			plain.visit(b, row, func(t *contextTree, context []uint8, symbol uint8) {
				p, q := t.look(context, symbol, switching(plain.seen+1))
				now, after = now+math.Log(p), after+math.Log(q)
			})
			want := 1 / math.Sqrt(pseudoCount(now, after)+0.01)
			near(t, fmt.Sprintf("F of row %d", i), float64(f), want, 1e-6*want)
		}
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Error("two workers score other bits than one")
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		saved := file.Bytes()
		other, again := newFrameCount(t, DefaultCount(), side, threads), make([]float32, rows)
		if err := other.Load(&file); err != nil {
			t.Fatal(err)
		}
		if err := other.Score(again, seen, rows); err != nil || other.Seen() != rows || !slices.Equal(again, got[:rows]) {
			t.Errorf("after loading: %d seen, %v", other.Seen(), err)
		}
		for _, cut := range []int{0, 39, 40, len(saved) / 2, len(saved) - 1} {
			if err := newFrameCount(t, DefaultCount(), side, threads).Load(bytes.NewReader(saved[:cut])); err == nil {
				t.Errorf("%d of %d bytes were loaded", cut, len(saved))
			}
		}
		states := newCount(t)
		if err := states.Load(bytes.NewReader(saved)); err == nil {
			t.Error("a density of states loads one of frames")
		}
	}
}

// In a world of two frames without contexts, ρ is a product of Dirichlet estimators.
func TestFrameCountOfTwoFrames(t *testing.T) {
	c := DefaultCount()
	c.Depth = 0
	m := newFrameCount(t, c, 42, 1)
	one, two := filmed(1, 42, 1), filmed(1, 42, 1)
	differ := 0 // pixels in which the frames differ
	for i := range pixels {
		for k := range 3 {
			one.Frames[0].Stack[2][3*i+k], two.Frames[0].Stack[2][3*i+k] = 10, 10
			if i%3 == 0 {
				two.Frames[0].Stack[2][3*i+k] = 200
			}
		}
		if i%3 == 0 {
			differ++
		}
	}
	const ones, twos = 30, 4
	for i := range ones + twos {
		b := one
		if i%8 == 7 {
			b = two
		}
		if err := m.Observe(b, 1); err != nil {
			t.Fatal(err)
		}
	}
	same := float64(pixels-differ) + 2 // and the dimensions of the action
	n := float64(ones + twos)
	for count, b := range map[float64]*replay.Batch{ones: one, twos: two} {
		logs := func(more float64) float64 {
			return same*math.Log((n+more+0.125)/(n+more+1)) + float64(differ)*math.Log((count+more+0.125)/(n+more+1))
		}
		now, after := logs(0), logs(1)
		want := 1 / math.Sqrt((1-math.Exp(after))/(math.Exp(after-now)-1)+0.01)
		got := make([]float32, 1)
		if err := m.Score(got, b, 1); err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("F of a frame seen %g times", count), float64(got[0]), want, 1e-6*want)
	}
}

// A frame that is seen again and again with the same action becomes less novel; with other actions,
// and for other frames, F stays higher. ρ is a product of 1,766 factors, so N̂ stays near 0 the
// first few times, and F falls only from about the tenth on.
func TestARepeatedFrameBecomesLessNovel(t *testing.T) {
	m := newFrameCount(t, DefaultCount(), 42, 1)
	b := filmed(2, 42, 1)
	last := []float32{100}
	for times := range 40 {
		got := make([]float32, 2)
		if err := m.Score(got, b, 2); err != nil {
			t.Fatal(err)
		}
		if got[0] > last[0] || times > 15 && got[0] == last[0] || got[1] < got[0] {
			t.Fatalf("F of a frame seen %d times is %g, once less %g, of another one %g", times, got[0], last[0], got[1])
		}
		last = got
		if err := m.Observe(b, 1); err != nil {
			t.Fatal(err)
		}
	}
	turned := filmed(2, 42, 1)
	turned.Act[0] = -turned.Act[0]
	got := make([]float32, 1)
	if err := m.Score(got, turned, 1); err != nil || got[0] <= last[0] {
		t.Errorf("F of another action is %g, %v, of the usual one %g", got[0], err, last[0])
	}
}

func TestFrameCountScoresWithoutAllocations(t *testing.T) {
	m := newFrameCount(t, DefaultCount(), 64, 2)
	b, dst := filmed(4, 64, 1), make([]float32, 4)
	if n := testing.AllocsPerRun(10, func() {
		if err := m.Score(dst, b, 4); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a score", n)
	}
}
