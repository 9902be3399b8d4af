// Package op extends Gorgonia by the operations that PGR is made of: ensemble
// linear layers, the tanh-Gaussian policy, temporal-difference targets, EDM
// preconditioning, normalisation, losses, and their gradients. Each is a
// gorgonia.SDOp with a plain Go reference implementation (Do), which Gorgonia's
// TapeMachine runs and which every fast implementation is held to.
//
// # Shapes
//
// Activations are [B,C] (batch rows, channels), or [N,B,C] with a leading
// ensemble dimension. Weights are [i,o] or [N,i,o], biases [o] or [N,o]. Live
// scalars (a learning rate, γ, α) are inputs of shape [1]; losses are scalars.
// Images are rows of [B,C] in NHWC order, with C = height·width·channels (package
// window); they have no ensemble dimension. Nothing broadcasts unless the operation
// says so: Members and SpreadColumns repeat, RowScale, ColScale and ColAdd work by rows
// and columns. A batch may be empty (B = 0) in a plan; Gorgonia's own machines cannot
// run that.
//
// # Randomness
//
// No operation draws random numbers. Noise and indices of rows are inputs that a
// fill of the plan or the host writes, so that every implementation sees the same
// ones.
//
// # Building
//
// Build runs a function that makes the graph. Inside, wrong shapes panic with
// an *Error that names operation, shapes and caller; Build returns it as an
// error. One graph holds one loss: Gorgonia's Grad gives wrong numbers when it
// is called twice on a graph (nodes derived for the first loss keep its
// gradient), so that Graph refuses the second call. Graphs share parameters by
// binding the same Tensor.
//
// # Why not Gorgonia's own operations
//
// They allocate, do not broadcast as documented and hide their types, so that
// no compiler can recognise them. The two that Grad itself inserts (addition
// where a node has several users, and the constant one) are recognised by Adds
// and run by the executor.
package op
