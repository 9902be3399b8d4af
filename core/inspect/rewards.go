package inspect

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/core/replay"
)

// rewards counts the rows with a reward among those of a ring.
type rewards struct {
	column  int     // of r
	above   float64 // a row counts if its |r| is larger
	rows    int     // counted or not
	counted int
	least   float64 // the least |r| of a row that counts; +Inf if none does
	most    float64 // the largest |r|
}

func newRewards(shape replay.Shape, above float64) *rewards {
	return &rewards{column: shape.Obs + shape.Act, above: above, least: math.Inf(1)}
}

func (c *rewards) add(row []float32) {
	c.rows++
	if size := math.Abs(float64(row[c.column])); size > c.above {
		c.counted++
		c.least, c.most = min(c.least, size), max(c.most, size)
	}
}

func (c *rewards) share() float64 { return float64(c.counted) / float64(c.rows) }

// rewarded returns the counter of generated rows beside these real ones. A network hardly ever
// gives exactly 0, so that a generated row counts if its |r| is nearer to the least real one than
// to 0. If no real row has a reward, no generated one counts.
func (c *rewards) rewarded(shape replay.Shape) *rewards { return newRewards(shape, c.least/2) }

// rare says whether the count means something: most rewards are 0, and the others not of all sizes,
// where half of the least would be hardly more than a generator's blur.
func (c *rewards) rare() bool {
	return 2*c.counted <= c.rows && (c.counted == 0 || c.least >= c.most/10)
}

// tellRewards fills in the shares of rewarded rows.
func tellRewards(g *event.Generated, real, generated *rewards) {
	if !real.rare() {
		return
	}
	g.RewardedReal = float(real.share())
	if real.counted > 0 {
		g.Rewarded = float(generated.share())
	}
}
