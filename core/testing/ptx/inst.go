package ptx

// lanes is the number of threads of a warp.
const lanes = 32

// full is the mask of a whole warp.
const full = 1<<lanes - 1

// vec is a register of a warp: one value per lane, zero-extended to 64 bits.
type vec [lanes]uint64

// alu computes all lanes; the results of inactive ones are discarded. It never panics,
// whatever they hold.
type alu func(d, a, b, c *vec)

type class uint8

const (
	classALU     class = iota // d = alu(a, b, c)
	classCompare              // predicates q, q2 = cmp(a, b), joined with predicate r
	classDo                   // anything else: do
	classWarp                 // do, once all lanes of the operand mask are here
	classBranch
	classCall
	classReturn
	classExit
	classBarrier
)

// A slot is the location of an operand: from 0 on a register of the warp, below 0 a
// constant of the kernel. While a function is lowered, its registers start at
// firstVirtual.
type slot = int32

const noSlot = slot(1 << 30)

// inst is one instruction, decoded.
type inst struct {
	class  class
	guard  int32 // 0 none, p+1: if predicate p, -p-1: if not
	d      slot
	a      slot
	b      slot
	c      slot
	target int32
	line   int32
	alu    alu
	cmp    func(a, b *vec) uint32
	do     func(w *warp, in *inst, mask uint32) error
	outs   []slot // more results and operands
	ins    []slot
	q, q2  int32 // predicates written, -1: none
	r      int32 // predicate read, -1: none
	rNot   bool
	join   byte // how cmp is joined with r: 0, '&', '|', '^'
	mem    access
	imm    uint64
}

// access is how an instruction reaches memory.
type access struct {
	space  space
	kind   kind
	count  int // elements of a vector
	off    uint64
	extend func(uint64) uint64 // extends a loaded value to the register's width
	site   int                 // index among the places where a warp remembers an allocation
}

// Special registers hold the first slots of a warp.
const (
	srTidX = iota
	srTidY
	srTidZ
	srNtidX
	srNtidY
	srNtidZ
	srCtaidX
	srCtaidY
	srCtaidZ
	srNctaidX
	srNctaidY
	srNctaidZ
	srLane
	srWarp
	srWarps
	srLaneEq
	srLaneLe
	srLaneLt
	srLaneGe
	srLaneGt
	srDynamic
	srTotal
	srClock
	srScratch // results that are not read
	firstVirtual
)

var specials = map[string]int{
	"%tid.x": srTidX, "%tid.y": srTidY, "%tid.z": srTidZ,
	"%ntid.x": srNtidX, "%ntid.y": srNtidY, "%ntid.z": srNtidZ,
	"%ctaid.x": srCtaidX, "%ctaid.y": srCtaidY, "%ctaid.z": srCtaidZ,
	"%nctaid.x": srNctaidX, "%nctaid.y": srNctaidY, "%nctaid.z": srNctaidZ,
	"%laneid": srLane, "%warpid": srWarp, "%nwarpid": srWarps,
	"%lanemask_eq": srLaneEq, "%lanemask_le": srLaneLe, "%lanemask_lt": srLaneLt,
	"%lanemask_ge": srLaneGe, "%lanemask_gt": srLaneGt,
	"%dynamic_smem_size": srDynamic, "%total_smem_size": srTotal,
	"%clock": srClock, "%clock64": srClock, "%globaltimer": srClock,
}
