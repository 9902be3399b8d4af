package ptx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Shape of the pipeline: two warpgroups multiply, each 64 rows of A with 8 columns of B, while one
// thread of a ninth warp copies both operands, 128 bytes of each row at a time, into two stages.
const (
	chunkBytes   = (2*64 + 8) * 128
	chunks       = 5
	pipeThreads  = 288
	pipeShared   = 2*chunkBytes + 32
	pipeProduct  = 2 * 64 * 8
	waitForEmpty = `WAIT_EMPTY:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%full+16], %before; selp.u32 %ok, 1, 0, p; }
	setp.eq.u32 %p1, %ok, 0;
	@%p1 bra WAIT_EMPTY;
`
	waitForFull = `WAIT_FULL:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%full], %parity; selp.u32 %ok, 1, 0, p; }
	setp.eq.u32 %p1, %ok, 0;
	@%p1 bra WAIT_FULL;
`
	arriveEmpty = `	bar.warp.sync -1;
	@%p3 mbarrier.arrive.shared::cta.b64 _, [%full+16];
`
	groupBarrier = "	shr.u32 %r7, %t, 7;\n	add.u32 %r7, %r7, 1;\n	bar.sync %r7, 128;\n"
	arriveGroup  = "	and.b32 %r7, %t, 127;\n	setp.eq.u32 %p5, %r7, 0;\n	@%p5 mbarrier.arrive.shared::cta.b64 _, [%full+16];\n"
	expectBytes  = "	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 17408;\n"
	copyA        = "	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%in], 16384, [%full];\n"
	copyB        = "	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to+16384], [%in+16384], 1024, [%full];\n"
	startMeets   = "	bar.sync 0;\n"
	initEmpty    = "	mbarrier.init.shared.b64 [%bars+16], 8;\n	mbarrier.init.shared.b64 [%bars+24], 8;\n"
	initFull     = "	mbarrier.init.shared::cta.b64 [%bars], 1;\n	mbarrier.init.shared::cta.b64 [%bars+8], 1;\n"
	lastChunk    = "	setp.lt.u32 %p1, %i, 5; // more to copy\n"
)

// pipelineText is the kernel. Register i of thread t stands in word 256 * i + t of %out.
func pipelineText() string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .u64 p0, .param .u64 p1)
{
	.reg .pred %p<9>; .reg .f32 %c<4>; .reg .b64 %d<9>, %out, %in, %descA, %descB;
	.reg .b32 %t, %i, %s, %bars, %stage, %parity, %before, %full, %to, %ok, %r<9>;
	ld.param.u64 %out, [p0];
	ld.param.u64 %in, [p1];
	mov.u32 %t, %tid.x;
	mov.u32 %s, s;
	add.u32 %bars, %s, 34816;
	setp.ne.u32 %p1, %t, 0;
	@%p1 bra READY;
` + initFull + initEmpty + `	fence.mbarrier_init.release.cluster;
READY:
` + startMeets + `	mov.u32 %i, 0;
	setp.lt.u32 %p1, %t, 256;
	@%p1 bra CONSUME;
	setp.ne.u32 %p1, %t, 256;
	@%p1 bra END;
PRODUCE:
	and.b32 %stage, %i, 1;
	shr.u32 %parity, %i, 1;
	and.b32 %parity, %parity, 1;
	xor.b32 %before, %parity, 1;
	mad.lo.u32 %full, %stage, 8, %bars;
	mad.lo.u32 %to, %stage, 17408, %s;
` + waitForEmpty + expectBytes + copyA + copyB + `	add.s64 %in, %in, 17408;
	add.u32 %i, %i, 1;
` + lastChunk + `	@%p1 bra PRODUCE;
	bra END;
CONSUME:
	mov.f32 %c0, 0f00000000; mov.f32 %c1, 0f00000000; mov.f32 %c2, 0f00000000; mov.f32 %c3, 0f00000000;
	setp.eq.u32 %p2, %t, %t;
	and.b32 %r1, %t, 31;
	setp.eq.u32 %p3, %r1, 0;
	shr.u32 %r2, %t, 7;
	shl.b32 %r2, %r2, 13;
	add.u32 %r2, %r2, %s;
MULTIPLY:
	and.b32 %stage, %i, 1;
	shr.u32 %parity, %i, 1;
	and.b32 %parity, %parity, 1;
	mad.lo.u32 %full, %stage, 8, %bars;
	mad.lo.u32 %r3, %stage, 17408, %r2;
	mad.lo.u32 %r4, %stage, 17408, %s;
	add.u32 %r4, %r4, 16384;
` + waitForFull + `	shr.u32 %r5, %r3, 4;
	shr.u32 %r6, %r4, 4;
	cvt.u64.u32 %descA, %r5;
	cvt.u64.u32 %descB, %r6;
`)
	fmt.Fprintf(&b, "\tor.b64 %%descA, %%descA, 0x%x;\n\tor.b64 %%descB, %%descB, 0x%x;\n", descriptor(0), descriptor(0))
	b.WriteString(wgmmaFence)
	for range 4 {
		b.WriteString("\twgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%c0, %c1, %c2, %c3}, %descA, %descB, %p2, 1, 1, 0, 0;\n\tadd.s64 %descA, %descA, 2;\n\tadd.s64 %descB, %descB, 2;\n")
	}
	b.WriteString(wgmmaEnd + arriveEmpty + `	add.u32 %i, %i, 1;
	setp.lt.u32 %p1, %i, 5;
	@%p1 bra MULTIPLY;
	mul.wide.u32 %d1, %t, 4;
	add.s64 %out, %out, %d1;
`)
	for i := range 4 {
		fmt.Fprintf(&b, "\tst.global.f32 [%%out+%d], %%c%d;\n", 1024*i, i)
	}
	b.WriteString("END:\n\tret;\n}\n")
	return b.String()
}

// launchPipeline runs a text over some operands.
func launchPipeline(t testing.TB, text string, c Check, words []uint32) ([]float32, error) {
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
	out := upload(t, mem, make([]float32, pipeProduct))
	err = k.Run(mem, [3]uint32{1, 1, 1}, [3]uint32{pipeThreads, 1, 1}, pipeShared, Pack{}.Add(out, 8).Add(upload(t, mem, words), 8))
	return download[float32](t, mem, out, pipeProduct), err
}

func TestPipeline(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var words []uint32
	want := make([]float64, pipeProduct)
	size := make([]float64, pipeProduct)
	for range chunks {
		wordsA, a := swizzled(r, "bf16", 128)
		wordsB, b := swizzled(r, "bf16", 8)
		words = append(append(words, wordsA...), wordsB...)
		for row := range a {
			for col := range b {
				for k := range a[row] {
					want[8*row+col] += a[row][k] * b[col][k]
					size[8*row+col] += math.Abs(a[row][k] * b[col][k])
				}
			}
		}
	}
	for _, text := range []string{pipelineText(), strings.ReplaceAll(pipelineText(), "try_wait", "test_wait")} {
		for _, c := range []Check{{}, {Races: true, Unwritten: true, Blocks: true}} {
			got, err := launchPipeline(t, text, c, words)
			if err != nil {
				t.Fatal(err)
			}
			for thread := range 256 {
				for i := range 4 {
					row, col := thread/32*16+thread%32/4+i/2*8, thread%4*2+i%2
					if x := float64(got[256*i+thread]); !(math.Abs(x-want[8*row+col]) <= size[8*row+col]*0x1p-22*4*chunks) {
						t.Fatalf("register %d of thread %d, d[%d,%d] = %v, want %v", i, thread, row, col, x, want[8*row+col])
					}
				}
			}
		}
	}
}

func TestPipelineFaults(t *testing.T) {
	const (
		races   = "race at shared address"
		nobody  = "waits for an mbarrier that nobody completes"
		pending = "is written before a wgmma that reads it was waited for"
		way     = "is on its way"
		store   = "	st.shared.u32 [%r3], 7;\n"
	)
	all := Check{Races: true, Unwritten: true}
	part := strings.Replace(waitForFull, "	{", "	mov.u32 %ok, 1;\n	setp.lt.u32 %p4, %t, 224;\n	@!%p4 bra SKIP;\n	{", 1) + "SKIP:\n"
	for _, c := range []struct {
		name, old, new string
		check          Check
		want           string // "" for no fault
	}{
		{"right", "", "", all, ""},
		{"copied first, then expected", expectBytes + copyA + copyB, copyA + copyB + expectBytes, all, ""},
		{"no wait for full", waitForFull, "", Check{}, nobody}, // all have emptied before anything was copied
		{"no wait for full, unwritten", waitForFull, "", all, "was never written"},
		{"a warp that does not wait for full", waitForFull, part, Check{Races: true}, "race"},
		{"the wrong phase of full", "[%full], %parity", "[%full], 1", all, "was never written"},
		{"no wait for empty", waitForEmpty, "", Check{}, "more than 1 arrivals in a phase"},
		{"no wait for empty before copies", waitForEmpty + expectBytes + copyA, copyA + waitForEmpty + expectBytes, all, way},
		{"full for empty", "[%full+16], %before", "[%full], %before", all, way},
		{"the wrong phase of empty", "[%full+16], %before", "[%full+16], %parity", all, nobody},
		{"empty before the wgmmas are done", wgmmaEnd + arriveEmpty, arriveEmpty + wgmmaEnd, all, races},
		{"empty before the last wgmmas are done", wgmmaEnd + arriveEmpty, "	wgmma.commit_group.sync.aligned;\n" + arriveEmpty, all, pending},
		{"empty after seven of eight warps", "[%bars+24], 8", "[%bars+24], 7", all, "race"},
		{"too many bytes expected", "17408;\n	cp", "17424;\n	cp", Check{}, nobody},
		{"too few bytes expected", "17408;\n	cp", "17392;\n	cp", Check{}, nobody},
		{"no bytes expected", expectBytes, "	mbarrier.arrive.shared::cta.b64 _, [%full];\n", all, way},
		{"a copy is missing", copyB, "", Check{}, nobody},
		{"a copy over the other", "[%to+16384]", "[%to+16368]", all, way},
		{"nobody empties", arriveEmpty, "", Check{}, nobody},
		{"nobody fills", expectBytes, "", Check{}, nobody},
		{"full expects two", "[%bars], 1", "[%bars], 2", Check{}, nobody},
		{"one chunk too many", lastChunk, strings.Replace(lastChunk, "5", "6", 1), Check{}, "behind the end"},
		{"not waited for at the end", "%i, 5;\n	@%p1 bra MULTIPLY", "%i, 4;\n	@%p1 bra MULTIPLY", Check{}, "the kernel ends with this copy on its way"},
		{"overwritten while on its way", "	add.s64 %in, %in, 17408;\n", "	st.shared.u32 [%to], 7;\n	add.s64 %in, %in, 17408;\n", all, way},
		{"overwritten before the wgmmas are done", wgmmaEnd, store + wgmmaEnd, Check{}, "was written before the wgmma was waited for"},
		{"overwritten after the wait", wgmmaEnd, wgmmaEnd + "	bar.sync 1, 256;\n	@%p4 " + store, all, ""},
		{"to a misaligned address", "[%to+16384]", "[%to+16392]", Check{}, "must be multiples of 16"},
		{"from a misaligned address", "[%in+16384]", "[%in+16388]", Check{}, "must be multiples of 16"},
		{"of an odd size", "1024, [%full]", "1016, [%full]", Check{}, "a bulk copy of 1016 bytes"},
		{"to the end of shared memory", "[%to+16384]", "[%to+34816]", Check{}, "the block has 34848 bytes of shared memory"},
		{"over an mbarrier", copyB, strings.NewReplacer("%to+16384", "%bars", "1024", "32").Replace(copyB), Check{}, "was overwritten"},
		{"with no mbarrier", "1024, [%full]", "1024, [%full+4]", Check{}, "is not a multiple of 8, the bytes of an mbarrier"},
		{"mbarriers that nobody initialised", initEmpty, "", Check{}, "there is no mbarrier at shared address 34832"},
		{"mbarriers used too early", startMeets, "", all, "initialised the mbarrier at line"},
		{"initialised twice", initEmpty, initEmpty + "	mbarrier.init.shared.b64 [%bars+24], 8;\n", Check{}, "was initialised before"},
		{"too many arrivals", expectBytes, expectBytes + expectBytes, Check{}, "more than 1 arrivals in a phase"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := pipelineText()
			if c.old != "" && strings.Count(text, c.old) != 1 {
				t.Fatalf("the text holds %q %d times", c.old, strings.Count(text, c.old))
			}
			_, err := launchPipeline(t, strings.Replace(text, c.old, c.new, 1), c.check, make([]uint32, chunks*chunkBytes/4))
			faults(t, err, c.want)
		})
	}
}

// One thread may arrive for its warpgroup, behind a barrier of it.
func TestPipelineOfOneArrivalPerWarpgroup(t *testing.T) {
	text := strings.NewReplacer(arriveEmpty, groupBarrier+arriveGroup, "[%bars+16], 8", "[%bars+16], 2", "[%bars+24], 8", "[%bars+24], 2").Replace(pipelineText())
	all := Check{Races: true, Unwritten: true}
	words := make([]uint32, chunks*chunkBytes/4)
	if _, err := launchPipeline(t, text, all, words); err != nil {
		t.Error(err)
	}
	if _, err := launchPipeline(t, strings.Replace(text, groupBarrier, "", 1), all, words); err == nil || !strings.Contains(err.Error(), "race at shared address") {
		t.Errorf("without the barrier: %v, want a race", err)
	}
}

// The source of a bulk copy is read when the copy arrives, not earlier.
func TestBulkCopiesReadLate(t *testing.T) {
	text := strings.Replace(pipelineText(), copyB, copyB+"	mov.b32 %r1, 0x3f803f80;\n	st.global.b32 [%in], %r1;\n", 1)
	words := make([]uint32, chunks*chunkBytes/4)
	for i := range words {
		if i%(chunkBytes/4) >= 16384/4 { // B is one
			words[i] = 0x3f803f80
		}
	}
	got, err := launchPipeline(t, text, Check{}, words)
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != 2*chunks {
		t.Errorf("the sum is %v, want %d", got[0], 2*chunks)
	}
}
