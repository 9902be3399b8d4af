package mujoco

import (
	"fmt"
	"math"
	"slices"
)

// values holds the stand-ins for the engine's JavaScript values: embind passes arrays,
// strings, views and errors as handles with reference counts. The first five are fixed
// (undefined, null, true, false).
type values struct {
	items   []value
	free    []uint32
	callers []caller
	kept    int // number of values that the engine holds for good from its start
}

type value struct {
	content any
	refs    int
}

// fixedValues is the number of handles that are never released.
const fixedValues = 5

func newValues() values {
	return values{items: []value{{}, {}, {}, {content: true}, {content: false}}}
}

// Contents of values other than strings, numbers and booleans.
type (
	global string   // a name in JavaScript's global scope
	array  struct{} // a list of constants, which is not read here
	view   struct{ element, count, address uint32 }
)

// caller is a prepared JavaScript call: the types of its arguments.
type caller struct{ arguments []uint32 }

// add stores a value; handles are even, as Emscripten's are.
func (v *values) add(content any) uint32 {
	if n := len(v.free); n > 0 {
		i := v.free[n-1]
		v.free = v.free[:n-1]
		v.items[i] = value{content, 1}
		return 2 * i
	}
	v.items = append(v.items, value{content, 1})
	return 2 * uint32(len(v.items)-1)
}

func (v *values) get(handle uint32) any {
	if i := handle / 2; int(i) < len(v.items) {
		return v.items[i].content
	}
	return nil
}

func (v *values) release(handle uint32) {
	i := handle / 2
	if i < fixedValues || int(i) >= len(v.items) {
		return
	}
	if v.items[i].refs--; v.items[i].refs == 0 {
		v.items[i] = value{}
		v.free = append(v.free, i)
	}
}

// abandon drops the values that a failed call left behind: between calls, the engine holds
// only those from its start.
func (v *values) abandon() {
	v.items = v.items[:v.kept]
	v.free = slices.DeleteFunc(v.free, func(i uint32) bool { return int(i) >= v.kept })
}

// take releases a handle and returns its content.
func (v *values) take(handle uint32) any {
	content := v.get(handle)
	v.release(handle)
	return content
}

// readValue reads a value of a registered type from packed memory.
func (in *Instance) readValue(raw, at uint32) any {
	t := in.reg.types[raw]
	switch t.kind {
	case kindView:
		return view{element: t.element, count: in.u32(at), address: in.u32(at + 4)}
	case kindString:
		p := in.u32(at)
		b, _ := in.memory.Read(p+4, in.u32(p))
		s := string(b)
		in.mustCall("free", uint64(p))
		return s
	case kindFloat:
		if t.size == 4 {
			return float64(math.Float32frombits(in.u32(at)))
		}
		bits, _ := in.memory.ReadUint64Le(at)
		return math.Float64frombits(bits)
	case kindValue:
		return in.val.take(in.u32(at))
	case kindBool:
		b, _ := in.memory.ReadByte(at)
		return b != 0
	case kindInt, kindPointer:
		return float64(int32(in.u32(at)))
	}
	panic(&Error{Message: "value of a type that was not announced"})
}

// call performs the one JavaScript call that the bindings make: building an
// Error from its message.
func (in *Instance) call(c caller, function any, args uint32) any {
	if function != global("Error") || len(c.arguments) != 1 {
		panic(&Error{Message: fmt.Sprintf("host call of %v is not implemented", function)})
	}
	return &Error{Message: fmt.Sprint(in.readValue(c.arguments[0], args))}
}

var emvalFunctions = map[string]hostFunc{
	"_emval_take_value": func(in *Instance, s []uint64) {
		s[0] = uint64(in.val.add(in.readValue(uint32(s[0]), uint32(s[1]))))
	},
	"_emval_new_array":   func(in *Instance, s []uint64) { s[0] = uint64(in.val.add(array{})) },
	"_emval_new_cstring": func(in *Instance, s []uint64) { s[0] = uint64(in.val.add(in.cstring(uint32(s[0])))) },
	"_emval_get_global": func(in *Instance, s []uint64) {
		s[0] = uint64(in.val.add(global(in.cstring(uint32(s[0])))))
	},
	"_emval_incref": func(in *Instance, s []uint64) {
		if i := uint32(s[0]) / 2; i >= fixedValues && int(i) < len(in.val.items) {
			in.val.items[i].refs++
		}
	},
	"_emval_decref":          func(in *Instance, s []uint64) { in.val.release(uint32(s[0])) },
	"_emval_run_destructors": func(in *Instance, s []uint64) { in.val.release(uint32(s[0])) },
	// (types, *types, kind) → caller; the first type is the result's
	"_emval_get_method_caller": func(in *Instance, s []uint64) {
		var c caller
		for i := uint32(1); i < uint32(s[0]); i++ {
			c.arguments = append(c.arguments, in.u32(uint32(s[1])+4*i))
		}
		in.val.callers = append(in.val.callers, c)
		s[0] = uint64(len(in.val.callers) - 1)
	},
	// (caller, function, *destructors, args); the handle returns as float64,
	// embind's generic wire type
	"_emval_call": func(in *Instance, s []uint64) {
		s[0] = math.Float64bits(float64(in.val.add(in.call(in.val.callers[uint32(s[0])], in.val.get(uint32(s[1])), uint32(s[3])))))
	},
	"_emval_throw": func(in *Instance, s []uint64) {
		x := in.val.get(uint32(s[0]))
		if e, ok := x.(*Error); ok {
			panic(e)
		}
		panic(&Error{Message: fmt.Sprint(x)})
	},
}
