package envs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/ball_in_cup.py and ball_in_cup.xml.
const (
	ballRadius     = 0.025 // m
	ballCupHalf    = 0.05  // m, half the inner size of the cup in both directions
	ballMaxDraws   = 1000  // largest number of draws for a start in which nothing touches
	ballStartAside = 0.2   // m, largest sideways offset of the ball at the start
	ballStartLow   = 0.2   // m, lowest start above its rest position
	ballStartHigh  = 0.5   // m, highest start above its rest position
	ballCupJoints  = 2     // number of joints of the cup, which precede those of the ball
)

var ballInCupCatch = register(Task{
	Name:         "ball-in-cup-catch",
	Doc:          "a cup swings a ball on a string up and catches it",
	ObsSize:      8, // positions of cup and ball (4), velocities (4)
	ActSize:      2,
	EpisodeSteps: controlSteps, // 20 s of 0.02 s
	mjcf:         ballInCupModel,
	substeps:     10, // of 0.002 s
	bind:         bindBallInCup,
	names: []string{"cup x", "cup z", "ball x", "ball z",
		"cup speed x", "cup speed z", "ball speed x", "ball speed z"},
})

// ballInCupModel has the numbers of dm_control/suite/ball_in_cup.xml: metres,
// density 1000.
const ballInCupModel = `<mujoco model="ball in cup">` + suiteLook + `
  <size memory="1M"/>
  <default>
    <joint type="slide"/>
    <motor gear="5" ctrllimited="true" ctrlrange="-1 1"/>
    <default class="cup">
      <joint damping="3" stiffness="20"/>
      <geom type="capsule" size=".008" material="self"/>
    </default>
  </default>
  <worldbody>
    <light name="light" directional="true" diffuse=".6 .6 .6" pos="0 0 2" specular=".3 .3 .3"/>
    <geom name="ground" type="plane" size=".6 .2 10" material="grid"/>
    <camera name="cam0" pos="0 -1 .8" xyaxes="1 0 0 0 1 2"/>
    <camera name="cam1" pos="0 -1 .4" xyaxes="1 0 0 0 0 1"/>
    <body name="cup" pos="0 0 .6" childclass="cup">
      <joint name="cup_x" axis="1 0 0"/>
      <joint name="cup_z" axis="0 0 1"/>
      <geom name="cup_part_0" fromto="-.05 0 0 -.05 0 -.075"/>
      <geom name="cup_part_1" fromto="-.05 0 -.075 -.025 0 -.1"/>
      <geom name="cup_part_2" fromto="-.025 0 -.1 .025 0 -.1"/>
      <geom name="cup_part_3" fromto=".025 0 -.1 .05 0 -.075"/>
      <geom name="cup_part_4" fromto=".05 0 -.075 .05 0 0"/>
      <site name="cup" pos="0 0 -.108" size=".005"/>
      <site name="target" type="box" pos="0 0 -.05" size=".05 .006 .05" group="4"/>
    </body>
    <body name="ball" pos="0 0 .2">
      <joint name="ball_x" axis="1 0 0"/>
      <joint name="ball_z" axis="0 0 1"/>
      <geom name="ball" type="sphere" size=".025" material="effector"/>
      <site name="ball" size=".005"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="string" limited="true" range="0 .3" width=".003"><site site="ball"/><site site="cup"/></spatial>
  </tendon>
  <actuator><motor name="x" joint="cup_x"/><motor name="z" joint="cup_z"/></actuator>
</mujoco>`

// ballInCup provides the measurements of the body.
type ballInCup struct {
	*physics
	target int // the site that fills the cup
	ball   int // body of the ball
}

// toTarget is the vector from the ball to the middle of the cup in the plane, metres.
func (b ballInCup) toTarget() (x, z float64) {
	target, ball := b.SiteXPos[3*b.target:], b.XPos[3*b.ball:]
	return target[0] - ball[0], target[2] - ball[2]
}

// ballInCupTask is the task of catching the ball.
type ballInCupTask struct{ ballInCup }

func bindBallInCup(p *physics) (behaviour, error) {
	target, err := p.model.Index(mujoco.Site, "target")
	if err != nil {
		return nil, err
	}
	ball, err := p.model.Index(mujoco.Body, "ball")
	return ballInCupTask{ballInCup{p, target, ball}}, err
}

// start draws a position of the ball at which it touches nothing.
func (t ballInCupTask) start(r *rand.Rand) error {
	for range ballMaxDraws {
		t.QPos[ballCupJoints] = span{-ballStartAside, ballStartAside}.draw(r)
		t.QPos[ballCupJoints+1] = span{ballStartLow, ballStartHigh}.draw(r)
		if err := t.forward(); err != nil {
			return err
		}
		if contacts, err := t.Int("ncon"); err != nil || contacts == 0 {
			return err
		}
	}
	return fmt.Errorf("no place without contacts in %d draws", ballMaxDraws)
}

func (t ballInCupTask) observe(obs []float64) { t.show(obs, 0) }

func (t ballInCupTask) place(obs []float64) error { return t.take(obs, 0) }

// reward is 1 while the whole ball is in the cup.
func (t ballInCupTask) reward() float64 {
	x, z := t.toTarget()
	if max(math.Abs(x), math.Abs(z)) < ballCupHalf-ballRadius {
		return 1
	}
	return 0
}
