package report

// Change is a change of a knob during a run.
type Change struct {
	Position string `json:"position"`
	Knob     string `json:"knob"`
	From     string `json:"from"`
	To       string `json:"to"`
	Now      bool   `json:"now,omitempty"` // everything that depends on the knob was redone at once
	By       string `json:"by,omitempty"`
	// Forked says that the change was made where the run was forked off another one.
	Forked bool `json:"forked,omitempty"`
	// Cancelled says that this change was cancelled, which the configuration plans; it was not made.
	Cancelled bool `json:"cancelled,omitempty"`

	remakes bool // something was made again for it at once
}

// ofBatches is the class of knobs that the next update uses: for these nothing is made again.
const ofBatches = "batch"

// bySchedule is Change.By of the changes that the configuration of a run plans.
const bySchedule = "schedule"

// ByHand says whether the knob was turned by hand during the run.
func (c Change) ByHand() bool { return c.By != bySchedule }

// String returns the change in the format of --at: "10000:guidance=3!", or "cancelled:10000:guidance=3!"
// if it was not made.
func (c Change) String() string {
	if c.Cancelled {
		return "cancelled:" + c.Position + ":" + c.assigned()
	}
	return c.Position + ":" + c.assigned()
}

// assigned returns the change without its position: "guidance=3!".
func (c Change) assigned() string {
	if c.Now {
		return c.Knob + "=" + c.To + "!"
	}
	return c.Knob + "=" + c.To
}
