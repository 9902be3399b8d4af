package render

import (
	"math"
	"math/rand/v2"
	"sync"
)

// The sky is a cube around the camera, skyTexels wide (dm_control/suite/common/
// skybox.xml): a colour that fades to black with falling elevation, and white
// stars at random texels.
const (
	skyTexels = 800
	starEvery = 100 // texels to a star, on average
)

var skyColour = Vec{.4, .6, .8}

// sky is the colour seen in direction d, which need not have length 1; pixel is the
// angle that a pixel covers, radians.
func sky(d Vec, pixel float64) Vec {
	// The gradient is a sigmoid of the elevation in right angles (MuJoCo,
	// mjCTexture::BuiltinCube).
	p := math.Atan2(d.Z, math.Hypot(d.X, d.Y)) / (math.Pi / 2)
	c := skyColour.scale(min(max(.5*(1+math.Sqrt2*p/math.Sqrt(1+p*p)), 0), 1))
	star := starsAt(d, pixel)
	return c.scale(1 - star).add(Vec{star, star, star})
}

// starsAt is the share of star texels in a pixel.
func starsAt(d Vec, pixel float64) float64 {
	face, u, v, depth := cubeFace(Vec{d.X, d.Z, -d.Y})
	const half = skyTexels / 2.
	x, y := (u+1)*half, (v+1)*half
	// A pixel covers this many texels, but never fewer than the two from which a texture is
	// interpolated.
	reach := max(pixel*d.norm()/depth*half, 1)
	left, right := max(int(x-reach/2), 0), min(int(x+reach/2), skyTexels-1)
	top, bottom := max(int(y-reach/2), 0), min(int(y+reach/2), skyTexels-1)
	sum, weight := 0., 0.
	set := stars()
	for j := top; j <= bottom; j++ {
		wy := min(float64(j+1), y+reach/2) - max(float64(j), y-reach/2)
		for i := left; i <= right; i++ {
			w := wy * (min(float64(i+1), x+reach/2) - max(float64(i), x-reach/2))
			weight += w
			if at := (face*skyTexels+j)*skyTexels + i; set[at>>6]>>(at&63)&1 != 0 {
				sum += w
			}
		}
	}
	if weight <= 0 {
		return 0
	}
	return sum / weight
}

// cubeFace returns OpenGL's choice of a cube's face and the position on it in [-1,1]
// (OpenGL 2.1, table 3.19).
func cubeFace(d Vec) (face int, u, v, depth float64) {
	x, y, z := math.Abs(d.X), math.Abs(d.Y), math.Abs(d.Z)
	switch {
	case x >= y && x >= z && d.X > 0:
		return 0, -d.Z / x, -d.Y / x, x
	case x >= y && x >= z:
		return 1, d.Z / x, -d.Y / x, x
	case y >= z && d.Y > 0:
		return 2, d.X / y, d.Z / y, y
	case y >= z:
		return 3, d.X / y, -d.Z / y, y
	case d.Z > 0:
		return 4, d.X / z, -d.Y / z, z
	}
	return 5, -d.X / z, -d.Y / z, z
}

// stars says which texels of the six faces are white, one bit each. Their number is
// MuJoCo's; their positions are drawn by this program.
var stars = sync.OnceValue(func() []uint64 {
	const limit = 1 << 32 / starEvery
	set := make([]uint64, 6*skyTexels*skyTexels/64)
	r := rand.NewPCG(42, 0)
	for i := range set {
		for bit := 0; bit < 64; bit += 2 { // two texels per draw
			x := r.Uint64()
			if x>>32 < limit {
				set[i] |= 1 << bit
			}
			if x&math.MaxUint32 < limit {
				set[i] |= 2 << bit
			}
		}
	}
	return set
})
