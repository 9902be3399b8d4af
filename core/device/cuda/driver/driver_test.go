package driver

import "testing"

func TestArgumentsKeepTheirBits(t *testing.T) {
	for _, c := range []struct {
		got  Arg
		want Arg
	}{
		{PtrArg(0x7f0000000100), Arg{0x7f0000000100, 8}},
		{U32(0xffffffff), Arg{0xffffffff, 4}},
		{I32(-1), Arg{0xffffffff, 4}}, // not sign-extended: the upper half stays clear
		{F32(-2), Arg{0xc0000000, 4}},
		{U64(1 << 63), Arg{1 << 63, 8}},
	} {
		if c.got != c.want {
			t.Errorf("got %#x of %d bytes, want %#x of %d", c.got.Bits, c.got.Size, c.want.Bits, c.want.Size)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 4 << 30: "4 GiB", 3 << 40: "3 TiB", 5000 << 40: "5000 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// After these results nothing works any more, and after the others something may.
func TestLosesDevice(t *testing.T) {
	for code, want := range map[int]bool{
		0: false, 1: false, 2: false, 220: true, 226: true, 600: false, 700: true, 719: true, 720: false, 721: true,
		802: false, 805: false, 806: true, 810: true, 999: true,
	} {
		if LosesDevice(code) != want {
			t.Errorf("%d: lost is %v", code, !want)
		}
	}
}
