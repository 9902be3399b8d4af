package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/reacher.py and reacher.xml.
const (
	reacherTarget = 0.015 // m, radius of the small target
	reacherFinger = 0.01  // m, radius of the finger
	reacherNear   = 0.05  // m, how near to the centre the target may lie
	reacherFar    = 0.20  // m, and how far
)

var reacherHard = Task{
	Name:         "reacher-hard",
	Doc:          "a planar arm holds its finger on a small target",
	ObsSize:      6, // positions (2), finger to target (2), velocities (2)
	ActSize:      2,
	EpisodeSteps: episodeSteps, // 20 s of 0.02 s
	mjcf:         reacherModel,
	substeps:     1,
	bind:         bindReacher,
}

// reacherModel has the figures of dm_control/suite/reacher.xml: metres, degrees,
// density 1000. Nothing collides. Walls and base, which are decoration, are
// left out.
const reacherModel = `<mujoco model="reacher">
  <size memory="1M"/>
  <option timestep="0.02"><flag contact="disable" autoreset="disable"/></option>
  <default>
    <joint axis="0 0 1" damping=".01"/>
    <geom type="capsule" size=".01"/>
    <motor gear=".05" ctrllimited="true" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size=".3 .3 10"/>
    <geom name="target" type="sphere" pos="0 0 .01" size=".015"/>
    <body name="arm" pos="0 0 .01">
      <joint name="shoulder"/>
      <geom name="arm" fromto="0 0 0 .12 0 0"/>
      <body name="hand" pos=".12 0 0">
        <joint name="wrist" limited="true" range="-160 160"/>
        <geom name="hand" fromto="0 0 0 .1 0 0"/>
        <body name="finger" pos=".12 0 0">
          <geom name="finger" type="sphere"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder"/>
    <motor name="wrist" joint="wrist"/>
  </actuator>
</mujoco>`

// reacher measures.
type reacher struct {
	*physics
	target, finger int // geoms
}

// toTarget is the way from the finger to the target in the plane, metres.
func (b reacher) toTarget() (x, y float64) {
	target, finger := b.GeomXPos[3*b.target:], b.GeomXPos[3*b.finger:]
	return target[0] - finger[0], target[1] - finger[1]
}

// reacherTask reaches.
type reacherTask struct{ reacher }

var reacherReward = tolerance{lower: 0, upper: reacherTarget + reacherFinger}

func bindReacher(p *physics) (behaviour, error) {
	target, err := p.model.Index(mujoco.Geom, "target")
	if err != nil {
		return nil, err
	}
	finger, err := p.model.Index(mujoco.Geom, "finger")
	return reacherTask{reacher{p, target, finger}}, err
}

// start draws the pose and puts the target somewhere within reach.
func (t reacherTask) start(r *rand.Rand) error {
	t.drawJoints(r)
	angle := span{0, 2 * math.Pi}.draw(r)
	radius := span{reacherNear, reacherFar}.draw(r)
	at := t.written()
	at[0], at[1] = radius*math.Sin(angle), radius*math.Cos(angle)
	return nil
}

func (t reacherTask) observe(obs []float64) {
	copy(obs, t.QPos)
	obs[2], obs[3] = t.toTarget()
	copy(obs[4:], t.QVel)
}

func (t reacherTask) reward() float64 { return reacherReward.of(math.Hypot(t.toTarget())) }

// written is the position of the target, which belongs to the model.
func (t reacherTask) written() []float64 { return t.model.GeomPos[3*t.target : 3*t.target+2] }
