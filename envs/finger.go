package envs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/finger.py and finger.xml.
const (
	fingerTarget   = 0.03        // m, radius of the small target
	fingerHingeX   = 0.2         // m, of the spinner's hinge
	fingerHingeZ   = 0.4         // m
	fingerReach    = 0.04 + 0.09 // m, from the hinge to the target: the spinner's length
	fingerMaxDraws = 1000        // of a pose in which nothing touches
)

var fingerTurnHard = Task{
	Name:         "finger-turn-hard",
	Doc:          "a finger turns a free spinner until its tip is on a small target",
	ObsSize:      12, // positions (4), velocities (3), touch (2), target (2), distance (1)
	ActSize:      2,
	EpisodeSteps: episodeSteps, // 20 s of 0.02 s
	mjcf:         fingerModel,
	substeps:     2, // of 0.01 s
	bind:         bindFinger,
}

// fingerModel has the figures of dm_control/suite/finger.xml: metres, degrees,
// density 1000, no gravity.
const fingerModel = `<mujoco model="finger">
  <size memory="1M"/>
  <option timestep="0.01" cone="elliptic" iterations="200"><flag gravity="disable" autoreset="disable"/></option>
  <default>
    <geom type="capsule" solimp="0 .9 .01" solref=".02 1"/>
    <joint axis="0 -1 0"/>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="finger">
      <joint damping="2.5" limited="true" range="-110 110"/>
      <site type="ellipsoid" size=".025 .03 .025"/>
    </default>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size=".6 .2 10"/>
    <site name="target" type="sphere" size=".03" pos="0 0 .4"/>
    <body name="proximal" pos="-.2 0 .4" childclass="finger">
      <joint name="proximal" ref="-90"/>
      <geom name="proximal_decoration" type="cylinder" fromto="0 -.033 0 0 .033 0" size=".034"/>
      <geom name="proximal" fromto="0 0 0 0 0 -.17" size=".03"/>
      <body name="distal" pos="0 0 -.18">
        <joint name="distal"/>
        <geom name="distal" fromto="0 0 0 0 0 -.16" size=".028" contype="0" conaffinity="0"/>
        <geom name="fingertip" fromto="0 0 -.13 0 0 -.161" size=".03"/>
        <site name="touchtop" pos=".01 0 -.17"/>
        <site name="touchbottom" pos="-.01 0 -.17"/>
      </body>
    </body>
    <body name="spinner" pos=".2 0 .4">
      <joint name="hinge" frictionloss=".1" damping=".5"/>
      <geom name="cap1" pos=".02 0 0" size=".04 .09"/>
      <geom name="cap2" pos="-.02 0 0" size=".04 .09"/>
      <geom name="spinner_decoration" type="cylinder" fromto="0 -.045 0 0 .045 0" size=".02"/>
      <site name="tip" type="sphere" size=".02" pos="0 0 .13"/>
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

// finger measures, by sensors in the order of the model's text.
type finger struct {
	*physics
	target int // its site
}

// angles are those of the two finger joints, radians.
func (f finger) angles() []float64 { return f.SensorData[0:2] }

// velocities are those of the finger joints and the hinge, radians/s.
func (f finger) velocities() []float64 { return f.SensorData[2:5] }

// fromHinge is a place in the plane, seen from the spinner's hinge, metres; at
// is the place's sensor.
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

// distance is that from the spinner's tip to the target's edge, negative inside.
func (f finger) distance() float64 {
	x, z := f.tip()
	tx, tz := f.targetPosition()
	return math.Hypot(tx-x, tz-z) - fingerTarget
}

// fingerTask turns.
type fingerTask struct{ finger }

func bindFinger(p *physics) (behaviour, error) {
	target, err := p.model.Index(mujoco.Site, "target")
	return fingerTask{finger{p, target}}, err
}

// start puts the target somewhere around the hinge and draws a pose in which
// nothing touches.
func (t fingerTask) start(r *rand.Rand) error {
	angle := span{-math.Pi, math.Pi}.draw(r)
	at := t.written()
	at[0], at[2] = fingerHingeX+fingerReach*math.Sin(angle), fingerHingeZ+fingerReach*math.Cos(angle)
	for range fingerMaxDraws {
		t.drawJoints(r)
		if err := t.forward(); err != nil {
			return err
		}
		if contacts, err := t.Int("ncon"); err != nil || contacts == 0 {
			return err
		}
	}
	return fmt.Errorf("no pose without contacts in %d draws", fingerMaxDraws)
}

func (t fingerTask) observe(obs []float64) {
	copy(obs, t.angles())
	obs[2], obs[3] = t.tip()
	copy(obs[4:], t.velocities())
	obs[7], obs[8] = t.touch()
	obs[9], obs[10] = t.targetPosition()
	obs[11] = t.distance()
}

var fingerReward = tolerance{lower: math.Inf(-1), upper: 0}

func (t fingerTask) reward() float64 { return fingerReward.of(t.distance()) }

// written is the position of the target, which belongs to the model.
func (t fingerTask) written() []float64 { return t.model.SitePos[3*t.target : 3*t.target+3] }
