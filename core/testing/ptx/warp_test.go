package ptx

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
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

func TestAtomics(t *testing.T) {
	eachTarget(t, "warp", func(t *testing.T, p *Module) {
		const n, blocks = 256, 4
		mem := device()
		u, old := upload(t, mem, []uint32{7, 0, 0, 0, 0}), upload(t, mem, make([]uint32, n))
		run(t, p, mem, "atomics", [3]uint32{blocks, 1, 1}, [3]uint32{n / blocks, 1, 1}, 0, Pack{}.Add(u, 8).Add(old, 8))
		if got := download[uint32](t, mem, u, 1+blocks); !slices.Equal(got, []uint32{(7 + n) % 100, 64, 64, 64, 64}) {
			t.Errorf("counts %d", got)
		}
		for i, got := range download[uint32](t, mem, old, n) {
			if want := uint32(7+i) % 100; got != want {
				t.Errorf("thread %d found %d, want %d", i, got, want)
			}
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

// Two warpgroups pass words around among their own threads, each with its barrier, and a ninth warp
// takes part in none.
func TestNamedBarriers(t *testing.T) {
	body := `	.shared .align 4 .b8 w[1024];
	setp.ge.u32 %p1, %t, 256;
	@%p1 ret;
	shr.u32 %r1, %t, 7;
	add.u32 %r2, %r1, 1;
	mov.u32 %r3, w;
	mad.lo.u32 %r4, %t, 4, %r3;
	xor.b32 %r5, %t, 127;
	mad.lo.u32 %r5, %r5, 4, %r3;
	st.shared.u32 [%r4], %t;
	SYNC %r2, 128;
	ld.shared.u32 %r6, [%r5];
	SYNC %r2, 128;
	add.u32 %r6, %r6, 1000;
	st.shared.u32 [%r4], %r6;
	SYNC %r2, 128;
	ld.shared.u32 %r6, [%r5];
	and.b32 %r7, %t, 7;
	setp.ne.u32 %p1, %r7, 0;
	shr.u32 %r7, %t, 3;
	mul.wide.u32 %d1, %r7, 4;
	add.s64 %d1, %d1, %out;
	@!%p1 st.global.u32 [%d1], %r6;
`
	launch := func(body, sync string) ([]uint32, error) {
		mem := device()
		out := upload(t, mem, make([]uint32, 32))
		err := inline(t, strings.ReplaceAll(body, "SYNC", sync)).Run(mem, [3]uint32{1, 1, 1}, [3]uint32{288, 1, 1}, 0, Pack{}.Add(out, 8).Add(out, 8))
		return download[uint32](t, mem, out, 32), err
	}
	for _, name := range []string{"bar.sync", "barrier.sync"} {
		got, err := launch(body, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 32 {
			if got[i] != uint32(1000+8*i) {
				t.Errorf("%s: thread %d has %d, want %d", name, 8*i, got[i], 1000+8*i)
			}
		}
	}
	late := strings.Replace(body, "SYNC %r2, 128;\n	add", "add", 1)
	if _, err := launch(late, "bar.sync"); err == nil || !strings.Contains(err.Error(), "race at shared address") {
		t.Errorf("without a barrier: %v, want a race", err)
	}
	other := strings.Replace(body, "xor.b32 %r5, %t, 127", "xor.b32 %r5, %t, 255", 1)
	if _, err := launch(other, "bar.sync"); err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("words of the other warpgroup: %v, want a race", err)
	}
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
