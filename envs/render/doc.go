// Package render draws the scenes of the tasks in software: spheres, capsules,
// ellipsoids, cylinders, boxes and planes under a sky, lit by a headlight and by
// lights with shadows, at any size. It needs no graphics card and no library, and
// gives the same picture on every machine.
//
// A Scene holds everything that does not change; the frames, one for each shape, and
// the tracked point give the present positions. A Renderer draws; after the first
// picture of a size it allocates nothing.
//
// # How it looks
//
// The result looks like that of MuJoCo's own renderer (google-deepmind/mujoco:
// src/render), whose lighting is OpenGL's fixed function: ambient, diffuse and specular
// parts by Blinn and Phong are clamped for each light and then summed; planes are lit at
// the corners of their grid and interpolated; a reflecting plane adds the mirrored bodies
// without the sky. The sky is MuJoCo's gradient cube with stars. There are four
// differences: shapes are exact instead of tessellated, shadows are exact instead of a
// map, the stars are at other places, and there is no transparency.
//
// # How it works
//
// There is one ray for each pixel. Each shape is tested only where its projection can
// be, against a depth buffer. Pixels at the border of two shapes are drawn again with
// four rays, as multisampling does.
package render
