// Package op extends Gorgonia with the operations that PGR needs: ensemble linear layers, the
// tanh-Gaussian policy, temporal-difference targets, EDM preconditioning, normalisation, losses,
// and their gradients. Each operation is a gorgonia.SDOp with a plain Go reference implementation
// (Do). Gorgonia's TapeMachine runs the reference, and every fast implementation is tested against
// it.
//
// # Shapes
//
// Activations are [B,C] (batch rows, channels), or [N,B,C] with a leading ensemble dimension.
// Weights are [i,o] or [N,i,o], biases [o] or [N,o]. Live scalars (a learning rate, γ, α) are
// inputs of shape [1]; losses are scalars. Images are rows of [B,C] in NHWC order, with C =
// height·width·channels (package window); they have no ensemble dimension. Nothing broadcasts
// unless the operation says so: Members and SpreadColumns repeat; RowScale, ColScale and ColAdd
// work by rows or columns. A batch may be empty (B = 0) in a plan; Gorgonia's own machines cannot
// run an empty batch.
//
// # Randomness
//
// No operation draws random numbers. Noise and row indices are inputs that the host or a fill of
// the plan writes, so that every implementation sees the same numbers.
//
// # Building
//
// Build runs a function that makes the graph. Inside that function, wrong shapes panic with an
// *Error that names the operation, the shapes and the caller; Build returns it as an error. One
// graph holds one loss: Gorgonia's Grad gives wrong numbers when it is called twice on a graph
// (nodes derived for the first loss keep its gradient), so Graph refuses the second call. Graphs
// share parameters by binding the same Tensor.
//
// # Why not Gorgonia's own operations
//
// Gorgonia's operations allocate, do not broadcast as documented, and hide their types, so that no
// compiler can recognise them. Grad itself inserts two of them: addition where a node has several
// users, and the constant one. Adds and Constant recognise these two, and the executor runs them.
package op
