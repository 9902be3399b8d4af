package mujoco

import "strings"

// registry holds the types, classes and functions that the engine registers while its
// constructors run. Names and layouts are those of Emscripten's embind.
type registry struct {
	types     map[uint32]wire
	classes   map[uint32]*class
	byName    map[string]*class
	functions map[string]*binding // "name/arguments"
}

func newRegistry() registry {
	return registry{
		types:     map[uint32]wire{},
		classes:   map[uint32]*class{},
		byName:    map[string]*class{},
		functions: map[string]*binding{},
	}
}

// wire says how a value of a registered type lies in memory.
type wire struct {
	kind    kind
	size    uint32 // for numbers: bytes
	element uint32 // for memory views: the index of the element type
}

type kind int

const (
	kindUnknown kind = iota
	kindVoid
	kindBool
	kindInt
	kindFloat
	kindString
	kindValue // a handle of a JavaScript value
	kindView
	kindPointer
)

// binding is a C++ function as embind registers it: an invoker in the function table, and
// the context that it takes as its first argument.
type binding struct {
	signature string
	slot      uint32
	context   uint32
}

// class is a C++ class; methods and statics are found by "name/arguments",
// arguments without the object itself.
type class struct {
	destroy     *binding
	constructor map[int]*binding
	statics     map[string]*binding
	getters     map[string]*binding
	setters     map[string]*binding
}

func (in *Instance) class(raw uint32) *class {
	c := in.reg.classes[raw]
	if c == nil {
		c = &class{
			constructor: map[int]*binding{},
			statics:     map[string]*binding{},
			getters:     map[string]*binding{},
			setters:     map[string]*binding{},
		}
		in.reg.classes[raw] = c
	}
	return c
}

// bind reads (signature, slot, context) as three consecutive arguments.
func (in *Instance) bind(s []uint64) *binding {
	return &binding{signature: in.cstring(uint32(s[0])), slot: uint32(s[1]), context: uint32(s[2])}
}

// overload is the key of a function: embind resolves overloads by the number
// of arguments. The registered name may include the C++ parameter list.
func (in *Instance) overload(name uint32, arguments uint32) string {
	n, _, _ := strings.Cut(in.cstring(name), "(")
	return overloadKey(strings.TrimSpace(n), int(arguments))
}

func overloadKey(name string, arguments int) string {
	return name + "/" + string(rune('0'+arguments))
}

// register returns the import that records a type of the given kind.
func register(k kind) hostFunc {
	return func(in *Instance, s []uint64) { in.reg.types[uint32(s[0])] = wire{kind: k} }
}

// registerNumber is register for types whose size is the third argument.
func registerNumber(k kind) hostFunc {
	return func(in *Instance, s []uint64) {
		in.reg.types[uint32(s[0])] = wire{kind: k, size: uint32(s[2])}
	}
}

func ignore(*Instance, []uint64) {}

var embindFunctions = map[string]hostFunc{
	"_embind_register_void":        register(kindVoid),
	"_embind_register_bool":        register(kindBool),
	"_embind_register_integer":     registerNumber(kindInt),
	"_embind_register_bigint":      registerNumber(kindInt),
	"_embind_register_enum":        registerNumber(kindInt),
	"_embind_register_float":       registerNumber(kindFloat),
	"_embind_register_std_string":  register(kindString),
	"_embind_register_std_wstring": ignore,
	"_embind_register_emval":       register(kindValue),
	"_embind_register_user_type":   register(kindValue),
	"_embind_register_optional":    register(kindValue),
	"_embind_register_enum_value":  ignore,
	"_embind_register_constant":    ignore,
	"_embind_register_memory_view": func(in *Instance, s []uint64) {
		in.reg.types[uint32(s[0])] = wire{kind: kindView, element: uint32(s[1])}
	},

	// (type, pointer, const pointer, base, …, name, destructor signature, destructor)
	"_embind_register_class": func(in *Instance, s []uint64) {
		for _, raw := range s[:3] {
			in.reg.types[uint32(raw)] = wire{kind: kindPointer}
		}
		c := in.class(uint32(s[0]))
		c.destroy = &binding{signature: in.cstring(uint32(s[11])), slot: uint32(s[12])}
		in.reg.byName[in.cstring(uint32(s[10]))] = c
	},
	// (class, name, type, getter…, type, setter…)
	"_embind_register_class_property": func(in *Instance, s []uint64) {
		c, name := in.class(uint32(s[0])), in.cstring(uint32(s[1]))
		c.getters[name] = in.bind(s[3:])
		if uint32(s[8]) != 0 {
			c.setters[name] = in.bind(s[7:])
		}
	},
	// (class, types, *types, signature, invoker, constructor); types count the result
	"_embind_register_class_constructor": func(in *Instance, s []uint64) {
		in.class(uint32(s[0])).constructor[int(uint32(s[1]))-1] = in.bind(s[3:])
	},
	"_embind_register_class_function": ignore, // no method of an object is called
	// (class, name, types, *types, signature, invoker, function)
	"_embind_register_class_class_function": func(in *Instance, s []uint64) {
		in.class(uint32(s[0])).statics[in.overload(uint32(s[1]), uint32(s[2])-1)] = in.bind(s[4:])
	},
	// (name, types, *types, signature, invoker, function)
	"_embind_register_function": func(in *Instance, s []uint64) {
		in.reg.functions[in.overload(uint32(s[0]), uint32(s[1])-1)] = in.bind(s[3:])
	},
}
