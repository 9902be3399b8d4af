package ptx

// kind is a type of PTX: how the bits of a register or of memory are read.
type kind uint8

const (
	noKind kind = iota
	pred
	b8
	b16
	b32
	b64
	b128
	u8
	u16
	u32
	u64
	s8
	s16
	s32
	s64
	bf16
	bf16x2
	tf32
	f32
	f64
)

var kinds = map[string]kind{
	"pred": pred, "b8": b8, "b16": b16, "b32": b32, "b64": b64, "b128": b128,
	"u8": u8, "u16": u16, "u32": u32, "u64": u64, "s8": s8, "s16": s16, "s32": s32, "s64": s64,
	"bf16": bf16, "bf16x2": bf16x2, "tf32": tf32, "f32": f32, "f64": f64,
}

var kindBits = [...]int{noKind: 0, pred: 1, b8: 8, b16: 16, b32: 32, b64: 64, b128: 128, u8: 8, u16: 16, u32: 32, u64: 64,
	s8: 8, s16: 16, s32: 32, s64: 64, bf16: 16, bf16x2: 32, tf32: 32, f32: 32, f64: 64}

func (k kind) bits() int    { return kindBits[k] }
func (k kind) bytes() int   { return (kindBits[k] + 7) / 8 }
func (k kind) signed() bool { return s8 <= k && k <= s64 }
func (k kind) float() bool  { return k >= bf16 }

// short says whether a type is one of tensor cores only, that other instructions convert to.
func (k kind) short() bool { return bf16 <= k && k <= tf32 }

func (k kind) integer() bool {
	return b8 <= k && k <= s64 && k != b128
}

// String returns the PTX spelling.
func (k kind) String() string {
	for name, v := range kinds {
		if v == k {
			return name
		}
	}
	return "no type"
}

// space is a state space: where an address points.
type space uint8

const (
	generic space = iota
	global        // device memory, module variables and constants
	shared        // of one block
	local         // of one thread
	param         // of a kernel; a function's parameters live in the local space
)

func (s space) String() string {
	return [...]string{"generic", "global", "shared", "local", "param"}[s]
}

// A generic address of the shared, local or param space is its offset plus the
// start of its window; every other generic address is a global one.
const (
	windowBytes  = 1 << 32
	sharedWindow = 0x7f00_0000_0000
	localWindow  = 0x7f10_0000_0000
	paramWindow  = 0x7f20_0000_0000
	moduleBase   = 0x6000_0000_0000 // variables of modules
	memoryBase   = 0x10_0000_0000   // device memory
)

// narrow splits a generic address into its space and the offset there.
func narrow(address uint64) (space, uint64) {
	switch {
	case address-sharedWindow < windowBytes:
		return shared, address - sharedWindow
	case address-localWindow < windowBytes:
		return local, address - localWindow
	case address-paramWindow < windowBytes:
		return param, address - paramWindow
	}
	return global, address
}
