package mujoco

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// scene names a file of every kind: an include, meshes of both formats, a texture and a height field.
var scene = map[string]string{
	"scene.xml": `<mujoco>
  <size memory="1M"/>
  <compiler meshdir="meshes" texturedir="pictures"/>
  <include file="parts/arm.xml"/>
  <asset>
    <mesh name="stl" file="wedge.stl"/>
    <mesh name="obj" file="./wedge.obj"/>
    <texture name="grid" type="2d" file="grid.png"/>
    <material name="grid" texture="grid"/>
    <hfield name="hills" file="../pictures/hills.png" size="2 2 .1 .1"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="hills" material="grid"/>
    <body pos="0 0 .5"><freejoint/><geom type="mesh" mesh="stl"/></body>
    <body pos="0 1 .5"><freejoint/><geom type="mesh" mesh="obj"/></body>
  </worldbody>
</mujoco>`,
	"parts/arm.xml": `<mujoco>
  <worldbody>
    <body name="arm" pos="0 -1 1"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/></body>
  </worldbody>
  <actuator><motor name="shoulder" joint="shoulder"/></actuator>
</mujoco>`,
	"meshes/wedge.stl":   wedgeSTL(),
	"meshes/wedge.obj":   "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
	"pictures/grid.png":  picture(4),
	"pictures/hills.png": picture(8),
}

// wedgeSTL is a tetrahedron as a binary STL: 80 bytes of title, the number of triangles, and for each
// its normal, three corners and two bytes.
func wedgeSTL() string {
	corners := [][3]float32{{0, 0, 0}, {.1, 0, 0}, {0, .1, 0}, {0, 0, .1}}
	var b bytes.Buffer
	b.Write(make([]byte, 80))
	binary.Write(&b, binary.LittleEndian, uint32(4))
	for _, face := range [][3]int{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}} {
		binary.Write(&b, binary.LittleEndian, [3]float32{})
		for _, i := range face {
			binary.Write(&b, binary.LittleEndian, corners[i])
		}
		b.Write([]byte{0, 0})
	}
	return b.String()
}

func picture(side int) string {
	p := image.NewGray(image.Rect(0, 0, side, side))
	for i := range p.Pix {
		p.SetGray(i%side, i/side, color.Gray{uint8(8 * (i%side + i/side))})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err)
	}
	return b.String()
}

// from reads a map of files.
func from(files map[string]string) Reader {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

// with is the scene with another file.
func with(name, text string) map[string]string {
	files := map[string]string{name: text}
	for n, t := range scene {
		if n != name {
			files[n] = t
		}
	}
	return files
}

func TestModelOfFiles(t *testing.T) {
	in := instance(t)
	var read []string
	m, err := in.ModelFile(context.Background(), "scene.xml", func(name string) ([]byte, error) {
		read = append(read, name)
		return from(scene)(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(read)
	if want := slices.Sorted(maps.Keys(scene)); !slices.Equal(slices.Compact(read), want) {
		t.Errorf("files %v, want %v", read, want)
	}
	for name, want := range map[string]int{"nmesh": 2, "nhfielddata": 64, "ntexdata": 16 * 3, "nu": 1} {
		if n, err := m.Int(name); err != nil || n != want {
			t.Errorf("%s is %d (%v), want %d", name, n, err, want)
		}
	}
	d, err := m.Data()
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if stl, obj := d.QPos[3], d.QPos[10]; d.Warning() != "" || min(stl, obj) < 0 || max(stl, obj) > .3 {
		t.Errorf("the meshes fell to heights %v, %v (%s), want them on the height field", stl, obj, d.Warning())
	}
	if len(in.files.open) != 0 {
		t.Error("files can still be opened after the compilation")
	}
}

// A file that cannot be read is named, whatever the engine says about it; none is asked for that is
// not below the model's folder.
func TestFilesThatAModelCannotHave(t *testing.T) {
	in := instance(t)
	for _, c := range []struct{ text, want string }{
		{`<include file="../x.xml"/>`, "read ../x.xml: it is not below"},
		{`<include file="parts/../../x.xml"/>`, "read ../x.xml: it is not below"},
		{`<include file="/etc/passwd"/>`, "read /etc/passwd: it is not below"},
		{`<include file="nothing.xml"/>`, "read nothing.xml: file does not exist"},
		{`<compiler meshdir="/etc"/><asset><mesh file="a.stl"/></asset>`, "read /etc/a.stl: it is not below"},
		{`<compiler assetdir="../.."/><asset><texture type="2d" file="a.png"/></asset>`, "read ../../a.png: it is not below"},
		{`<asset><mesh file="C:\a.stl"/></asset>`, `read C:\a.stl: it is not below`},
		{`<asset><mesh file="http://a.example/a.stl"/></asset>`, "read http://a.example/a.stl: it is not below"},
		{`<asset><hfield name="a" file="nothing.png" size="1 1 1 1"/></asset>`, "read nothing.png: file does not exist"},
		{`<asset><skin file="nothing.skn"/></asset>`, "read nothing.skn: file does not exist"},
		{`<asset><model name="a" file="nothing.xml"/></asset>`, "read nothing.xml: file does not exist"},
		{`<include file="scene.xml"/>`, "already included"},
		{`<extension><plugin plugin="mujoco.pid"/></extension>`, "plugin mujoco.pid not found"},
		{`<worldbody>` + strings.Repeat("<body>", 10000), "Element nesting is too deep"},
		{`<worldbody><geom `, "XML parse error"},
	} {
		read := from(with("scene.xml", "<mujoco>"+c.text+"</mujoco>"))
		_, err := in.ModelFile(context.Background(), "scene.xml", func(name string) ([]byte, error) {
			if !fs.ValidPath(name) {
				t.Errorf("%s: asked for %s", c.text, name)
			}
			return read(name)
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80s: %v, want %s", c.text, err, c.want)
		}
		if failed := (*FileError)(nil); errors.As(err, &failed) != strings.HasPrefix(c.want, "read ") {
			t.Errorf("%.80s: %v", c.text, err)
		}
	}
	if _, err := in.ModelFile(context.Background(), "scene.xml", from(scene)); err != nil {
		t.Errorf("after the refusals: %v", err)
	}
}

// A model that would take hours to compile ends with the context, and the instance goes on.
func TestCompilationEndsWithTheContext(t *testing.T) {
	in := instance(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	text := `<mujoco><include file="part.xml"/><worldbody><replicate count="1000000"><geom size="1"/></replicate></worldbody></mujoco>`
	_, err := in.ModelFile(ctx, "scene.xml", func(name string) ([]byte, error) {
		if name == "part.xml" {
			cancel(errors.New("that is enough"))
			text = scene["parts/arm.xml"]
		}
		return []byte(text), nil
	})
	if err == nil || err.Error() != "compile model: that is enough" {
		t.Errorf("%v", err)
	}
	if _, err := in.ModelFile(context.Background(), "scene.xml", from(scene)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
