package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"io"

	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/version"
)

// RebuildSpec says how a D_syn is made. Random numbers are indexed by sample and occasion, so
// the generator in its state at that time makes the same D_syn again, however often.
type RebuildSpec struct {
	Knobs     generative.GenKnobs
	Occasion  uint64
	Generator []byte // its state at that time: served weights, normaliser, conditions to prompt with
	SHA256    string // of the resulting D_syn, as it would be saved; "" while it is being made
}

// Remakes says whether a D_syn of a run of c can be made again later. It cannot if D_syn holds older
// generations, whose generators no longer exist, if rows have actions of the policy, which has learned since, or
// if the rows have F of that time.
func Remakes(c *config.Config) bool {
	return c.Generator.Generations() == 1 && !c.RollsOutPolicy() && !c.Explores()
}

// KeepSpec records how the generation that is about to begin is made, for checkpoints that save
// this instead of D_syn. Nothing is recorded if it cannot be made again: see Remakes.
func (o *Synthesis) KeepSpec(knobs generative.GenKnobs, occasion uint64) error {
	r := o.of
	if !Remakes(r.Config) {
		return nil
	}
	var b bytes.Buffer
	if err := r.Generator.Save(&b); err != nil {
		return err
	}
	o.FreshSpec = &RebuildSpec{Knobs: knobs, Occasion: occasion, Generator: b.Bytes()}
	return nil
}

// Of returns s with the checksum of the resulting D_syn.
func (s RebuildSpec) Of(made *replay.Ring) *RebuildSpec {
	s.SHA256 = checksum(made)
	return &s
}

func checksum(made *replay.Ring) string {
	sum := sha256.New()
	if made.Save(sum) != nil { // a hash takes everything
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Save writes s.
func (s *RebuildSpec) Save(w io.Writer) error { return gob.NewEncoder(w).Encode(s) }

// ReadRebuildSpec reads what Save wrote. It reads everything before it decodes.
func ReadRebuildSpec(from io.Reader) (*RebuildSpec, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	s := &RebuildSpec{}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(s); err != nil {
		return nil, version.ErrOther
	}
	return s, nil
}

// Rebuild makes D_syn again as s says, in the ring that Restore has made for it; same says
// whether it is what it was.
func (o *Synthesis) Rebuild(s *RebuildSpec) (same bool, err error) {
	kept := o.Kept()
	if err := o.follow(s, kept, -1); err != nil {
		return false, err
	}
	o.Spec = s
	return checksum(kept) == s.SHA256, nil
}

// RebuildFresh makes again what was being generated, with as many calls of the generator as
// had been made.
func (o *Synthesis) RebuildFresh(s *RebuildSpec, calls int) error {
	if err := o.follow(s, o.Fresh, calls); err != nil {
		return err
	}
	o.FreshSpec = s
	return nil
}

// follow fills ring as s says, with that many calls of a separate generator, because the
// replica's own is further; negative: to the end.
func (o *Synthesis) follow(s *RebuildSpec, ring *replay.Ring, calls int) error {
	r := o.of
	g, err := r.Parts.Generator(r.Rolled(), r.Seed)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.Load(bytes.NewReader(s.Generator), r.Real); err != nil {
		return err
	}
	if err := g.StartGenerate(s.Knobs, s.Occasion); err != nil {
		return err
	}
	for made := 0; calls < 0 || made < calls; {
		rows, done, total, err := g.GenerateSlice()
		if err != nil {
			return err
		}
		made += generative.CallsMade(g) // several in a slice on a device that makes them together
		ring.AddRows(rows)
		if done == total {
			return nil
		}
	}
	return nil
}
