// Package device defines what a machine must provide to run plans: it takes a Program of
// instructions over named buffers and makes an Executable that runs again and again on the same
// memory.
//
// The instruction set is small, and its documentation defines its types: shapes are members × rows
// × columns, and every instruction is a function of its operands alone. How a device spreads work
// over cores or threads does not change the numbers.
package device

import (
	"fmt"
	"time"

	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Lanes is the fixed number of parts that reductions over rows are split into. The results depend
// on it: another value changes the last bits, so a run keeps it in its configuration.
const Lanes = 2

// Device compiles programs into executables.
type Device interface {
	// Name describes the device for people: "cpu avx2, 2 threads".
	Name() string
	// JoinFrom is the least number of columns of either operand from which a layer on two
	// concatenated operands is no slower if it reads them where they are (LinearJoined) than on a
	// copy of both.
	JoinFrom() int
	// Compile checks a program and prepares its execution. Programs of one device may be compiled
	// at any time, but run one at a time.
	Compile(p *Program) (Executable, error)
}

// Executable is a compiled program. It belongs to one goroutine.
type Executable interface {
	// Run executes the program once; occasion indexes its random fills. If the program finds a
	// number that is not finite before it changes any state, Run returns a *NotFinite and nothing
	// has changed.
	Run(occasion uint64) error
	// GradientNorm returns the global norm of the last run's gradients, or 0 without an optimiser.
	GradientNorm() float64
	// Data returns the host's view of a buffer, valid between runs.
	Data(r Ref) []float32
	// Close frees what the program holds.
	Close() error
}

// Starter is an Executable whose runs can go on beside those of other programs of its device.
type Starter interface {
	Executable
	// Start begins a run, which the next Run ends, whatever its occasion. Until then the host must not change
	// what the program reads, and other programs must not use what it writes.
	Start(occasion uint64) error
}

// Sharer is a Device whose workers can do work of the host between two programs.
type Sharer interface {
	// Share returns a function that has the free workers do all parts of some work and waits for
	// them. Like programs, such functions run one at a time. The function does not allocate.
	Share(work func(part, parts int)) func()
}

// Divider is a Device whose workers can be divided among programs that run at the same time.
type Divider interface {
	// Divide returns n devices, each with a share of the workers, that compute the same numbers, or
	// nil if there are fewer than n workers. They are closed together with the whole device.
	Divide(n int) []Device
	// Lend says whether programs of the parts use all workers from now on, as long as only one of
	// them runs at a time, or the workers of their own part. It must be called while no program
	// runs.
	Lend(all bool)
	// Workers returns the number of workers.
	Workers() int
}

// Profiler is an Executable that can say where its time goes.
type Profiler interface {
	// Profile runs the program a number of times, starting at the given occasion, and returns the
	// shortest time of each of its parts.
	Profile(occasion uint64, runs int) ([]Timing, error)
}

// Outliner is an Executable that can report how it was laid out.
type Outliner interface {
	Outline() Outline
}

// Outline describes what a device made of a program.
type Outline struct {
	// Segments is the number of parts that barriers cut the program into, including the optimiser
	// and the averages.
	Segments int
	// Segment and Lanes give for each instruction the part that contains it, and how its lanes
	// divide the result ("rows", "members", …).
	Segment []int
	Lanes   []string
	// Into gives for each instruction the one that does its work: itself, or another one that was
	// made to do both. If Into is nil, each instruction does its own work.
	Into []int
	// Owner gives for each buffer the one whose memory it uses: itself, or a buffer that is no
	// longer needed.
	Owner []Ref
	// Own is the number of bytes that the program has allocated for itself.
	Own int
}

// Timing is the time that one part of a run took: an instruction, or something that a device adds.
type Timing struct {
	Instr int // −1: it belongs to no instruction
	Name  string
	Took  time.Duration
}

// Ref is the index of a buffer in its program.
type Ref int

// None is the absent operand.
const None Ref = -1

// Buffer is one array of float32 numbers.
type Buffer struct {
	Name string
	// Members, Rows and Cols give the shape [N,B,C]; a vector is 1×1×C.
	Members, Rows, Cols int
	// Host is memory that outlives the program (inputs, parameters); nil for buffers that the
	// program makes and uses itself.
	Host []float32
	// Part says where the buffer is in another one, if its memory is a part of that one's; nil for
	// most. Plans make no such buffers: a device may, to see several buffers as one.
	Part *Part
}

// Part is a place in a buffer, from an element on.
type Part struct {
	Of Ref
	At int
}

// Len is the number of elements.
func (b Buffer) Len() int { return b.Members * b.Rows * b.Cols }

// Instr is one instruction. F and I are constants; the Code determines which of the fields are
// read.
type Instr struct {
	Code Code
	Out  Ref
	In   []Ref
	F    [3]float64
	I    [2]int
	ReLU bool       // Linear, LinearAt, LinearJoined, Conv: max(0,·) on the result
	Mask Ref        // LinearDX, ConvDX: zero where the mask is not positive
	Fill rng.Stream // FillNormal, FillUniform
	// Window is the geometry of windows over the images in the rows, for Conv, MaxPool and Upsample.
	Window window.Geometry
	// Items says which numbers of the occasion a fill takes; nil: the numbers from 0 on.
	Items *Items
}

// Items selects the numbers of an occasion that a fill takes. Both fields may change between runs.
type Items struct {
	First uint64 // the number that element 0 takes
	Idle  bool   // the fill takes nothing and leaves the previous numbers
}

// Program is a straight line of instructions, then an optimiser step, then updates of averages.
// Only the step and the updates change state that outlives a run, and they happen only if all of
// Finite and, with an optimiser, the norm of all gradients are finite.
type Program struct {
	Name    string
	Buffers []Buffer
	Instrs  []Instr
	Adam    *Adam
	Lerps   []Lerp
	// Keep are the buffers that must be readable after a run.
	Keep []Ref
	// Finite are the buffers that are checked before state changes.
	Finite []Ref
	// Routine is the work of a program without instructions, optimiser and averages; nil if the
	// program has any of these.
	Routine Routine
}

// MaxGradientNorm is the largest norm that an optimiser accepts as finite: beyond it the second
// moments, which hold squares, would overflow float32.
const MaxGradientNorm = 1.8e19

// NotFinite says where a run met the first number that is not finite.
type NotFinite struct {
	// Instr is the instruction that made the number; −1: the number was there before the run;
	// Nowhere: every element is finite, but the norm of the gradients is too large.
	Instr  int
	Buffer Ref
	Index  int // of the element in the buffer
	Value  float32
	Norm   float64 // of the gradients, NaN if it is not known
}

// Nowhere is the value of NotFinite.Instr if no single instruction is to blame.
const Nowhere = -2

func (e *NotFinite) Error() string {
	if e.Instr == Nowhere {
		return fmt.Sprintf("the norm of the gradients is %g", e.Norm)
	}
	return fmt.Sprintf("instruction %d: element %d of buffer %d is %g", e.Instr, e.Index, e.Buffer, e.Value)
}

// Lerp moves Dst by Rate·(Src−Dst): a Polyak average, an exponential moving average or a running
// statistic. Without a Rate (None), Dst becomes a copy of Src, bit for bit.
type Lerp struct{ Dst, Src, Rate Ref }

// Code names an instruction. Shapes are [members,rows,columns]; an operand with one member is
// shared by all members of the result.
type Code int

const (
	Nop                      Code = iota
	FillNormal                    // Out ← N(0,1)
	FillUniform                   // Out ← U[0,1)
	Linear                        // In x w b: x·w+b for each member
	LinearAt                      // In x w b members: Linear with the members that the indices name
	LinearDX                      // In dz w: dz·wᵀ; if Out has one member, summed over members
	LinearDXPart                  // In dz w: columns I[0] to I[1] of LinearDX
	LinearJoined                  // In x1 x2 w b: Linear of x1 and x2 side by side
	LinearJoinedDW                // In x1 x2 dz: LinearDW of x1 and x2 side by side
	LinearDW                      // In x dz: xᵀ·dz for each member
	ColSum                        // In dz: sum over rows for each member, as [1,N,C]
	ReLU                          // In z
	Tanh                          // In z
	SiLU                          // In z
	Mish                          // In z
	ELU                           // In z
	ReLUGrad                      // In dy y
	TanhGrad                      // In dy y
	SiLUGrad                      // In dy z
	MishGrad                      // In dy z
	ELUGrad                       // In dy z
	Add                           // In a b
	Sub                           // In a b
	Mul                           // In a b
	Scale                         // In x; F[0]
	Shift                         // In x; F[0]
	RowScale                      // In x s
	Concat                        // In a b …: columns side by side
	Slice                         // In x: columns I[0] to I[1]
	Pad                           // In x: to I[1] columns, x from column I[0] on, zero elsewhere
	TanhGaussian                  // In h eps: [a | log π]
	TanhGaussianGrad              // In h eps out dout
	MinMembers                    // In q
	MeanMembers                   // In q
	BroadcastMembers              // In dy: dy/N for each of N = I[0] members
	TDTarget                      // In r d q logp gamma alpha
	SquaredError                  // In p t; F[0] norm: Σ(p−t)²/norm
	SquaredErrorGrad              // In p t dloss; F[0]
	WeightedSquaredError          // In p t w; F[0]
	WeightedSquaredErrorGrad      // In p t w dloss; F[0]
	EntropyLoss                   // In logp q alpha
	EntropyGradLogp               // In logp alpha dloss
	EntropyGradQ                  // In q dloss
	AddScalars                    // In a b
	BatchStats                    // In x: rows mean, biased variance, unbiased variance; I[0] channels of images, whose places then count as rows, or 0; so for all of batch norm
	BatchNorm                     // In x gamma beta stats
	BatchNormDX                   // In x gamma stats dy
	BatchNormDGamma               // In x stats dy
	BatchNormEval                 // In x gamma beta running
	Fourier                       // In t w
	EDMNoised                     // In x n z spread; F pMean pStd
	RowMeanSquare                 // In a b
	Exp                           // In x
	Log                           // In x
	Square                        // In x
	Sqrt                          // In x
	Softplus                      // In x
	SoftplusGrad                  // In dy x
	Sigmoid                       // In x
	SigmoidGrad                   // In dy y
	SignedSqrt                    // In x
	Clamp                         // In x; within F[0] to F[1]
	ClampGrad                     // In dy x; F
	Minimum                       // In a b
	Maximum                       // In a b
	Div                           // In a b
	Keep                          // In dy a b: dy where a ≤ b, with I[0] = 1 where a < b, else 0
	ColScale                      // In x s: s holds [1,N,C]
	ColAdd                        // In x b: b holds [1,N,C]
	AddColumns                    // In a b: b added to columns of a from I[0] on
	Members                       // In x: repeated for I[0] members
	SumMembers                    // In x
	SplitColumns                  // In x: at each of I[1] places, columns i·C to (i+1)·C as member i of N
	JoinMembers                   // In x: members side by side at each of I[1] places
	SumColumns                    // In x; F[0] factor
	SpreadColumns                 // In x: its one column I[0] times; F[0] factor
	Sum                           // In x; F[0] norm
	SumGrad                       // In x dsum; F[0]
	BCE                           // In z t [w]; F[0] norm
	BCEGrad                       // In z t [w] dloss; F[0]
	GaussianKL                    // In h; F[0] norm
	GaussianKLGrad                // In h dloss; F[0]
	Gather                        // In x index
	GatherGrad                    // In x index dout
	LayerNorm                     // In x gamma beta; F[0] ε
	LayerNormDX                   // In x gamma dy; F[0]
	LayerNormDGamma               // In x dy; F[0]
	RMSNorm                       // In x gamma; F[0] ε; each group of columns as wide as gamma by itself
	RMSNormDX                     // In x gamma dy; F[0]
	RMSNormDGamma                 // In x dy; F[0]; I[0] columns of gamma
	MinMembersGrad                // In q out dout
	LogSumExp                     // In x
	LogSumExpGrad                 // In x out dout
	Softmax                       // In x
	SoftmaxGrad                   // In y dy
	GroupSoftmax                  // In x; I[0] classes, F[0] mix
	GroupSoftmaxGrad              // In y dy; I[0], F[0]
	GroupSample                   // In p u; I[0] classes
	CrossEntropy                  // In z t [w]; F[0] norm
	CrossEntropyGrad              // In z t [w] dloss; F[0]
	GatedUpdate                   // In y h
	GatedUpdateGrad               // In y h dout: the gradient of y
	GatedUpdateKeep               // In y dout: the gradient of h
	TwoHotAt                      // In x bins
	BinMean                       // In z bins
	Conv                          // In x w b; Window
	ConvDX                        // In dz w; Window of the result
	ConvDW                        // In x dz; Window
	ConvDB                        // In dz; Window: sum over rows and places
	MaxPool                       // In x; Window
	MaxPoolGrad                   // In x dy; Window
	Upsample                      // In x; Window, of which the image counts
	UpsampleGrad                  // In dy; Window of the result
	FromBytes                     // In x, an input whose words hold bytes (see Bytes): I[0] bytes of each row as byte/255 + F[0]
	Codes                         // the number of codes
)

var codeNames = [Codes]string{
	"nop", "normal", "uniform", "linear", "linear at", "linear dx", "linear dx part", "joined linear", "joined linear dw", "linear dw", "column sum",
	"relu", "tanh", "silu", "mish", "elu", "relu grad", "tanh grad", "silu grad", "mish grad", "elu grad",
	"add", "sub", "mul", "scale", "shift", "row scale", "concat", "slice", "pad",
	"tanh-gaussian", "tanh-gaussian grad", "min members", "mean members", "broadcast members",
	"td target", "squared error", "squared error grad", "weighted squared error", "weighted squared error grad",
	"entropy loss", "entropy grad log π", "entropy grad q", "add scalars",
	"batch stats", "batch norm", "batch norm dx", "batch norm dγ", "batch norm eval",
	"fourier", "edm noised", "row mean square",
	"exp", "log", "square", "sqrt", "softplus", "softplus grad", "sigmoid", "sigmoid grad",
	"signed sqrt", "clamp", "clamp grad", "minimum", "maximum", "div", "keep",
	"column scale", "column add", "add columns", "members", "sum members", "split columns", "join members", "sum columns", "spread columns", "sum", "sum grad",
	"bce", "bce grad", "gaussian kl", "gaussian kl grad", "gather", "gather grad",
	"layer norm", "layer norm dx", "layer norm dγ", "rms norm", "rms norm dx", "rms norm dγ", "min members grad", "log-sum-exp", "log-sum-exp grad",
	"softmax", "softmax grad", "group softmax", "group softmax grad", "group sample",
	"cross-entropy", "cross-entropy grad", "gated update", "gated update grad", "gated update keep", "two-hot", "bin mean",
	"conv", "conv dx", "conv dw", "conv db", "max-pool", "max-pool grad", "upsample", "upsample grad", "from bytes",
}

func (c Code) String() string {
	if c < 0 || c >= Codes {
		return fmt.Sprintf("code %d", int(c))
	}
	return codeNames[c]
}

// FLOPs returns the number of floating-point operations of an instruction. A multiplication and an
// addition count as two; elementwise work counts one per element.
func (p *Program) FLOPs(in Instr) int {
	out := p.Buffers[in.Out]
	switch in.Code {
	case Linear, LinearAt:
		return 2 * out.Len() * p.Buffers[in.In[0]].Cols
	case LinearJoined:
		return 2 * out.Len() * p.Buffers[in.In[2]].Rows
	case LinearDW:
		return 2 * p.Buffers[in.In[1]].Len() * out.Rows
	case LinearJoinedDW:
		return 2 * p.Buffers[in.In[2]].Len() * out.Rows
	case LinearDX, LinearDXPart:
		dz := p.Buffers[in.In[0]]
		return 2 * dz.Len() * out.Cols
	case Conv:
		return 2 * out.Len() * in.Window.Patch()
	case ConvDX:
		return 2 * p.Buffers[in.In[0]].Len() * in.Window.Patch()
	case ConvDW:
		return 2 * p.Buffers[in.In[1]].Len() * in.Window.Patch()
	case ColSum, ConvDB, MaxPoolGrad:
		return p.Buffers[in.In[0]].Len()
	case MaxPool:
		return out.Len() * in.Window.Kernel * in.Window.Kernel
	}
	return out.Len()
}
