package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// pointMassTarget is the target's radius in dm_control/suite/point_mass.xml, m.
const pointMassTarget = 0.015

var pointMassEasy = register(Task{
	Name:         "point-mass-easy",
	Doc:          "a sphere on a table slides to the centre and stays there, gently",
	ObsSize:      4, // positions (2), velocities (2)
	ActSize:      2,
	EpisodeSteps: controlSteps, // 20 s of 0.02 s
	mjcf:         pointMassModel,
	substeps:     1,
	bind:         bindPointMass,
	names:        []string{"x", "y", "speed x", "speed y"},
})

// pointMassModel has the numbers of dm_control/suite/point_mass.xml: metres, kg.
// Nothing collides. Its motors pull on tendons, so that a harder task can mix
// their directions; here each pulls along one axis.
const pointMassModel = `<mujoco model="point mass">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.02"><flag contact="disable"/></option>
  <default>
    <joint type="slide" limited="true" range="-.29 .29" damping="1"/>
    <geom type="plane" material="decoration"/>
    <motor gear=".1" ctrllimited="true" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <light name="light" pos="0 0 1"/>
    <camera name="fixed" pos="0 0 .75"/>
    <geom name="ground" size=".3 .3 .1" material="grid"/>
    <geom name="wall_x" pos="-.3 0 .02" zaxis="1 0 0" size=".02 .3 .02"/>
    <geom name="wall_y" pos="0 -.3 .02" zaxis="0 1 0" size=".3 .02 .02"/>
    <geom name="wall_neg_x" pos=".3 0 .02" zaxis="-1 0 0" size=".02 .3 .02"/>
    <geom name="wall_neg_y" pos="0 .3 .02" zaxis="0 -1 0" size=".3 .02 .02"/>
    <geom name="target" type="sphere" pos="0 0 .01" size=".015" material="target"/>
    <body name="pointmass" pos="0 0 .01">
      <camera name="cam0" pos="0 -.3 .3" xyaxes="1 0 0 0 .7 .7"/>
      <joint name="root_x" axis="1 0 0"/>
      <joint name="root_y" axis="0 1 0"/>
      <geom name="pointmass" type="sphere" size=".01" mass=".3" material="self"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="t1"><joint joint="root_x" coef="1"/><joint joint="root_y" coef="0"/></fixed>
    <fixed name="t2"><joint joint="root_x" coef="0"/><joint joint="root_y" coef="1"/></fixed>
  </tendon>
  <actuator><motor name="t1" tendon="t1"/><motor name="t2" tendon="t2"/></actuator>
</mujoco>`

// pointMass provides the measurements of the body.
type pointMass struct {
	*physics
	target, mass int // geoms
}

// distance is the distance from the mass to the target's centre, metres.
func (m pointMass) distance() float64 {
	sum := 0.0
	for i := range 3 {
		d := m.GeomXPos[3*m.target+i] - m.GeomXPos[3*m.mass+i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

// pointMassTask is the task of moving the mass to the target.
type pointMassTask struct{ pointMass }

var pointMassNear = tolerance{Lower: 0, Upper: pointMassTarget, Margin: pointMassTarget, AtMargin: 0.1, Sigmoid: gaussian}

func bindPointMass(p *physics) (behaviour, error) {
	target, err := p.model.Index(mujoco.Geom, "target")
	if err != nil {
		return nil, err
	}
	mass, err := p.model.Index(mujoco.Geom, "pointmass")
	return pointMassTask{pointMass{p, target, mass}}, err
}

func (t pointMassTask) start(r *rand.Rand) error {
	t.drawJoints(r)
	return nil
}

func (t pointMassTask) observe(obs []float64) { t.show(obs, 0) }

func (t pointMassTask) place(obs []float64) error { return t.take(obs, 0) }

func (t pointMassTask) reward() float64 {
	return pointMassNear.Of(t.distance()) * (4 + gentleness(t.Ctrl)) / 5
}
