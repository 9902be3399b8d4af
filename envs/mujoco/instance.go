package mujoco

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"
)

// Error is the engine's message when it fails a call: a model that it cannot compile, an
// exhausted arena, a failed assertion.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Instance is one copy of the engine: 16 MB of memory of its own, code shared
// with the others. It belongs to one goroutine at a time.
type Instance struct {
	runtime *Runtime
	ctx     context.Context
	module  api.Module
	memory  api.Memory
	started time.Time

	exports map[string]*target
	slots   map[uint32]*target
	reg     registry
	val     values
	exc     exceptions
	files   files

	base  uint32     // base of the C stack while no call is in progress
	grown bool       // the memory moved during the present call
	views []*viewSet // views of the live models and data
	stack [4]uint64  // arguments of the calls that steps make

	step, step1, step2, forward, reset, subtreeVel physicsCall
}

// Instance starts a copy of the engine (a few milliseconds).
func (r *Runtime) Instance() (*Instance, error) {
	in := &Instance{
		runtime: r,
		started: time.Now(),
		exports: map[string]*target{},
		slots:   map[uint32]*target{},
		reg:     newRegistry(),
		val:     newValues(),
	}
	in.ctx = context.WithValue(context.Background(), instanceKey{}, in)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	module, err := r.wazero.InstantiateModule(in.ctx, r.module, config)
	if err != nil {
		return nil, fmt.Errorf("start the physics: %w", in.failed(err))
	}
	in.module, in.memory = module, module.Memory()
	if err := in.construct(); err != nil {
		in.Close()
		return nil, fmt.Errorf("start the physics: %w", err)
	}
	return in, nil
}

// construct runs the C++ constructors, which register the bindings, and looks up the
// functions that every step needs.
func (in *Instance) construct() error {
	for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors"} {
		if _, err := in.callExport(name); err != nil {
			return in.failed(err)
		}
	}
	in.base, in.val.kept = in.stackPointer(), len(in.val.items)
	for name, c := range map[string]*physicsCall{
		"mj_step": &in.step, "mj_step1": &in.step1, "mj_step2": &in.step2,
		"mj_forward": &in.forward, "mj_resetData": &in.reset, "mj_subtreeVel": &in.subtreeVel,
	} {
		b := in.reg.functions[overloadKey(name, 2)]
		if b == nil {
			return fmt.Errorf("function %s is missing", name)
		}
		c.function, c.context = in.lookup(b.signature, b.slot), uint64(b.context)
	}
	return nil
}

// Close releases the instance with its models and data.
func (in *Instance) Close() error { return in.module.Close(in.ctx) }

// MemorySize returns the bytes of the instance's memory.
func (in *Instance) MemorySize() int { return int(in.memory.Size()) }

// target is a function of the module. wazero's function objects cannot be
// entered twice, and the engine calls back into the host, so idle objects are
// kept in a pool.
type target struct {
	idle []api.Function
	make func() api.Function
}

func (t *target) call(ctx context.Context, stack []uint64) error {
	var f api.Function
	if n := len(t.idle); n > 0 {
		f, t.idle = t.idle[n-1], t.idle[:n-1]
	} else {
		f = t.make()
	}
	err := f.CallWithStack(ctx, stack)
	t.idle = append(t.idle, f)
	return err
}

// callExport calls an exported function by its name.
func (in *Instance) callExport(name string, args ...uint64) (uint64, error) {
	t := in.exports[name]
	if t == nil {
		t = &target{make: func() api.Function { return in.module.ExportedFunction(name) }}
		in.exports[name] = t
	}
	var stack [4]uint64
	copy(stack[:], args)
	err := t.call(in.ctx, stack[:])
	return stack[0], err
}

// mustCall is callExport inside a host function. It turns an error into a panic, which
// wazero passes to the caller of the engine.
func (in *Instance) mustCall(name string, args ...uint64) uint64 {
	x, err := in.callExport(name, args...)
	if err != nil {
		panic(err)
	}
	return x
}

// callSlot calls a slot of the function table. The stack holds the arguments
// and receives the result.
func (in *Instance) callSlot(signature string, slot uint32, stack []uint64) error {
	if f, ok := in.runtime.bySlot[slot]; ok {
		return in.callHost(f, stack)
	}
	t := in.slots[slot]
	if t == nil {
		t = &target{make: func() api.Function { return in.lookup(signature, slot) }}
		in.slots[slot] = t
	}
	return t.call(in.ctx, stack)
}

// lookup makes a function object for a slot. Signatures are Emscripten's: the
// result first, v for none, then the arguments; i and p 32 bits, j 64 bits.
func (in *Instance) lookup(signature string, slot uint32) api.Function {
	var types []api.ValueType
	for _, c := range signature {
		switch c {
		case 'i', 'p':
			types = append(types, api.ValueTypeI32)
		case 'j':
			types = append(types, api.ValueTypeI64)
		case 'f':
			types = append(types, api.ValueTypeF32)
		case 'd':
			types = append(types, api.ValueTypeF64)
		}
	}
	if signature[0] == 'v' {
		return table.LookupFunction(in.module, 0, slot, types, nil)
	}
	return table.LookupFunction(in.module, 0, slot, types[1:], types[:1])
}

// invoke calls a binding from outside the engine. Errors of any kind, traps
// and C++ exceptions included, come back as such and leave the instance usable.
func (in *Instance) invoke(b *binding, args ...uint64) (uint64, error) {
	var stack [8]uint64
	stack[0] = uint64(b.context)
	copy(stack[1:], args)
	if err := in.callSlot(b.signature, b.slot, stack[:]); err != nil {
		return 0, in.failed(err)
	}
	in.settle()
	return stack[0], nil
}

// settle renews the views after a call in which the memory moved.
func (in *Instance) settle() {
	if !in.grown {
		return
	}
	in.grown = false
	for _, v := range in.views {
		v.renew(in)
	}
}

// failed turns the error of a call into one readable line, and resets the C stack and the
// exception state.
func (in *Instance) failed(err error) error {
	var t *thrown
	var e *Error
	switch {
	case errors.As(err, &e):
		err = &Error{Message: oneLine(e.Message)}
	case errors.As(err, &t):
		err = &Error{Message: oneLine(in.exceptionMessage(t.exception))}
	default: // a trap: its first line, without the stack trace
		first, _, _ := strings.Cut(err.Error(), "\n")
		err = &Error{Message: strings.TrimSuffix(first, " (recovered by wazero)")}
	}
	in.exc = exceptions{}
	if in.base != 0 {
		in.val.abandon()
		in.restoreStack(in.base)
		in.mustCall("setThrew", 0, 0)
	}
	if in.memory != nil {
		in.settle()
	}
	return err
}

// exceptionMessage asks the C++ run time for type and text of an exception.
func (in *Instance) exceptionMessage(exception uint32) string {
	at := uint32(in.mustCall("_emscripten_stack_alloc", 16))
	in.mustCall("__get_exception_message", uint64(exception), uint64(at), uint64(at+4))
	kind, text := in.u32(at), in.u32(at+4)
	if text == 0 {
		return in.cstring(kind)
	}
	return in.cstring(kind) + ": " + in.cstring(text)
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.TrimSpace(s), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func (in *Instance) stackPointer() uint32   { return uint32(in.mustCall("emscripten_stack_get_current")) }
func (in *Instance) restoreStack(at uint32) { in.mustCall("_emscripten_stack_restore", uint64(at)) }

func (in *Instance) u32(at uint32) uint32 {
	x, _ := in.memory.ReadUint32Le(at)
	return x
}

// cstring reads a text that ends with a zero byte.
func (in *Instance) cstring(at uint32) string {
	for n := uint32(0); ; n++ {
		if b, ok := in.memory.ReadByte(at + n); !ok || b == 0 {
			text, _ := in.memory.Read(at, n)
			return string(text)
		}
	}
}

// withString passes text as a std::string argument and frees it afterwards.
func (in *Instance) withString(text string, f func(argument uint64) (uint64, error)) (uint64, error) {
	p, err := in.callExport("malloc", uint64(4+len(text)+1))
	if err != nil || uint32(p) == 0 {
		return 0, errors.New("out of memory")
	}
	at := uint32(p)
	in.memory.WriteUint32Le(at, uint32(len(text)))
	in.memory.WriteString(at+4, text)
	in.memory.WriteByte(at+4+uint32(len(text)), 0)
	in.settle()
	x, err := f(p)
	if _, ferr := in.callExport("free", p); err == nil && ferr != nil {
		err = in.failed(ferr)
	}
	return x, err
}

// viewSet is the slices of one model or data that point into the memory.
type viewSet struct{ renewals []func(*Instance) }

func (v *viewSet) renew(in *Instance) {
	for _, f := range v.renewals {
		f(in)
	}
}

// show points a slice at a place in the memory, now and after every move of the memory.
func show[T float64 | int32](v *viewSet, in *Instance, slice *[]T, address, count uint32) {
	point := func(in *Instance) { *slice = window[T](in, address, count) }
	v.renewals = append(v.renewals, point)
	point(in)
}

// window returns a view of count numbers at an address of the memory. It is the only place
// where Go accesses the memory as anything other than bytes.
func window[T float64 | float32 | int32](in *Instance, address, count uint32) []T {
	var zero T
	b, ok := in.memory.Read(address, count*uint32(unsafe.Sizeof(zero)))
	if !ok || len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), count)
}
