package theme

import (
	"image/color"
	"math"
)

// ramp are colours of growing lightness and one hue, which no task uses; people with colour
// blindness can tell them apart by the lightness.
var ramp = [5]color.RGBA{{64, 0, 60, 255}, {142, 42, 124, 255}, {204, 79, 176, 255}, {240, 154, 220, 255}, {255, 230, 250, 255}}

// RampAt is the ramp's colour for a share from 0 to 1, for pictures.
func RampAt(share float64) color.RGBA {
	at := math.Max(0, math.Min(1, share)) * float64(len(ramp)-1)
	i := min(int(at), len(ramp)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return color.RGBA{mix(ramp[i].R, ramp[i+1].R), mix(ramp[i].G, ramp[i+1].G), mix(ramp[i].B, ramp[i+1].B), 255}
}
