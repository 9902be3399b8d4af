package envs

import (
	"fmt"
	"strings"
)

// runners name the joints of the bodies that run along a line, behind x, height and
// pitch of their root.
var (
	cheetahJoints   = []string{"back thigh", "back shin", "back foot", "front thigh", "front shin", "front foot"}
	hopperJoints    = []string{"waist", "hip", "knee", "ankle"}
	gymHopperJoints = []string{"thigh", "leg", "foot"}
	walkerJoints    = []string{"right hip", "right knee", "right ankle", "left hip", "left knee", "left ankle"}
	walkerBodies    = []string{"torso", "right thigh", "right leg", "right foot", "left thigh", "left leg", "left foot"}
)

// Names are short names of the numbers of an observation, in their order.
func (t Task) Names() []string {
	switch body, _, _ := strings.Cut(t.Name, "-"); body {
	case "cheetah", "HalfCheetah":
		return alongALine(cheetahJoints)
	case "hopper":
		return append(alongALine(hopperJoints), "toe touch", "heel touch")
	case "Hopper":
		return alongALine(gymHopperJoints)
	case "Walker2d":
		return alongALine(walkerJoints)
	case "walker":
		return walkerNames()
	case "quadruped":
		return quadrupedNames()
	case "reacher":
		return []string{"shoulder", "wrist", "to target x", "to target y", "shoulder speed", "wrist speed"}
	case "finger":
		names := []string{"proximal", "distal", "tip x", "tip z", "proximal speed", "distal speed", "hinge speed", "touch top", "touch bottom"}
		return append(names, []string{"target x", "target z", "distance"}[:t.ObsSize-len(names)]...)
	case "ball":
		return []string{"cup x", "cup z", "ball x", "ball z", "cup speed x", "cup speed z", "ball speed x", "ball speed z"}
	case "cartpole":
		return []string{"cart x", "pole cos", "pole sin", "cart speed", "pole speed"}
	case "pendulum":
		return []string{"cos", "sin", "speed"}
	case "point":
		return []string{"x", "y", "speed x", "speed y"}
	}
	return numbered("s", t.ObsSize)
}

// alongALine names positions but x, then velocities.
func alongALine(joints []string) []string {
	names := append([]string{"height", "pitch"}, joints...)
	names = append(names, "speed x", "speed z", "pitch speed")
	return append(names, each(joints, "%s speed")...)
}

func walkerNames() []string {
	var names []string
	for _, b := range walkerBodies {
		names = append(names, b+" xx", b+" xz") // of the body's orientation
	}
	names = append(names, "height", "speed z", "speed x", "pitch speed")
	return append(names, each(walkerJoints, "%s speed")...)
}

func quadrupedNames() []string {
	names := append(numbered("hinge", 16), numbered("hinge speed", 16)...)
	names = append(names, numbered("actuator", 12)...)
	names = append(names, "speed x", "speed y", "speed z", "upright",
		"acceleration x", "acceleration y", "acceleration z", "turning x", "turning y", "turning z")
	return append(names, numbered("toe force", 24)...)
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
