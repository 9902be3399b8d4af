package ptx

// A register is a variable of a function. Predicates are in a register file of their own,
// with one bit per lane.
type register struct {
	name string
	kind kind
	id   int // index among the function's registers, or among its predicates
}

// A variable is a piece of memory with a name.
type variable struct {
	name    string
	space   space
	align   int
	size    int // bytes; 0: given by the launch (extern shared)
	elem    kind
	dynamic bool
	stack   bool   // .local
	data    []byte // initial bytes of a module variable
	refs    []reference
	offset  uint64 // in its space; for global, the address
	line    int
}

// A reference in a variable's initial value is the address of another one.
type reference struct {
	at      int // byte
	name    string
	off     int64
	generic bool
	line    int
}

type operandKind uint8

const (
	opRegister  operandKind = iota
	opImmediate             // bits
	opVariable              // the address v+off
	opSpecial               // the slot of a special register in id
	opName                  // a label or a function
	opAddress               // [list[0]+off]
	opVector                // {list}
	opList                  // (list), for call
	opSink                  // _
)

type operand struct {
	kind operandKind
	reg  *register
	not  bool     // !p
	pair *operand // the p of d|p
	v    *variable
	off  int64
	bits uint64
	real byte // an immediate's form: 0 an integer, 'f' 0f…, 'd' 0d…
	id   int
	name string
	list []operand
}

// A statement is one instruction, or a label if op is empty.
type statement struct {
	line  int
	op    string   // ld
	mods  []string // global, f32
	guard *register
	not   bool // the guard is @!p
	args  []operand
	label *label
	scope *scope
	text  string // for errors
}

type label struct {
	name string
	at   int32 // its instruction, once lowered
}

type function struct {
	name      string
	entry     bool
	defined   bool
	line      int
	params    []*variable
	results   []*variable
	body      []*statement
	registers int // without predicates
	preds     int
	locals    []*variable // .local, and .param of its calls
	maxThread int         // .maxntid or .reqntid; 0: not given
	exact     [3]uint32   // .reqntid
}

// scope is one pair of braces.
type scope struct {
	up       *scope
	names    map[string]any // *register or *variable
	families map[string]family
	labels   map[string]*label
}

// family is ".reg .b32 %r<40>": registers that are made at their first use.
type family struct {
	kind  kind
	count int
}

func newScope(up *scope) *scope {
	return &scope{up: up, names: map[string]any{}, families: map[string]family{}, labels: map[string]*label{}}
}

func (s *scope) label(name string) *label {
	for ; s != nil; s = s.up {
		if l := s.labels[name]; l != nil {
			return l
		}
	}
	return nil
}
