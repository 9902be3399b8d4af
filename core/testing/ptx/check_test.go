package ptx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// faultOf returns the fault of a launch of a body, with all checks on: the memory at %out has 64
// words that are written, that at %in 64 words that are not.
func faultOf(t *testing.T, body string, threads uint32, shared uint32) error {
	t.Helper()
	k := inline(t, body)
	mem := device()
	mem.Steps = 1000
	out := upload(t, mem, make([]uint32, 64))
	in, err := mem.Reserve(256)
	if err != nil {
		t.Fatal(err)
	}
	return k.Run(mem, [3]uint32{2, 1, 1}, [3]uint32{threads, 1, 1}, shared, Pack{}.Add(out, 8).Add(in, 8))
}

func TestFaults(t *testing.T) {
	const device = `mul.wide.u32 %d1, %t, 4; add.s64 %d2, %out, %d1;`
	const table = `.shared .align 4 .b8 s[256];`
	const words = `mul.wide.u32 %d1, %t, 4; mov.u64 %d3, s; add.s64 %d4, %d3, %d1;`
	cases := []struct {
		name, body string
		threads    uint32
		want       string // "" for no fault
	}{
		{"inside", device + `st.global.u32 [%d2], 1;`, 64, ""},
		{"after the end", device + `st.global.u32 [%d2+4], 1;`, 64, "thread 63,0,0: 4 bytes at 0x1000000100, 0 bytes after the end of an allocation of 256 bytes"},
		{"before the start", device + `ld.global.u32 %r1, [%d2+-4];`, 64, "thread 0,0,0: 4 bytes at 0xffffffffc, 4 bytes before an allocation of 256 bytes"},
		{"over the end", `ld.global.u64 %d5, [%out+252];`, 1, "a multiple of 8"},
		{"vector over the end", `ld.global.v2.u32 {%r1, %r2}, [%out+256];`, 1, "8 bytes at 0x1000000100"},
		{"misaligned", `ld.global.u32 %r1, [%out+2];`, 1, "is not a multiple of 4"},
		{"misaligned vector", `ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%out+8];`, 1, "is not a multiple of 16"},
		{"null", `mov.u64 %d1, 0; st.global.u32 [%d1+8], 1;`, 1, "a null pointer"},
		{"wild", `mov.u64 %d1, 0x500000000000; ld.global.u32 %r1, [%d1];`, 1, "in no allocation"},
		{"generic", `ld.u32 %r1, [%out+1024];`, 1, "after the end"},
		{"shared", table + `ld.shared.u32 %r1, [s+256];`, 1, "shared address 256: the block has 256 bytes"},
		{"shared below", table + `mov.u32 %r2, 0; st.shared.u32 [%r2+-4], 1;`, 1, "shared address -4"},
		{"local", `.local .align 4 .b8 l[16]; ld.local.u32 %r1, [l+16];`, 1, "16 bytes of local memory"},
		{"parameter", `ld.param.u64 %d1, [p1+8];`, 1, "16 bytes of parameters"},

		{"unwritten device memory", `ld.global.u32 %r1, [%in];`, 1, "device memory is read that was never written"},
		{"device memory of another thread", `@%p1 ld.global.u32 %r1, [%in]; st.global.u32 [%in+4], 1; ld.global.u32 %r1, [%in+4];`, 1, ""},
		{"partly written", `st.global.u16 [%in], %h1; ld.global.u32 %r1, [%in];`, 1, "never written"},
		{"unwritten shared memory", table + `ld.shared.u32 %r1, [s];`, 1, "shared memory is read that was never written"},
		{"unwritten stack", `.local .align 4 .b8 l[16]; st.local.u32 [l], 1; ld.local.u32 %r1, [l+4];`, 1, "local memory is read that was never written"},

		{"write, barrier, read", table + words + `st.shared.u32 [%d4], %t; bar.sync 0; ld.shared.u32 %r1, [s];`, 64, ""},
		{"write, read", table + words + `st.shared.u32 [%d4], %t; setp.eq.u32 %p1, %t, 40; @%p1 ld.shared.u32 %r1, [s];`, 64, "race at shared address 0: thread 0,0,0 wrote it at line"},
		{"read, write", table + words + `st.shared.u32 [%d4], %t; bar.sync 0; ld.shared.u32 %r1, [s]; setp.eq.u32 %p1, %t, 40; @%p1 st.shared.u32 [s], 1;`, 64, "race at shared address 0: it was read at line"},
		{"a thread reads what another has read before a barrier, and writes", table + `@%p3 bra A; st.shared.u32 [s], 1; A: bar.sync 0; setp.eq.u32 %p1, %t, 3; @%p1 ld.shared.u32 %r1, [s]; bar.sync 0; setp.eq.u32 %p1, %t, 5; @!%p1 bra B; ld.shared.u32 %r1, [s]; st.shared.u32 [s], %r1; B:`, 32, ""},
		{"barriers of halves of a block", table + words + `shr.u32 %r3, %t, 5; add.u32 %r4, %r3, 1; st.shared.u32 [%d4], %t; bar.sync %r4, 32; mul.wide.u32 %d5, %r3, 128; add.s64 %d6, %d3, %d5; ld.shared.u32 %r1, [%d6+8];`, 64, ""},
		{"a barrier of the other half of a block", table + words + `shr.u32 %r3, %t, 5; add.u32 %r4, %r3, 1; st.shared.u32 [%d4], %t; bar.sync %r4, 32; xor.b32 %r3, %r3, 1; mul.wide.u32 %d5, %r3, 128; add.s64 %d6, %d3, %d5; ld.shared.u32 %r1, [%d6+8];`, 64, "race at shared address"},
		{"handed on by arriving", table + words + `setp.ge.u32 %p1, %t, 32; @%p1 bra A; st.shared.u32 [%d4], %t; bar.arrive 1, 64; ret; A: bar.sync 1, 64; ld.shared.u32 %r1, [s+8];`, 64, ""},
		{"written after arriving", table + words + `setp.ge.u32 %p1, %t, 32; @%p1 bra A; bar.arrive 1, 64; st.shared.u32 [%d4], %t; ret; A: bar.sync 1, 64; st.shared.u32 [s+8], %t; `, 64, "race at shared address"},
		{"two write", table + `st.shared.u32 [s], %t;`, 64, "race at shared address 0"},
		{"two write the same", table + `st.shared.u32 [s], 5;`, 64, ""},
		{"two halves of a word", table + `mul.wide.u32 %d1, %t, 2; mov.u64 %d3, s; add.s64 %d4, %d3, %d1; st.shared.u16 [%d4], %h1;`, 64, ""},
		{"in a warp", table + words + `st.shared.u32 [%d4], %t; xor.b32 %r2, %t, 1; mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d3, %d5; ld.shared.u32 %r1, [%d6];`, 32, "race at shared address"},
		{"in a warp that syncs", table + words + `st.shared.u32 [%d4], %t; bar.warp.sync -1; xor.b32 %r2, %t, 1; mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d3, %d5; ld.shared.u32 %r1, [%d6];`, 32, ""},
		{"a sync of warps orders no blocks", table + words + `st.shared.u32 [%d4], %t; bar.warp.sync -1; setp.ge.u32 %p1, %t, 32; @%p1 ld.shared.u32 %r1, [s];`, 64, "race at shared address"},
		{"atomics", table + words + `st.shared.u32 [%d4], 0; bar.sync 0; atom.shared.inc.u32 _, [s], 9;`, 64, ""},
		{"atomic and read", table + words + `st.shared.u32 [%d4], 0; bar.sync 0; atom.shared.inc.u32 _, [s], 9; ld.shared.u32 %r1, [s];`, 64, "race at shared address 0"},

		{"barrier of a part of a warp", `setp.lt.u32 %p1, %t, 5; @%p1 bar.sync 0;`, 32, "27 threads of this warp have ended"},
		{"barrier of a part of a block", `setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 0;`, 64, "thread 32,0,0 and its warp have ended"},
		{"two barriers of a warp", `setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B: ret;`, 32, "wait for each other at different instructions: here 5 of them, thread 5,0,0 at line"},
		{"two barriers of a block", `setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B: ret;`, 64, "warps of a block are at different barriers of number 0"},
		{"barriers of two numbers", `setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B: ret;`, 64, "that others never reach"},
		{"a barrier of more threads than come", `setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64;`, 96, "32 threads wait here for 64 that never come together"},
		{"threads that have ended", `setp.lt.u32 %p1, %t, 5; @%p1 ret; bar.sync 0;`, 32, "5 threads of this warp have ended"},
		{"barrier of no number", `bar.sync 16;`, 32, "there is no barrier 16"},
		{"barrier of odd size", `bar.sync 1, 33;`, 64, "a multiple of 32"},
		{"barrier of too few", `bar.sync 1, 64;`, 32, "and the block has 32"},
		{"shuffle with a lane that waits elsewhere", `setp.lt.u32 %p1, %t, 5; @%p1 shfl.sync.idx.b32 %r1, %t, 0, 31, -1; bar.sync 0;`, 32, "wait for each other at different instructions"},
		{"shuffle outside of the mask", `shfl.sync.idx.b32 %r1, %t, 0, 31, 1;`, 32, "does not name the thread itself"},
		{"shuffle without those that ended", `setp.lt.u32 %p1, %t, 5; @%p1 ret; shfl.sync.idx.b32 %r1, %t, 7, 31, -1;`, 32, ""},
		{"mma of half a warp", `setp.lt.u32 %p1, %t, 16; @%p1 ret; mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};`, 32, "mma needs all 32 threads"},

		{"endless", `L: bra L;`, 32, "an endless loop"},
		{"endless in one lane", `setp.eq.u32 %p1, %t, 7; L: @%p1 bra L;`, 32, "block 0,0,0 thread 7,0,0: the warp has run"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := faultOf(t, c.body, c.threads, 0)
			var f *Fault
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%v, want no fault", err)
			case c.want != "" && !errors.As(err, &f):
				t.Errorf("%v, want a fault", err)
			case c.want != "" && (!strings.Contains(err.Error(), c.want) || f.Kernel != "k" || f.Line < 11):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Blocks that access the same device memory are found on request.
func TestBlocksThatMeet(t *testing.T) {
	const place = `mov.u32 %r9, %ctaid.x; mul.wide.u32 %d1, %r9, 4; add.s64 %d2, %out, %d1;`
	cases := []struct{ name, body, want string }{
		{"each its own", place + `ld.global.u32 %r1, [%d2]; st.global.u32 [%d2], %r9;`, ""},
		{"all read", place + `ld.global.u32 %r1, [%out+64]; st.global.u32 [%d2], %r9;`, ""},
		{"all write", `mov.u32 %r9, %ctaid.x; st.global.u32 [%out], %r9;`, "block 1,0,0 thread 0,0,0: device memory at 0x1000000000: block 0,0,0 wrote it"},
		{"all write the same", `st.global.u32 [%out], 5;`, ""},
		{"halves of a word", `mov.u32 %r9, %ctaid.x; mul.wide.u32 %d1, %r9, 2; add.s64 %d2, %out, %d1; st.global.u16 [%d2], 7;`, ""},
		{"one reads what another wrote", place + `st.global.u32 [%d2], %r9; ld.global.u32 %r1, [%out];`, "block 1,0,0 thread 0,0,0: device memory at 0x1000000000: block 0,0,0 wrote it"},
		{"one writes what others read", place + `ld.global.u32 %r1, [%out+4]; add.s32 %r1, %r9, 1; st.global.u32 [%d2], %r1;`, "block 1,0,0 thread 0,0,0: device memory at 0x1000000004: other blocks read it"},
		{"with atomics", `atom.global.inc.u32 _, [%out], 9; mov.u32 %r9, %ctaid.x; st.global.u32 [%out+4], %r9;`, ""},
	}
	for _, c := range cases {
		mem := NewMemory()
		mem.Check.Blocks = true
		p := upload(t, mem, make([]uint32, 64))
		for range 2 { // launches do not affect each other
			err := inline(t, c.body).Run(mem, [3]uint32{3, 1, 1}, [3]uint32{2, 1, 1}, 0, Pack{}.Add(p, 8).Add(p, 8))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
}

// A fault names the line where it occurred.
func TestFaultNamesTheLine(t *testing.T) {
	text := wrap("\n\n  st.global.u32 [%out+256],   1;\n")
	line := 1 + strings.Count(text[:strings.Index(text, "st.global")], "\n")
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := m.Kernel("k")
	mem := device()
	p := upload(t, mem, make([]uint32, 64))
	err = k.Run(mem, [3]uint32{3, 2, 1}, [3]uint32{4, 2, 1}, 0, Pack{}.Add(p, 8).Add(p, 8))
	want := fmt.Sprintf("run kernel k: ptx line %d (st.global.u32 [%%out+256], 1;): block 0,0,0 thread 0,0,0: 4 bytes at %#x, 0 bytes after the end of an allocation of 256 bytes", line, p+256)
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// If several blocks fail, the first of them is always the one that is reported.
func TestFirstFaultOfManyWorkers(t *testing.T) {
	k := inline(t, `mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r1, 5; @%p1 ret; st.global.u32 [0], 1;`)
	for range 20 {
		_, err := k.Launch(NewMemory(), Launch{Grid: [3]uint32{50, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: make([]byte, 16), Workers: 4})
		var f *Fault
		if !errors.As(err, &f) || f.Block != [3]uint32{5, 0, 0} {
			t.Fatalf("%v, want a fault of block 5", err)
		}
	}
}

func TestLaunchRefuses(t *testing.T) {
	m, err := Parse(`.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.entry any(.param .u32 a, .param .align 8 .b8 b[12]) { .shared .b8 s[1000]; .reg .b64 %d<3>; mov.u64 %d1, s; mov.u64 %d2, dynamic; ret; }
.entry most(.param .u64 a) .maxntid 128, 1, 1 { ret; }
.entry exact() .reqntid 8, 4, 1 { ret; }`)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		kernel      string
		grid, block [3]uint32
		shared      uint32
		params      int
		want        string
	}{
		{"any", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 100, 20, ""},
		{"any", [3]uint32{0, 1, 1}, [3]uint32{32, 1, 1}, 0, 20, "a grid of 0,1,1 blocks"},
		{"any", [3]uint32{1, 70000, 1}, [3]uint32{32, 1, 1}, 0, 20, "a grid of 1,70000,1"},
		{"any", [3]uint32{1, 1, 1}, [3]uint32{32, 33, 1}, 0, 20, "at most 1024"},
		{"any", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 227<<10 - 1000, 20, "bytes of shared memory"},
		{"any", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, 16, "16 bytes of parameters: it has 20"},
		{"most", [3]uint32{1, 1, 1}, [3]uint32{129, 1, 1}, 0, 8, "compiled for at most 128"},
		{"exact", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, 0, "compiled for 8,4,1"},
		{"exact", [3]uint32{1, 1, 1}, [3]uint32{8, 4, 1}, 0, 0, ""},
	}
	for _, c := range cases {
		k, err := m.Kernel(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		err = k.Run(NewMemory(), c.grid, c.block, c.shared, make([]byte, c.params))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.kernel, err, c.want)
		}
	}
	any, _ := m.Kernel("any")
	if len(any.Parameters) != 2 || any.Parameters[1] != (Parameter{8, 12, 8}) || any.Shared != 1008 {
		t.Errorf("parameters %v, %d bytes of shared memory; want the second at 8, 1008 bytes", any.Parameters, any.Shared)
	}
	if _, err := m.Kernel("none"); err == nil || !strings.Contains(err.Error(), "any, exact, most") {
		t.Errorf("a kernel that is not there: %v", err)
	}
}

func TestMemory(t *testing.T) {
	m := NewMemory()
	a, _ := m.Alloc(10)
	b, _ := m.Alloc(1000)
	if a%256 != 0 || b%256 != 0 || b < a+10 {
		t.Errorf("allocations at %#x and %#x", a, b)
	}
	if p, err := m.Alloc(0); p != 0 || err != nil {
		t.Errorf("no bytes at %#x: %v", p, err)
	}
	for _, err := range []error{
		m.Write(a+8, make([]byte, 3)), m.Read(make([]byte, 1), a+10), m.Read(make([]byte, 1), a-1), m.Free(b + 4), m.Write(0, make([]byte, 1)),
	} {
		if err == nil {
			t.Error("an access outside of an allocation is no error")
		}
	}
	if err := m.Free(b); err != nil {
		t.Error(err)
	}
	if err := m.Read(make([]byte, 4), b+8); err == nil || !strings.Contains(err.Error(), "that was freed") {
		t.Errorf("reading freed memory: %v", err)
	}
	if c, _ := m.Alloc(1000); c == b {
		t.Error("an address is used again")
	}
	if err := m.Free(b); err == nil {
		t.Error("memory is freed twice")
	}
}
