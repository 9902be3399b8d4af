package config

import "testing"

// The runs beside a run of several seeds share none with it or with each other.
func TestDisjointSeeds(t *testing.T) {
	for _, members := range []int{0, 1, 4} {
		taken := map[uint64]bool{}
		for n := range 3 {
			first := Config{Seed: 7, Members: members}.Disjoint(n)
			for i := range uint64(max(1, members)) {
				if taken[first+i] {
					t.Errorf("%d members: run %d takes seed %d again", members, n, first+i)
				}
				taken[first+i] = true
			}
		}
		if got := (Config{Seed: 7, Members: members}).Disjoint(2); members < 2 && got != 9 {
			t.Errorf("one member: seed %d, want 9", got)
		}
	}
}
