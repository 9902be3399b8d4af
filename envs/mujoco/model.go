package mujoco

import (
	"context"
	"fmt"
	"slices"
)

// Object is a kind of named thing in a model, by MuJoCo's abbreviation.
type Object string

// The kinds of named things.
const (
	Body     Object = "body"
	Joint    Object = "jnt"
	Geom     Object = "geom"
	Site     Object = "site"
	Actuator Object = "actuator"
	Sensor   Object = "sensor"
	Camera   Object = "cam"
)

// Flags that switch parts of the physics off (mjtDisableBit).
const (
	DisableActuation = 1 << 11
	DisableSensor    = 1 << 13
	DisableMidphase  = 1 << 14 // the search for contacts by trees of boxes
	DisableAutoReset = 1 << 16 // reset of a state that is not finite
	DisableIsland    = 1 << 18 // the solution by groups of bodies that touch

	enableSleep = 1 << 4 // mjtEnableBit
)

// Model is a compiled MJCF model. Its numbers are read by name, as the MuJoCo
// documentation names the fields of mjModel.
type Model struct {
	in     *Instance
	handle uint64
	option uint64

	NQ, NV, NU, NA int // sizes of qpos, qvel, ctrl, act
	NSensorData    int

	// GeomPos and SitePos are geom_pos [ngeom,3] and site_pos [nsite,3], metres,
	// relative to the body. Writing them moves the geom or site for every Data of this
	// model.
	GeomPos, SitePos []float64

	views   *viewSet
	data    []*Data
	disable physicsCall // MjOption.disableflags = value
}

// Model compiles an MJCF text. If MuJoCo refuses the text, the error contains its message.
func (in *Instance) Model(mjcf string) (*Model, error) { return in.compile("from_xml_string", mjcf) }

// ModelFile compiles the MJCF file of that name. It and all files that it names come from read; if
// one of them cannot be read, the error is a *FileError. The end of ctx ends the compilation, which
// a few words can make last for hours.
func (in *Instance) ModelFile(ctx context.Context, name string, read Reader) (*Model, error) {
	in.files = files{read: read, until: ctx}
	m, err := in.compile("from_xml_path", name)
	if failed := in.files.failed; err != nil && failed != nil {
		err = fmt.Errorf("compile model: %w", failed)
	}
	in.files = files{}
	return m, err
}

// compile makes a model by one of MjModel's functions of one text.
func (in *Instance) compile(function, argument string) (*Model, error) {
	from := in.reg.byName["MjModel"].statics[overloadKey(function, 1)]
	handle, err := in.withString(argument, func(text uint64) (uint64, error) { return in.invoke(from, text) })
	if err == nil && uint32(handle) == 0 {
		err = &Error{Message: "no model"}
	}
	if err != nil {
		return nil, fmt.Errorf("compile model: %w", err)
	}
	m := &Model{in: in, handle: handle & 0xffffffff, views: &viewSet{}}
	in.views = append(in.views, m.views)
	if err := m.describe(); err != nil {
		m.Free()
		return nil, fmt.Errorf("compile model: %w", err)
	}
	return m, nil
}

func (m *Model) describe() (err error) {
	if m.option, err = m.in.get("MjModel", "opt", m.handle); err != nil {
		return err
	}
	set := m.in.reg.byName["MjOption"].setters["disableflags"]
	if set == nil {
		return fmt.Errorf("MjOption has no field disableflags that can be set")
	}
	m.disable = physicsCall{m.in.lookup(set.signature, set.slot), uint64(set.context)}
	for name, size := range map[string]*int{
		"nq": &m.NQ, "nv": &m.NV, "nu": &m.NU, "na": &m.NA, "nsensordata": &m.NSensorData,
	} {
		if *size, err = m.Int(name); err != nil {
			return err
		}
	}
	if err := m.views.add(m.in, "MjModel", m.handle, "geom_pos", &m.GeomPos); err != nil {
		return err
	}
	return m.views.add(m.in, "MjModel", m.handle, "site_pos", &m.SitePos)
}

// Free releases the model and its data. Neither may be used afterwards.
func (m *Model) Free() {
	for len(m.data) > 0 {
		m.data[len(m.data)-1].Free()
	}
	m.in.forget(m.views)
	m.in.destroy("MjModel", m.handle)
}

// Int reads a whole number of mjModel, such as "nbody".
func (m *Model) Int(name string) (int, error) {
	x, err := m.in.get("MjModel", name, m.handle)
	return int(int32(x)), err
}

// Float64s returns a view of an array of doubles of mjModel, such as "body_mass". The slice
// is valid until another model or data is made on this instance.
func (m *Model) Float64s(name string) ([]float64, error) {
	return array64(m.in, "MjModel", name, m.handle)
}

// Float32s returns a view of a single-precision array of mjModel, such as "geom_rgba",
// valid as long as that of Float64s.
func (m *Model) Float32s(name string) ([]float32, error) {
	v, err := m.in.view("MjModel", name, m.handle)
	if err == nil && v.element != elementFloat32 {
		err = fmt.Errorf("mjModel.%s does not hold single-precision numbers", name)
	}
	return window[float32](m.in, v.address, v.count), err
}

// Int32s returns a view of an array of whole numbers of mjModel, such as "geom_type", valid
// as long as that of Float64s.
func (m *Model) Int32s(name string) ([]int32, error) {
	v, err := m.in.view("MjModel", name, m.handle)
	if err == nil && v.element != elementInt32 {
		err = fmt.Errorf("mjModel.%s does not hold 32-bit integers", name)
	}
	return window[int32](m.in, v.address, v.count), err
}

// Bytes returns an array of bytes of mjModel, such as "tex_data", valid as long as that of Float64s.
func (m *Model) Bytes(name string) ([]byte, error) {
	v, err := m.in.view("MjModel", name, m.handle)
	if err == nil && v.element != elementByte {
		err = fmt.Errorf("mjModel.%s does not hold bytes", name)
	}
	if err != nil || v.count == 0 {
		return nil, err
	}
	all, _ := m.in.memory.Read(v.address, v.count)
	return all, nil
}

// Index returns the number of a named object.
func (m *Model) Index(kind Object, name string) (int, error) {
	names, err := m.Names(kind)
	if err != nil {
		return 0, err
	}
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("model has no %s named %q", kind, name)
}

// Names returns the names of all objects of a kind; "" for one without a name.
func (m *Model) Names(kind Object) ([]string, error) {
	start, err := m.Int32s("name_" + string(kind) + "adr")
	if err != nil {
		return nil, err
	}
	v, err := m.in.view("MjModel", "names", m.handle)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(start))
	for i, at := range start {
		names[i] = m.in.cstring(v.address + uint32(at))
	}
	return names, nil
}

// Timestep returns the length of a physics step in seconds.
func (m *Model) Timestep() (float64, error) { return m.in.getFloat("MjOption", "timestep", m.option) }

// Extent returns how large the model is, metres: half its longest side (mjStatistic).
func (m *Model) Extent() (float64, error) {
	stat, err := m.in.get("MjModel", "stat", m.handle)
	if err != nil {
		return 0, err
	}
	return m.in.getFloat("MjStatistic", "extent", stat)
}

// Integrator returns the number of the integration method (mjtIntegrator).
func (m *Model) Integrator() (int, error) {
	x, err := m.in.get("MjOption", "integrator", m.option)
	return int(int32(x)), err
}

// Disabled returns the flags of the parts that are switched off (mjtDisableBit).
func (m *Model) Disabled() (int, error) {
	x, err := m.in.get("MjOption", "disableflags", m.option)
	return int(int32(x)), err
}

// Sleeps says whether bodies that do not move are left out of the computation (mjENBL_SLEEP).
func (m *Model) Sleeps() (bool, error) {
	x, err := m.in.get("MjOption", "enableflags", m.option)
	return x&enableSleep != 0, err
}

// Disable sets all these flags at once. It is cheap enough to call in every step.
func (m *Model) Disable(flags int) error {
	return m.in.run(&m.disable, m.option, uint64(uint32(flags)))
}

// Element types of memory views, by embind's numbers.
const (
	elementByte    = 1
	elementInt32   = 4
	elementFloat32 = 6
	elementFloat64 = 7
)

func (in *Instance) forget(v *viewSet) {
	in.views = slices.DeleteFunc(in.views, func(x *viewSet) bool { return x == v })
}
