// Package envs holds the tasks: bodies out of the DeepMind Control Suite, their
// start states, observations and rewards, stepped by MuJoCo.
//
// A body is one file in a fixed order: constants with units, the model's text,
// what is measured (Physics, in dm_control's words), and the task: how an
// episode starts, what is observed, what is rewarded. The figures are those of
// google-deepmind/dm_control at commit 985d094, folder dm_control/suite; the
// texts are our own.
//
// Find and Tasks give tasks by name. Task.New makes one environment,
// Task.NewVec many that are stepped together, for evaluation. Observations are
// dm_control's, flattened in its order; actions lie in [-1,1] in every
// coordinate and are rescaled to the actuators' ranges. An episode is 1000
// control steps; none of these tasks ends earlier, so its end is a truncation
// and not a termination (Gymnasium's distinction): the value of the last state
// is that of any other.
//
// A start state is a function of seed and episode alone. An environment can be
// saved in the middle of an episode and goes on bit for bit.
//
// Task.View draws: Env.Pose says where everything is, View.Draw paints it, in
// another goroutine if need be.
//
// Load compiles the physics ahead of need; it may run in the background.
package envs
