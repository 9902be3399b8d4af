package maze

import (
	"fmt"
	"strings"
)

// TV is a screen over the lower right quarter of the view. What it shows has nothing to do with the
// maze.
type TV int

// The kinds of TV.
const (
	TVOff          TV = iota
	TVNoise           // new noise in every step, each byte uniform and independent
	TVNoiseAction     // new noise when the player fires
	TVImagesAction    // one of 30 pictures, a new one when the player fires
)

// TVs lists the names of the kinds of TV.
var TVs = []string{"off", "noise", "noise-action", "images-action"}

// String is the name of the TV.
func (t TV) String() string { return TVs[t] }

// ParseTV finds a TV by its name; "" is off.
func ParseTV(name string) (TV, error) {
	if name == "" {
		return TVOff, nil
	}
	for i, n := range TVs {
		if n == name {
			return TV(i), nil
		}
	}
	return 0, fmt.Errorf("tv is %q, want one of %s", name, strings.Join(TVs, ", "))
}

// screen is the present content of a TV.
type screen struct {
	tv   TV
	key  uint64 // key of its stream in the episode
	item uint64 // which noise, or which picture
}

// at returns what the TV shows after that many steps and shots of an episode.
func (t TV) at(w world, steps, shots int) screen {
	s := screen{tv: t, key: w.key(forTV)}
	switch t {
	case TVNoise:
		s.item = uint64(steps)
	case TVNoiseAction, TVImagesAction:
		s.item = uint64(shots)
	}
	return s
}

// noise writes the bytes of the present noise from index from on, a multiple of 8.
func (s *screen) noise(dst []uint8, from int) {
	base := scatter(s.key + s.item)
	for word := uint64(from / 8); len(dst) > 0; word++ {
		bits := scatter(base ^ scatter(word))
		for range min(8, len(dst)) {
			dst[0], bits, dst = uint8(bits), bits>>8, dst[1:]
		}
	}
}

// image is the present picture.
func (s *screen) image() *texture { return textures().images[scatter(s.key+s.item)%tvImages] }

// cover draws the TV into a frame [side,side,3].
func (s *screen) cover(dst []byte, side int) {
	left, wide := side/2, side-side/2
	switch s.tv {
	case TVOff:
		return
	case TVImagesAction:
		s.coverImage(dst, side)
		return
	}
	stride := (3*wide + 7) &^ 7
	for row := side / 2; row < side; row++ {
		s.noise(dst[3*(row*side+left):3*(row+1)*side], (row-side/2)*stride)
	}
}

func (s *screen) coverImage(dst []byte, side int) {
	left, wide := side/2, side-side/2
	level := levelOf(1 / float64(wide))
	n := texels >> level
	from := s.image().levels[level]
	for row := range wide {
		line := dst[3*((left+row)*side+left):]
		for x := range wide {
			copy(line[3*x:3*x+3], from[3*(x*n/wide*n+row*n/wide):])
		}
	}
}

// coverRays draws the TV over the last rays.
func (s *screen) coverRays(rays []float32) {
	part := rays[len(rays)-tvRays*RaySize:]
	switch s.tv {
	case TVNoise, TVNoiseAction:
		var bytes [tvRays * RaySize]uint8
		s.noise(bytes[:], 0)
		for i, b := range bytes {
			part[i] = float32(b) / 255
		}
	case TVImagesAction: // like a screen in front of the eye
		means := s.image().means[3] // as many columns as rays
		for i := range tvRays {
			copy(part[i*RaySize:], means[i][:])
			part[i*RaySize+3], part[i*RaySize+4] = 1, 0
		}
	}
}
