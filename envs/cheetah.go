package envs

import (
	"math/rand/v2"
)

// Constants of dm_control/suite/cheetah.py.
const (
	cheetahSpeed       = 10  // m/s, from here on the reward is 1
	cheetahSettleSteps = 200 // physics steps before an episode, without controls
)

var cheetahRun = register(Task{
	Name:         "cheetah-run",
	Doc:          "a planar half cheetah runs; 10 m/s is full reward",
	ObsSize:      17, // positions except x (8), velocities (9)
	ActSize:      6,
	Turning:      []int{1},     // the pitch
	EpisodeSteps: controlSteps, // 10 s of 0.01 s
	mjcf:         cheetahModel,
	substeps:     1,
	bind:         bindCheetah,
	names:        alongLine("back thigh", "back shin", "back foot", "front thigh", "front shin", "front foot"),
})

// cheetahModel has the numbers of dm_control/suite/cheetah.xml: metres,
// degrees; masses are scaled so that they sum to 14 kg. The odd ranges of the hindmost
// joints (-230 and 0.4 degrees) are those of the suite.
const cheetahModel = `<mujoco model="cheetah">` + suiteLook + `
  <size memory="1M"/>
  <compiler settotalmass="14"/>
  <option timestep="0.01"/>
  <statistic center="0 0 .7" extent="2"/>
  <default>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="robot">
      <joint axis="0 1 0" limited="true" armature=".1" stiffness="8" damping=".01"/>
      <geom type="capsule" size=".046" friction=".4 .1 .1" material="self"/>
    </default>
    <default class="root">
      <joint limited="false" armature="0" stiffness="0" damping="0"/>
    </default>
  </default>
  <worldbody>
    <geom name="ground" type="plane" pos="98 0 0" size="100 .8 .5" material="grid"/>
    <body name="torso" pos="0 0 .7" childclass="robot">
      <light name="light" pos="0 0 2" mode="trackcom"/>
      <camera name="side" pos="0 -3 0" quat=".707 .707 0 0" mode="trackcom"/>
      <camera name="back" pos="-1.8 -1.3 .8" xyaxes=".45 -.9 0 .3 .15 .94" mode="trackcom"/>
      <joint name="rootx" class="root" type="slide" axis="1 0 0"/>
      <joint name="rootz" class="root" type="slide" axis="0 0 1"/>
      <joint name="rooty" class="root" type="hinge" axis="0 1 0"/>
      <geom name="torso" fromto="-.5 0 0 .5 0 0"/>
      <geom name="head" pos=".6 0 .1" euler="0 50 0" size=".046 .15"/>
      <body name="bthigh" pos="-.5 0 0">
        <joint name="bthigh" range="-30 60" stiffness="240" damping="6"/>
        <geom name="bthigh" pos=".1 0 -.13" euler="0 -218 0" size=".046 .145"/>
        <body name="bshin" pos=".16 0 -.25">
          <joint name="bshin" range="-50 50" stiffness="180" damping="4.5"/>
          <geom name="bshin" pos="-.14 0 -.07" euler="0 -116 0" size=".046 .15"/>
          <body name="bfoot" pos="-.28 0 -.14">
            <joint name="bfoot" range="-230 50" stiffness="120" damping="3"/>
            <geom name="bfoot" pos=".03 0 -.097" euler="0 -15 0" size=".046 .094"/>
          </body>
        </body>
      </body>
      <body name="fthigh" pos=".5 0 0">
        <joint name="fthigh" range="-57 .40" stiffness="180" damping="4.5"/>
        <geom name="fthigh" pos="-.07 0 -.12" euler="0 30 0" size=".046 .133"/>
        <body name="fshin" pos="-.14 0 -.24">
          <joint name="fshin" range="-70 50" stiffness="120" damping="3"/>
          <geom name="fshin" pos=".065 0 -.09" euler="0 -34 0" size=".046 .106"/>
          <body name="ffoot" pos=".13 0 -.18">
            <joint name="ffoot" range="-28 28" stiffness="60" damping="1.5"/>
            <geom name="ffoot" pos=".045 0 -.07" euler="0 -34 0" size=".046 .07"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor><subtreelinvel name="torso_subtreelinvel" body="torso"/></sensor>
  <actuator>
    <motor name="bthigh" joint="bthigh" gear="120"/>
    <motor name="bshin" joint="bshin" gear="90"/>
    <motor name="bfoot" joint="bfoot" gear="60"/>
    <motor name="fthigh" joint="fthigh" gear="90"/>
    <motor name="fshin" joint="fshin" gear="60"/>
    <motor name="ffoot" joint="ffoot" gear="30"/>
  </actuator>
</mujoco>`

// cheetah provides the measurements of the body.
type cheetah struct{ *physics }

// speed is the forward velocity of the centre of mass, m/s.
func (c cheetah) speed() float64 { return c.SensorData[0] }

// cheetahTask is the task of running.
type cheetahTask struct{ cheetah }

var cheetahReward = tolerance{Lower: cheetahSpeed, Upper: infinity, Margin: cheetahSpeed, AtMargin: 0, Sigmoid: linear}

func bindCheetah(p *physics) (behaviour, error) { return cheetahTask{cheetah{p}}, nil }

// start draws the limited joints and lets the body fall and settle; the
// velocities that remain are kept.
func (t cheetahTask) start(r *rand.Rand) error {
	for _, j := range t.joints {
		if j.limited {
			t.QPos[j.at] = j.limits.draw(r)
		}
	}
	if err := t.step(cheetahSettleSteps); err != nil {
		return err
	}
	return t.SetTime(0)
}

// observe leaves out the horizontal position, on which running does not depend.
func (t cheetahTask) observe(obs []float64) { t.show(obs, 1) }

// place puts the body at the origin, because running does not depend on the position.
func (t cheetahTask) place(obs []float64) error { return t.take(obs, 1) }

func (t cheetahTask) reward() float64 { return cheetahReward.Of(t.speed()) }
