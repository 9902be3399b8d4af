package ptx

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// registerClass maps the classes of registers in the cases below: h has 16, r 32 and d 64 bits, f
// is f32, e is f64, p is a predicate.
var registerClass = map[byte]struct {
	load, store string
}{
	'h': {"ld.global.b16 %%h%d, [%%in+%d];", "st.global.b16 [%%out], %%h%d;"},
	'r': {"ld.global.b32 %%r%d, [%%in+%d];", "st.global.b32 [%%out], %%r%d;"},
	'd': {"ld.global.b64 %%d%d, [%%in+%d];", "st.global.b64 [%%out], %%d%d;"},
	'f': {"ld.global.f32 %%f%d, [%%in+%d];", "st.global.f32 [%%out], %%f%d;"},
	'e': {"ld.global.f64 %%e%d, [%%in+%d];", "st.global.f64 [%%out], %%e%d;"},
	'p': {"ld.global.b32 %%r30, [%%in+%[2]d]; setp.ne.b32 %%p%[1]d, %%r30, 0;", "selp.b32 %%r30, 1, 0, %%p%d; st.global.b32 [%%out], %%r30;"},
}

var operandName = regexp.MustCompile(`%([hrdfep])(\d)`)

// evaluate runs instructions in one thread: registers numbered from 1 on are
// loaded from args in the order of their numbers, the register numbered 0 is
// the result.
func evaluate(t testing.TB, text string, args ...uint64) uint64 {
	t.Helper()
	var b strings.Builder
	result := byte(0)
	seen := map[string]bool{}
	for _, m := range operandName.FindAllStringSubmatch(text, -1) {
		class, n := m[1][0], int(m[2][0]-'0')
		if n == 0 {
			result = class
		} else if n <= len(args) && !seen[m[0]] {
			fmt.Fprintf(&b, registerClass[class].load+"\n", n, 8*(n-1))
		}
		seen[m[0]] = true
	}
	b.WriteString(text)
	if !strings.HasSuffix(text, ";") {
		b.WriteString(";")
	}
	fmt.Fprintf(&b, "\n"+registerClass[result].store+"\n", 0)
	k := inline(t, b.String())
	mem := device()
	out := upload(t, mem, []uint64{0})
	in := upload(t, mem, append(args, 0))
	if err := k.Run(mem, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, Pack{}.Add(out, 8).Add(in, 8)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return download[uint64](t, mem, out, 1)[0]
}

func fb(x float32) uint64 { return uint64(math.Float32bits(x)) }
func eb(x float64) uint64 { return math.Float64bits(x) }

// neg32 is a negative number in 32 bits, neg64 in 64.
func neg32(x int32) uint64 { return uint64(uint32(-x)) }
func neg16(x int16) uint64 { return uint64(uint16(-x)) }
func neg64(x int64) uint64 { return uint64(-x) }

type opcodeCase struct {
	text string
	want uint64
	args []uint64
}

func args(x ...uint64) []uint64 { return x }

var (
	inf        = float32(math.Inf(1))
	quiet      = uint64(0x7fc00001)
	negative0  = uint64(0x80000000)
	subnormal  = uint64(0x00400000)
	nSubnormal = uint64(0x80400000)
)

// These values were computed by hand from the PTX ISA.
var integerCases = []opcodeCase{
	{"add.u32 %r0, %r1, %r2", 1, args(0xffffffff, 2)},
	{"add.s16 %h0, %h1, %h2", 0x8000, args(0x7fff, 1)},
	{"add.s64 %d0, %d1, %d2", 1 << 33, args(1<<32, 1<<32)},
	{"add.sat.s32 %r0, %r1, %r2", 0x7fffffff, args(0x7fffffff, 5)},
	{"sub.sat.s32 %r0, %r1, %r2", 0x80000000, args(0x80000000, 5)},
	{"sub.s32 %r0, %r1, %r2", neg32(3), args(4, 7)},
	{"sub.u16 %h0, %h1, %h2", 0xffff, args(0, 1)},
	{"mul.lo.s32 %r0, %r1, %r2", neg32(21), args(neg32(3), 7)},
	{"mul.lo.u64 %d0, %d1, %d2", 0xfffffffe00000001, args(0xffffffff, 0xffffffff)},
	{"mul.lo.s16 %h0, %h1, %h2", neg16(6), args(2, neg16(3))},
	{"mul.hi.s32 %r0, %r1, %r2", 0xffffffff, args(neg32(1), 5)},
	{"mul.hi.u32 %r0, %r1, %r2", 4, args(neg32(1), 5)},
	{"mul.hi.s64 %d0, %d1, %d2", neg64(1), args(neg64(1), 5)},
	{"mul.hi.u64 %d0, %d1, %d2", 4, args(neg64(1), 5)},
	{"mul.hi.s64 %d0, %d1, %d2", 0x4000000000000000, args(1<<63, 1<<63)},
	{"mul.hi.s16 %h0, %h1, %h2", 0xffff, args(neg16(1), 5)},
	{"mul.wide.s32 %d0, %r1, %r2", neg64(10), args(neg32(2), 5)},
	{"mul.wide.u32 %d0, %r1, %r2", 5 * 0xfffffffe, args(neg32(2), 5)},
	{"mul.wide.s16 %r0, %h1, %h2", neg32(10), args(neg16(2), 5)},
	{"mul.wide.u16 %r0, %h1, %h2", 5 * 0xfffe, args(neg16(2), 5)},
	{"mad.lo.s32 %r0, %r1, %r2, %r3", neg32(11), args(neg32(3), 7, 10)},
	{"mad.hi.u32 %r0, %r1, %r2, %r3", 14, args(neg32(1), 5, 10)},
	{"mad.hi.s32 %r0, %r1, %r2, %r3", 9, args(neg32(1), 5, 10)},
	{"mad.wide.s32 %d0, %r1, %r2, %d3", 90, args(neg32(2), 5, 100)},
	{"mad.wide.u16 %r0, %h1, %h2, %r3", 5*0xfffe + 1, args(neg16(2), 5, 1)},
	{"mad.lo.u64 %d0, %d1, %d2, %d3", 1<<40 + 3, args(1<<20, 1<<20, 3)},
	{"div.s32 %r0, %r1, %r2", neg32(3), args(neg32(7), 2)},
	{"div.u32 %r0, %r1, %r2", 0x7ffffffc, args(neg32(7), 2)},
	{"div.s32 %r0, %r1, %r2", 0x80000000, args(0x80000000, neg32(1))},
	{"div.u64 %d0, %d1, %d2", 0x1999999999999999, args(neg64(1), 10)},
	{"rem.s32 %r0, %r1, %r2", neg32(1), args(neg32(7), 2)},
	{"rem.u32 %r0, %r1, %r2", 5, args(1000000005, 10)},
	{"rem.s64 %d0, %d1, %d2", 0, args(1<<63, neg64(1))},
	{"rem.u16 %h0, %h1, %h2", 5, args(65535, 10)},
	{"min.s32 %r0, %r1, %r2", neg32(1), args(neg32(1), 1)},
	{"min.u32 %r0, %r1, %r2", 1, args(neg32(1), 1)},
	{"max.s64 %d0, %d1, %d2", 1, args(neg64(1), 1)},
	{"max.u16 %h0, %h1, %h2", 0xffff, args(neg16(1), 1)},
	{"abs.s32 %r0, %r1", 7, args(neg32(7))},
	{"abs.s64 %d0, %d1", 1 << 63, args(1 << 63)},
	{"neg.s16 %h0, %h1", neg16(5), args(5)},
	{"neg.s64 %d0, %d1", 5, args(neg64(5))},

	{"and.b32 %r0, %r1, %r2", 0x0f000f00, args(0xff00ff00, 0x0f0f0f0f)},
	{"or.b64 %d0, %d1, %d2", 0xff0f, args(0xff00, 0x0f)},
	{"xor.b16 %h0, %h1, %h2", 0xf0f0, args(0xff00, 0x0ff0)},
	{"not.b32 %r0, %r1", 0xffffff00, args(0xff)},
	{"not.b16 %h0, %h1", 0xff00, args(0xff)},
	{"shl.b32 %r0, %r1, %r2", 0x80000000, args(1, 31)},
	{"shl.b32 %r0, %r1, %r2", 0, args(1, 32)},
	{"shl.b64 %d0, %d1, %r2", 1 << 40, args(1, 40)},
	{"shl.b16 %h0, %h1, %r2", 0xfff0, args(0xffff, 4)},
	{"shr.u32 %r0, %r1, %r2", 1, args(0x80000000, 31)},
	{"shr.u32 %r0, %r1, %r2", 0, args(0x80000000, 200)},
	{"shr.s32 %r0, %r1, %r2", 0xffffffff, args(0x80000000, 200)},
	{"shr.s64 %d0, %d1, %r2", neg64(1), args(neg64(8), 3)},
	{"shr.s16 %h0, %h1, %r2", neg16(1), args(neg16(8), 3)},
	{"shr.u64 %d0, %d1, %r2", 0x1fffffffffffffff, args(neg64(8), 3)},
	{"bfe.u32 %r0, %r1, %r2, %r3", 0x56, args(0x12345678, 8, 8)},
	{"bfe.s32 %r0, %r1, %r2, %r3", neg32(1), args(0x0000ff00, 8, 8)},
	{"bfe.s32 %r0, %r1, %r2, %r3", 0, args(0x80000001, 0, 0)},
	{"bfe.u32 %r0, %r1, %r2, %r3", 0x12, args(0x12345678, 24, 20)},
	{"bfe.s32 %r0, %r1, %r2, %r3", 0xfffffff8, args(0x80000000, 28, 20)},
	{"bfe.s32 %r0, %r1, %r2, %r3", 0xffffffff, args(0x80000000, 40, 4)},
	{"bfe.u64 %d0, %d1, %r2, %r3", 0xff, args(0xff<<40, 40, 20)},
}

func TestIntegerOpcodes(t *testing.T) { testOpcodes(t, integerCases) }

func testOpcodes(t *testing.T, cases []opcodeCase) {
	for _, c := range cases {
		if got := evaluate(t, c.text, c.args...); got != c.want {
			t.Errorf("%s of %#x = %#x, want %#x", c.text, c.args, got, c.want)
		}
	}
}
