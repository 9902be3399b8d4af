package event

// Dreams asks for Rows synthetic rows: of latents, each beside the real frames nearest to
// it; of states, each beside what the task makes of its s and a. The answer is Snapshot.Dreamt, some slices later; while its Left is not 0, another
// Dreams continues it. Nothing in a run depends on it.
type Dreams struct{ Rows int }

func (Dreams) command() {}

// MostDreams is how many rows a Dreams may ask for.
const MostDreams = 32

// Dreamt holds rows of D_syn. Looked rows, spread evenly over the buffer, are sorted by Order in descending order; the first, the last, and rows at even
// distances of rank between them are shown.
type Dreamt struct {
	Step      int     // when they were scored
	Order     string  // DreamsByF, DreamsByAsked or DreamsByReturn
	Relevance string  // name of F; "none" if there is none
	Looked    int     // rows of D_syn that were sorted
	Mixed     float64 // share of a mixed D_syn that its newest generation has made; 0: D_syn is whole
	Real      int     // rows of D_real that were searched for the nearest
	// Usual is the median distance between a real latent and the nearest other real one;
	// NaN if it is not known yet.
	Usual   float64
	Side    int // of the frames; 0: the rows are of states
	Rows    []Dream
	Left    int    // rows that are not found yet; they are not in Rows
	Unknown string // why there are no rows
}

// The values of Dreamt.Order.
const (
	DreamsByF      = "F"       // F of the row
	DreamsByAsked  = "asked F" // the F in the row's prompt, where F sees frames
	DreamsByReturn = "R"       // the reward of the row's n env steps, without F
)

// Dream is a synthetic row.
type Dream struct {
	Rank    int     // among the sorted rows, from 0
	F       float64 // chosen by Dreamt.Order; NaN if unknown
	Return  float64
	Z, Next NearestFrame
	Truth   *Truth // of a row of states; nil: it is of latents
}

// Truth is a synthetic row of states beside what the task makes of its s and a.
type Truth struct {
	State, Action []float32 // s and a, as generated
	Predicted     []float32 // s′ as generated
	True          []float32 // s′ of the task; nil: it cannot be set to s
	Reward        float64   // of the task; NaN if unknown
	// Errors are Predicted − True of each number, in standard deviations of s′ − s over D_real; NaN for a
	// number that does not change there. nil: the truth is unknown.
	Errors []float64
	// Off is the root mean square of Errors; NaN if unknown. The best guess that looks at neither s
	// nor a is off by 1 on rows that are spread like real ones.
	Off float64
	// Poses are those of s, of s′ as generated, and of s′ of the task; nil: there is no such pose.
	Poses [3][]float64
}

// NearestFrame is the real observation whose latent is nearest to a generated one.
type NearestFrame struct {
	// Distance is ‖z − z_real‖ over all dimensions; NaN if the latent is not finite.
	Distance float64
	// Frame is its newest frame, [Side,Side,3] bytes; nil if the buffer has dropped it.
	Frame []byte
}
