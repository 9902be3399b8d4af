package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io"

	"pgrlab/core/generative"
	"pgrlab/core/replay"
)

// RebuildSpec is how a D_syn is made: random numbers are indexed by sample and occasion,
// so the generator as it was before makes the same one again, however often.
type RebuildSpec struct {
	Knobs     generative.GenKnobs
	Occasion  uint64
	Generator []byte // its state before: served weights, normaliser, conditions to prompt with
	SHA256    string // of the D_syn that came of it, as it would be saved; "" while it is being made
}

// KeepSpec keeps how the generation that is about to begin is made, for those who save that
// instead of D_syn. Of older generations that D_syn holds there is no generator any more:
// where it has some, nothing is kept.
func (r *Replica) KeepSpec(knobs generative.GenKnobs, occasion uint64) error {
	if r.Config.Generator.Generations() > 1 {
		return nil
	}
	var b bytes.Buffer
	if err := r.Generator.Save(&b); err != nil {
		return err
	}
	r.FreshSpec = &RebuildSpec{Knobs: knobs, Occasion: occasion, Generator: b.Bytes()}
	return nil
}

// Of is s with the checksum of what came of it.
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

// Save writes it.
func (s *RebuildSpec) Save(w io.Writer) error { return gob.NewEncoder(w).Encode(s) }

// ReadRebuildSpec reads what Save wrote, whole before it is used.
func ReadRebuildSpec(from io.Reader) (*RebuildSpec, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	s := &RebuildSpec{}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(s); err != nil {
		return nil, errors.New("its recipe cannot be read, or is of another version")
	}
	return s, nil
}

// Rebuild makes D_syn again as s says, which Restore has made room for; same says whether it
// is what it was.
func (r *Replica) Rebuild(s *RebuildSpec) (same bool, err error) {
	if err := r.follow(s, r.Synthetic, -1); err != nil {
		return false, err
	}
	r.Spec = s
	return checksum(r.Synthetic) == s.SHA256, nil
}

// RebuildFresh makes again what was being generated, with as many calls of the generator as
// had been made.
func (r *Replica) RebuildFresh(s *RebuildSpec, calls int) error {
	if err := r.follow(s, r.Fresh, calls); err != nil {
		return err
	}
	r.FreshSpec = s
	return nil
}

// follow fills ring as s says, with so many calls of a generator of its own, for the
// replica's is further; negative: to the end.
func (r *Replica) follow(s *RebuildSpec, ring *replay.Ring, calls int) error {
	g, err := r.Parts.Generator(r.Agent, r.Seed)
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
	for n := 0; n != calls; n++ {
		rows, done, total, err := g.GenerateSlice()
		if err != nil {
			return err
		}
		ring.AddRows(rows)
		if done == total {
			return nil
		}
	}
	return nil
}
