package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/hopper.py.
const (
	hopperStandHeight = 0.6 // m, height of the torso above the foot from which it stands
	hopperMaxHeight   = 2   // m, height above which it no longer stands
	hopperSpeed       = 2   // m/s, from here on the reward is full
)

var (
	hopperHop = hopperAs("hopper-hop", "a planar body of one leg hops forward; 2 m/s is full reward", bindHopperHop)
	_         = hopperAs("hopper-stand", "a planar body of one leg stands upright, gently", bindHopperStand)
)

func hopperAs(name, doc string, bind func(*physics) (behaviour, error)) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      15, // positions except x (6), velocities (7), touch (2)
		ActSize:      4,
		Turning:      []int{1},     // the pitch
		EpisodeSteps: controlSteps, // 20 s of 0.02 s
		mjcf:         hopperModel,
		substeps:     4, // of 0.005 s
		bind:         bind,
		names:        append(alongLine("waist", "hip", "knee", "ankle"), "toe touch", "heel touch"),
	})
}

// hopperModel has the numbers of dm_control/suite/hopper.xml: metres, degrees,
// density 1000. The parts collide with each other. The knee's rest position is outside
// its range, from which the start is drawn.
const hopperModel = `<mujoco model="hopper">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.005"/>
  <statistic extent="2" center="0 0 .5"/>
  <default>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="robot">
      <joint axis="0 1 0" limited="true" damping=".05" armature=".2"/>
      <geom type="capsule" material="self"/>
      <site type="sphere" size=".05" group="3"/>
    </default>
    <default class="root">
      <joint limited="false" damping="0" armature="0"/>
    </default>
  </default>
  <worldbody>
    <camera name="cam0" pos="0 -2.8 .8" euler="90 0 0" mode="trackcom"/>
    <camera name="back" pos="-2 -.2 1.2" xyaxes=".2 -1 0 .5 0 2" mode="trackcom"/>
    <geom name="floor" type="plane" pos="48 0 0" size="50 1 .2" material="grid"/>
    <body name="torso" pos="0 0 1" childclass="robot">
      <light name="top" pos="0 0 2" mode="trackcom"/>
      <joint name="rootx" class="root" type="slide" axis="1 0 0"/>
      <joint name="rootz" class="root" type="slide" axis="0 0 1"/>
      <joint name="rooty" class="root" type="hinge" axis="0 1 0"/>
      <geom name="torso" fromto="0 0 -.05 0 0 .2" size=".0653"/>
      <geom name="nose" fromto=".08 0 .13 .15 0 .14" size=".03"/>
      <body name="pelvis" pos="0 0 -.05">
        <joint name="waist" range="-30 30"/>
        <geom name="pelvis" fromto="0 0 0 0 0 -.15" size=".065"/>
        <body name="thigh" pos="0 0 -.2">
          <joint name="hip" range="-170 10"/>
          <geom name="thigh" fromto="0 0 0 0 0 -.33" size=".04"/>
          <body name="calf" pos="0 0 -.33">
            <joint name="knee" range="5 150"/>
            <geom name="calf" fromto="0 0 0 0 0 -.32" size=".03"/>
            <body name="foot" pos="0 0 -.32">
              <joint name="ankle" range="-45 45"/>
              <geom name="foot" fromto="-.08 0 0 .17 0 0" size=".04"/>
              <site name="touch_toe" pos=".17 0 0"/>
              <site name="touch_heel" pos="-.08 0 0"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <subtreelinvel name="torso_subtreelinvel" body="torso"/>
    <touch name="touch_toe" site="touch_toe"/>
    <touch name="touch_heel" site="touch_heel"/>
  </sensor>
  <actuator>
    <motor name="waist" joint="waist" gear="30"/>
    <motor name="hip" joint="hip" gear="40"/>
    <motor name="knee" joint="knee" gear="30"/>
    <motor name="ankle" joint="ankle" gear="10"/>
  </actuator>
</mujoco>`

// hopper provides the measurements of the body.
type hopper struct {
	*physics
	torso, foot int // bodies
}

// height is the height of the torso's centre of mass above the foot's, metres.
func (h hopper) height() float64 { return h.XIPos[3*h.torso+2] - h.XIPos[3*h.foot+2] }

// speed is the forward velocity of the centre of mass, m/s.
func (h hopper) speed() float64 { return h.SensorData[0] }

// touch is the force on toe and heel, ln(1+N).
func (h hopper) touch() (toe, heel float64) {
	return math.Log1p(h.SensorData[3]), math.Log1p(h.SensorData[4])
}

// hopperTask is the common part of hopping and standing.
type hopperTask struct{ hopper }

func bindHopper(p *physics) (hopperTask, error) {
	torso, err := p.model.Index(mujoco.Body, "torso")
	if err != nil {
		return hopperTask{}, err
	}
	foot, err := p.model.Index(mujoco.Body, "foot")
	return hopperTask{hopper{p, torso, foot}}, err
}

// start draws pose and pitch. The body may begin inside the floor and is then pushed
// out.
func (t hopperTask) start(r *rand.Rand) error {
	t.drawJoints(r)
	return nil
}

// observe leaves out the horizontal position, on which hopping does not depend.
func (t hopperTask) observe(obs []float64) {
	n := t.show(obs, 1)
	obs[n], obs[n+1] = t.touch()
}

// place ignores touch, which the physics computes from the rest.
func (t hopperTask) place(obs []float64) error { return t.take(obs, 1) }

var (
	hopperStanding = tolerance{Lower: hopperStandHeight, Upper: hopperMaxHeight}
	hopperHopping  = tolerance{Lower: hopperSpeed, Upper: infinity, Margin: hopperSpeed / 2., AtMargin: 0.5, Sigmoid: linear}
)

// hopperHopTask is the task of hopping.
type hopperHopTask struct{ hopperTask }

func bindHopperHop(p *physics) (behaviour, error) {
	t, err := bindHopper(p)
	return hopperHopTask{t}, err
}

func (t hopperHopTask) reward() float64 {
	return hopperStanding.Of(t.height()) * hopperHopping.Of(t.speed())
}

// hopperStandTask is the task of standing.
type hopperStandTask struct{ hopperTask }

func bindHopperStand(p *physics) (behaviour, error) {
	t, err := bindHopper(p)
	return hopperStandTask{t}, err
}

func (t hopperStandTask) reward() float64 {
	return hopperStanding.Of(t.height()) * (4 + gentleness(t.Ctrl)) / 5
}
