package envs

// Constants of gym/envs/mujoco/walker2d.py.
const (
	gymWalkerSkip  = 4     // physics steps in a control step
	gymWalkerPrice = 0.001 // weight of the sum of squared controls
	gymWalkerBonus = 1     // bonus of every step
	gymWalkerLow   = 0.8   // m, height at which it has fallen
	gymWalkerHigh  = 2.0   // m, height at which it has taken off
	gymWalkerAngle = 1     // radians from upright, at which it has fallen
)

var gymWalker = register(Task{
	Name:         "Walker2d-v2",
	Doc:          "OpenAI Gym's planar biped walks forward without falling",
	ObsSize:      17, // positions except x (8), velocities clipped at 10 (9)
	ActSize:      6,
	EpisodeSteps: controlSteps, // of 0.008 s
	Terminates:   true,
	mjcf:         gymWalkerModel,
	order:        gymOrder,
	substeps:     gymWalkerSkip,
	bind:         bindGymWalker,
	names:        alongLine(walkerJoints...),
	Ends:         gymWalkerEnds,
})

// gymWalkerModel has the numbers of gym/envs/mujoco/assets/walker2d.xml: metres,
// degrees, density 1000. Positions are local to each body, while those of the original
// are in world coordinates. Only the floor collides with the body. Both legs are at
// y = 0; only their feet differ, in friction.
const gymWalkerModel = `<mujoco model="walker2d">` + gymLook + `
  <size memory="1M"/>
  <option timestep="0.002" integrator="RK4"/>
  <default>
    <geom conaffinity="0" condim="3" contype="1" density="1000" friction=".7 .1 .1" rgba=".8 .6 .4 1"/>
    <motor ctrllimited="true" ctrlrange="-1 1" gear="100"/>
    <default class="robot">
      <joint axis="0 -1 0" limited="true" armature=".01" damping=".1"/>
      <geom type="capsule" friction=".9 .1 .1"/>
      <default class="left"><geom rgba=".7 .3 .6 1"/></default>
    </default>
    <default class="root">
      <joint limited="false" armature="0" damping="0"/>
    </default>
  </default>
  <worldbody>` + gymLight + `
    <geom name="floor" type="plane" conaffinity="1" size="40 40 40" rgba=".8 .9 .8 1" material="MatPlane"/>
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
          <body name="foot" pos=".2 0 -.35">
            <joint name="foot_joint" pos="-.2 0 .1" range="-45 45"/>
            <geom name="foot_geom" fromto="-.2 0 .1 0 0 .1" size=".06"/>
          </body>
        </body>
      </body>
      <body name="thigh_left" pos="0 0 -.2" childclass="left">
        <joint name="thigh_left_joint" range="-150 0"/>
        <geom name="thigh_left_geom" fromto="0 0 0 0 0 -.45" size=".05"/>
        <body name="leg_left" pos="0 0 -.7">
          <joint name="leg_left_joint" pos="0 0 .25" range="-150 0"/>
          <geom name="leg_left_geom" fromto="0 0 .25 0 0 -.25" size=".04"/>
          <body name="foot_left" pos=".2 0 -.35">
            <joint name="foot_left_joint" pos="-.2 0 .1" range="-45 45"/>
            <geom name="foot_left_geom" fromto="-.2 0 .1 0 0 .1" size=".06" friction="1.9 .1 .1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="thigh" joint="thigh_joint"/>
    <motor name="leg" joint="leg_joint"/>
    <motor name="foot" joint="foot_joint"/>
    <motor name="thigh_left" joint="thigh_left_joint"/>
    <motor name="leg_left" joint="leg_left_joint"/>
    <motor name="foot_left" joint="foot_left_joint"/>
  </actuator>
</mujoco>`

func bindGymWalker(p *physics) (behaviour, error) {
	return newLegged(p, gymWalkerSkip, gymWalkerPrice, gymWalkerBonus, gymWalkerStands)
}

// gymWalkerStands says whether the body is neither too low nor too high, and does not lean too far.
func gymWalkerStands[T float32 | float64](height, angle T) bool {
	return height > gymWalkerLow && height < gymWalkerHigh && angle > -gymWalkerAngle && angle < gymWalkerAngle
}

// gymWalkerEnds says whether the body has fallen, from an observation.
func gymWalkerEnds(_, _, next []float32) bool { return !gymWalkerStands(next[0], next[1]) }
