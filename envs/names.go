package envs

import (
	"fmt"
	"slices"
)

// Names returns short names of the numbers of an observation, in their order.
func (t Task) Names() []string { return slices.Clone(t.names) }

// alongLine names the observation of a body that runs along x: height and pitch of
// its root and the joints, then their velocities and the velocity along x.
func alongLine(joints ...string) []string {
	names := append([]string{"height", "pitch"}, joints...)
	names = append(names, "speed x", "speed z", "pitch speed")
	return append(names, each(joints, "%s speed")...)
}

func each(names []string, format string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf(format, n)
	}
	return out
}

func numbered(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s %d", name, i+1)
	}
	return out
}
