//go:build !race

package lab

// resumedOf is of how many borders one is gone on from.
const resumedOf = 1
