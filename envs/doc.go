// Package envs holds the tasks: bodies of the DeepMind Control Suite and of OpenAI
// Gym, their start states, observations and rewards, stepped by MuJoCo.
//
// A body is one file in a fixed order: constants with units, the model's text,
// what is measured (in dm_control's words), and the tasks: how an episode starts,
// what is observed, what is rewarded, what ends it. The figures are those of
// google-deepmind/dm_control at commit 985d094, folder dm_control/suite, and of
// openai/gym 0.23, folder gym/envs/mujoco; the texts are our own.
//
// Find and Tasks give tasks by name. Task.New makes one environment, Task.NewVec
// many that are stepped together, for evaluation; Task.With plays a task with
// action repeat or noise. Observations are the originals', flattened in their
// order; actions lie in [-1,1] in every coordinate and are rescaled to the
// actuators' ranges. An episode is at most 1000 control steps. Only Hopper-v2 and
// Walker2d-v2 end earlier, when the body falls: a termination. The end of the time
// is a truncation (Gymnasium's distinction): the value of that last state is that
// of any other.
//
// A start state is a function of seed and episode alone. Reward and observation
// are functions of the physics; a reward of Gym's also of the state before. An
// environment can be saved in the middle of an episode and goes on bit for bit,
// and Env.Place puts it where an observation says it is.
//
// Nothing is passed over in silence: actions that make no sense, steps after the
// end and a simulation that ran away (Diverged) are errors that name the task.
//
// Task.View draws: Env.Pose says where everything is, View.Draw paints it, in
// another goroutine if need be.
//
// Load compiles the physics ahead of need; it may run in the background.
package envs
