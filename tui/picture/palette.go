package picture

import (
	"math"
	"sync"
)

// palette16 are the 16 colours as xterm shows them by default. Other terminals show other colours,
// but in the same order.
var palette16 = [16]rgb{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

// palette256 is xterm's palette without its first 16 colours, which terminals change: a cube of six
// levels, then 24 greys (xterm's 256colres.h).
var palette256 = sync.OnceValue(func() []rgb {
	levels := [6]uint8{0, 95, 135, 175, 215, 255}
	var all []rgb
	for _, r := range levels {
		for _, g := range levels {
			for _, b := range levels {
				all = append(all, rgb{r, g, b})
			}
		}
	}
	for i := range uint8(24) {
		all = append(all, rgb{8 + 10*i, 8 + 10*i, 8 + 10*i})
	}
	return all
})

// nearestTable gives the nearest colour of a palette for every colour of 5 bits a channel.
func nearestTable(palette []rgb) []uint8 {
	table := make([]uint8, 1<<15)
	for i := range table {
		c := rgb{widen(i >> 10), widen(i >> 5 & 31), widen(i & 31)}
		table[i] = uint8(nearest(c, palette))
	}
	return table
}

// widen turns 5 bits into 8.
func widen(x int) uint8 { return uint8(x<<3 | x>>2) }

func lookup(table []uint8, c rgb) int {
	return int(table[int(c[0]>>3)<<10|int(c[1]>>3)<<5|int(c[2]>>3)])
}

var (
	table16  = sync.OnceValue(func() []uint8 { return nearestTable(palette16[:]) })
	table256 = sync.OnceValue(func() []uint8 { return nearestTable(palette256()) })
)

func nearest16(c rgb) int  { return lookup(table16(), c) }
func nearest256(c rgb) int { return 16 + lookup(table256(), c) }

// nearest is the colour of the palette at the least distance, by the weighted Euclidean distance
// that takes the mean red into account (T. Riemersma, "Colour metric", CompuPhase).
func nearest(c rgb, palette []rgb) int {
	best, least := 0, int(^uint(0)>>1)
	for i, p := range palette {
		red := (int(c[0]) + int(p[0])) / 2
		dr, dg, db := int(c[0])-int(p[0]), int(c[1])-int(p[1]), int(c[2])-int(p[2])
		if d := (512+red)*dr*dr/256 + 4*dg*dg + (767-red)*db*db/256; d < least {
			best, least = i, d
		}
	}
	return best
}

// dither16 is how far dithering moves a channel up or down. For smooth pictures, half of the
// distance between two neighbouring colours would be right; less keeps the body, which the viewer
// looks at, calmer.
const dither16 = 24

// brighter lifts the dark half of a channel: the palette of 256 has hardly any dark colours, and
// half of a scene is its dark sky and floor.
var brighter = func() (table [256]uint8) {
	for i := range table {
		table[i] = uint8(math.Round(255 * math.Pow(float64(i)/255, .7)))
	}
	return table
}()

func brightened(c rgb) rgb { return rgb{brighter[c[0]], brighter[c[1]], brighter[c[2]]} }

// saturated doubles a colour's distance from grey: the 16 colours are either grey or pure, and a
// brown body would otherwise be as grey as the sky.
func saturated(c rgb) rgb {
	grey := (2*int(c[0]) + 5*int(c[1]) + int(c[2])) / 8
	for i := range c {
		c[i] = clamp(2*int(c[i]) - grey)
	}
	return c
}

func clamp(x int) uint8 { return uint8(min(max(x, 0), 255)) }

// bayer is the ordered dither matrix of size 4 (Bayer 1973).
var bayer = [4][4]int{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// dithered moves a colour by a threshold that depends only on the pixel's place, so that still
// parts do not flicker.
func dithered(c rgb, x, y, strength int) rgb {
	shift := (2*bayer[y&3][x&3] - 15) * strength / 15
	for i := range c {
		c[i] = clamp(int(c[i]) + shift)
	}
	return c
}
