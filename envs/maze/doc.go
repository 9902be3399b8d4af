// Package maze provides first-person mazes with sparse rewards, in the spirit of the explore
// levels of DMLab (Beattie et al. 2016) on which episodic curiosity (Savinov et al. 2019, section
// S6) and prioritized generative replay (Wang et al. 2025) are tested. Maps, body and picture are
// our own.
//
// # An episode
//
// Every episode is a different maze of 17×17 cells: nine rooms, corridors between them, and one
// goal in one of the rooms. A player who touches the goal earns 10 and is moved to another start
// in a room, as often as time allows: 1,800 actions of four frames of 1/60 s. The time limit is a
// truncation. In maze-sparse a start may be beside the goal; in maze-very-sparse it is at least
// ten cells of walking away.
//
// There are nine actions (Actions), each a row with 1 at the chosen one and 0 elsewhere. The
// last one, fire, has no effect except on a TV.
//
// # What is observed
//
// Observations are 32 rays over 90° from left to right, each (red, green, blue of the wall, nearness
// 1/(1+depth), whether the goal is seen), or frames of any side: Env.Frame. Both show the same
// scene. A TV (TV) covers the lower right quarter of a frame, or the last eight rays.
//
// # Random numbers
//
// The maze, its looks, its starts and the TV are drawn from separate streams, each given by a
// Split, a seed and an episode. So a TV never changes a maze, and no part of an episode depends
// on earlier draws. Positions and pixels are computed without fused products: equal states have
// equal bytes on every processor.
package maze
