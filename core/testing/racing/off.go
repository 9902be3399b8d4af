//go:build !race

package racing

// On says whether the race detector watches.
const On = false
