package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/reacher.py and reacher.xml.
const (
	reacherBigTarget   = 0.05  // m, radius of the target of the easy task
	reacherSmallTarget = 0.015 // m, radius of the target of the hard task
	reacherFinger      = 0.01  // m, radius of the finger
	reacherNear        = 0.05  // m, smallest distance of the target from the centre
	reacherFar         = 0.20  // m, largest distance of the target from the centre
)

var (
	reacherEasy = reacherAs("reacher-easy", "a planar arm holds its finger on a big target", reacherBigTarget)
	reacherHard = reacherAs("reacher-hard", "a planar arm holds its finger on a small target", reacherSmallTarget)
)

func reacherAs(name, doc string, target float64) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      6, // positions (2), finger to target (2), velocities (2)
		ActSize:      2,
		Turning:      []int{0},     // the shoulder
		EpisodeSteps: controlSteps, // 20 s of 0.02 s
		mjcf:         reacherModel,
		substeps:     1,
		bind:         bindReacher(target),
		names:        []string{"shoulder", "wrist", "to target x", "to target y", "shoulder speed", "wrist speed"},
	})
}

// reacherModel has the numbers of dm_control/suite/reacher.xml: metres, degrees,
// density 1000. Nothing collides. The task sets the target's size.
const reacherModel = `<mujoco model="reacher">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.02"><flag contact="disable"/></option>
  <default>
    <joint axis="0 0 1" damping=".01"/>
    <geom type="capsule" size=".01" material="self"/>
    <motor gear=".05" ctrllimited="true" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <light name="light" pos="0 0 1"/>
    <camera name="fixed" pos="0 0 .75"/>
    <geom name="ground" type="plane" size=".3 .3 10" material="grid"/>
    <geom name="wall_x" type="plane" pos="-.3 0 .02" zaxis="1 0 0" size=".02 .3 .02" material="decoration"/>
    <geom name="wall_y" type="plane" pos="0 -.3 .02" zaxis="0 1 0" size=".3 .02 .02" material="decoration"/>
    <geom name="wall_neg_x" type="plane" pos=".3 0 .02" zaxis="-1 0 0" size=".02 .3 .02" material="decoration"/>
    <geom name="wall_neg_y" type="plane" pos="0 .3 .02" zaxis="0 -1 0" size=".3 .02 .02" material="decoration"/>
    <geom name="root" type="cylinder" fromto="0 0 0 0 0 .02" size=".011" material="decoration"/>
    <geom name="target" type="sphere" pos="0 0 .01" size=".05" material="target"/>
    <body name="arm" pos="0 0 .01">
      <joint name="shoulder"/>
      <geom name="arm" fromto="0 0 0 .12 0 0"/>
      <body name="hand" pos=".12 0 0">
        <joint name="wrist" limited="true" range="-160 160"/>
        <geom name="hand" fromto="0 0 0 .1 0 0"/>
        <body name="finger" pos=".12 0 0">
          <camera name="hand" pos="0 0 .2" mode="track"/>
          <geom name="finger" type="sphere" material="effector"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder"/>
    <motor name="wrist" joint="wrist"/>
  </actuator>
</mujoco>`

// reacher provides the measurements of the body.
type reacher struct {
	*physics
	target, finger int // geoms
}

// toTarget is the vector from the finger to the target in the plane, metres.
func (b reacher) toTarget() (x, y float64) {
	target, finger := b.GeomXPos[3*b.target:], b.GeomXPos[3*b.finger:]
	return target[0] - finger[0], target[1] - finger[1]
}

// reacherTask is the task of reaching the target.
type reacherTask struct {
	reacher
	near tolerance // reward of the distance between the centres
}

func bindReacher(radius float64) func(*physics) (behaviour, error) {
	near := tolerance{Lower: 0, Upper: radius + reacherFinger}
	return func(p *physics) (behaviour, error) {
		target, err := p.model.Index(mujoco.Geom, "target")
		if err != nil {
			return nil, err
		}
		finger, err := p.model.Index(mujoco.Geom, "finger")
		if err != nil {
			return nil, err
		}
		sizes, err := p.model.Float64s("geom_size")
		if err != nil {
			return nil, err
		}
		sizes[3*target] = radius
		return reacherTask{reacher{p, target, finger}, near}, nil
	}
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

// place puts the target at its observed position relative to the finger.
func (t reacherTask) place(obs []float64) error {
	copy(t.QPos, obs[:2])
	copy(t.QVel, obs[4:])
	if err := t.prepare(); err != nil { // computes the finger's position
		return err
	}
	finger := t.GeomXPos[3*t.finger:]
	at := t.written()
	at[0], at[1] = finger[0]+obs[2], finger[1]+obs[3]
	return nil
}

func (t reacherTask) reward() float64 { return t.near.Of(math.Hypot(t.toTarget())) }

// written is the position of the target, which belongs to the model.
func (t reacherTask) written() []float64 { return t.model.GeomPos[3*t.target : 3*t.target+2] }
