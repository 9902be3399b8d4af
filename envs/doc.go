// Package envs defines the tasks: bodies of the DeepMind Control Suite and of OpenAI
// Gym with their start states, observations and rewards, stepped by MuJoCo.
//
// Each body has one file in a fixed order: constants with units, the model's text,
// the measurements (in dm_control's words), and the tasks: how an episode starts,
// what is observed, what is rewarded, what ends it. The numbers are those of
// google-deepmind/dm_control at commit 985d094, folder dm_control/suite, and of
// openai/gym 0.23, folder gym/envs/mujoco; the texts are our own.
//
// Find and Tasks give tasks by name. Task.New makes one environment, Task.NewVec
// many that are stepped together, for evaluation; Task.With plays a task with
// action repeat. Observations are those of the originals, flattened in their
// order. Actions lie in [-1,1] in every coordinate and are rescaled to the actuators'
// ranges. An episode has at most 1000 control steps. Only Hopper-v2 and Walker2d-v2
// can end earlier, when the body falls: this is a termination. The time limit is a
// truncation (Gymnasium's distinction): the last state has a value like any other.
//
// A start state is a function of seed and episode alone. Reward and observation are
// functions of the physics; a reward of Gym also depends on the state before. An
// environment can be saved in the middle of an episode and goes on bit for bit.
// Env.Place puts it into the state that an observation describes.
//
// Nothing is ignored silently: invalid actions, steps after the end and a diverged
// simulation (Diverged) are errors that name the task.
//
// Task.View draws: Env.Pose says where everything is, and View.Draw paints it, in
// another goroutine if need be.
//
// Load compiles the physics ahead of time; it may run in the background.
package envs
