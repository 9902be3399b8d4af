package taskfile

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// A model without a camera is seen from the side, a mesh as its box, and a texture as its average
// colour.
func TestPicturesOfOwnModels(t *testing.T) {
	file := pole(t,
		[3]string{"pole.xml", "<worldbody>", `<asset>
			<mesh name="wedge" file="wedge.obj"/>
			<texture name="ink" type="2d" file="ink.png"/><material name="ink" texture="ink"/>
		</asset><worldbody>`},
		[3]string{"pole.xml", `<geom type="box" size=".2 .15 .1" rgba=".7 .5 .3 1"`, `<geom type="mesh" mesh="wedge" material="ink"`},
	)
	dir := filepath.Dir(file)
	put(t, filepath.Join(dir, "wedge.obj"), "v 0 -.3 0\nv .6 -.3 0\nv 0 .3 0\nv 0 -.3 .5\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
	ink := image.NewRGBA(image.Rect(0, 0, 2, 2))
	for i := range 4 {
		ink.Set(i%2, i/2, color.RGBA{uint8(200 * (i % 2)), uint8(255 * (i / 2)), 0, 255}) // half of the green, 100 of the red
	}
	out, err := os.Create(filepath.Join(dir, "ink.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(out, ink); err != nil {
		t.Fatal(err)
	}
	out.Close()
	f := load(t, file)
	if f.boxes != 1 || f.Task.Camera() != "side" {
		t.Errorf("%d boxes, seen from %s", f.boxes, f.Task.Camera())
	}
	view, err := f.Task.View()
	if err != nil {
		t.Fatal(err)
	}
	env, err := f.Task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if err := env.Reset(0, make([]float32, env.ObsSize())); err != nil {
		t.Fatal(err)
	}
	picture, err := view.Draw(env.Pose(nil), 120, 90)
	if err != nil {
		t.Fatal(err)
	}
	inked := 0
	for i := range 120 * 90 {
		c := picture.RGBAAt(i%120, i/120)
		if c.B < c.R/3 && c.R > 40 && c.G > c.R && c.G < 2*c.R {
			inked++
		}
	}
	if inked < 100 {
		t.Errorf("%d pixels have the colour of the mesh", inked)
	}
}
