package sweep

import (
	"maps"
	"slices"
)

// Missing lists the jobs that are neither done nor left out.
func (g *Grid) Missing() []Job {
	var missing []Job
	for _, j := range g.Jobs {
		if _, done := g.Result(j); !done && !g.left[j.Index] {
			missing = append(missing, j)
		}
	}
	return missing
}

// IsLeft says whether a job was taken out of the work.
func (g *Grid) IsLeft(j Job) bool { return g.left[j.Index] }

// Left lists the indexes of the jobs that were taken out of the work.
func (g *Grid) Left() []int { return slices.Sorted(maps.Keys(g.left)) }
