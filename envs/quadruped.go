package envs

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"pgrlab/envs/mujoco"
)

// Constants of dm_control/suite/quadruped.py.
const (
	quadrupedWalkSpeed = 0.5    // m/s, from here on the reward is full
	quadrupedRunSpeed  = 5      // m/s, the same for running
	quadrupedTime      = 20     // s, length of an episode; determines the size of the floor
	quadrupedLift      = 0.01   // m, step by which the start is raised until nothing touches
	quadrupedMaxLifts  = 10_000 // tries, after which something is wrong
	quadrupedLegJoints = 16
)

var (
	quadrupedWalk = quadrupedAs("quadruped-walk", "a four-legged body gets up and walks; 0.5 m/s is full reward", quadrupedWalkSpeed)
	_             = quadrupedAs("quadruped-run", "a four-legged body gets up and runs; 5 m/s is full reward", quadrupedRunSpeed)
)

func quadrupedAs(name, doc string, speed float64) Task {
	return register(Task{
		Name: name, Doc: doc,
		ObsSize:      78, // joints and actuators (44), velocity (3), upright (1), IMU (6), toes (24)
		ActSize:      12,
		EpisodeSteps: controlSteps, // 20 s of 0.02 s
		Hidden:       "neither the height of the torso nor all of its orientation is observed",
		mjcf:         quadrupedModel(quadrupedTime * speed),
		substeps:     4, // of 0.005 s
		bind:         bindQuadruped(speed),
		names:        quadrupedNames(),
	})
}

// quadrupedModel returns the model with the numbers of
// dm_control/suite/quadruped.xml as the moving tasks use it (no terrain, walls,
// ball or range finders; a floor of twice the given size): metres, degrees. The
// four legs differ only in position and direction.
func quadrupedModel(floor float64) string {
	legs := []struct{ name, place, direction string }{
		{"front_left", ".2 .2 0", "45"},
		{"front_right", ".2 -.2 0", "-45"},
		{"back_right", "-.2 -.2 0", "-135"},
		{"back_left", "-.2 .2 0", "135"},
	}
	var bodies, couplings, tendons, equalities, actuators, forces, torques strings.Builder
	for _, leg := range legs {
		add := func(b *strings.Builder, text string) {
			b.WriteString(strings.NewReplacer("LEG", leg.name, "PLACE", leg.place, "DIRECTION", leg.direction).Replace(text))
		}
		add(&bodies, quadrupedLeg)
		add(&couplings, quadrupedCoupling)
		add(&tendons, quadrupedTendons)
		add(&equalities, `<tendon tendon1="coupling_LEG" solimp=".95 .99 .01" solref=".005 .5"/>`)
		add(&actuators, quadrupedActuators)
		add(&forces, `<force name="force_toe_LEG" site="toe_LEG"/>`)
		add(&torques, `<torque name="torque_toe_LEG" site="toe_LEG"/>`)
	}
	return strings.NewReplacer("LEGS", bodies.String(), "TENDONS", couplings.String()+tendons.String(), "EQUALITIES", equalities.String(),
		"ACTUATORS", actuators.String(), "FORCES", forces.String(), "TORQUES", torques.String(),
		"SIZE", strconv.FormatFloat(floor, 'g', -1, 64)).Replace(quadrupedBody)
}

const quadrupedBody = `<mujoco model="quadruped">` + suiteLook + `
  <size memory="1M"/>
  <option timestep="0.005"/>
  <default>
    <geom solimp=".9 .99 .003" solref=".01 1"/>
    <general ctrllimited="true" gainprm="1000" biastype="affine" biasprm="0 -1000" dyntype="filter" dynprm=".1"/>
    <default class="robot">
      <geom type="capsule" condim="1" density="500" material="self"/>
      <joint damping="30" armature=".01" limited="true" solimplimit="0 .99 .01"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="SIZE SIZE .5" material="grid"/>
    <camera name="global" pos="-10 10 10" xyaxes="-1 -1 0 1 0 1" mode="trackcom"/>
    <body name="torso" pos="0 0 .57" childclass="robot">
      <freejoint name="root"/>
      <camera name="x" pos="-1.7 0 1" xyaxes="0 -1 0 .75 0 1" mode="trackcom"/>
      <camera name="y" pos="0 4 2" xyaxes="-1 0 0 0 -.5 1" mode="trackcom"/>
      <camera name="egocentric" pos=".3 0 .11" xyaxes="0 -1 0 .4 0 1" fovy="60"/>
      <light name="light" pos="0 0 4" mode="trackcom"/>
      <geom name="eye_r" type="cylinder" size=".05" fromto=".1 -.07 .12 .31 -.07 .08" mass="0"/>
      <geom name="eye_l" type="cylinder" size=".05" fromto=".1 .07 .12 .31 .07 .08" mass="0"/>
      <geom name="torso" type="ellipsoid" size=".3 .27 .2" density="1000"/>
      <site name="pupil_r" type="sphere" size=".033" pos=".3 -.07 .08" zaxis="1 0 0" material="eye"/>
      <site name="pupil_l" type="sphere" size=".033" pos=".3 .07 .08" zaxis="1 0 0" material="eye"/>
      <site name="workspace" type="sphere" size=".3 .3 .3" pos=".8 0 -.2" group="3" material="site"/>
      <site name="torso_touch" type="box" size=".26 .26 .26" rgba="0 0 1 0"/>
      <site name="torso" size=".05" rgba="1 0 0 1"/>
      LEGS
    </body>
  </worldbody>
  <tendon>TENDONS</tendon>
  <equality>EQUALITIES</equality>
  <actuator>ACTUATORS</actuator>
  <sensor>
    <accelerometer name="imu_accel" site="torso"/>
    <gyro name="imu_gyro" site="torso"/>
    <velocimeter name="velocimeter" site="torso"/>
    FORCES TORQUES
    <subtreecom name="center_of_mass" body="torso"/>
  </sensor>
</mujoco>`

const quadrupedLeg = `
<body name="hip_LEG" pos="PLACE" euler="0 0 DIRECTION">
  <joint name="yaw_LEG" axis="0 0 1" range="-50 50"/>
  <joint name="pitch_LEG" axis="0 1 0" range="-20 60"/>
  <geom name="thigh_LEG" size=".08" fromto="0 0 0 .3 0 .11"/>
  <body name="knee_LEG" pos=".3 0 .11">
    <joint name="knee_LEG" axis="0 1 0" range="-60 50"/>
    <geom name="shin_LEG" size=".065" fromto="0 0 0 .25 0 -.25"/>
    <body name="ankle_LEG" pos=".25 0 -.25">
      <joint name="ankle_LEG" axis="0 1 0" range="-45 55"/>
      <geom name="foot_LEG" size=".055" fromto="0 0 0 0 0 -.25"/>
      <body name="toe_LEG" pos="0 0 -.3">
        <geom name="toe_LEG" type="sphere" size=".08" friction="1.5" material="effector"/>
        <site name="toe_LEG" type="sphere" size=".084" group="4" material="site"/>
      </body>
    </body>
  </body>
</body>`

const quadrupedCoupling = `
<fixed name="coupling_LEG">
  <joint joint="pitch_LEG" coef=".333"/><joint joint="knee_LEG" coef=".333"/><joint joint="ankle_LEG" coef=".333"/>
</fixed>`

const quadrupedTendons = `
<fixed name="extend_LEG">
  <joint joint="pitch_LEG" coef=".25"/><joint joint="knee_LEG" coef="-.5"/><joint joint="ankle_LEG" coef=".25"/>
</fixed>
<fixed name="lift_LEG">
  <joint joint="pitch_LEG" coef=".5"/><joint joint="ankle_LEG" coef="-.5"/>
</fixed>`

const quadrupedActuators = `
<general name="yaw_LEG" joint="yaw_LEG" ctrlrange="-1 1"/>
<general name="lift_LEG" tendon="lift_LEG" ctrlrange="-1 1.1"/>
<general name="extend_LEG" tendon="extend_LEG" ctrlrange="-.8 .8"/>`

// quadruped provides the measurements of the body.
type quadruped struct {
	*physics
	torso int // body of the torso
}

// The ranges of the sensors, in the order of the model's text.
var (
	quadrupedIMU      = [2]int{0, 6}  // accelerometer (m/s²), gyro (radians/s)
	quadrupedVelocity = [2]int{6, 9}  // of the torso in its own frame, m/s
	quadrupedToes     = [2]int{9, 33} // forces (N), then torques (N·m), three each
)

func (q quadruped) sensors(at [2]int) []float64 { return q.SensorData[at[0]:at[1]] }

// upright is the cosine between the torso's axis and the vertical.
func (q quadruped) upright() float64 { return q.XMat[9*q.torso+8] }

// legs and legVelocities are the positions and velocities of the legs' joints,
// radians and radians/s; the free joint of the torso precedes them.
func (q quadruped) legs() []float64          { return q.QPos[7 : 7+quadrupedLegJoints] }
func (q quadruped) legVelocities() []float64 { return q.QVel[6 : 6+quadrupedLegJoints] }

// quadrupedTask is the task of walking or running.
type quadrupedTask struct {
	quadruped
	moving tolerance // reward of the speed
}

var quadrupedUpright = tolerance{Lower: 1, Upper: infinity, Margin: 2, AtMargin: 0, Sigmoid: linear}

func bindQuadruped(speed float64) func(*physics) (behaviour, error) {
	moving := tolerance{Lower: speed, Upper: infinity, Margin: speed, AtMargin: 0.5, Sigmoid: linear}
	return func(p *physics) (behaviour, error) {
		torso, err := p.model.Index(mujoco.Body, "torso")
		return quadrupedTask{quadruped{p, torso}, moving}, err
	}
}

// start turns the body at random, with straight legs, and raises it until it touches
// nothing.
func (t quadrupedTask) start(r *rand.Rand) error {
	orientation := [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
	norm := 0.0
	for _, x := range orientation {
		norm += x * x
	}
	for i := range orientation {
		orientation[i] /= math.Sqrt(norm)
	}
	for lift := range quadrupedMaxLifts {
		if err := errors.Join(t.Reset(), t.forward()); err != nil {
			return err
		}
		copy(t.QPos, []float64{0, 0, quadrupedLift * float64(lift)})
		copy(t.QPos[3:], orientation[:])
		if err := t.forward(); err != nil {
			return err
		}
		if contacts, err := t.Int("ncon"); err != nil || contacts == 0 {
			return err
		}
	}
	return fmt.Errorf("no height without contacts")
}

func (t quadrupedTask) observe(obs []float64) {
	n := 0
	for _, part := range [][]float64{t.legs(), t.legVelocities(), t.Act, t.sensors(quadrupedVelocity)} {
		n += copy(obs[n:], part)
	}
	obs[n] = t.upright()
	n++
	n += copy(obs[n:], t.sensors(quadrupedIMU))
	for i, x := range t.sensors(quadrupedToes) {
		obs[n+i] = math.Asinh(x)
	}
}

func (t quadrupedTask) reward() float64 {
	return quadrupedUpright.Of(t.upright()) * t.moving.Of(t.sensors(quadrupedVelocity)[0])
}

func quadrupedNames() []string {
	names := append(numbered("hinge", 16), numbered("hinge speed", 16)...)
	names = append(names, numbered("actuator", 12)...)
	names = append(names, "speed x", "speed y", "speed z", "upright",
		"acceleration x", "acceleration y", "acceleration z", "turning x", "turning y", "turning z")
	return append(names, numbered("toe force", 24)...)
}
