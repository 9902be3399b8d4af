// Package maze holds first-person mazes with few rewards, in the spirit of the explore levels
// of DMLab (Beattie et al. 2016) that episodic curiosity (Savinov et al. 2019, section S6) and
// prioritized generative replay (Wang et al. 2025) are tried on. Maps, body and picture are our
// own.
//
// # An episode
//
// Every episode is another maze of 17×17 cells: nine rooms, corridors between them, and one goal
// in one of the rooms. Whoever touches the goal earns 10 and is put to another start in a room,
// as often as there is time: 1,800 actions of four frames of 1/60 s. The end of the time is a
// truncation. In maze-sparse a start may be beside the goal; in maze-very-sparse it is at least
// ten cells of walking away.
//
// There are nine actions (Actions), each a row with 1 at the chosen one and 0 elsewhere. The
// last one, fire, does nothing but what a TV makes of it.
//
// # What is observed
//
// Observations are 32 rays over 90° from left to right, each (red, green, blue of the wall, nearness
// 1/(1+depth), whether the goal is seen), or frames of any side: Env.Frame. Both show the same
// scene. A TV (TV) covers the lower right quarter of a frame, or the last eight rays.
//
// # Random numbers
//
// The maze, its looks, its starts and the TV are drawn from streams of their own: that of a
// Split, a seed and an episode. So a TV never changes a maze, and nothing of an episode depends
// on what was drawn before it. Positions and pixels are computed without fused products: the
// same state has the same bytes on every processor.
package maze
