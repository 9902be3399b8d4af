package render

// Kind is the form of a shape.
type Kind int

// The forms and the meaning of Size. All are centred on their frame.
const (
	Plane     Kind = iota // z = 0, half-lengths X and Y; Z: spacing of the grid at which it is lit
	Sphere                // radius X
	Capsule               // radius X, half-length Y of the cylinder along z
	Ellipsoid             // half-axes
	Cylinder              // radius X, half-length Y along z
	Box                   // half-lengths
)

// Shape is a body of the scene.
type Shape struct {
	Kind    Kind
	Size    Vec
	Colour  Vec
	Checker bool // a plane with squares of 1 m, the scene's only reflecting one
}

// Camera looks from a place in a direction that never changes.
type Camera struct {
	Pos    Vec // relative to the tracked point if Tracks is set
	Right  Vec
	Up     Vec // orthogonal to Right, both of length 1
	Tracks bool
	FovY   float64 // radians, along the shorter side of the picture
}

// Light is a light with shadows: a spotlight, or one from afar.
type Light struct {
	Pos      Vec // relative to the tracked point if Tracks is set
	Tracks   bool
	Far      bool    // parallel rays, straight down
	Diffuse  float64 // white
	Specular float64
}

// Scene holds everything that does not change from picture to picture.
type Scene struct {
	Shapes []Shape
	Camera Camera
	Lights []Light
}

// Colours of dm_control/suite/common/materials.xml.
var (
	Self       = Vec{.7, .5, .3} // a body
	Effector   = Vec{.7, .4, .2} // its end, or a thing it handles
	Decoration = Vec{.3, .5, .7}
	Eye        = Vec{0, .2, 1}
	Target     = Vec{.6, .3, .3}

	checkerDark  = Vec{.1, .2, .3}
	checkerLight = Vec{.2, .3, .4}
)

// Numbers of dm_control/suite/common (materials.xml, visual.xml) and of MuJoCo's
// defaults for materials and lights.
const (
	headAmbient  = .4
	headDiffuse  = .8
	headSpecular = .1

	materialSpecular  = .5
	materialShininess = 64 // .5 · 128
	checkerReflects   = .2

	spotCosine   = 0.7071067811865476 // cosine of 45°, where the cone ends
	spotExponent = 10

	checkerMark = 2. / 300 // m, one texel on either side of every second line
)
