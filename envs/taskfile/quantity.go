package taskfile

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/formula"
	"pgrlab/core/printable"
	"pgrlab/core/spelling"
	"pgrlab/envs/mujoco"
)

// A source is where a quantity comes from: numbers of an array, from one on.
type source struct {
	array    string // of mjData by its name, or one of the names below
	from     int
	previous bool // as it was when the control step began
}

// Arrays that are not in mjData.
const (
	clock     = "clock" // time, dt, step
	reference = "qpos0"
)

// Places in clock.
const (
	clockTime = iota
	clockStep
	clockDt
	clockSize
)

// whole are the quantities that are named alone, and their arrays.
var whole = []string{"qpos", "qvel", "act", "ctrl", "qacc", "sensordata", "qpos0", "time", "step", "dt"}

// ofObjects are those that are of a named thing.
var ofObjects = []struct {
	name  string
	kind  mujoco.Object
	array string
	width int // 0: that of the sensor
}{
	{"sensor", mujoco.Sensor, "sensordata", 0},
	{"xpos", mujoco.Body, "xpos", 3},
	{"xipos", mujoco.Body, "xipos", 3},
	{"xmat", mujoco.Body, "xmat", 9},
	{"xquat", mujoco.Body, "xquat", 4},
	{"geom", mujoco.Geom, "geom_xpos", 3},
	{"site", mujoco.Site, "site_xpos", 3},
	{"subtree_com", mujoco.Body, "subtree_com", 3},
	{"subtree_vel", mujoco.Body, subtreeVel, 3},
}

// subtreeVel is computed only if a formula names it.
const subtreeVel = "subtree_linvel"

// previous marks a quantity as it was when the control step began.
const previous = "prev."

// vocabulary is what the formulas of a task can name, and what they have named. It is made from a
// model and does not need it afterwards.
type vocabulary struct {
	sizes    map[string]int      // of the arrays
	elements map[string][]string // names of their elements
	objects  map[mujoco.Object][]string
	sensors  [][2]int // first place and size in sensordata

	sources []source
	fixed   bool // only the present can be named, as before an episode
}

// newVocabulary looks at a model.
func newVocabulary(m *mujoco.Model) (*vocabulary, error) {
	mocap, err := m.Int("nmocap")
	if err != nil {
		return nil, err
	}
	v := &vocabulary{
		sizes: map[string]int{
			"qpos": m.NQ, "qvel": m.NV, "act": m.NA, "ctrl": m.NU, "qacc": m.NV, "sensordata": m.NSensorData, reference: m.NQ, clock: clockSize,
			"mocap_pos": 3 * mocap,
		},
		elements: map[string][]string{}, objects: map[mujoco.Object][]string{},
	}
	for _, kind := range []mujoco.Object{mujoco.Body, mujoco.Joint, mujoco.Geom, mujoco.Site, mujoco.Actuator, mujoco.Sensor} {
		names, err := m.Names(kind)
		if err != nil {
			return nil, err
		}
		for i, name := range names {
			names[i] = printable.Line(name) // screens show them
		}
		v.objects[kind] = names
	}
	first, err := m.Int32s("sensor_adr")
	if err != nil {
		return nil, err
	}
	first = slices.Clone(first)
	size, err := m.Int32s("sensor_dim")
	if err != nil {
		return nil, err
	}
	for i := range first {
		v.sensors = append(v.sensors, [2]int{int(first[i]), int(size[i])})
	}
	return v, v.nameElements(m)
}

// nameElements names the elements of positions and velocities after the joints, those of controls
// after the actuators.
func (v *vocabulary) nameElements(m *mujoco.Model) error {
	for array, field := range map[string]string{"qpos": "jnt_qposadr", "qvel": "jnt_dofadr"} {
		first, err := m.Int32s(field)
		if err != nil {
			return err
		}
		names := make([]string, v.sizes[array])
		for i, at := range first {
			end := len(names)
			if i+1 < len(first) {
				end = int(first[i+1])
			}
			for k := int(at); k < end; k++ {
				names[k] = v.objects[mujoco.Joint][i]
				if end-int(at) > 1 && names[k] != "" {
					names[k] = fmt.Sprintf("%s:%d", names[k], k-int(at))
				}
			}
		}
		v.elements[array] = names
	}
	v.elements["qacc"], v.elements[reference] = v.elements["qvel"], v.elements["qpos"]
	if names := v.objects[mujoco.Actuator]; len(names) == m.NU {
		v.elements["ctrl"] = names
	}
	return nil
}

// Quantity is of formula.Names.
func (v *vocabulary) Quantity(name, of string) (q formula.Quantity, err error) {
	name, earlier := strings.CutPrefix(name, previous)
	if earlier && v.fixed {
		return q, fmt.Errorf("%s%s: an episode begins with no step before it", previous, name)
	}
	s := source{array: name, previous: earlier}
	switch {
	case of != "":
		if s, q.Width, err = v.named(name, of); err != nil {
			return q, err
		}
		s.previous = earlier
	case slices.Contains(whole, name):
		q.Width, q.Elements = v.sizes[name], v.elements[name]
		switch name {
		case "time", "step", "dt":
			s.array, s.from = clock, map[string]int{"time": clockTime, "step": clockStep, "dt": clockDt}[name]
		default:
			if q.Width == 0 {
				return q, fmt.Errorf("the model has no %s", name)
			}
		}
	default:
		for _, o := range ofObjects {
			if o.name == name {
				return q, fmt.Errorf("%s is of a %s: write %s(%q)", name, o.kind, name, v.example(o.kind))
			}
		}
		return q, formula.ErrUnknown
	}
	q.Slot = slices.Index(v.sources, s)
	if q.Slot < 0 {
		q.Slot = len(v.sources)
		v.sources = append(v.sources, s)
	}
	return q, nil
}

// example is the name of a thing of a kind.
func (v *vocabulary) example(kind mujoco.Object) string {
	for i, name := range v.objects[kind] {
		if name != "" && (kind != mujoco.Body || i > 0) {
			return name
		}
	}
	return "name"
}

// named finds a quantity of a named thing.
func (v *vocabulary) named(name, of string) (s source, width int, err error) {
	for _, o := range ofObjects {
		if o.name != name {
			continue
		}
		names := v.objects[o.kind]
		i := slices.Index(names, of)
		if i < 0 || of == "" {
			return s, 0, fmt.Errorf("the model has no %s %q%s", o.kind, of, nearest(of, names))
		}
		if o.width > 0 {
			return source{array: o.array, from: i * o.width}, o.width, nil
		}
		width := v.sensors[i][1]
		if width == 1 {
			width = 0 // a number
		}
		return source{array: o.array, from: v.sensors[i][0]}, width, nil
	}
	return s, 0, formula.ErrUnknown
}

// nearest suggests a name.
func nearest(name string, names []string) string {
	known := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	if near := spelling.Near(name, known); len(near) > 0 {
		return " (did you mean " + near[0] + "?)"
	}
	if len(known) == 0 {
		return ": none has a name"
	}
	shown, more := known, ""
	if len(shown) > 8 {
		shown, more = shown[:8], " …"
	}
	return ": there are " + strings.Join(shown, ", ") + more
}

// Names is of formula.Names.
func (v *vocabulary) Names() []string {
	all := slices.Clone(whole)
	for _, o := range ofObjects {
		all = append(all, o.name)
	}
	if !v.fixed {
		for _, name := range slices.Clone(all) {
			all = append(all, previous+name)
		}
	}
	return all
}
