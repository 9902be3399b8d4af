package envs

import "math/rand/v2"

// Constants of gym/envs/mujoco/half_cheetah.py.
const (
	gymCheetahSkip          = 5   // physics steps in a control step
	gymCheetahPrice         = 0.1 // weight of the sum of squared controls
	gymCheetahPositionNoise = 0.1 // m, radians: half the width of the start
	gymCheetahVelocityNoise = 0.1 // m/s, radians/s: spread of the start
)

var gymHalfCheetah = register(Task{
	Name:         "HalfCheetah-v2",
	Doc:          "OpenAI Gym's planar half cheetah runs as fast as it can",
	ObsSize:      17, // positions except x (8), velocities (9)
	ActSize:      6,
	Turning:      []int{1},     // the pitch
	EpisodeSteps: controlSteps, // of 0.05 s
	mjcf:         gymCheetahModel,
	order:        gymOrder,
	substeps:     gymCheetahSkip,
	bind:         bindGymCheetah,
	names:        cheetahRun.names,
})

// gymCheetahModel has the numbers of gym/envs/mujoco/assets/half_cheetah.xml:
// metres, radians; masses are scaled so that they sum to 14 kg. Only the floor
// collides with the body.
const gymCheetahModel = `<mujoco model="half cheetah">` + gymLook + `
  <size memory="1M"/>
  <compiler angle="radian" settotalmass="14"/>
  <option timestep="0.01"/>
  <default>
    <joint armature=".1" damping=".01" limited="true" solimplimit="0 .8 .03" solreflimit=".02 1" stiffness="8"/>
    <geom conaffinity="0" condim="3" contype="1" friction=".4 .1 .1" rgba=".8 .6 .4 1" solimp="0 .8 .01" solref=".02 1"/>
    <motor ctrllimited="true" ctrlrange="-1 1"/>
    <default class="robot">
      <joint axis="0 1 0"/>
      <geom type="capsule" size=".046"/>
    </default>
    <default class="root">
      <joint limited="false" armature="0" stiffness="0" damping="0"/>
    </default>
  </default>
  <worldbody>` + gymLight + `
    <geom name="floor" type="plane" conaffinity="1" size="40 40 40" rgba=".8 .9 .8 1" material="MatPlane"/>
    <body name="torso" pos="0 0 .7" childclass="robot">
      <camera name="track" mode="trackcom" pos="0 -3 .3" xyaxes="1 0 0 0 0 1"/>
      <joint name="rootx" class="root" type="slide" axis="1 0 0"/>
      <joint name="rootz" class="root" type="slide" axis="0 0 1"/>
      <joint name="rooty" class="root" type="hinge" axis="0 1 0"/>
      <geom name="torso" fromto="-.5 0 0 .5 0 0"/>
      <geom name="head" pos=".6 0 .1" axisangle="0 1 0 .87" size=".046 .15"/>
      <body name="bthigh" pos="-.5 0 0">
        <joint name="bthigh" range="-.52 1.05" stiffness="240" damping="6"/>
        <geom name="bthigh" pos=".1 0 -.13" axisangle="0 1 0 -3.8" size=".046 .145"/>
        <body name="bshin" pos=".16 0 -.25">
          <joint name="bshin" range="-.785 .785" stiffness="180" damping="4.5"/>
          <geom name="bshin" pos="-.14 0 -.07" axisangle="0 1 0 -2.03" size=".046 .15" rgba=".9 .6 .6 1"/>
          <body name="bfoot" pos="-.28 0 -.14">
            <joint name="bfoot" range="-.4 .785" stiffness="120" damping="3"/>
            <geom name="bfoot" pos=".03 0 -.097" axisangle="0 1 0 -.27" size=".046 .094" rgba=".9 .6 .6 1"/>
          </body>
        </body>
      </body>
      <body name="fthigh" pos=".5 0 0">
        <joint name="fthigh" range="-1 .7" stiffness="180" damping="4.5"/>
        <geom name="fthigh" pos="-.07 0 -.12" axisangle="0 1 0 .52" size=".046 .133"/>
        <body name="fshin" pos="-.14 0 -.24">
          <joint name="fshin" range="-1.2 .87" stiffness="120" damping="3"/>
          <geom name="fshin" pos=".065 0 -.09" axisangle="0 1 0 -.6" size=".046 .106" rgba=".9 .6 .6 1"/>
          <body name="ffoot" pos=".13 0 -.18">
            <joint name="ffoot" range="-.5 .5" stiffness="60" damping="1.5"/>
            <geom name="ffoot" pos=".045 0 -.07" axisangle="0 1 0 -.6" size=".046 .07" rgba=".9 .6 .6 1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="bthigh" joint="bthigh" gear="120"/>
    <motor name="bshin" joint="bshin" gear="90"/>
    <motor name="bfoot" joint="bfoot" gear="60"/>
    <motor name="fthigh" joint="fthigh" gear="120"/>
    <motor name="fshin" joint="fshin" gear="60"/>
    <motor name="ffoot" joint="ffoot" gear="30"/>
  </actuator>
</mujoco>`

// gymCheetahTask is the task of running. Its velocities are not clipped, and it never
// terminates.
type gymCheetahTask struct{ runner }

func bindGymCheetah(p *physics) (behaviour, error) {
	r, err := newRunner(p, gymCheetahSkip, gymCheetahPrice, 0)
	return gymCheetahTask{r}, err
}

func (t gymCheetahTask) start(r *rand.Rand) error {
	for i := range t.QPos {
		t.QPos[i] += span{-gymCheetahPositionNoise, gymCheetahPositionNoise}.draw(r)
	}
	for i := range t.QVel {
		t.QVel[i] += gymCheetahVelocityNoise * r.NormFloat64()
	}
	return nil
}

func (t gymCheetahTask) observe(obs []float64) { t.show(obs, 1) }
