package envs

import (
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/walker.py.
const (
	walkerStandHeight = 1.2 // m, height of the torso from which it stands
	walkerWalkSpeed   = 1   // m/s, from here on the reward is full
	walkerRunSpeed    = 8   // m/s, the same for running
	walkerTorsoHeight = 1.3 // m, height of the torso in the model's rest position
)

var (
	_          = walkerAs("walker-stand", "a planar biped stands upright", bindWalkerStand)
	walkerWalk = walkerAs("walker-walk", "a planar biped walks upright; 1 m/s is full reward", bindWalkerMove(walkerWalkSpeed))
	_          = walkerAs("walker-run", "a planar biped runs upright; 8 m/s is full reward", bindWalkerMove(walkerRunSpeed))
)

func walkerAs(name, doc string, bind func(*physics) (behaviour, error)) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      24, // orientations of 7 bodies (14), height (1), velocities (9)
		ActSize:      6,
		EpisodeSteps: controlSteps, // 25 s of 0.025 s
		mjcf:         walkerModel,
		substeps:     10, // of 0.0025 s
		bind:         bind,
		names:        walkerNames(),
		Directions:   walkerDirections(),
	})
}

// walkerModel has the numbers of dm_control/suite/walker.xml: metres, degrees,
// density 1000. Only the floor collides with the body.
const walkerModel = `<mujoco model="walker">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.0025"/>
  <statistic extent="2" center="0 0 1"/>
  <default>
    <joint limited="true" damping=".1" armature=".01" solimplimit="0 .99 .01"/>
    <geom contype="1" conaffinity="0" friction=".7 .1 .1"/>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="robot">
      <joint axis="0 -1 0"/>
      <geom type="capsule" material="self"/>
    </default>
    <default class="root">
      <joint limited="false" damping="0" armature="0"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" conaffinity="1" pos="248 0 0" size="250 .8 .2" material="grid"/>
    <body name="torso" pos="0 0 1.3" childclass="robot">
      <light name="light" pos="0 0 2" mode="trackcom"/>
      <camera name="side" pos="0 -2 .7" euler="60 0 0" mode="trackcom"/>
      <camera name="back" pos="-2 0 .5" xyaxes="0 -1 0 1 0 3" mode="trackcom"/>
      <joint name="rootz" class="root" type="slide" axis="0 0 1"/>
      <joint name="rootx" class="root" type="slide" axis="1 0 0"/>
      <joint name="rooty" class="root" type="hinge" axis="0 1 0"/>
      <geom name="torso" size=".07 .3"/>
      <body name="right_thigh" pos="0 -.05 -.3">
        <joint name="right_hip" range="-20 100"/>
        <geom name="right_thigh" pos="0 0 -.225" size=".05 .225"/>
        <body name="right_leg" pos="0 0 -.7">
          <joint name="right_knee" pos="0 0 .25" range="-150 0"/>
          <geom name="right_leg" size=".04 .25"/>
          <body name="right_foot" pos=".06 0 -.25">
            <joint name="right_ankle" pos="-.06 0 0" range="-45 45"/>
            <geom name="right_foot" zaxis="1 0 0" size=".05 .1"/>
          </body>
        </body>
      </body>
      <body name="left_thigh" pos="0 .05 -.3">
        <joint name="left_hip" range="-20 100"/>
        <geom name="left_thigh" pos="0 0 -.225" size=".05 .225"/>
        <body name="left_leg" pos="0 0 -.7">
          <joint name="left_knee" pos="0 0 .25" range="-150 0"/>
          <geom name="left_leg" size=".04 .25"/>
          <body name="left_foot" pos=".06 0 -.25">
            <joint name="left_ankle" pos="-.06 0 0" range="-45 45"/>
            <geom name="left_foot" zaxis="1 0 0" size=".05 .1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor><subtreelinvel name="torso_subtreelinvel" body="torso"/></sensor>
  <actuator>
    <motor name="right_hip" joint="right_hip" gear="100"/>
    <motor name="right_knee" joint="right_knee" gear="50"/>
    <motor name="right_ankle" joint="right_ankle" gear="20"/>
    <motor name="left_hip" joint="left_hip" gear="100"/>
    <motor name="left_knee" joint="left_knee" gear="50"/>
    <motor name="left_ankle" joint="left_ankle" gear="20"/>
  </actuator>
</mujoco>`

// walker provides the measurements of the body.
type walker struct {
	*physics
	torso int // body of the torso
}

// height is the height of the torso, metres.
func (w walker) height() float64 { return w.XPos[3*w.torso+2] }

// upright is the cosine between the torso's axis and the vertical.
func (w walker) upright() float64 { return w.XMat[9*w.torso+8] }

// speed is the forward velocity of the centre of mass, m/s.
func (w walker) speed() float64 { return w.SensorData[0] }

// walkerTask is the common part of standing and moving.
type walkerTask struct{ walker }

func bindWalker(p *physics) (walkerTask, error) {
	torso, err := p.model.Index(mujoco.Body, "torso")
	return walkerTask{walker{p, torso}}, err
}

// start draws pose and pitch. The body may begin inside the floor and is then pushed
// out.
func (t walkerTask) start(r *rand.Rand) error {
	t.drawJoints(r)
	return nil
}

// observe writes the orientations of all bodies in the plane (xx and xz of their
// frames), the height and the velocities.
func (t walkerTask) observe(obs []float64) {
	i := 0
	for body := t.torso; body < len(t.XMat)/9; body++ {
		obs[i], obs[i+1] = t.XMat[9*body], t.XMat[9*body+2]
		i += 2
	}
	obs[i] = t.height()
	copy(obs[i+1:], t.QVel)
}

// place computes the joints' angles from those of the bodies. The slides z and x come
// first in the model, then the pitch, then three joints of each leg, which turn the other
// way. Walking does not depend on the position along x.
func (t walkerTask) place(obs []float64) error {
	const root, bodies, legJoints = 2, 7, 3
	t.QPos[0] = obs[2*bodies] - walkerTorsoHeight
	pitch := math.Atan2(obs[1], obs[0])
	t.QPos[root] = pitch
	above := pitch
	for body := 1; body < bodies; body++ {
		if body%legJoints == 1 {
			above = pitch // a thigh is attached to the torso
		}
		angle := math.Atan2(obs[2*body+1], obs[2*body])
		j := t.joints[root+body]
		t.QPos[j.at] = j.limits.nearest(above - angle)
		above = angle
	}
	copy(t.QVel, obs[2*bodies+1:])
	return nil
}

var walkerStanding = tolerance{Lower: walkerStandHeight, Upper: infinity,
	Margin: walkerStandHeight / 2, AtMargin: 0.1, Sigmoid: gaussian}

// standing is the reward for a torso that is high and upright.
func (t walkerTask) standing() float64 {
	return (3*walkerStanding.Of(t.height()) + (1+t.upright())/2) / 4
}

// walkerStandTask is the task of standing.
type walkerStandTask struct{ walkerTask }

func bindWalkerStand(p *physics) (behaviour, error) {
	t, err := bindWalker(p)
	return walkerStandTask{t}, err
}

func (t walkerStandTask) reward() float64 { return t.standing() }

// walkerMoveTask is the task of walking or running.
type walkerMoveTask struct {
	walkerTask
	moving tolerance // reward of the speed
}

func bindWalkerMove(speed float64) func(*physics) (behaviour, error) {
	return func(p *physics) (behaviour, error) {
		t, err := bindWalker(p)
		return walkerMoveTask{t, walkerMoving(speed)}, err
	}
}

// walkerMoving is the reward of a speed, which is full from the given speed on.
func walkerMoving(speed float64) tolerance {
	return tolerance{Lower: speed, Upper: infinity, Margin: speed / 2, AtMargin: 0.5, Sigmoid: linear}
}

func (t walkerMoveTask) reward() float64 {
	return t.standing() * (5*t.moving.Of(t.speed()) + 1) / 6
}

// walkerJoints and walkerBodies are in the order of the model.
var (
	walkerJoints = []string{"right hip", "right knee", "right ankle", "left hip", "left knee", "left ankle"}
	walkerBodies = []string{"torso", "right thigh", "right leg", "right foot", "left thigh", "left leg", "left foot"}
)

// walkerDirections are the orientations of the bodies, which an observation begins with.
func walkerDirections() (pairs [][2]int) {
	for body := range len(walkerBodies) {
		pairs = append(pairs, [2]int{2 * body, 2*body + 1})
	}
	return pairs
}

func walkerNames() []string {
	var names []string
	for _, b := range walkerBodies {
		names = append(names, b+" xx", b+" xz") // orientation of the body
	}
	names = append(names, "height", "speed z", "speed x", "pitch speed")
	return append(names, each(walkerJoints, "%s speed")...)
}
