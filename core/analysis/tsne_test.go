package analysis

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/rng"
)

// clouds makes two groups that are far apart in five dimensions.
func clouds(n int) (rows [][]float32) {
	for i := range n {
		row := make([]float32, 6)
		rng.New(3, "clouds").FillNormal(row, uint64(i), 0)
		if i%2 == 1 {
			for k := range 5 {
				row[k] += 12
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func TestEmbeddingKeepsGroupsApart(t *testing.T) {
	rows, breaths := clouds(120), 0
	y, err := Embed(rows, 5, func() error { breaths++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if breaths != embeddingSteps {
		t.Errorf("%d steps", breaths)
	}
	// The nearest neighbour of every point is in its own group.
	for i, a := range y {
		best, group := math.Inf(1), -1
		for j, b := range y {
			if d := math.Hypot(a[0]-b[0], a[1]-b[1]); j != i && d < best {
				best, group = d, j%2
			}
		}
		if group != i%2 {
			t.Errorf("point %d at %v is nearest to the other group", i, a)
		}
	}
	again, err := Embed(rows, 5, func() error { return nil })
	if err != nil || again[7] != y[7] {
		t.Errorf("another picture: %v, then %v, %v", y[7], again[7], err)
	}
	stop := errors.New("stop")
	if _, err := Embed(rows, 5, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("not ended: %v", err)
	}
	for _, n := range []int{20, MaxEmbedded + 1} {
		if _, err := Embed(make([][]float32, n), 5, nil); err == nil {
			t.Errorf("%d rows are taken", n)
		}
	}
}

// The gradient agrees with differences of the divergence Σ p ln(p/q).
func TestEmbeddingFollowsItsGradient(t *testing.T) {
	const n = 6
	y, near := make([][2]float64, n), make([]float64, n*n)
	total := 0.0
	for i := range n {
		y[i] = [2]float64{math.Sin(float64(3 * i)), math.Cos(float64(7 * i))}
		for j := range i {
			near[i*n+j] = 1 + math.Sin(float64(i*j))/2
			near[j*n+i] = near[i*n+j]
			total += 2 * near[i*n+j]
		}
	}
	for i := range near {
		near[i] /= total
	}
	divergence := func() (d float64) {
		sum := 0.0
		w := func(i, j int) float64 {
			return 1 / (1 + math.Pow(y[i][0]-y[j][0], 2) + math.Pow(y[i][1]-y[j][1], 2))
		}
		for i := range n {
			for j := range n {
				if i != j {
					sum += w(i, j)
				}
			}
		}
		for i := range n {
			for j := range n {
				if i != j {
					d += near[i*n+j] * math.Log(near[i*n+j]*sum/w(i, j))
				}
			}
		}
		return d
	}
	forces := make([][2]float64, n)
	pull(forces, make([]float64, n*n), near, y, 1)
	for i := range n {
		for d := range 2 {
			const h = 1e-5
			at := y[i][d]
			y[i][d] = at + h
			up := divergence()
			y[i][d] = at - h
			down := divergence()
			y[i][d] = at
			slope := (up - down) / (2 * h)
			if math.Abs(slope-forces[i][d]) > 1e-7 {
				t.Errorf("force %d,%d is %g, by differences %g", i, d, forces[i][d], slope)
			}
		}
	}
}
