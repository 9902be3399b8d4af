package envs

import "math"

// Constants of gym/envs/mujoco/hopper.py.
const (
	gymHopperSkip   = 4     // physics steps in a control step
	gymHopperPrice  = 0.001 // weight of the sum of squared controls
	gymHopperBonus  = 1     // bonus of every step
	gymHopperHeight = 0.7   // m, height at which it has fallen
	gymHopperAngle  = 0.2   // radians from upright, at which it has fallen
	gymHopperBound  = 100   // m, radians, m/s, radians/s: magnitude at which the episode ends
)

var gymHopper = register(Task{
	Name:         "Hopper-v2",
	Doc:          "OpenAI Gym's planar body of one leg hops forward without falling",
	ObsSize:      11, // positions except x (5), velocities clipped at 10 (6)
	ActSize:      3,
	EpisodeSteps: controlSteps, // of 0.008 s
	Terminates:   true,
	mjcf:         gymHopperModel,
	order:        gymOrder,
	substeps:     gymHopperSkip,
	bind:         bindGymHopper,
	names:        alongLine("thigh", "leg", "foot"),
	Ends:         gymHopperEnds,
})

// gymHopperModel has the numbers of gym/envs/mujoco/assets/hopper.xml: metres,
// degrees, density 1000. Positions are local to each body, while those of the original
// are in world coordinates. The original's margin of 0.001 m is the margin of a contact;
// this release of MuJoCo adds up the margins of both geoms.
const gymHopperModel = `<mujoco model="hopper">` + gymLook + `
  <size memory="1M"/>
  <option timestep="0.002" integrator="RK4"/>
  <default>
    <geom condim="1" margin=".0005" solimp=".8 .8 .01" solref=".02 1" rgba=".8 .6 .4 1" material="geom"/>
    <motor ctrllimited="true" ctrlrange="-1 1" gear="200"/>
    <default class="robot">
      <joint axis="0 -1 0" limited="true" armature="1" damping="1"/>
      <geom type="capsule" friction=".9"/>
    </default>
    <default class="root">
      <joint limited="false" armature="0" damping="0"/>
    </default>
  </default>
  <worldbody>` + gymLight + `
    <geom name="floor" type="plane" condim="3" size="20 20 .125" rgba=".8 .9 .8 1" material="MatPlane"/>
    <body name="torso" pos="0 0 1.25" childclass="robot">
      <camera name="track" mode="trackcom" pos="0 -3 -.25" xyaxes="1 0 0 0 0 1"/>
      <joint name="rootx" class="root" type="slide" pos="0 0 -1.25" axis="1 0 0"/>
      <joint name="rootz" class="root" type="slide" pos="0 0 -1.25" axis="0 0 1" ref="1.25"/>
      <joint name="rooty" class="root" type="hinge" axis="0 1 0"/>
      <geom name="torso_geom" fromto="0 0 .2 0 0 -.2" size=".05"/>
      <body name="thigh" pos="0 0 -.2">
        <joint name="thigh_joint" range="-150 0"/>
        <geom name="thigh_geom" fromto="0 0 0 0 0 -.45" size=".05"/>
        <body name="leg" pos="0 0 -.7">
          <joint name="leg_joint" pos="0 0 .25" range="-150 0"/>
          <geom name="leg_geom" fromto="0 0 .25 0 0 -.25" size=".04"/>
          <body name="foot" pos=".13 0 -.35">
            <joint name="foot_joint" pos="-.13 0 .1" range="-45 45"/>
            <geom name="foot_geom" fromto="-.26 0 .1 .13 0 .1" size=".06" friction="2"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="thigh" joint="thigh_joint"/>
    <motor name="leg" joint="leg_joint"/>
    <motor name="foot" joint="foot_joint"/>
  </actuator>
</mujoco>`

// gymHopperTask is the task of hopping.
type gymHopperTask struct{ legged }

func bindGymHopper(p *physics) (behaviour, error) {
	l, err := newLegged(p, gymHopperSkip, gymHopperPrice, gymHopperBonus, gymHopperStands)
	return gymHopperTask{l}, err
}

// gymHopperStands says whether the body is neither too low nor leans too far.
func gymHopperStands[T float32 | float64](height T, angle float64) bool {
	return height > gymHopperHeight && math.Abs(angle) < gymHopperAngle
}

// fallen says whether the body has fallen, or any number except x and height is out of bounds.
func (t gymHopperTask) fallen() bool {
	for _, part := range [][]float64{t.QPos[2:], t.QVel} {
		for _, x := range part {
			if !(math.Abs(x) < gymHopperBound) {
				return true
			}
		}
	}
	return t.legged.fallen()
}

// gymHopperEnds is fallen, computed from an observation. The velocities in it are clipped
// and so never reach the bound.
func gymHopperEnds(_, _, next []float32) bool {
	for _, x := range next[1:] {
		if !(math.Abs(float64(x)) < gymHopperBound) {
			return true
		}
	}
	return !gymHopperStands(next[0], float64(next[1]))
}
