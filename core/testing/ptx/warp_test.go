package ptx

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// shuffled is the result of __shfl_*_sync with a width according to the CUDA C++ programming guide:
// if the source lane is outside of the section of width lanes, a lane keeps its own value.
func shuffled(mode string, in []int32, lane, delta, width int) (value int32, ok bool) {
	section := lane / width * width
	var from int
	switch mode {
	case "idx":
		from = section + delta%width
	case "up":
		from = lane - delta
		ok = from >= section
	case "down":
		from = lane + delta
		ok = from < section+width
	case "bfly":
		from = lane ^ delta
		ok = from < section+width // an earlier section may be read
	}
	if mode == "idx" {
		ok = true
	}
	if !ok {
		from = lane
	}
	return in[from], ok
}

func TestShuffles(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		in := make([]int32, 32)
		for i := range in {
			in[i] = int32(100 + i*i)
		}
		for _, width := range []int{32, 16, 8, 4} {
			for _, delta := range []int{0, 1, 3, 7, 16, 31} {
				mem := device()
				out := upload(t, mem, make([]int32, 160))
				run(t, p, mem, "shuffles", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8).Add(uint64(delta), 4).Add(uint64(width), 4))
				got := download[int32](t, mem, out, 160)
				for i, mode := range []string{"idx", "up", "down", "bfly"} {
					for lane := range 32 {
						want, ok := shuffled(mode, in, lane, delta, width)
						if got[32*i+lane] != want {
							t.Errorf("%s by %d of %d: lane %d has %d, want %d", mode, delta, width, lane, got[32*i+lane], want)
						}
						if mode == "down" && (got[128+lane] != 0) != ok {
							t.Errorf("down by %d of %d: lane %d has predicate %d, want %t", delta, width, lane, got[128+lane], ok)
						}
					}
				}
			}
		}
	})
}

func TestButterfly(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		mem := device()
		in := floats(192, func(i int) float32 { return float32(i) })
		out := upload(t, mem, make([]float32, 192))
		run(t, p, mem, "butterfly", [3]uint32{3, 1, 1}, [3]uint32{64, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8))
		for i, got := range download[float32](t, mem, out, 192) {
			first := i / 32 * 32
			if want := float32(32*first + 31*16); got != want {
				t.Errorf("lane %d: %v, want %v", i, got, want)
			}
		}
	})
}

func TestShufflesOfHalves(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		mem := device()
		out := upload(t, mem, make([]int32, 32))
		run(t, p, mem, "halves", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8))
		odd, even := int32(31*31+1+1000), int32(30*30+30*29/2)
		for i, got := range download[int32](t, mem, out, 32) {
			want := odd // the neighbour's value
			if i%2 == 1 {
				want = even
			}
			if got != want {
				t.Errorf("lane %d: %d, want %d", i, got, want)
			}
		}
	})
}

func TestVotes(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		for _, shift := range []int32{-1, 0, 5} {
			in := make([]int32, 32)
			var ballot uint32
			for i := range in {
				in[i] = int32(i%5) + shift
				if in[i] > 0 {
					ballot |= 1 << i
				}
			}
			mem := device()
			out := upload(t, mem, make([]int32, 160))
			run(t, p, mem, "votes", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8))
			got := download[int32](t, mem, out, 160)
			votes := int32(8)
			if ballot == full {
				votes += 4
			}
			if slices.Max(in) > 3 {
				votes += 2
			}
			if ballot == full || ballot == 0 {
				votes++
			}
			for i := range 32 {
				var same uint32
				for j := range in {
					if in[j] == in[i] {
						same |= 1 << j
					}
				}
				want := []int32{int32(ballot), votes, int32(same), 0, 0} // all 32 bits and 1 are 0
				for w := range want {
					if got[32*w+i] != want[w] {
						t.Errorf("shift %d, word %d, lane %d: %#x, want %#x", shift, w, i, got[32*w+i], want[w])
					}
				}
			}
		}
	})
}

func TestAtomics(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		const n, blocks = 256, 4
		mem := device()
		u := make([]uint32, 9+blocks)
		u[2], u[6] = 0xffffffff, 7
		want := slices.Clone(u)
		olds := make([]uint32, n)
		for i := range uint32(n) {
			olds[i] = want[0]
			want[0] += i
			want[1] = max(want[1], i*7%100)
			want[2] &^= 1 << (i % 16)
			want[3] |= 1 << (i % 32)
			want[4] ^= i
			if want[5]++; want[5] > 99 {
				want[5] = 0
			}
			if want[6] == 0 || want[6] > 50 {
				want[6] = 50
			} else {
				want[6]--
			}
			want[7] = i
			if want[8] == i {
				want[8] = i + 1
			}
		}
		for i := range blocks {
			want[9+i] = n / blocks
		}
		pu, ps, pf, pl := upload(t, mem, u), upload(t, mem, []int32{5, -300}), upload(t, mem, []float32{1, 2}), upload(t, mem, []uint64{3})
		old := upload(t, mem, make([]uint32, n))
		run(t, p, mem, "atomics", [3]uint32{blocks, 1, 1}, [3]uint32{n / blocks, 1, 1}, 0, Pack{}.Add(pu, 8).Add(ps, 8).Add(pf, 8).Add(pl, 8).Add(old, 8))
		if got := download[uint32](t, mem, pu, len(u)); !slices.Equal(got, want) {
			t.Errorf("unsigned: %d, want %d", got, want)
		}
		if got := download[uint32](t, mem, old, n); !slices.Equal(got, olds) {
			t.Errorf("old values: %d, want %d", got, olds)
		}
		if got := download[int32](t, mem, ps, 2); got[0] != -255 || got[1] != 0 {
			t.Errorf("signed: %d", got)
		}
		if got := download[float32](t, mem, pf, 2); got[0] != 129 || got[1] != 66 {
			t.Errorf("floats: %v", got)
		}
		if got := download[uint64](t, mem, pl, 1); got[0] != 3+n<<33 {
			t.Errorf("64 bits: %#x", got)
		}
	})
}

func TestLastBlock(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		mem := device()
		in := floats(37, func(i int) float32 { return float32(i) })
		part, err := mem.Reserve(4 * 37)
		if err != nil {
			t.Fatal(err)
		}
		out := upload(t, mem, []float32{0})
		for range 2 { // the counter is a variable of the module and returns to 0
			run(t, p, mem, "last_block", [3]uint32{37, 1, 1}, [3]uint32{32, 1, 1}, 0, Pack{}.Add(out, 8).Add(part, 8).Add(upload(t, mem, in), 8))
			if got := download[float32](t, mem, out, 1)[0]; got != 37*36 {
				t.Errorf("%v, want %v", got, 37*36)
			}
		}
	})
}

func TestBarriers(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		mem := device()
		in := make([]int32, 128)
		for i := range in {
			in[i] = int32(i % 50)
		}
		out := upload(t, mem, make([]int32, 128))
		run(t, p, mem, "barriers", [3]uint32{1, 1, 1}, [3]uint32{128, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8))
		for i, got := range download[int32](t, mem, out, 128) {
			want := int32((128-3)*100 + 10)
			if i >= 64 {
				want += in[127-i] * 3000
			}
			if got != want {
				t.Errorf("thread %d: %d, want %d", i, got, want)
			}
		}
	})
}

// Every source of a shuffle agrees with the figures of the PTX ISA for one width.
func TestShuffleSource(t *testing.T) {
	cases := []struct {
		mode     string
		lane     int
		b, c     int
		from     int
		in       bool
		meaning  string
		sections int
	}{
		{"up", 5, 1, 0, 4, true, "up in a whole warp", 1},
		{"up", 0, 1, 0, 0, false, "up from lane 0", 1},
		{"up", 8, 1, 0x1800, 8, false, "up over the edge of a section of 8", 4},
		{"down", 31, 1, 31, 31, false, "down from the last lane", 1},
		{"down", 6, 1, 0x181f, 7, true, "down in a section of 8", 4},
		{"down", 7, 1, 0x181f, 7, false, "down over its edge", 4},
		{"bfly", 9, 16, 31, 25, true, "butterfly", 1},
		{"idx", 9, 2, 0x181f, 10, true, "index in the second section of 8", 4},
		{"idx", 9, 34, 31, 2, true, "index beyond 31 wraps", 1},
	}
	for _, c := range cases {
		if from, in := shuffleSource(c.mode, c.lane, c.b, c.c); from != c.from || in != c.in {
			t.Errorf("%s: lane %d, %t; want %d, %t", c.meaning, from, in, c.from, c.in)
		}
		if n := 1 << bits.OnesCount(uint(c.c>>8&31)); n != c.sections {
			t.Error(fmt.Sprint(c.meaning, ": the case is wrong, it has ", n, " sections"))
		}
	}
}
