package mujoco

import (
	"fmt"
	"math"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// Data is the state of a model and what the engine computed from it. The fields
// are views (see the package comment), named as in mjData and laid out row by
// row; lengths in units of the model, metres and seconds throughout.
type Data struct {
	model  *Model
	handle uint64
	views  *viewSet

	QPos          []float64 // [nq] positions
	QVel          []float64 // [nv] velocities
	Act           []float64 // [na] actuator activations
	Ctrl          []float64 // [nu] controls
	QAcc          []float64 // [nv] accelerations
	QAccWarmstart []float64 // [nv] start of the solver
	SensorData    []float64 // [nsensordata]
	XPos          []float64 // [nbody,3] body frames in the world
	XMat          []float64 // [nbody,9] their orientations
	XIPos         []float64 // [nbody,3] centres of mass
	GeomXPos      []float64 // [ngeom,3] geoms in the world
	GeomXMat      []float64 // [ngeom,9] their orientations
	SiteXPos      []float64 // [nsite,3] sites in the world
	SubtreeCoM    []float64 // [nbody,3] centres of mass of a body and all below it
	MocapPos      []float64 // [nmocap,3] places of the bodies that no force moves

	warnings []int32 // [warnings,2] mjWarningStat: last info, number
}

// Data makes a state of the model, at its reference position. Make all copies before the
// first step, so that the memory grows only once.
func (m *Model) Data() (*Data, error) {
	handle, err := m.in.invoke(m.in.reg.byName["MjData"].constructor[1], m.handle)
	if err == nil && uint32(handle) == 0 {
		err = &Error{Message: "out of memory"}
	}
	if err != nil {
		return nil, fmt.Errorf("make data: %w", err)
	}
	d := &Data{model: m, handle: handle & 0xffffffff, views: &viewSet{}}
	m.data = append(m.data, d)
	m.in.views = append(m.in.views, d.views)
	for name, slice := range map[string]*[]float64{
		"qpos": &d.QPos, "qvel": &d.QVel, "act": &d.Act, "ctrl": &d.Ctrl, "qacc": &d.QAcc,
		"qacc_warmstart": &d.QAccWarmstart, "sensordata": &d.SensorData, "xpos": &d.XPos,
		"xmat": &d.XMat, "xipos": &d.XIPos, "geom_xpos": &d.GeomXPos,
		"geom_xmat": &d.GeomXMat, "site_xpos": &d.SiteXPos, "subtree_com": &d.SubtreeCoM, "mocap_pos": &d.MocapPos,
	} {
		if err := d.views.add(m.in, "MjData", d.handle, name, slice); err != nil {
			d.Free()
			return nil, fmt.Errorf("make data: %w", err)
		}
	}
	if err := d.findWarnings(); err != nil {
		d.Free()
		return nil, fmt.Errorf("make data: %w", err)
	}
	return d, nil
}

// warningNames are the kinds of mjtWarning, in its order.
var warningNames = [...]string{
	"a bad inertia matrix", "too many contacts for the memory", "too many constraints for the memory",
	"a bad position", "a bad velocity", "a bad acceleration", "a bad control",
}

// findWarnings makes a view of mjData.warning. The binding returns a std::vector of wrappers,
// each with a pointer and an owner; the structures themselves lie side by side.
func (d *Data) findWarnings() error {
	const wrapperSize = 8
	in := d.model.in
	vector, err := in.get("MjData", "warning", d.handle)
	if err != nil {
		return err
	}
	first, end := in.u32(uint32(vector)), in.u32(uint32(vector)+4)
	if n := (end - first) / wrapperSize; n != uint32(len(warningNames)) {
		return fmt.Errorf("the engine has %d kinds of warnings, want %d", n, len(warningNames))
	}
	show(d.views, in, &d.warnings, in.u32(first), 2*uint32(len(warningNames)))
	return nil
}

// Warning says what the engine has warned of since the last Reset (mjWarningStat): the
// first kind in MuJoCo's order and the degree of freedom or other object that it names;
// "" if there was no warning.
func (d *Data) Warning() string {
	for i, name := range warningNames {
		if d.warnings[2*i+1] > 0 {
			return fmt.Sprintf("%s (%d)", name, d.warnings[2*i])
		}
	}
	return ""
}

// Free releases the data.
func (d *Data) Free() {
	m := d.model
	m.data = slices.DeleteFunc(m.data, func(x *Data) bool { return x == d })
	m.in.forget(d.views)
	m.in.destroy("MjData", d.handle)
}

// Model returns the model that the data belongs to.
func (d *Data) Model() *Model { return d.model }

// Step advances the physics by one timestep (mj_step).
func (d *Data) Step() error { return d.call(&d.model.in.step) }

// Step1 is the first half of a step: all that depends on position and velocity
// (mj_step1). Controls may be written after it.
func (d *Data) Step1() error { return d.call(&d.model.in.step1) }

// Step2 is the second half: actuation, acceleration, integration (mj_step2).
func (d *Data) Step2() error { return d.call(&d.model.in.step2) }

// Forward computes everything from the present state without moving it
// (mj_forward).
func (d *Data) Forward() error { return d.call(&d.model.in.forward) }

// SubtreeVel computes the velocities of subtrees, which a step computes for sensors only
// (mj_subtreeVel).
func (d *Data) SubtreeVel() error { return d.call(&d.model.in.subtreeVel) }

// Reset brings the state back to the model's reference, at rest (mj_resetData).
func (d *Data) Reset() error { return d.call(&d.model.in.reset) }

// physicsCall is a binding of two arguments that is called in steps. None of these calls back
// into the host, so one function object is enough.
type physicsCall struct {
	function api.Function
	context  uint64
}

func (d *Data) call(c *physicsCall) error { return d.model.in.run(c, d.model.handle, d.handle) }

func (in *Instance) run(c *physicsCall, a, b uint64) error {
	in.stack[0], in.stack[1], in.stack[2] = c.context, a, b
	if err := c.function.CallWithStack(in.ctx, in.stack[:]); err != nil {
		return in.failed(err)
	}
	in.settle()
	return nil
}

// Time returns the simulated seconds.
func (d *Data) Time() (float64, error) { return d.model.in.getFloat("MjData", "time", d.handle) }

// SetTime sets the simulated seconds.
func (d *Data) SetTime(seconds float64) error {
	return d.model.in.set("MjData", "time", d.handle, math.Float64bits(seconds))
}

// Int reads a whole number of mjData, such as "ncon".
func (d *Data) Int(name string) (int, error) {
	x, err := d.model.in.get("MjData", name, d.handle)
	return int(int32(x)), err
}

// Float64s returns a view of an array of doubles of mjData by its name, such as
// "subtree_com". The slice is valid until another model or data is made on this instance;
// arrays of contacts and constraints also move with every step.
func (d *Data) Float64s(name string) ([]float64, error) {
	return array64(d.model.in, "MjData", name, d.handle)
}

// get reads a property of an object in its wire form.
func (in *Instance) get(class, name string, object uint64) (uint64, error) {
	b := in.reg.byName[class].getters[name]
	if b == nil {
		return 0, fmt.Errorf("%s has no field %s", class, name)
	}
	return in.invoke(b, object)
}

func (in *Instance) getFloat(class, name string, object uint64) (float64, error) {
	x, err := in.get(class, name, object)
	return math.Float64frombits(x), err
}

func (in *Instance) set(class, name string, object, value uint64) error {
	b := in.reg.byName[class].setters[name]
	if b == nil {
		return fmt.Errorf("%s has no field %s that can be set", class, name)
	}
	_, err := in.invoke(b, object, value)
	return err
}

// view reads a property that is a window into the memory.
func (in *Instance) view(class, name string, object uint64) (view, error) {
	x, err := in.get(class, name, object)
	if err != nil {
		return view{}, err
	}
	v, ok := in.val.take(uint32(x)).(view)
	if !ok {
		return view{}, fmt.Errorf("%s.%s is not an array", class, name)
	}
	return v, nil
}

// View returns a view of an array of doubles of mjData that is kept up to date, as the fields of Data
// are. Arrays of contacts and constraints, which move with every step, are none for it.
func (d *Data) View(name string) (*[]float64, error) {
	slice := new([]float64)
	if err := d.views.add(d.model.in, "MjData", d.handle, name, slice); err != nil {
		return nil, err
	}
	return slice, nil
}

func array64(in *Instance, class, name string, object uint64) ([]float64, error) {
	v, err := in.view(class, name, object)
	if err == nil && v.element != elementFloat64 {
		err = fmt.Errorf("%s.%s does not hold doubles", class, name)
	}
	return window[float64](in, v.address, v.count), err
}

// add makes a slice a view of an array of an object and keeps it up to date.
func (s *viewSet) add(in *Instance, class string, object uint64, name string, slice *[]float64) error {
	v, err := in.view(class, name, object)
	if err != nil {
		return err
	}
	if v.element != elementFloat64 {
		return fmt.Errorf("%s.%s does not hold doubles", class, name)
	}
	show(s, in, slice, v.address, v.count)
	return nil
}

// destroy calls the C++ destructor of an object. It ignores an error, on which no caller
// could act: a broken instance is closed as a whole.
func (in *Instance) destroy(class string, object uint64) {
	b := in.reg.byName[class].destroy
	stack := [2]uint64{object}
	if err := in.callSlot(b.signature, b.slot, stack[:]); err != nil {
		in.failed(err) // brings the stack back to rest
	}
}
