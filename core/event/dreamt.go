package event

// Dreams asks for so many synthetic rows of latents, each beside the real frames nearest to
// it. The answer is Snapshot.Dreamt, some slices later; while its Left is not 0 another
// Dreams goes on with it. Nothing of a run depends on it.
type Dreams struct{ Rows int }

func (Dreams) command() {}

// MostDreams is how many rows a Dreams may ask for.
const MostDreams = 32

// Dreamt are rows of D_syn in the latent space of frames, sorted by Order from the largest
// on: of Looked rows, spread evenly over the buffer, the first, the last, and others at even
// distances of their rank.
type Dreamt struct {
	Step      int    // when they were scored
	Order     string // DreamsByF, DreamsByAsked or DreamsByReturn
	Relevance string // the F; "none": there is none
	Looked    int    // rows of D_syn that were sorted
	Real      int    // rows of D_real that the nearest was looked for among
	// Usual is the median of the same distance between a real latent and the nearest other
	// one; NaN: not known yet.
	Usual   float64
	Side    int // of the frames
	Rows    []Dream
	Left    int    // rows that are not found yet; they are not among Rows
	Unknown string // why there are none
}

// The orders of a Dreamt.
const (
	DreamsByF      = "F"       // F of the row
	DreamsByAsked  = "asked F" // that it was asked for with, where F sees frames
	DreamsByReturn = "R"       // the reward of its n env steps, without F
)

// Dream is a synthetic row.
type Dream struct {
	Rank    int     // among those that were sorted, from 0
	F       float64 // as Dreamt.Order says; NaN: unknown
	Return  float64
	Z, Next NearestFrame
}

// NearestFrame is the real observation whose latent is nearest to one that was generated.
type NearestFrame struct {
	// Distance is ‖z − z_real‖ over all dimensions; NaN: the latent is not finite.
	Distance float64
	// Frame is the newest of its frames, [Side,Side,3] bytes; nil where it was forgotten.
	Frame []byte
}
