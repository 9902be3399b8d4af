package maze

import "sync"

// Textures are computed with whole numbers only, so that they are the same everywhere.
const (
	texels = 64 // texels along each side of a texture
	levels = 5  // mip levels: 64, 32, 16, 8, 4 texels
)

type colour [3]uint8

// texture is a picture in mip levels, each averaged from the one before. Texel (u,v) of level k
// is at levels[k][3·(u·(64>>k) + v)], so that a column is contiguous.
type texture struct {
	levels [levels][]uint8
	means  [levels][][3]float32 // means of the columns, in [0,1]
}

// newTexture paints every texel, u to the right and v down.
func newTexture(paint func(u, v int) colour) *texture {
	t := &texture{}
	fine := make([]uint8, 0, 3*texels*texels)
	for u := range texels {
		for v := range texels {
			c := paint(u, v)
			fine = append(fine, c[:]...)
		}
	}
	t.levels[0] = fine
	for k := 1; k < levels; k++ {
		t.levels[k] = halved(t.levels[k-1], texels>>(k-1))
	}
	for k, level := range t.levels {
		n := texels >> k
		t.means[k] = make([][3]float32, n)
		for u := range n {
			var sum [3]int
			for i, c := range level[3*u*n : 3*(u+1)*n] {
				sum[i%3] += int(c)
			}
			for i, s := range sum {
				t.means[k][u][i] = float32(s) / float32(255*n)
			}
		}
	}
	return t
}

// halved returns a level of side n reduced to half its side.
func halved(fine []uint8, n int) []uint8 {
	half := n / 2
	coarse := make([]uint8, 3*half*half)
	for u := range half {
		for v := range half {
			for c := range 3 {
				at := func(du, dv int) int { return int(fine[3*((2*u+du)*n+2*v+dv)+c]) }
				coarse[3*(u*half+v)+c] = uint8((at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1) + 2) / 4)
			}
		}
	}
	return coarse
}

// The sizes of the library from which every episode's looks are chosen.
const (
	wallKinds     = 8
	floorKinds    = 4
	skyKinds      = 4
	pictureKinds  = 24 // on the walls: the landmarks
	tvImages      = 30 // pictures of the TV of images, as in episodic curiosity's levels
	skyWidth      = 256
	skyHeight     = 64
	pictureOneIn  = 10
	pictureMargin = 5 // texels of wall around a picture
)

// library holds all textures.
type library struct {
	walls  [wallKinds]*texture
	floors [floorKinds]*texture
	// skies are panoramas: texel (u,v) is at 3·(u·skyHeight + v), v from the zenith down.
	skies    [skyKinds][]uint8
	pictures [pictureKinds]*texture
	images   [tvImages]*texture
}

// textures returns the library, which is made when it is first used.
var textures = sync.OnceValue(func() *library {
	b := &library{}
	for i := range b.walls {
		b.walls[i] = newTexture(wallPaint(i))
	}
	for i := range b.floors {
		base := tone(uint64(i)*7+3, 60, 60)
		b.floors[i] = newTexture(func(u, v int) colour {
			return shade(base, 80+valueNoise(u, v, 16, uint64(i)+90)/4-24*((u/32+v/32)%2*(i%2)))
		})
	}
	for i := range b.skies {
		b.skies[i] = sky(uint64(i))
	}
	for i := range b.pictures {
		b.pictures[i] = newTexture(figurePaint(uint64(i), pictureMargin))
	}
	for i := range b.images {
		b.images[i] = newTexture(figurePaint(uint64(1000+i), 0))
	}
	return b
})

// wallPaint is the pattern of a kind of wall: bricks, stripes, checks or plaster.
func wallPaint(kind int) func(u, v int) colour {
	base, other := tone(uint64(kind)*11+1, 90, 140), tone(uint64(kind)*13+2, 60, 120)
	return func(u, v int) colour {
		grain := 88 + valueNoise(u, v, 8, uint64(kind))/10
		switch kind % 4 {
		case 0: // bricks of 32×16
			if row := v / 16; v%16 == 0 || (u+16*(row%2))%32 == 0 {
				return shade(other, 70)
			}
			return shade(base, grain)
		case 1: // upright stripes
			if u/16%2 == 0 {
				return shade(other, grain)
			}
			return shade(base, grain)
		case 2: // checks
			if (u/16+v/16)%2 == 0 {
				return shade(other, grain)
			}
			return shade(base, grain)
		}
		return shade(base, 60+valueNoise(u, v, 32, uint64(kind))/3) // plaster
	}
}

// figurePaint is a figure in two colours: a disc, a ring, a square, a cross, a triangle, rays, a
// checkerboard or waves. The margin is grey.
func figurePaint(key uint64, margin int) func(u, v int) colour {
	ground, figure := tone(key*2+501, 110, 145), tone(key*2+502, 40, 215)
	kind, size := scatter(key)%8, 14+int(scatter(key+77)%10)
	return func(u, v int) colour {
		if u < margin || v < margin || u >= texels-margin || v >= texels-margin {
			return colour{96, 96, 96}
		}
		x, y := 2*u-texels+1, 2*v-texels+1 // odd numbers from -63 to 63
		ax, ay := max(x, -x), max(y, -y)
		in := false
		switch s := 2 * size; kind {
		case 0:
			in = x*x+y*y < s*s
		case 1:
			in = x*x+y*y < s*s && 3*(x*x+y*y) > s*s
		case 2:
			in = ax < s && ay < s
		case 3:
			in = ax < s/3 || ay < s/3
		case 4:
			in = ay < s && 2*ax < y+s
		case 5:
			in = (ax > ay) != (x > 0) != (y > 0)
		case 6:
			in = (u/size+v/size)%2 == 0
		case 7:
			in = (v+ax/3)/7%2 == 0
		}
		if in {
			return figure
		}
		return ground
	}
}

// sky is a panorama that is darker towards the zenith, with hills on the horizon by which the
// heading can be recognised.
func sky(kind uint64) []uint8 {
	top, low, hill := tone(kind*5+301, 40, 90), tone(kind*5+302, 130, 110), tone(kind*5+303, 40, 80)
	p := make([]uint8, 0, 3*skyWidth*skyHeight)
	for u := range skyWidth {
		height := 4 + int(wave(u, 32, skyWidth, kind+700))*24/255
		for v := range skyHeight {
			c := hill
			if v < skyHeight-height {
				for i := range c {
					c[i] = uint8((int(top[i])*(skyHeight-v) + int(low[i])*v) / skyHeight)
				}
			}
			p = append(p, c[:]...)
		}
	}
	return p
}

// tone is a distinct colour for each key, with channels from least to least+spread.
func tone(key uint64, least, spread int) (c colour) {
	bits := scatter(key)
	for i := range c {
		c[i] = uint8(least + int(bits>>(16*i)&0xffff)*spread/0xffff)
	}
	return c
}

// shade scales the brightness of a colour by hundredths/100.
func shade(c colour, hundredths int) colour {
	for i := range c {
		c[i] = uint8(min(255, max(0, int(c[i])*hundredths/100)))
	}
	return c
}

// valueNoise is smooth noise in 0..255 that repeats with the texture: random values on a grid
// with a spacing of grid texels, interpolated linearly.
func valueNoise(u, v, grid int, key uint64) int {
	corner := func(i, j int) int {
		n := texels / grid
		return int(scatter(key<<32+uint64(i%n)<<8+uint64(j%n)) & 255)
	}
	i, j, a, b := u/grid, v/grid, u%grid, v%grid
	upper := corner(i, j)*(grid-a) + corner(i+1, j)*a
	lower := corner(i, j+1)*(grid-a) + corner(i+1, j+1)*a
	return (upper*(grid-b) + lower*b) / (grid * grid)
}

// wave is noise along a line that repeats after width.
func wave(u, grid, width int, key uint64) int {
	point := func(i int) int { return int(scatter(key<<32+uint64(i%(width/grid))) & 255) }
	i, a := u/grid, u%grid
	return (point(i)*(grid-a) + point(i+1)*a) / grid
}
