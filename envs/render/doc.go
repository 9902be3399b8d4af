// Package render draws the scenes of the tasks in software: spheres, capsules,
// ellipsoids, cylinders, boxes and planes under a sky, lit by a headlight and by
// lights with shadows, at any size. It needs no graphics card and no library, and
// gives the same picture on every machine.
//
// A Scene says what stays as it is; frames, one for each shape, and the tracked
// point say where everything is at the moment. A Renderer draws; after the first
// picture of a size it allocates nothing.
//
// # How it looks
//
// Like MuJoCo's own renderer (google-deepmind/mujoco: src/render), whose lighting
// is OpenGL's fixed function: for each light ambient, diffuse and specular parts
// by Blinn and Phong, clamped for each light, then summed; planes are lit at the
// corners of their grid and interpolated; a reflecting plane adds the mirrored
// bodies without the sky. The sky is its gradient cube with its stars. What
// differs: shapes are exact instead of tessellated, shadows are exact instead of
// a map, the stars stand elsewhere, and there is no transparency.
//
// # How it works
//
// One ray a pixel. Each shape is tried only where its projection can be, against
// a depth buffer. Pixels at the border of two shapes are drawn again with four
// rays, as multisampling does.
package render
