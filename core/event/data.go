package event

import (
	"fmt"

	"pgrlab/core/knob"
)

// Data is a file of recorded transitions that the run begins with.
type Data struct {
	File     string `json:"file"`   // without the folder
	Format   string `json:"format"` // npz, D4RL, Minari or robomimic
	SHA256   string `json:"sha256"`
	Rows     int    `json:"rows"`     // that are used
	Episodes int    `json:"episodes"` // in the file
	Dropped  int    `json:"dropped"`  // rows without a next observation of their own, or with numbers that are not finite
	Mode     string `json:"mode"`     // seed: the oldest rows of D_real; pinned: kept apart
}

// Text is the line for people.
func (d Data) Text() string {
	text := fmt.Sprintf("%s, %s: %s rows of %s episodes", d.File, d.Mode, knob.FormatCount(d.Rows), knob.FormatCount(d.Episodes))
	if d.Dropped > 0 {
		text += fmt.Sprintf(", %s dropped", knob.FormatCount(d.Dropped))
	}
	return text
}
