package mujoco

import "errors"

// C++ exceptions as Emscripten compiles them without the WebAssembly exception
// proposal: a throw leaves the WebAssembly frames by a host exception (here a
// panic, which wazero turns into an error at each call into the module); code
// that may catch calls through invoke_*, which turns the error into a flag.

// header is the offset of an exception's header before the exception itself,
// and of the fields in it (libc++abi's __cxa_exception as Emscripten lays it
// out).
const (
	headerSize     = 24
	headerType     = 4
	headerDestroy  = 8
	headerCaught   = 12
	headerRethrown = 13
	headerAdjusted = 16
)

// thrown is the panic value of a C++ exception in flight.
type thrown struct{ exception uint32 }

func (*thrown) Error() string { return "uncaught C++ exception" }

// errLongjmp is the panic value of C's longjmp.
var errLongjmp = errors.New("uncaught longjmp")

// exceptions is the state that the C++ run time keeps in its host.
type exceptions struct {
	last     uint32   // in flight, or 0
	caught   []uint32 // stack of those being handled
	uncaught int
}

func (in *Instance) throw(exception uint32) {
	in.exc.last = exception
	panic(&thrown{exception})
}

// invoke is the import invoke_<signature>: a call of a table slot that can throw. On an
// exception it restores the stack and sets the flag that the compiled code checks next.
func invoke(signature string) hostFunc {
	return func(in *Instance, stack []uint64) {
		in.files.check()
		sp := in.stackPointer()
		slot := uint32(stack[0])
		copy(stack, stack[1:])
		err := in.callSlot(signature, slot, stack)
		if err == nil {
			return
		}
		var t *thrown
		if !errors.As(err, &t) && !errors.Is(err, errLongjmp) {
			panic(err)
		}
		in.restoreStack(sp)
		in.mustCall("setThrew", 1, 0)
	}
}

// callHost calls an imported function that sits in the function table.
func (in *Instance) callHost(f hostFunc, stack []uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f(in, stack)
	return nil
}

// findCatch returns the exception in flight and leaves the type of the first
// catch clause that takes it in the temporary result register.
func (in *Instance) findCatch(clauses ...uint32) uint64 {
	e := in.exc.last
	if e == 0 {
		in.mustCall("_emscripten_tempret_set", 0)
		return 0
	}
	in.memory.WriteUint32Le(e-headerSize+headerAdjusted, e)
	kind := in.u32(e - headerSize + headerType)
	for _, c := range clauses {
		if kind == 0 || c == 0 || c == kind {
			break
		}
		adjusted := uint64(e - headerSize + headerAdjusted)
		if uint32(in.mustCall("__cxa_can_catch", uint64(c), uint64(kind), adjusted)) != 0 {
			kind = c
			break
		}
	}
	in.mustCall("_emscripten_tempret_set", uint64(kind))
	return uint64(e)
}

func (in *Instance) flag(exception uint32, field uint32) bool {
	b, _ := in.memory.ReadByte(exception - headerSize + field)
	return b != 0
}

func (in *Instance) setFlag(exception uint32, field uint32, value byte) {
	in.memory.WriteByte(exception-headerSize+field, value)
}

// popCaught removes the exception being handled. The compiled code calls it only if there
// is one.
func (in *Instance) popCaught() uint32 {
	n := len(in.exc.caught) - 1
	if n < 0 {
		panic(&Error{Message: "no exception to handle"})
	}
	e := in.exc.caught[n]
	in.exc.caught = in.exc.caught[:n]
	return e
}

func (in *Instance) rethrow() {
	e := in.popCaught()
	if !in.flag(e, headerRethrown) {
		in.exc.caught = append(in.exc.caught, e)
		in.setFlag(e, headerRethrown, 1)
		in.setFlag(e, headerCaught, 0)
		in.exc.uncaught++
	}
	in.throw(e)
}

var exceptionFunctions = map[string]hostFunc{
	"__cxa_throw": func(in *Instance, s []uint64) {
		e := uint32(s[0])
		in.memory.WriteUint32Le(e-headerSize+headerAdjusted, 0)
		in.memory.WriteUint32Le(e-headerSize+headerType, uint32(s[1]))
		in.memory.WriteUint32Le(e-headerSize+headerDestroy, uint32(s[2]))
		in.exc.uncaught++
		in.throw(e)
	},
	"__cxa_find_matching_catch_2": func(in *Instance, s []uint64) { s[0] = in.findCatch() },
	"__cxa_find_matching_catch_3": func(in *Instance, s []uint64) { s[0] = in.findCatch(uint32(s[0])) },
	"__cxa_find_matching_catch_4": func(in *Instance, s []uint64) {
		s[0] = in.findCatch(uint32(s[0]), uint32(s[1]))
	},
	"__cxa_begin_catch": func(in *Instance, s []uint64) {
		e := uint32(s[0])
		if !in.flag(e, headerCaught) {
			in.setFlag(e, headerCaught, 1)
			in.exc.uncaught--
		}
		in.setFlag(e, headerRethrown, 0)
		in.exc.caught = append(in.exc.caught, e)
		in.mustCall("__cxa_increment_exception_refcount", uint64(e))
		s[0] = in.mustCall("__cxa_get_exception_ptr", uint64(e))
	},
	"__cxa_end_catch": func(in *Instance, _ []uint64) {
		in.mustCall("setThrew", 0, 0)
		in.mustCall("__cxa_decrement_exception_refcount", uint64(in.popCaught()))
		in.exc.last = 0
	},
	"__cxa_rethrow": func(in *Instance, _ []uint64) { in.rethrow() },
	"__cxa_rethrow_primary_exception": func(in *Instance, s []uint64) {
		if e := uint32(s[0]); e != 0 {
			in.exc.caught = append(in.exc.caught, e)
			in.setFlag(e, headerRethrown, 1)
			in.rethrow()
		}
	},
	"__cxa_current_primary_exception": func(in *Instance, s []uint64) {
		s[0] = 0
		if n := len(in.exc.caught); n > 0 {
			s[0] = uint64(in.exc.caught[n-1])
			in.mustCall("__cxa_increment_exception_refcount", s[0])
		}
	},
	"__cxa_uncaught_exceptions": func(in *Instance, s []uint64) { s[0] = uint64(in.exc.uncaught) },
	"__resumeException": func(in *Instance, s []uint64) {
		if in.exc.last == 0 {
			in.exc.last = uint32(s[0])
		}
		in.throw(in.exc.last)
	},
	"llvm_eh_typeid_for":        func(*Instance, []uint64) {}, // a type is its own id
	"_emscripten_throw_longjmp": func(*Instance, []uint64) { panic(errLongjmp) },
}
