package drqv2

import (
	"testing"

	"pgrlab/core/agent"
)

// BenchmarkUpdate times a whole update on frames of 64×64 with a batch of 128, at once and in
// parts.
func BenchmarkUpdate(b *testing.B) {
	for name, slice := range map[string]int{"at once": 128, "in two parts": 64} {
		b.Run(name, func(b *testing.B) {
			c := DefaultConfig(1)
			c.Pixels = agent.Pixels{Side: 64, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 2, 1, 1}, Feature: 50}
			c.Hidden, c.Slice = []int{256, 256}, slice
			s := newSession(newAgent(b, c, newDevice(b, 2)), newFilm(c, 200), 128)
			s.update(b)
			for b.Loop() {
				s.update(b)
			}
		})
	}
}
