// Package cpu runs programs on the cores of this machine.
//
// # Lanes
//
// Work is split into a fixed number of lanes (two), independent of the number of workers. Lane l of
// L owns rows B·l/L to B·(l+1)/L of every batch. If rows are summed, each lane has its own partial
// sums, which are added in lane order. Workers take lanes; one worker that takes both gives the
// same bits as two workers.
//
// A device with more workers cuts lanes into parts, which do not affect the numbers: rows of work
// done row by row, columns of the result of sums over rows, members, and images, wherever no sum
// changes its order (share.go). Work that cannot be cut this way, such as a lane's partial sums of
// small things, is done by one worker for the lane. A program with less work than leastShare for
// each part is not cut. Whether all workers, two or one are quickest is found while the program
// runs (package adapt).
//
// What a lane owns depends on the program alone: rows of the batch if networks are small, members
// if their number is even, and parts of the weights if these are large (columns.go, members.go).
// With members or parts of weights, gradients need no partial sums.
//
// # Barriers
//
// An instruction becomes one or more stages, each of which declares how it accesses buffers: by
// rows, by elements, by lane, as a whole. Lanes and their parts run through stages without waiting
// for each other until one would access what another one wrote (or overwrite what it reads): there,
// and only there, the compiler puts a barrier. A forward and backward pass of a small network has
// no barrier of its own; the check of loss and gradients follows after one barrier, the optimiser
// after another.
//
// # Fusion
//
// Passes over activations that a layer reads or writes anyway are done by the layer (fuse.go). An
// addition to the layer's result becomes the start of its sums. An activation that only layers read
// is evaluated as they copy their operand, once for each element. Members that are columns side by
// side, or copies of one matrix, are not copied for a layer that can read or write them where they are
// (beside.go). A program's dump shows which step does what.
package cpu
