package driver

import (
	"slices"
	"strings"
	"testing"
)

func TestSignatures(t *testing.T) {
	all, err := Signatures(`
.version 7.0
.target sm_80
	// .globl	add                     // -- Begin function add(
.visible .entry add(
	.param .u64 add_param_0,
	.param .u64 .ptr .global .align 4 add_param_1,
	.param .f32 add_param_2,	// a comment, with a comma
	.param .u16 add_param_3
)
.maxntid 128, 2, 1
{
	ret;
}
.visible .entry none()
{
	ret;
}
.entry bare { ret; }
.visible .func (.param .b32 f) helper(.param .b64 p) { ret; }
.visible .entry $big(
	.param .align 8 .b8 big_param_0[24]
)
.reqntid 32
{
}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 {
		t.Errorf("%d kernels: %v", len(all), all)
	}
	for name, want := range map[string]Signature{
		"add": {params: []int{8, 8, 4, 2}, threads: 256}, "none": {}, "bare": {}, "$big": {params: []int{24}, threads: 32},
	} {
		got, known := all[name]
		if !known || !slices.Equal(got.params, want.params) || got.threads != want.threads {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if _, err := Signatures(".entry odd(.param .texref t) {"); err == nil {
		t.Error("a parameter without a size was read")
	}
}

func TestLaunchesAreChecked(t *testing.T) {
	s := Signature{params: []int{8, 4}, threads: 256}
	d := &Info{SharedPerBlock: 100_000}
	one := [3]uint32{1, 1, 1}
	good := []Arg{PtrArg(1), U32(1)}
	for _, c := range []struct {
		name        string
		grid, block [3]uint32
		shared      uint32
		args        []Arg
		want        string // "": nothing is wrong
	}{
		{"good", [3]uint32{1<<31 - 1, 65535, 65535}, [3]uint32{2, 2, 64}, 100_000, good, ""},
		{"too few arguments", one, one, 0, good[:1], "1 arguments, and it takes 2"},
		{"wrong size", one, one, 0, []Arg{PtrArg(1), U64(1)}, "argument 1 has 8 bytes, and it takes 4"},
		{"no threads", one, [3]uint32{32, 0, 1}, 0, good, "a block of 32 × 0 × 1 threads: want 1 to 256"},
		{"more than it is compiled for", one, [3]uint32{512, 1, 1}, 0, good, "want 1 to 256"},
		{"deep", one, [3]uint32{1, 1, 128}, 0, good, "a block of"},
		{"overflow", one, [3]uint32{1 << 31, 1 << 31, 4}, 0, good, "a block of"},
		{"no blocks", [3]uint32{0, 1, 1}, one, 0, good, "a grid of 0 × 1 × 1 blocks"},
		{"high", [3]uint32{1, 65536, 1}, one, 0, good, "a grid of"},
		{"shared", one, one, 100_001, good, "100001 bytes of shared memory, and a block may have 100000"},
	} {
		err := s.Check("k", d, c.grid, c.block, c.shared, c.args)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
