package envs

import (
	"errors"
	"fmt"
	"image"
	"time"

	"pgrlab/envs/mujoco"
	"pgrlab/envs/render"
)

// View draws the body of a task in any pose. It belongs to one goroutine, which
// need not be the goroutine of the Env whose pose it draws.
type View struct {
	task     string
	step     time.Duration
	shown    []bool // for the geoms, then for the sites
	geoms    int
	centres  map[int]render.Vec // of the boxes that are drawn in place of meshes, from the geom's own frame
	cords    []cord
	frames   []render.Frame // of the geoms and sites that are shown, then of the cords
	renderer *render.Renderer
}

// Pose appends the positions of everything that a View draws: position and orientation
// [ngeom, 12] of the geoms, positions [nsite, 3] of the sites, the centre of mass
// of the body [3]. It changes nothing.
func (e *Env) Pose(dst []float64) []float64 { return e.sim.body.pose(dst) }

func (p *physics) pose(dst []float64) []float64 {
	for i := range len(p.GeomXPos) / 3 {
		dst = append(dst, p.GeomXPos[3*i:3*i+3]...)
		dst = append(dst, p.GeomXMat[9*i:9*i+9]...)
	}
	dst = append(dst, p.SiteXPos...)
	return append(dst, p.SubtreeCoM[3:6]...) // body 0 is the world
}

// View makes a View of the task. It compiles the model once more and keeps nothing of it.
func (t Task) View() (*View, error) {
	in, err := instance()
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", t.Name, err)
	}
	v, err := t.view(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("draw %s: %w", t.Name, err)
	}
	return v, nil
}

func (t Task) view(in *mujoco.Instance) (*View, error) {
	p, err := newPhysics(in, &t)
	if err != nil {
		return nil, err
	}
	if _, err := t.bind(p); err != nil { // sets the size of targets
		return nil, err
	}
	if err := p.Forward(); err != nil {
		return nil, err
	}
	step, err := p.model.Timestep()
	if err != nil {
		return nil, err
	}
	v := &View{
		step: time.Duration(float64(t.substeps) * step * float64(time.Second)),
		task: t.Name, geoms: len(p.GeomXPos) / 3, centres: map[int]render.Vec{},
	}
	scene, err := v.scene(p)
	if err != nil {
		return nil, err
	}
	v.frames = make([]render.Frame, len(scene.Shapes))
	v.renderer = render.New(scene)
	return v, nil
}

// StepTime is the simulated time of a control step.
func (v *View) StepTime() time.Duration { return v.step }

// Draw paints a pose of an Env of the same task, w by h pixels. The picture belongs to
// the View and is valid until the next call.
func (v *View) Draw(pose []float64, w, h int) (*image.RGBA, error) {
	if want := 12*v.geoms + 3*(len(v.shown)-v.geoms) + 3; len(pose) != want {
		return nil, fmt.Errorf("draw %s: a pose of %d numbers, want %d", v.task, len(pose), want)
	}
	if w < 1 || h < 1 {
		return nil, fmt.Errorf("draw %s: %d by %d pixels", v.task, w, h)
	}
	frames, sites := v.frames[:0], pose[12*v.geoms:]
	for i, shown := range v.shown {
		mat := upright[:]
		if i < v.geoms {
			mat = pose[3:12]
		}
		if shown {
			f := frame(pose[:3], mat)
			if c, is := v.centres[len(frames)]; is {
				f.Pos = moved(f, c)
			}
			frames = append(frames, f)
		}
		if i < v.geoms {
			pose = pose[9:]
		}
		pose = pose[3:]
	}
	for i := range v.cords {
		c := &v.cords[i]
		frames = append(frames, c.span(vec(sites[3*c.from:]), vec(sites[3*c.to:])))
	}
	return v.renderer.Draw(frames, vec(pose), w, h), nil
}

var upright = [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}

// frame converts a position and an orientation, which MuJoCo stores by rows.
func frame(pos, mat []float64) render.Frame {
	return render.Frame{
		Pos: vec(pos),
		X:   render.Vec{X: mat[0], Y: mat[3], Z: mat[6]},
		Y:   render.Vec{X: mat[1], Y: mat[4], Z: mat[7]},
		Z:   render.Vec{X: mat[2], Y: mat[5], Z: mat[8]},
	}
}

// moved is a place in a frame.
func moved(f render.Frame, by render.Vec) render.Vec {
	at := func(pos, x, y, z float64) float64 { return pos + by.X*x + by.Y*y + by.Z*z }
	return render.Vec{
		X: at(f.Pos.X, f.X.X, f.Y.X, f.Z.X), Y: at(f.Pos.Y, f.X.Y, f.Y.Y, f.Z.Y), Z: at(f.Pos.Z, f.X.Z, f.Y.Z, f.Z.Z),
	}
}

func vec(x []float64) render.Vec { return render.Vec{X: x[0], Y: x[1], Z: x[2]} }
