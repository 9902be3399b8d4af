package ptx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error in a text is reported with its line.
func TestParseErrors(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	body := func(s string) string { return wrap(s) }
	cases := []struct {
		name, text string
		line       int // 0: line 11, the first of a body
		want       string
	}{
		{"opcode", body("frobnicate.s32 %r1, %r2;"), 0, "unknown opcode frobnicate.s32"},
		{"instruction that no kernel has", body("popc.b32 %r1, %r2;"), 0, "unknown opcode popc.b32"},
		{"fence", body("fence.mbarrier_init.release.cluster;"), 0, "unknown opcode fence.mbarrier_init.release.cluster"},
		{"bulk copy", body("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];"), 0, "unknown opcode cp.async.bulk"},
		{"carry", body("add.cc.u32 %r1, %r2, %r3;"), 0, "unknown opcode add.cc.u32: its modifier .cc is not supported"},
		{"approximation", body("sqrt.approx.f32 %f1, %f2;"), 0, "unknown opcode sqrt.approx.f32"},
		{"type", body("add.f16 %h1, %h2, %h3;"), 0, "add.f16 needs a type that is known"},
		{"type of tensor cores", body("add.bf16 %h1, %h2, %h3;"), 0, "add of type bf16"},
		{"targets of a branch", body("ts: .branchtargets A, B;"), 0, `".branchtargets" is not a directive that is known inside a function`},
		{"modifier", body("add.purple.s32 %r1, %r2, %r3;"), 0, "unknown opcode add.purple.s32: its modifier .purple is not supported"},
		{"second line", body("add.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r2;"), 12, "add has 2 operands, not 3"},
		{"no type", body("add %r1, %r2, %r3;"), 0, "add needs a type"},
		{"width", body("add.s64 %d1, %r2, %d3;"), 0, "%r2 is a register of type b32, the instruction needs s64"},
		{"result", body("add.s32 %d1, %r2, %r3;"), 0, "%d1 is a register of type b64, the result is s32"},
		{"sort", body("add.s32 %r1, %f2, %r3;"), 0, "%f2 is a register of type f32, the instruction needs s32"},
		{"predicate as number", body("add.s32 %r1, %p2, %r3;"), 0, "%p2 is a register of type pred"},
		{"number as predicate", body("setp.lt.s32 %r1, %r2, %r3;"), 0, "the result of setp is not a predicate"},
		{"selp", body("selp.b32 %r1, %r2, %r3, %r4;"), 0, "an operand of selp is not a predicate"},
		{"guard", body("@%r1 ret;"), 0, "%r1 is not a predicate"},
		{"constant as result", body("mov.u32 5, %r1;"), 0, "the result of mov is not a register"},
		{"undeclared", body("mov.u32 %r1, %q5;"), 0, "%q5 is neither a register that was declared"},
		{"over the count", body("mov.u32 %r1, %r40;"), 0, "%r40 is neither a register"},
		{"label", body("bra nowhere;"), 0, "there is no label nowhere"},
		{"label twice", body("A: ret;\nA: ret;"), 12, "the label A stands twice"},
		{"number", body("mov.u32 %r1, 0x;"), 0, `"0x" is not a number`},
		{"number with letters", body("mov.u32 %r1, 12abc;"), 0, `"12abc" is not a number`},
		{"no semicolon", body("mov.u32 %r1, %r2"), 12, `expected ";", found "}"`},
		{"address", body("ld.global.u32 %r1, %d1;"), 0, "ld needs an address in brackets"},
		{"narrow address", body("ld.global.u32 %r1, [%r2];"), 0, "%r2 of 32 bits cannot hold a global address"},
		{"float address", body("ld.global.u32 %r1, [%e2];"), 0, "%e2 of type f64 cannot hold an address"},
		{"space of a variable", body(".shared .b32 s; ld.global.u32 %r1, [s];"), 0, "s lies in shared memory, not in global"},
		{"vector length", body("ld.global.v4.u32 {%r1, %r2}, [%d1];"), 0, "ld of 4 values into 2 registers"},
		{"vector too long", body("ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d1];"), 0, "ld of 4 times u64"},
		{"parameters are constant", body("st.param.u32 [p0], %r1;"), 0, "st to the parameters of a kernel"},
		{"cvt", body("cvt.rn.bf16x2.f64 %r1, %e1, %e2;"), 0, "unknown opcode cvt.rn.bf16x2.f64"},
		{"mma shape", body("mma.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};"), 0, "unknown opcode mma"},
		{"mma registers", body("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};"), 0, "operand 2 of mma.m16n8k16.bf16 needs 4 registers"},
		{"cp.async size", body("cp.async.ca.shared.global [%r1], [%d1], 12;"), 0, "cp.async.ca of 12 bytes"},
		{"cp.async cg", body("cp.async.cg.shared.global [%r1], [%d1], 8;"), 0, "cp.async.cg of 8 bytes"},
		{"wait", body("cp.async.wait_group %r1;"), 0, "cp.async.wait_group needs a number"},
		{"atom", body("atom.global.add.u32 %r1, [%d1], %r2;"), 0, "unknown opcode atom.global.add.u32"},
		{"old shuffle", body("shfl.idx.b32 %r1, %r2, 0, 31;"), 0, "shfl without .sync"},
		{"call of nothing", body("call.uni f, ();"), 0, "call of f, which is no function of this module"},
		{"call through a pointer", body("call (%r1), %d1, (%r2);"), 0, "a call through a pointer is not supported"},
		{"declared twice", body(".reg .u32 x; .reg .u32 x;"), 0, "x is declared twice"},
		{"unknown directive", head + ".texref t;", 4, `".texref" is not a directive that is known`},
		{"32 bits", ".version 7.0\n.address_size 32", 2, "addresses of 32 bits"},
		{"comment", head + "/* without end", 4, "a comment that does not end"},
		{"string", head + ".file 1 \"x\n", 4, "a string that does not end"},
		{"character", head + "\n#", 5, `the character '#' is no part of PTX`},
		{"body", head + ".entry k() {\n ret;\n", 6, "k does not end"},
		{"twice", head + ".entry k() { ret; }\n.entry k() { ret; }", 5, "k is defined twice"},
		{"external variable", head + ".extern .global .b32 x;", 4, "x is an external variable"},
		{"too many values", head + ".global .b8 x[2] = {1, 2, 3};", 4, "x has more values than its 2 bytes"},
		{"size", head + ".global .b8 x[99999999999];", 4, `"99999999999" is not a number from 0`},
		{"address of nothing", head + ".global .u64 x = y;", 4, "y is no variable in global or constant memory"},
		{"narrow address of a variable", head + ".global .u32 x;\n.global .u32 y = x;", 5, "an address needs 8 bytes"},
		{"recursion", head + ".func f() {\n call f, ();\n ret; }\n.entry k() { call f, (); }", 5, "f calls itself: recursion is not supported"},
		{"parameters", head + ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b64 x; call f, (x); }", 5, "parameter 0 of the call does not fit"},
		{"number of parameters", head + ".func f(.param .b32 a) { ret; }\n.entry k() { call f, (); }", 5, "0 parameters where the function has 1"},
		{"alignment", head + ".global .align 3 .b8 x[4];", 4, "an alignment of 3 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.text)
			var e *ParseError
			if !errors.As(err, &e) {
				t.Fatalf("%v, want an error", err)
			}
			line := c.line
			if line == 0 {
				line = 11
			}
			if e.Line != line || !strings.Contains(e.Reason, c.want) {
				t.Errorf("%v, want line %d: %s", err, line, c.want)
			}
		})
	}
}

// These spellings are accepted by assemblers although clang does not write them.
func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		"", "// nothing\n", ".version 8.5\n.target sm_90a, debug\n",
		".global .u32 x, y = 5, z[2][2] = {{1, 2}, {3, 4}};",
		".global .align 8 .u64 t[2] = {x, generic(x)+4};\n.global .u32 x;",
		".const .f32 c[2] = {0f3F800000, 1.5};",
		".weak .func f;", ".func (.param .b32 r) f (.param .b32 a) .noreturn ;",
		".section .debug { .b8 1, 2 \n .b8 3 }",
		".entry k(.param .u64 .ptr .global .align 4 p) .minnctapersm 2 .maxnreg 64 { ret; }",
		".file 1 \"x.cu\"\n.entry k { .loc 1 2 3\n .pragma \"nounroll\"; { } { .reg .u32 a; { .reg .u64 a; mov.u64 a, -1; } mov.u32 a, WARP_SZ; } ret; }",
		".entry k() { .reg .b32 r<4>, q; .reg .pred p; @!p mov.b32 r3, q; fence.proxy.async; membar.gl; }",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%v in %s", err, text)
		}
	}
}

// For any text, Parse returns a module or an error, and an accepted module can be launched without
// a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		// The fuzzer gets one kernel at a time, since it changes short texts faster.
		parts := strings.Split(string(text), ".visible .entry ")
		for _, p := range parts[1:] {
			f.Add(parts[0] + ".visible .entry " + p)
		}
	}
	for _, c := range slicesOfCases() {
		f.Add(wrap(c))
	}
	f.Add(warpgroupText("sm_90a", 4, 128, 4, wgmmaFence+product64("bf16", 8, descriptor(0), descriptor(8192), "%p1")+wgmmaEnd))
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		var e *ParseError
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		for _, name := range m.Kernels() {
			k, err := m.Kernel(name)
			if err != nil {
				t.Fatal(err)
			}
			if k.Shared+k.frame > 1<<16 || k.ParamBytes > 1<<12 || len(k.code) > 1<<12 {
				continue
			}
			mem := device()
			p, _ := mem.Reserve(4096)
			params := make([]byte, k.ParamBytes)
			for at := 0; at+8 <= len(params); at += 8 {
				write(params[at:], 8, p)
			}
			// There is only one block, since two blocks of a random kernel write the same memory.
			for _, c := range []Check{{}, {Races: true, Unwritten: true}} {
				_, err = k.Launch(mem, Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{40, 1, 1}, Shared: 64, Params: params, Check: c, Steps: 500})
				var fault *Fault
				if err != nil && !errors.As(err, &fault) && !strings.HasPrefix(err.Error(), "launch kernel") {
					t.Fatalf("an error of another kind: %v", err)
				}
			}
		}
	})
}

// slicesOfCases returns the bodies of the tests of opcodes.
func slicesOfCases() []string {
	var out []string
	for _, list := range [][]opcodeCase{integerCases, floatCases, convertCases} {
		for _, c := range list {
			out = append(out, c.text+";")
		}
	}
	return out
}
