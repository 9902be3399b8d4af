package ptx

import (
	"fmt"
	"strings"
	"testing"
)

// mbarrierText is a kernel with a body, 16 bytes of shared memory at s and an mbarrier at b.
func mbarrierText(target, body string) string {
	return fmt.Sprintf(`.version 8.0
.target %s
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{
	.reg .pred %%p<9>; .reg .b32 %%r<40>, %%t; .reg .b64 %%d<9>, %%out, %%in;
	.shared .align 8 .b64 b; .shared .align 16 .b8 s[16];
	ld.param.u64 %%out, [p0];
	ld.param.u64 %%in, [p1];
	mov.u32 %%t, %%tid.x;
%s
}
`, target, body)
}

// runMbarrier runs a body with all checks on and returns the 64 words at %out; those at %in count up.
func runMbarrier(t *testing.T, body string, threads uint32, steps int64) ([]uint32, error) {
	t.Helper()
	m, err := Parse(mbarrierText("sm_90", body))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	mem := device()
	mem.Steps = steps
	in := make([]uint32, 64)
	for i := range in {
		in[i] = uint32(100 + i)
	}
	out := upload(t, mem, make([]uint32, 64))
	err = k.Run(mem, [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, Pack{}.Add(out, 8).Add(upload(t, mem, in), 8))
	return download[uint32](t, mem, out, 64), err
}

// poll stores in word i of %out which phases of b are complete, bit 0 for parity 0.
func poll(i int) string {
	return fmt.Sprintf(`	mbarrier.test_wait.parity.shared::cta.b64 %%p1, [b], 0;
	mbarrier.try_wait.parity.shared::cta.b64 %%p2, [b], 1;
	selp.u32 %%r1, 1, 0, %%p1; selp.u32 %%r2, 2, 0, %%p2; or.b32 %%r1, %%r1, %%r2; st.global.u32 [%%out+%d], %%r1;
`, 4*i)
}

const (
	arrive   = "	mbarrier.arrive.shared::cta.b64 _, [b];\n"
	expect16 = "	mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16;\n"
	copy16   = "	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%in], 16, [b];\n"
	init1    = "	mbarrier.init.shared::cta.b64 [b], 1;\n"
	spin     = "	{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra W; }\n"
)

// phases goes through phases of an mbarrier for two arrivals, the last with bytes, and polls.
var phases = "	mbarrier.init.shared::cta.b64 [b], 2;\n" + poll(0) + arrive + poll(1) + arrive + poll(2) + arrive + poll(3) + arrive + poll(4) +
	arrive + expect16 + copy16 + poll(5) + "	ld.shared.u32 %r3, [s+4]; st.global.u32 [%out+24], %r3;\n" +
	"	mbarrier.arrive.shared::cta.b64 %d1, [b]; st.global.u32 [%out+28], %d1;\n"

// A phase is complete after its arrivals and bytes. On a new mbarrier, the phase of parity 1 is.
func TestPhasesOfMbarriers(t *testing.T) {
	got, err := runMbarrier(t, phases, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{2, 2, 1, 1, 2, 1, 101, 3}
	for i, x := range want {
		if got[i] != x {
			t.Errorf("word %d is %d, want %d", i, got[i], x)
		}
	}
}

func TestMbarriers(t *testing.T) {
	const (
		first  = "	setp.ne.u32 %p3, %t, 0;\n	@%p3 bra READY;\n"
		ready  = "READY:\n	bar.sync 0;\n"
		begin  = first + init1 + ready
		second = "	setp.ge.u32 %p3, %t, 32;\n	@%p3 bra OTHER;\n" // threads 0 to 31 do what follows, others what stands behind OTHER
		one    = "	setp.eq.u32 %p4, %t, 0;\n"
		write  = "	@%p4 st.shared.u32 [s], 5;\n"
		read   = "	ld.shared.u32 %r1, [s];\n"
		signal = "	@%p4 mbarrier.arrive.shared::cta.b64 _, [b];\n"
		work   = "	mov.u32 %r5, 0;\nL:	add.u32 %r5, %r5, 1;\n	setp.lt.u32 %p5, %r5, 100000;\n	@%p5 bra L;\n"
		never  = "waits for an mbarrier that nobody completes"
	)
	for _, c := range []struct {
		name, body string
		threads    uint32
		steps      int64
		want       string // "" for no fault
	}{
		{"handed on", begin + second + one + write + signal + "	ret;\nOTHER:\n" + spin + read, 64, 0, ""},
		{"read before the wait", begin + second + one + write + signal + "	ret;\nOTHER:\n" + read + spin, 64, 0, "race at shared address"},
		{"written after arriving", begin + second + one + signal + write + "	ret;\nOTHER:\n" + spin + read, 64, 0, "race at shared address"},
		{"handed on by another warp", begin + "	setp.ge.u32 %p3, %t, 64;\n	@%p3 bra LAST;\n" + second + one + write + signal + "	ret;\nOTHER:\n" + spin + "	bar.arrive 1, 64;\n	ret;\nLAST:\n	bar.sync 1, 64;\n" + read, 96, 0, ""},
		{"every thread arrives", strings.Replace(begin, "[b], 1", "[b], 32", 1) + second + arrive + "	ret;\nOTHER:\n" + spin, 64, 0, ""},
		{"waiting does not use up steps", begin + second + one + work + signal + "	ret;\nOTHER:\n" + spin, 64, 400000, ""},
		{"nor does testing", begin + second + one + work + signal + "	ret;\nOTHER:\n" + strings.Replace(spin, "try", "test", 1), 64, 400000, ""},
		{"nobody arrives", begin + second + "	ret;\nOTHER:\n" + spin, 64, 400000, never},
		{"the others wait at a barrier", begin + second + "	bar.sync 0;\n	ret;\nOTHER:\n" + spin + "	bar.sync 0;\n", 64, 400000, never},
		{"the others wait at an mbarrier", begin + second + spin + arrive + "	ret;\nOTHER:\n" + spin, 64, 400000, never},
		{"a copy", init1 + expect16 + copy16 + spin + read, 1, 0, ""},
		{"read before the copy is waited for", init1 + expect16 + copy16 + read + spin, 1, 0, "is on its way"},
		{"a copy over what is read", init1 + "	st.shared.u32 [s], 1;\n" + expect16 + copy16 + "	st.shared.u32 [s], 2;\n", 1, 0, "is on its way"},
		{"two copies", init1 + expect16 + copy16 + copy16, 1, 0, "is on its way"},
		{"a copy that another warp has waited for", begin + second + one + "	@!%p4 ret;\n" + expect16 + copy16 + spin + "	ret;\nOTHER:\n" + work + read, 64, 0, "race at shared address"},
		{"a copy that nobody waits for", init1 + expect16 + copy16, 1, 0, "the kernel ends with this copy on its way"},
		{"a copy of nothing", init1 + strings.Replace(copy16, "16, [b]", "0, [b]", 1), 1, 0, "a bulk copy of 0 bytes"},
		{"a copy of too much", init1 + strings.Replace(copy16, "16, [b]", "1048576, [b]", 1), 1, 0, "it counts at most 1048575"},
		{"more bytes than are counted", init1 + strings.Replace(expect16, "16;", "1048576;", 1), 1, 0, "at most 1048575 are possible"},
		{"behind the end of the source", init1 + strings.Replace(copy16, "[%in]", "[%in+256]", 1), 1, 0, "0 bytes behind the end of an allocation of 256 bytes"},
		{"no arrivals", strings.Replace(init1, "1;", "0;", 1), 1, 0, "an mbarrier for 0 arrivals"},
		{"too many arrivals for any", strings.Replace(init1, "1;", "1048576;", 1), 1, 0, "an mbarrier for 1048576 arrivals"},
		{"misaligned", strings.Replace(init1, "[b]", "[b+4]", 1), 1, 0, "is not a multiple of 8"},
		{"no mbarrier", arrive, 1, 0, "there is no mbarrier at shared address 0"},
		{"overwritten", init1 + "	st.shared.u32 [b+4], 0;\n" + arrive, 1, 0, "the mbarrier at shared address 0, initialised at line 11, was overwritten"},
		{"parity", init1 + strings.Replace(spin, "[b], 0", "[b], 2", 1), 1, 0, "parity 2"},
		{"not initialised for all", first + init1 + "READY:\n" + arrive, 32, 0, "thread 0,0,0 initialised the mbarrier at line"},
		{"initialised for the warp", strings.Replace(first+init1, "[b], 1", "[b], 32", 1) + "READY:\n	bar.warp.sync -1;\n" + arrive, 32, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runMbarrier(t, c.body, c.threads, c.steps)
			faults(t, err, c.want)
		})
	}
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
	for _, name := range []string{"bar.sync", "barrier.sync"} {
		got, err := runMbarrier(t, strings.ReplaceAll(body, "SYNC", name), 288, 0)
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
	if _, err := runMbarrier(t, strings.ReplaceAll(late, "SYNC", "bar.sync"), 288, 0); err == nil || !strings.Contains(err.Error(), "race at shared address") {
		t.Errorf("without a barrier: %v, want a race", err)
	}
	other := strings.Replace(body, "xor.b32 %r5, %t, 127", "xor.b32 %r5, %t, 255", 1)
	if _, err := runMbarrier(t, strings.ReplaceAll(other, "SYNC", "bar.sync"), 288, 0); err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("words of the other warpgroup: %v, want a race", err)
	}
}

func TestMbarrierText(t *testing.T) {
	for _, c := range []struct{ name, target, body, want string }{
		{"right", "sm_90", phases + "	fence.mbarrier_init.release.cluster;\n", ""},
		{"sm_80", "sm_80", init1, "mbarrier.init.shared::cta.b64 needs sm_90, the module is for sm_80"},
		{"copy on sm_80", "sm_80", copy16, "needs sm_90, the module is for sm_80"},
		{"fence on sm_80", "sm_80", "	fence.mbarrier_init.release.cluster;\n", "needs sm_90"},
		{"another fence", "sm_90", "	fence.mbarrier_init.acquire.cluster;\n", "unknown opcode fence.mbarrier_init.acquire.cluster"},
		{"wait without parity", "sm_90", "	mbarrier.try_wait.shared::cta.b64 %p1, [b], %d1;\n", "unknown opcode mbarrier.try_wait.shared::cta.b64"},
		{"init with parity", "sm_90", strings.Replace(init1, "init", "init.parity", 1), "unknown opcode"},
		{"in device memory", "sm_90", strings.Replace(init1, "shared::cta", "global", 1), "unknown opcode"},
		{"of 32 bits", "sm_90", strings.Replace(init1, "b64", "b32", 1), "unknown opcode"},
		{"not supported", "sm_90", "	mbarrier.inval.shared::cta.b64 [b];\n", "unknown opcode mbarrier.inval"},
		{"drop", "sm_90", strings.Replace(arrive, "arrive", "arrive.drop", 1), "unknown opcode"},
		{"no bytes", "sm_90", strings.Replace(expect16, ", 16", "", 1), "mbarrier has 2 operands, not 3"},
		{"no predicate", "sm_90", strings.Replace(spin, "p, [b]", "%r1, [b]", 1), "the result of mbarrier is not a predicate"},
		{"copy with no mbarrier", "sm_90", strings.Replace(copy16, ".mbarrier::complete_tx::bytes", "", 1), "unknown opcode"},
		{"copy to device memory", "sm_90", strings.Replace(copy16, "shared::cluster.global", "global.shared::cta", 1), "unknown opcode"},
		{"copy of two dimensions", "sm_90", strings.Replace(copy16, "bulk", "bulk.tensor.2d", 1), "is not supported"},
		{"copy with a hint", "sm_90", strings.Replace(copy16, "bytes", "bytes.L2::cache_hint", 1), ".L2::cache_hint is not supported"},
	} {
		_, err := Parse(mbarrierText(c.target, c.body))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
