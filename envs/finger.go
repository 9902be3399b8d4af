package envs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/finger.py and finger.xml.
const (
	fingerBigTarget   = 0.07        // m, radius of the target of turn_easy
	fingerSmallTarget = 0.03        // m, radius of the target of turn_hard
	fingerSpinSpeed   = 15          // radians/s, backwards, from which the spinner counts as spinning
	fingerSpinDamping = 0.03        // N·m·s, damping of the hinge in the spin task
	fingerHingeX      = 0.2         // m, position of the spinner's hinge
	fingerHingeZ      = 0.4         // m
	fingerReach       = 0.04 + 0.09 // m, from the hinge to the target: the spinner's length
	fingerMaxDraws    = 1000        // largest number of draws for a pose in which nothing touches
)

var (
	_ = fingerAs("finger-spin", "a finger spins a free spinner backwards", 9, // positions (4), velocities (3), touch (2)
		bindFingerSpin)
	_ = fingerAs("finger-turn-easy", "a finger turns a free spinner until its tip is on a big target", 12, // the same, target (2), distance (1)
		bindFingerTurn(fingerBigTarget))
	fingerTurnHard = fingerAs("finger-turn-hard", "a finger turns a free spinner until its tip is on a small target", 12,
		bindFingerTurn(fingerSmallTarget))
)

func fingerAs(name, doc string, observations int, bind func(*physics) (behaviour, error)) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      observations,
		ActSize:      2,
		EpisodeSteps: controlSteps, // 20 s of 0.02 s
		mjcf:         fingerModel,
		substeps:     2, // of 0.01 s
		bind:         bind,
		names:        fingerNames[:observations],
	})
}

// fingerModel has the numbers of dm_control/suite/finger.xml: metres, degrees,
// density 1000, no gravity.
const fingerModel = `<mujoco model="finger">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.01" cone="elliptic" iterations="200"><flag gravity="disable"/></option>
  <default>
    <geom type="capsule" solimp="0 .9 .01" solref=".02 1" material="self"/>
    <joint axis="0 -1 0"/>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="finger">
      <joint damping="2.5" limited="true" range="-110 110"/>
      <site type="ellipsoid" size=".025 .03 .025" group="3" material="site"/>
    </default>
  </default>
  <worldbody>
    <light name="light" directional="true" diffuse=".6 .6 .6" pos="0 0 2" specular=".3 .3 .3"/>
    <camera name="cam0" pos="0 -1 .8" xyaxes="1 0 0 0 1 2"/>
    <camera name="cam1" pos="0 -1 .4" xyaxes="1 0 0 0 0 1"/>
    <geom name="ground" type="plane" size=".6 .2 10" material="grid"/>
    <site name="target" type="sphere" size=".03" pos="0 0 .4" material="target"/>
    <body name="proximal" pos="-.2 0 .4" childclass="finger">
      <joint name="proximal" ref="-90"/>
      <geom name="proximal_decoration" type="cylinder" fromto="0 -.033 0 0 .033 0" size=".034" material="decoration"/>
      <geom name="proximal" fromto="0 0 0 0 0 -.17" size=".03"/>
      <body name="distal" pos="0 0 -.18">
        <joint name="distal"/>
        <geom name="distal" fromto="0 0 0 0 0 -.16" size=".028" contype="0" conaffinity="0"/>
        <geom name="fingertip" fromto="0 0 -.13 0 0 -.161" size=".03" material="effector"/>
        <site name="touchtop" pos=".01 0 -.17"/>
        <site name="touchbottom" pos="-.01 0 -.17"/>
      </body>
    </body>
    <body name="spinner" pos=".2 0 .4">
      <joint name="hinge" frictionloss=".1" damping=".5"/>
      <geom name="cap1" pos=".02 0 0" size=".04 .09"/>
      <geom name="cap2" pos="-.02 0 0" size=".04 .09"/>
      <geom name="spinner_decoration" type="cylinder" fromto="0 -.045 0 0 .045 0" size=".02" material="decoration"/>
      <site name="tip" type="sphere" size=".02" pos="0 0 .13" material="target"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="proximal" joint="proximal" gear="30"/>
    <motor name="distal" joint="distal" gear="15"/>
  </actuator>
  <sensor>
    <jointpos name="proximal" joint="proximal"/>
    <jointpos name="distal" joint="distal"/>
    <jointvel name="proximal_velocity" joint="proximal"/>
    <jointvel name="distal_velocity" joint="distal"/>
    <jointvel name="hinge_velocity" joint="hinge"/>
    <framepos name="tip" objtype="site" objname="tip"/>
    <framepos name="target" objtype="site" objname="target"/>
    <framepos name="spinner" objtype="xbody" objname="spinner"/>
    <touch name="touchtop" site="touchtop"/>
    <touch name="touchbottom" site="touchbottom"/>
    <framepos name="touchtop_pos" objtype="site" objname="touchtop"/>
    <framepos name="touchbottom_pos" objtype="site" objname="touchbottom"/>
  </sensor>
</mujoco>`

// finger provides the measurements of the body, from sensors in the order of the model's
// text.
type finger struct{ *physics }

// angles are the angles of the two finger joints, radians.
func (f finger) angles() []float64 { return f.SensorData[0:2] }

// velocities are the velocities of the finger joints and the hinge, radians/s.
func (f finger) velocities() []float64 { return f.SensorData[2:5] }

// fromHinge is a position in the plane relative to the spinner's hinge, metres; at is the
// sensor of the position.
func (f finger) fromHinge(at int) (x, z float64) {
	const spinner = 11
	return f.SensorData[at] - f.SensorData[spinner], f.SensorData[at+2] - f.SensorData[spinner+2]
}

func (f finger) tip() (x, z float64)            { return f.fromHinge(5) }
func (f finger) targetPosition() (x, z float64) { return f.fromHinge(8) }

// touch is the force on top and bottom of the fingertip, ln(1+N).
func (f finger) touch() (top, bottom float64) {
	return math.Log1p(f.SensorData[14]), math.Log1p(f.SensorData[15])
}

// drawPose draws a pose in which nothing touches.
func (f finger) drawPose(r *rand.Rand) error {
	for range fingerMaxDraws {
		f.drawJoints(r)
		if err := f.forward(); err != nil {
			return err
		}
		if contacts, err := f.Int("ncon"); err != nil || contacts == 0 {
			return err
		}
	}
	return fmt.Errorf("no pose without contacts in %d draws", fingerMaxDraws)
}

// observe writes the common part of the observation: positions (4), velocities (3), touch (2).
func (f finger) observe(obs []float64) {
	copy(obs, f.angles())
	obs[2], obs[3] = f.tip()
	copy(obs[4:], f.velocities())
	obs[7], obs[8] = f.touch()
}

// place computes the hinge's angle from the observed position of the tip, which is straight
// above at rest and turns about -y. It ignores touch, which the physics computes from the
// rest.
func (f finger) place(obs []float64) error {
	copy(f.QPos, obs[:2])
	f.QPos[2] = math.Atan2(-obs[2], obs[3])
	copy(f.QVel, obs[4:7])
	return nil
}

// fingerSpinTask is the task of spinning.
type fingerSpinTask struct{ finger }

// bindFingerSpin makes the spinner turn easily, and hides the target and the tip, which mean nothing in
// this task (dm_control/suite/finger.py, Spin.initialize_episode).
func bindFingerSpin(p *physics) (behaviour, error) {
	const hinge = 2
	colours, err := p.model.Float32s("site_rgba")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"target", "tip"} {
		i, err := p.model.Index(mujoco.Site, name)
		if err != nil {
			return nil, err
		}
		colours[4*i+3] = 0
	}
	damping, err := p.model.Float64s("dof_damping")
	if err != nil {
		return nil, err
	}
	damping[hinge] = fingerSpinDamping
	return fingerSpinTask{finger{p}}, nil
}

func (t fingerSpinTask) start(r *rand.Rand) error { return t.drawPose(r) }

func (t fingerSpinTask) reward() float64 {
	if t.velocities()[2] <= -fingerSpinSpeed {
		return 1
	}
	return 0
}

// fingerTurnTask is the task of turning the spinner to a target.
type fingerTurnTask struct {
	finger
	target int     // site of the target
	radius float64 // radius of the target, metres
}

func bindFingerTurn(radius float64) func(*physics) (behaviour, error) {
	return func(p *physics) (behaviour, error) {
		target, err := p.model.Index(mujoco.Site, "target")
		if err != nil {
			return nil, err
		}
		sizes, err := p.model.Float64s("site_size")
		if err != nil {
			return nil, err
		}
		sizes[3*target] = radius
		return fingerTurnTask{finger{p}, target, radius}, nil
	}
}

// start puts the target at a random angle around the hinge.
func (t fingerTurnTask) start(r *rand.Rand) error {
	angle := span{-math.Pi, math.Pi}.draw(r)
	t.aim(fingerReach*math.Sin(angle), fingerReach*math.Cos(angle))
	return t.drawPose(r)
}

// aim puts the target at a position in the plane relative to the hinge.
func (t fingerTurnTask) aim(x, z float64) {
	at := t.written()
	at[0], at[2] = fingerHingeX+x, fingerHingeZ+z
}

// distance is the distance from the spinner's tip to the target's edge, negative inside.
func (t fingerTurnTask) distance() float64 {
	x, z := t.tip()
	tx, tz := t.targetPosition()
	return math.Hypot(tx-x, tz-z) - t.radius
}

func (t fingerTurnTask) observe(obs []float64) {
	t.finger.observe(obs)
	obs[9], obs[10] = t.targetPosition()
	obs[11] = t.distance()
}

func (t fingerTurnTask) place(obs []float64) error {
	t.aim(obs[9], obs[10])
	return t.finger.place(obs)
}

var fingerReward = tolerance{Lower: math.Inf(-1), Upper: 0}

func (t fingerTurnTask) reward() float64 { return fingerReward.Of(t.distance()) }

// written is the position of the target, which belongs to the model.
func (t fingerTurnTask) written() []float64 { return t.model.SitePos[3*t.target : 3*t.target+3] }

// fingerNames begins with the names of the spin task, which observes no target.
var fingerNames = []string{"proximal", "distal", "tip x", "tip z", "proximal speed", "distal speed", "hinge speed", "touch top", "touch bottom",
	"target x", "target z", "distance"}
