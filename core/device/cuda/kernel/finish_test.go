package kernel

import (
	"slices"
	"testing"

	"pgrlab/core/device"
)

// tensorsOf makes a program of nothing but host memory: buffers of these lengths.
func tensorsOf(lengths ...int) *device.Program {
	p := &device.Program{Name: "end"}
	for i, n := range lengths {
		b := device.Buffer{Members: 1, Rows: 1, Cols: n, Host: make([]float32, n)}
		for j := range b.Host {
			b.Host[j] = wave(i, j)
		}
		p.Buffers = append(p.Buffers, b)
	}
	return p
}

// wave is a number between −1 and 1 without a pattern, of two indices.
func wave(i, j int) float32 {
	h := uint32(i+1)*2654435761 ^ uint32(j)*2246822519
	h ^= h >> 15
	h *= 2654435761
	return float32(int32(h^h>>13)) / (1 << 31)
}

// kernelsOf are the kernels that a recipe launches.
func kernelsOf(r Recipe) (names []string) {
	for _, l := range r.Launches {
		names = append(names, l.Kernel)
	}
	return names
}

// The end of a program is three launches at most, as long as no average needs what
// another one writes.
func TestLaunchesOfTheEnd(t *testing.T) {
	const w, m, v, g, rate, first, second, third = 0, 1, 2, 3, 4, 5, 6, 7
	adam := func(p *device.Program) *device.Adam {
		return &device.Adam{Params: []device.Ref{w}, M: []device.Ref{m}, V: []device.Ref{v}, Grads: []device.Ref{g}, Rate: rate, T: new(uint64)}
	}
	for _, c := range []struct {
		name  string
		adam  bool
		check []device.Ref
		lerps []device.Lerp
		want  []string
		moved int // averages that the optimiser moves
	}{
		{name: "nothing"},
		{name: "a check", check: []device.Ref{w}, want: []string{"check"}},
		{name: "an optimiser", adam: true, want: []string{"check", "adam"}},
		{name: "an average of a parameter", adam: true, lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}}, want: []string{"check", "adam"}, moved: 1},
		{name: "two of the same", adam: true, lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: w, Rate: device.None}},
			want: []string{"check", "adam", "averages"}, moved: 1},
		{name: "without an optimiser", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: v, Rate: rate}}, want: []string{"averages"}},
		{name: "a chain", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: second, Src: first, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "into what was read", lerps: []device.Lerp{{Dst: first, Src: w, Rate: rate}, {Dst: w, Src: third, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "a rate that moves", lerps: []device.Lerp{{Dst: rate, Src: w, Rate: device.None}, {Dst: first, Src: w, Rate: rate}}, want: []string{"averages", "averages"}},
		{name: "out of turn", adam: true, lerps: []device.Lerp{{Dst: second, Src: first, Rate: rate}, {Dst: first, Src: w, Rate: rate}},
			want: []string{"check", "adam", "averages", "averages"}},
		{name: "into a moment", adam: true, lerps: []device.Lerp{{Dst: m, Src: w, Rate: rate}}, want: []string{"check", "adam", "averages"}},
	} {
		p := tensorsOf(1, 1, 1, 1, 1, 1, 1, 1)
		if c.adam {
			p.Adam = adam(p)
		}
		p.Finite, p.Lerps = c.check, c.lerps
		r, err := Finish(p, Target{SM: 80})
		if err != nil {
			t.Fatal(err)
		}
		if got := kernelsOf(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: launches %v, want %v", c.name, got, c.want)
		}
		moved := 0
		for _, l := range r.Launches {
			if l.Kernel == "adam" && l.Args[1].(Table)[6] != any(uint64(0)) {
				moved++
			}
		}
		if moved != c.moved {
			t.Errorf("%s: the optimiser moves %d averages, want %d", c.name, moved, c.moved)
		}
	}
}
