package inspect

import (
	"fmt"
	"testing"
	"time"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// BenchmarkDescribe times the description of a generation of a run of 100,000 steps, besides the
// simulator and F, as a whole and in its longest piece, which a key may have to wait for.
func BenchmarkDescribe(b *testing.B) {
	for _, shape := range []replay.Shape{{Obs: 17, Act: 6}, {Obs: 78, Act: 12}} {
		for _, n := range []int{100_000, 1_000_000} {
			if n > 100_000 && shape.Obs > 20 {
				continue
			}
			ring, row := replay.NewRing(shape, n), make([]float32, shape.Width())
			noise := rng.New(1, "rows")
			for i := range n {
				noise.FillNormal(row, uint64(i), 0)
				ring.AddRows(row)
			}
			rows := make([]float32, 256*shape.Width())
			noise.FillNormal(rows, 1<<40, 0)
			b.Run(fmt.Sprintf("256 rows of %d and %d numbers against %d", shape.Obs, shape.Act, n), func(b *testing.B) {
				var longest time.Duration
				for b.Loop() {
					at := time.Now()
					e := &examiner{View: View{Real: ring, Syn: ring}, yield: func() error {
						longest = max(longest, time.Since(at))
						at = time.Now()
						return nil
					}}
					if _, err := e.describe(rows); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(longest.Seconds()*1000, "ms/longest")
			})
		}
	}
}
