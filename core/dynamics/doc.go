// Package dynamics is a model of the dynamics of a task that is learned from its transitions: a
// probabilistic ensemble, as of MBPO (Janner et al. 2019) after PETS (Chua et al. 2018).
//
// Each of N networks maps [s, a], standardised, to the mean and the logarithm of the variance of a
// Gaussian over an outcome y, for example [r, s'−s]. All of them learn at once, each from its own
// bootstrap sample and its own order of it, until none gets better on rows that are held out; those
// that are best there, the elites, serve predictions.
//
// The loss of a batch is, with the mean over its rows and the D outputs,
//
//	Σ_N mean[(μ−y)²·e^−ℓ + ℓ] + Σ_layers c·½‖W‖² + 0.01·(Σ max − Σ min)
//
// for log-variances ℓ kept between two learned vectors min and max by softplus. The second term is added
// to gradients by the optimiser; reported losses are without it. Constants and order follow jannerm/mbpo (mbpo/models/bnn.py, constructor.py, fc.py), to whose recorded numbers the
// tests hold this package.
//
// # Why
//
// Random numbers are indexed by refit and epoch, so that a fit may be cut into slices and saved
// between any two of them. The rows of a fit are not copied: what they are in is standardised again at
// every batch.
package dynamics
