package replica

import (
	"fmt"

	"pgrlab/core/replay"
)

// Rolling says whether D_syn is mixed: rows of the generation under way are in force over the oldest
// ones of the D_syn before it.
func (o *Synthesis) Rolling() bool { return o.inForce > 0 }

// Pending is how many rows of the generation under way are made and not in force.
func (o *Synthesis) Pending() int {
	if o.Fresh == nil {
		return 0
	}
	return o.Fresh.Len() - o.inForce
}

// Whole says whether the generation under way has made all its rows.
func (o *Synthesis) Whole() bool { return o.generated }

// Share is the share of a mixed D_syn that its newest generation has made; 0: D_syn is whole. It stays if
// the rest of that generation is not made.
func (o *Synthesis) Share() float64 { return o.share }

// FinishChunk puts the rows into force that the generation under way has made, over the oldest ones of
// D_syn. A D_syn that is in use is not written to: work that takes longer than an env step looks at it.
func (o *Synthesis) FinishChunk() {
	if !o.Rolling() {
		o.before = o.of.Synthetic
	}
	o.inForce = o.Fresh.Len()
	o.of.Synthetic = Mixed(o.before, o.Fresh, o.inForce)
	o.share = float64(o.inForce) / float64(o.of.Synthetic.Len())
}

// Mixed returns the newest rows of before and, after these, of the first n of fresh, as many as fresh has
// room for.
func Mixed(before, fresh *replay.Ring, n int) *replay.Ring {
	all := replay.NewRing(fresh.Shape(), fresh.Cap())
	for _, slot := range before.Oldest(0, before.Len()) {
		all.AddFrom(before, slot)
	}
	for slot := range n {
		all.AddFrom(fresh, slot)
	}
	return all
}

// Kept is D_syn as checkpoints have it; nil: there is none. One that is mixed is saved as the parts that it
// is mixed from.
func (o *Synthesis) Kept() *replay.Ring {
	if o.Rolling() {
		return o.before
	}
	return o.of.Synthetic
}

// Loaded mixes D_syn again once its parts are loaded.
func (o *Synthesis) Loaded() error {
	if !o.Rolling() {
		return nil
	}
	if o.Fresh == nil || o.before == nil || o.inForce > o.Fresh.Len() || o.before.Len() == 0 {
		return fmt.Errorf("%d rows of a generation are in force that was not saved", o.inForce)
	}
	o.of.Synthetic = Mixed(o.before, o.Fresh, o.inForce)
	return nil
}

// stop leaves D_syn as it is, mixed or not, for good.
func (o *Synthesis) stop() {
	if o.Rolling() {
		o.before, o.inForce, o.Spec = nil, 0, nil // no recipe makes a mixture
	}
}
