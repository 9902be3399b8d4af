package sac

import (
	"fmt"
	"testing"

	"pgrlab/core/agent"
)

// BenchmarkUpdate makes one env step's updates at the sizes of the paper: cheetah-run and
// quadruped-walk, UTD 20, batch 256. It reports the time of one critic update with its share of the
// policy's.
func BenchmarkUpdate(b *testing.B) {
	for _, c := range []struct {
		name                     string
		obs, act, critics, every int
	}{
		{"cheetah", 17, 6, 2, 20}, {"quadruped", 78, 12, 2, 20}, {"quadruped every time", 78, 12, 2, 1}, {"redq cheetah", 17, 6, 10, 20},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				config := DefaultConfig(c.obs, c.act)
				config.Critics = c.critics
				s, err := New(config, newDevice(b, threads), 1)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				fill(b, s, 256, 0)
				i := 0
				for b.Loop() {
					i++
					if _, _, err := s.Update(256, agent.DefaultRates, i%c.every == 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAct(b *testing.B) {
	s := newAgent(b, DefaultConfig(17, 6), 1)
	obs, action := make([]float32, 10*17), make([]float32, 10*6)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if err := act(s, action[:6], obs[:17], 1, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ten means", func(b *testing.B) {
		for b.Loop() {
			if err := actMean(s, action, obs, 10); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkVariants compares the variants with plain REDQ: ten critics on cheetah-run.
func BenchmarkVariants(b *testing.B) {
	for _, name := range []string{ExplorePolicy, ExploreNoisy, "weighted"} {
		b.Run(name, func(b *testing.B) {
			c := DefaultConfig(17, 6)
			c.Critics, c.NoisySigma = 10, 0.5
			if c.Weighted = name == "weighted"; !c.Weighted {
				c.Exploration = name
			}
			s := newAgent(b, c, 1)
			fill(b, s, 256, 0)
			errors := make([]float32, 256)
			for b.Loop() {
				if _, _, err := s.Update(256, agent.DefaultRates, false); err != nil {
					b.Fatal(err)
				}
				if c.Weighted {
					if err := s.Errors(errors, 256); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
