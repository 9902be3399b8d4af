// Package cpu runs programs on the cores of this machine.
//
// # Lanes
//
// Work is split into a fixed number of lanes (two), never into workers: lane l
// of L owns rows B·l/L to B·(l+1)/L of every batch, and its own partial sums
// where rows are summed, which are added in lane order. Workers take lanes; one
// worker that takes both gives the same bits as two.
//
// A device with more workers cuts lanes into parts, which belong to no number: rows of
// what is done row by row, columns of the result of what is summed over rows, members,
// images, where no sum changes its order (share.go). What cannot be cut so, a lane's
// partial sums of small things, one worker does for the lane. A program with less work
// than leastShare for each is not cut, and which of all workers, two or one are quickest
// is found as it runs (adapt.go).
//
// What a lane owns depends on the program alone: rows of the batch where networks
// are small, members where there is an even number of them, and parts of the
// weights where these are large (columns.go, members.go). Then gradients need no
// partial sums.
//
// # Barriers
//
// An instruction becomes one or more stages, each of which says how it touches
// buffers: by rows, by elements, by lane, as a whole. Lanes, and their parts, run through
// stages without waiting for each other until one would touch what another one wrote
// (or overwrite what it reads): there, and only there, the compiler puts a
// barrier. A forward and backward pass of a small network has none of its own; the
// check of loss and gradients follows it behind one, the optimiser behind another.
//
// # Fusion
//
// What passes over activations that a layer reads or writes anyway is done by the
// layer (fuse.go): an addition to its result is what its sums start with, an
// activation that only layers read is evaluated as they copy their operand, once for
// each element. A program's dump says at which step what is done.
package cpu
