// Package nn builds networks as graphs: layers that own their parameters,
// initialisers, and the file format of weights.
package nn
