package ptx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// warpgroupText is a kernel for sm_90a. It copies words of %in to shared memory from 0 on, runs a
// body, and stores register i of n accumulators %c of thread t in word threads * i + t of %out.
func warpgroupText(target string, words, threads, n int, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `.version 8.0
.target %s
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .u64 p0, .param .u64 p1)
{
	.reg .pred %%p<9>; .reg .b32 %%r<40>; .reg .f32 %%f<40>, %%c<%d>; .reg .b64 %%d<40>, %%out, %%in; .reg .b32 %%t;
	ld.param.u64 %%out, [p0];
	ld.param.u64 %%in, [p1];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%r1, %%t;
LOAD:
	setp.ge.u32 %%p1, %%r1, %d;
	@%%p1 bra DONE;
	mul.wide.u32 %%d1, %%r1, 4;
	add.s64 %%d2, %%in, %%d1;
	ld.global.b32 %%r2, [%%d2];
	mov.u64 %%d3, s;
	add.s64 %%d3, %%d3, %%d1;
	st.shared.b32 [%%d3], %%r2;
	add.u32 %%r1, %%r1, %d;
	bra LOAD;
DONE:
	mul.wide.u32 %%d1, %%t, 4;
	add.s64 %%out, %%out, %%d1;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	setp.ne.u32 %%p1, %%t, %%t;
	setp.eq.u32 %%p2, %%t, %%t;
`, target, n, words, threads)
	b.WriteString(body)
	for i := range n {
		fmt.Fprintf(&b, "\tst.global.f32 [%%out+%d], %%c%d;\n", 4*threads*i, i)
	}
	b.WriteString("}\n")
	return b.String()
}

// descriptor is that of an operand with 128-byte swizzle whose groups of 8 rows lie 1024 bytes apart.
func descriptor(start int) uint64 { return uint64(start>>4) | 1<<16 | 1024>>4<<32 | 1<<62 }

// product64 is the instruction with accumulators %c. Its predicate scale is "%p1" (false) or "%p2".
func product64(kind string, n int, a, b uint64, scale string) string {
	var c []string
	for i := range n / 2 {
		c = append(c, fmt.Sprintf("%%c%d", i))
	}
	k, tail := 16, "1, 1, 0, 0"
	if kind == "tf32" {
		k, tail = 8, "1, 1"
	}
	return fmt.Sprintf("\tmov.b64 %%d4, 0x%x;\n\tmov.b64 %%d5, 0x%x;\n\twgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {%s}, %%d4, %%d5, %s, %s;\n",
		a, b, n, k, kind, kind, strings.Join(c, ", "), scale, tail)
}

const (
	wgmmaFence = "\twgmma.fence.sync.aligned;\n"
	wgmmaEnd   = "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n"
)

// swizzled draws a matrix of rows of 128 bytes and lays it out as PTX describes: piece p of 16 bytes
// of row r stands at piece p XOR (r mod 8) of its row.
func swizzled(r *rand.Rand, kind string, rows int) (words []uint32, values [][]float64) {
	image := make([]byte, 128*rows)
	for row := range rows {
		var line []float64
		put := func(byteInRow, size int, bits uint32) {
			piece := byteInRow/16 ^ row%8
			at := 128*row + 16*piece + byteInRow%16
			if size == 2 {
				binary.LittleEndian.PutUint16(image[at:], uint16(bits))
			} else {
				binary.LittleEndian.PutUint32(image[at:], bits)
			}
		}
		for at := 0; at < 128; {
			u := math.Float32bits(float32(r.NormFloat64()))
			if kind == "bf16" {
				put(at, 2, u>>16)
				line = append(line, float64(math.Float32frombits(u>>16<<16)))
				at += 2
			} else { // all 32 bits are there; the hardware reads 19 of them
				put(at, 4, u)
				line = append(line, float64(math.Float32frombits(u>>13<<13)))
				at += 4
			}
		}
		values = append(values, line)
	}
	words = make([]uint32, len(image)/4)
	binary.Decode(image, binary.LittleEndian, words)
	return words, values
}

// launchWarpgroup runs a body over the two operands, A of 64 rows from shared address 0 on and B of n
// rows after it.
func launchWarpgroup(t testing.TB, text string, c Check, threads, n int, words []uint32) ([]float32, error) {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	mem := NewMemory()
	mem.Check = c
	out := upload(t, mem, make([]float32, threads*n/2))
	err = k.Run(mem, [3]uint32{1, 1, 1}, [3]uint32{uint32(threads), 1, 1}, uint32(4*len(words)), Pack{}.Add(out, 8).Add(upload(t, mem, words), 8))
	return download[float32](t, mem, out, threads*n/2), err
}

func TestWarpgroupProducts(t *testing.T) {
	cases := []struct {
		kind        string
		n           int
		first, last int // steps of 32 bytes along k, of the 4 of a row
		add         bool
		threads     int
	}{
		{"bf16", 8, 0, 0, false, 128},
		{"tf32", 16, 0, 0, false, 128},
		{"bf16", 24, 1, 1, true, 128},
		{"tf32", 8, 3, 3, true, 128},
		{"tf32", 40, 0, 3, true, 256},
		{"bf16", 256, 0, 3, false, 128},
		{"tf32", 256, 1, 2, true, 128},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s_%d_%d", c.kind, c.n, c.first), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			wordsA, a := swizzled(r, c.kind, 64)
			wordsB, b := swizzled(r, c.kind, c.n)
			var body strings.Builder
			for i := range c.n / 2 { // what wgmma adds to, or ignores
				fmt.Fprintf(&body, "\tmov.f32 %%c%d, 0f%08X;\n", i, math.Float32bits(float32(i)-5))
			}
			body.WriteString(wgmmaFence)
			for s := c.first; s <= c.last; s++ {
				scale := "%p2"
				if s == c.first && !c.add {
					scale = "%p1"
				}
				body.WriteString(product64(c.kind, c.n, descriptor(32*s), descriptor(8192+32*s), scale))
			}
			body.WriteString(wgmmaEnd)
			words := append(wordsA, wordsB...)
			text := warpgroupText("sm_90a", len(words), c.threads, c.n/2, body.String())
			got, err := launchWarpgroup(t, text, Check{Races: true, Unwritten: true}, c.threads, c.n, words)
			if err != nil {
				t.Fatal(err)
			}
			step := len(a[0]) / 4
			for thread := range c.threads {
				for i := range c.n / 2 {
					row := thread/32%4*16 + thread%32/4 + i/2%2*8
					col := i/4*8 + thread%4*2 + i%2
					want := 0.0
					if c.add {
						want = float64(i) - 5
					}
					size := math.Abs(want)
					for k := step * c.first; k < step*(c.last+1); k++ {
						want += a[row][k] * b[col][k]
						size += math.Abs(a[row][k] * b[col][k])
					}
					// Every step rounds to zero twice, each time below 2^-23 of the size of the sum.
					if x := float64(got[c.threads*i+thread]); !(math.Abs(x-want) <= size*0x1p-22*float64(c.last-c.first+1)) {
						t.Fatalf("register %d of thread %d, d[%d,%d] = %v, want %v", i, thread, row, col, x, want)
					}
				}
			}
		})
	}
}

func TestWarpgroupFaults(t *testing.T) {
	good := descriptor(0)
	product := product64("bf16", 8, good, descriptor(8192), "%p1")
	with := func(a, b uint64) string { return wgmmaFence + product64("bf16", 8, a, b, "%p1") + wgmmaEnd }
	const (
		commit    = "\twgmma.commit_group.sync.aligned;\n"
		wait      = "\twgmma.wait_group.sync.aligned 0;\n"
		barrier   = "\tbar.sync 0;\n"
		overwrite = "\tmov.u64 %d6, s; mul.wide.u32 %d7, %t, 64; add.s64 %d6, %d6, %d7; st.shared.u32 [%d6], 7;\n" // of A
		copies    = "\tshl.b32 %r3, %t, 2; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; cp.async.ca.shared.global [%r3], [%in], 4;\n"
		arrive    = "\tcp.async.wait_all;\n"
	)
	all := Check{Races: true, Unwritten: true}
	cases := []struct {
		name, body string
		threads    int
		check      Check
		want       string // "" for no fault
	}{
		{"right", with(good, descriptor(8192)), 128, all, ""},
		{"layout", with(good&^(3<<62), descriptor(8192)), 128, Check{}, "the descriptor of A, 0x4000010000, has layout 0: only 1 is supported"},
		{"other swizzle", with(good, descriptor(8192)|3<<62), 128, Check{}, "has layout 3"},
		{"base offset", with(good|2<<49, descriptor(8192)), 128, Check{}, "has base offset 2"},
		{"stray bits", with(good|1<<15, descriptor(8192)), 128, Check{}, "has bits that must be 0: 0x8000"},
		{"start", with(good, descriptor(8192+128)), 128, Check{}, "B starts at shared address 8320"},
		{"k beyond the row", with(good, descriptor(8192+112)), 128, Check{}, "B starts at shared address 8304"},
		{"stride", with(good|1<<33, descriptor(8192)), 128, Check{}, "groups of 8 rows of A lie 1056 bytes apart"},
		{"end of shared memory", with(good, descriptor(9216)), 128, Check{}, "the block has 9216 bytes of shared memory"},
		{"descriptors differ", wgmmaFence + strings.Replace(product, "\twgmma", "\tcvt.u64.u32 %d6, %t; add.s64 %d4, %d4, %d6;\n\twgmma", 1) + wgmmaEnd, 128, Check{}, "the descriptor of A differs within the warp"},
		{"descriptors of warps differ", wgmmaFence + strings.Replace(product, "\twgmma", "\tshr.u32 %r3, %t, 5; cvt.u64.u32 %d6, %r3; shl.b64 %d6, %d6, 1; add.s64 %d5, %d5, %d6;\n\twgmma", 1) + wgmmaEnd, 128, Check{}, "the four warps of a warpgroup must run the same wgmmas with the same descriptors"},
		{"no fence", product + wgmmaEnd, 128, Check{}, "has not run wgmma.fence"},
		{"not committed", wgmmaFence + product, 128, Check{}, "was not committed and waited for"},
		{"wait without commit", wgmmaFence + product + wait, 128, Check{}, "was not committed and waited for"},
		{"not waited for", wgmmaFence + product + commit, 128, Check{}, "was committed and not waited for"},
		{"one left", wgmmaFence + product + commit + product + commit + "\twgmma.wait_group.sync.aligned 1;\n", 128, Check{}, "was committed and not waited for"},
		{"overwritten", wgmmaFence + product + overwrite + wgmmaEnd, 128, Check{}, "was written before the wgmma was waited for"},
		{"overwritten after a barrier", wgmmaFence + product + commit + barrier + overwrite + wait, 128, all, "is written before a wgmma that reads it was waited for"},
		{"copied over too early", wgmmaFence + product + commit + barrier + copies + wait + arrive, 128, all, "is written before a wgmma that reads it was waited for"},
		{"overwritten before its group", wgmmaFence + product + commit + product + commit + "\twgmma.wait_group.sync.aligned 1;\n" + barrier + overwrite + wait, 128, Check{}, "was written before"},
		{"overwritten after the wait", wgmmaFence + product + wgmmaEnd + barrier + overwrite, 128, all, ""},
		{"overwritten with no barrier", wgmmaFence + product + wgmmaEnd + overwrite, 128, all, "race at shared address"},
		{"written with no barrier", overwrite + wgmmaFence + product + wgmmaEnd, 128, all, "race at shared address"},
		{"copies that were not waited for", copies + barrier + wgmmaFence + product + wgmmaEnd, 128, all, "cp.async"},
		{"copies", copies + arrive + barrier + wgmmaFence + product + wgmmaEnd, 128, all, ""},
		{"half a warp", wgmmaFence + "\tand.b32 %r3, %t, 16; setp.ne.u32 %p3, %r3, 0;\n@%p3 bra END;\n" + product + wgmmaEnd + "END:\n", 128, Check{}, "wgmma needs all 32 threads of the warp, only those of mask 0xffff"},
		{"half a warpgroup", with(good, descriptor(8192)), 64, Check{}, "wgmma needs warpgroups of 128 threads, the block has 64"},
		{"one warp alone", wgmmaFence + "\tsetp.lt.u32 %p3, %t, 32;\n@!%p3 bra END;\n" + product + wgmmaEnd + "END:\n", 128, Check{}, "the four warps of a warpgroup must run the same wgmmas"},
		{"threads disagree", wgmmaFence + "\tsetp.lt.u32 %p1, %t, 5;\n" + product + wgmmaEnd, 128, Check{}, "disagree whether wgmma adds to its accumulators: mask 0x1f"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			words := make([]uint32, 9216/4)
			_, err := launchWarpgroup(t, warpgroupText("sm_90a", len(words), c.threads, 4, c.body), c.check, c.threads, 8, words)
			faults(t, err, c.want)
		})
	}
}

// faults checks that a launch ended with a fault for a reason, or with "" without one.
func faults(t *testing.T, err error, reason string) {
	t.Helper()
	var f *Fault
	switch {
	case reason == "" && err != nil:
		t.Errorf("%v, want no fault", err)
	case reason != "" && (!errors.As(err, &f) || !strings.Contains(f.Reason, reason)):
		t.Errorf("%v, want %q", err, reason)
	}
}

// Accumulators arrive when the warp waits for them: what is read earlier is NaN, and what another
// instruction writes to them is lost. Groups that are not waited for stay on their way.
func TestWarpgroupResultsArriveLate(t *testing.T) {
	words := make([]uint32, 9216/4)
	for i := range words {
		words[i] = math.Float32bits(1)
	}
	product := product64("tf32", 8, descriptor(0), descriptor(8192), "%p1")
	add := product64("tf32", 8, descriptor(0), descriptor(8192), "%p2")
	other := strings.NewReplacer("%c0", "%f0", "%c1", "%f1", "%c2", "%f2", "%c3", "%f3").Replace(product)
	const (
		commit = "\twgmma.commit_group.sync.aligned;\n"
		wait   = "\twgmma.wait_group.sync.aligned %d;\n"
	)
	var ones, sum string // registers that are in use during the wait
	for i := 10; i < 19; i++ {
		ones += fmt.Sprintf("\tmov.f32 %%f%d, 0f3F800000;\n", i)
		sum += fmt.Sprintf("\tadd.f32 %%c0, %%c0, %%f%d;\n", i)
	}
	for _, c := range []struct {
		name, body string
		want       float32
	}{
		{"read after the wait", product + commit + fmt.Sprintf(wait, 0), 8},
		{"read before the wait", product + commit + "\tmov.f32 %f5, %c0;\n" + fmt.Sprintf(wait, 0) + "\tmov.f32 %c0, %f5;\n", float32(math.NaN())},
		{"written before the wait", product + commit + "\tmov.f32 %c0, 0f40000000;\n" + fmt.Sprintf(wait, 0), 8},
		{"a chain", product + add + commit + add + commit + fmt.Sprintf(wait, 0), 24},
		{"the last of a chain on its way", product + commit + add + commit + fmt.Sprintf(wait, 1) + "\tmov.f32 %f5, %c0;\n" + fmt.Sprintf(wait, 0) + "\tmov.f32 %c0, %f5;\n", float32(math.NaN())},
		{"another group on its way", product + commit + other + commit + fmt.Sprintf(wait, 1) + "\tmov.f32 %f5, %c0;\n" + fmt.Sprintf(wait, 0) + "\tmov.f32 %c0, %f5;\n", 8},
		{"results that nothing reads", product + other + commit + ones + fmt.Sprintf(wait, 0) + sum, 17},
	} {
		got, err := launchWarpgroup(t, warpgroupText("sm_90a", len(words), 128, 4, wgmmaFence+c.body), Check{}, 128, 8, words)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if x := got[7]; x != c.want && (x == x || c.want == c.want) {
			t.Errorf("%s: %v, want %v", c.name, x, c.want)
		}
	}
}

// Sums of wgmma are rounded to zero by a quick way, which must agree with the general one.
func TestTruncationOfSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	edges := []float64{0, math.Copysign(0, -1), 1, -1, 1 + 0x1p-24, -1 - 0x1p-23 - 0x1p-50, 0x1p-126, 0x1p-126 - 0x1p-160, 0x1p-149, 0x1p-150,
		0x1.fffffep127, 0x1.ffffffp127, 0x1p128, -0x1p128, 0x1p200, math.Inf(1), math.Inf(-1)}
	for range 1000 {
		edges = append(edges, r.NormFloat64()*math.Exp2(float64(r.IntN(300)-160)))
	}
	for _, x := range edges {
		want := truncate32(x)
		if normal32(x) && cut32(x) != want {
			t.Errorf("%x is cut to %x, want %x", x, cut32(x), want)
		}
		var a [16][4]float64
		c := [4]float64{x, 1, 1, 1}
		if addProducts(&c, &a, new([16]float64), 8, 8); c != [4]float64{want, 1, 1, 1} {
			t.Errorf("sums of %x and ones are %x, want %x", x, c, want)
		}
	}
}

// A module says for which card it is, and wgmma exists on one only.
func TestWarpgroupText(t *testing.T) {
	product := product64("bf16", 8, 0, 0, "%p1")
	for _, c := range []struct{ name, target, body, want string }{
		{"right", "sm_90a", product + wgmmaFence + wgmmaEnd + "\tfence.proxy.async;\n", ""},
		{"plain sm_90", "sm_90", product, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 needs sm_90a, the module is for sm_90"},
		{"fence on plain sm_90", "sm_90", wgmmaFence, "wgmma.fence.sync.aligned needs sm_90a"},
		{"another architecture", "sm_100a", wgmmaFence, "needs sm_90a, the module is for sm_100a"},
		{"proxy on sm_80", "sm_80", "", "fence.proxy.async.shared::cta needs sm_90, the module is for sm_80"},
		{"another proxy", "sm_90a", "\tfence.proxy.purple;\n", "unknown opcode fence.proxy.purple"},
		{"not aligned", "sm_90a", "\twgmma.fence.sync;\n", "wgmma.fence needs .sync.aligned"},
		{"nothing", "sm_90a", "\twgmma.sync.aligned;\n", "unknown opcode wgmma.sync.aligned"},
		{"shape", "sm_90a", strings.Replace(product, "m64n8k16", "m64n264k16", 1), "unknown opcode wgmma.mma_async.sync.aligned.m64n264k16"},
		{"depth of another type", "sm_90a", strings.Replace(product, "k16", "k8", 1), "unknown opcode wgmma.mma_async.sync.aligned.m64n8k8"},
		{"sums of f64", "sm_90a", strings.Replace(product, "f32.", "f64.", 1), "unknown opcode"},
		{"registers", "sm_90a", strings.Replace(product, "m64n8", "m64n16", 1), "operand 1 of wgmma.m64n16k16 needs 8 registers"},
		{"A from registers", "sm_90a", strings.Replace(product, "}, %d4", "}, {%r1, %r2, %r3, %r4}", 1), "operand 2 of wgmma is no register with a descriptor"},
		{"descriptor of 32 bits", "sm_90a", strings.Replace(product, "}, %d4", "}, %r4", 1), "%r4 is a register of type b32"},
		{"scale", "sm_90a", strings.Replace(product, "1, 1, 0, 0", "1, -1, 0, 0", 1), "wgmma with a scale of -1"},
		{"transposition", "sm_90a", strings.Replace(product, "1, 1, 0, 0", "1, 1, 0, 1", 1), "wgmma with transposition 1"},
		{"no transposition", "sm_90a", strings.Replace(product, "1, 1, 0, 0", "1, 1", 1), "wgmma has 6 operands, not 8"},
		{"wait", "sm_90a", "\twgmma.wait_group.sync.aligned %r1;\n", "wgmma.wait_group needs a number"},
	} {
		_, err := Parse(warpgroupText(c.target, 4, 128, 4, c.body))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
