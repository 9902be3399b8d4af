package ptx

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// All comparisons of all pairs of less, equal, greater and unordered values.
func TestComparisons(t *testing.T) {
	names := map[string]string{ // which of < = > unordered satisfy it
		"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
		"equ": "=?", "neu": "<>?", "ltu": "<?", "leu": "<=?", "gtu": ">?", "geu": ">=?", "num": "<=>", "nan": "?",
	}
	pairs := map[byte][3]uint64{'<': {fb(-1), fb(2)}, '=': {fb(3), fb(3)}, '>': {fb(2), fb(-1)}, '?': {quiet, fb(1)}}
	doubles := map[byte][3]uint64{'<': {eb(-1), eb(2)}, '=': {eb(0), eb(math.Copysign(0, -1))}, '>': {eb(2), eb(-1)}, '?': {eb(1), eb(math.NaN())}}
	signed := map[byte][3]uint64{'<': {neg32(1), 2}, '=': {7, 7}, '>': {2, neg32(1)}}
	unsigned := map[byte][3]uint64{'>': {neg32(1), 2}, '=': {7, 7}, '<': {2, neg32(1)}}
	check := func(name, of, kind, class string, values map[byte][3]uint64) {
		for relation, v := range values {
			want := uint64(0)
			if strings.IndexByte(of, relation) >= 0 {
				want = 1
			}
			text := fmt.Sprintf("setp.%s.%s %%p0, %%%s1, %%%s2", name, kind, class, class)
			if got := evaluate(t, text, v[0], v[1]); got != want {
				t.Errorf("%s of two values that are %c: %d, want %d", text, relation, got, want)
			}
		}
	}
	for name, of := range names {
		check(name, of, "f32", "f", pairs)
		check(name, of, "f64", "e", doubles)
		if name == "eq" || name == "ne" {
			check(name, of, "b32", "r", signed)
		}
		if len(name) == 2 {
			check(name, of, "s32", "r", signed)
			check(name, of, "u32", "r", unsigned)
		}
	}
	for name, of := range map[string]string{"lo": "<", "ls": "<=", "hi": ">", "hs": ">="} {
		check(name, of, "u32", "r", unsigned)
	}
	testOpcodes(t, []opcodeCase{
		{"setp.lt.s64 %p0, %d1, %d2", 1, args(neg64(1), 0)},
		{"setp.lt.u64 %p0, %d1, %d2", 0, args(neg64(1), 0)},
		{"setp.lt.s16 %p0, %h1, %h2", 1, args(neg16(1), 0)},
		{"setp.gt.u16 %p0, %h1, %h2", 1, args(neg16(1), 0)},
		{"setp.eq.ftz.f32 %p0, %f1, %f2", 1, args(subnormal, 0)},
		{"setp.lt.and.s32 %p0, %r1, %r2, %p3", 0, args(1, 2, 0)},
		{"setp.lt.or.s32 %p0, %r1, %r2, %p3", 1, args(3, 2, 1)},
		{"setp.lt.xor.s32 %p0, %r1, %r2, !%p3", 1, args(1, 2, 1)},
		{"setp.lt.s32 %p5|%p0, %r1, %r2", 0, args(1, 2)},
		{"setp.lt.and.s32 %p5|%p0, %r1, %r2, %p3", 1, args(3, 2, 1)},
	})
}

func TestFloatOpcodes(t *testing.T) { testOpcodes(t, floatCases) }
