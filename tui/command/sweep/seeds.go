package sweep

import (
	"slices"
	"strconv"
	"strings"

	"pgrlab/tui/command/cli"
)

// maxSeeds is how many seeds a range may hold.
const maxSeeds = 10_000

// parseSeeds reads "0-4,7".
func parseSeeds(text string) ([]uint64, error) {
	var all []uint64
	seen := map[uint64]bool{}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.ParseUint(from, 10, 64)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(to, 10, 64)
		}
		if err == nil && b >= a && b-a >= maxSeeds {
			return nil, cli.Usagef("--seeds %s: %q are too many: want at most %d", text, part, maxSeeds)
		}
		if err != nil || b < a {
			return nil, cli.Usagef("--seeds %s: %q is not a seed or a range: want for example 0-4,7", text, part)
		}
		for s := a; ; s++ {
			if seen[s] {
				return nil, cli.Usagef("--seeds %s: seed %d twice", text, s)
			}
			seen[s] = true
			all = append(all, s)
			if s == b {
				break
			}
		}
	}
	return all, nil
}

// shared is the first of the seeds that a run of several members, which begins with another one,
// trains as well.
func shared(seed uint64, members int, seeds []uint64) (twice uint64, shares bool) {
	i := slices.IndexFunc(seeds, func(s uint64) bool { return s > seed && s-seed < uint64(members) })
	if i < 0 {
		return 0, false
	}
	return seeds[i], true
}
