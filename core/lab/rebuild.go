package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// rebuildSpec is how a D_syn is made: random numbers are indexed by sample and occasion,
// so the generator as it was before makes the same one again, however often.
type rebuildSpec struct {
	Knobs     generative.GenKnobs
	Occasion  uint64
	Generator []byte // its state before: served weights, normaliser, conditions to prompt with
	SHA256    string // of the D_syn that came of it, as it would be saved; "" while it is being made
}

// rebuildSuffix is how the names end of data that is the recipe of what they name.
const rebuildSuffix = "-recipe"

// rebuildOf is the recipe of the generation that m is about to begin; nil where
// D_syn is saved as it is.
func (x *experiment) rebuildOf(m *member, knobs generative.GenKnobs) (*rebuildSpec, error) {
	if !x.checkpoints.lean() || x.config.Generator.Generations() > 1 {
		return nil, nil // of older generations D_syn holds, there is no generator any more
	}
	var b bytes.Buffer
	if err := m.gen.Save(&b); err != nil {
		return nil, err
	}
	return &rebuildSpec{Knobs: knobs, Occasion: x.synthesis.Generations, Generator: b.Bytes()}, nil
}

// of is the recipe with the checksum of what came of it.
func (r rebuildSpec) of(made *replay.Ring) *rebuildSpec {
	r.SHA256 = checksum(made)
	return &r
}

func checksum(r *replay.Ring) string {
	sum := sha256.New()
	if r.Save(sum) != nil { // a hash takes everything
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (r *rebuildSpec) save(w io.Writer) error { return gob.NewEncoder(w).Encode(r) }

// remake makes the D_syn of that name from its recipe in the run folder dir, or the
// one that is being generated as far as it was.
func (x *experiment) remake(name string, d run.Data, dir string) error {
	m, ring, calls := x.remade(name)
	if m == nil {
		return errors.New("a recipe is there, and nothing to make from it")
	}
	from, err := d.Open(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	text, err := io.ReadAll(from) // whole and verified before it is used
	if err != nil {
		return err
	}
	r := &rebuildSpec{}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(r); err != nil {
		return errors.New("its recipe cannot be read, or is of another version")
	}
	if x.tell != nil {
		x.tell(fmt.Sprintf("makes %s synthetic transitions again: they were saved as their recipe", knob.FormatCount(r.Knobs.Samples)))
	}
	if err := x.follow(m, r, ring, calls); err != nil {
		return fmt.Errorf("make it again from its recipe: %w", err)
	}
	if ring == m.fresh {
		m.freshRebuild = r
		return nil
	}
	m.rebuild = r
	if checksum(ring) != r.SHA256 {
		x.remarks = append(x.remarks, "D_syn made again from its recipe is not what it was: from here on the run may differ from one without a break")
	}
	return nil
}

// remade finds what a recipe of that name is for, and how many calls of the generator
// it is to be followed; negative: to the end.
func (x *experiment) remade(name string) (m *member, ring *replay.Ring, calls int) {
	for _, m := range x.members {
		switch {
		case name == m.named(sectionSynthetic) && m.synthetic != nil:
			return m, m.synthetic, -1
		case name == m.named(sectionFresh) && m.fresh != nil:
			return m, m.fresh, x.position.I
		}
	}
	return nil, nil, 0
}

// follow fills ring as r says, with a generator of its own: the member's is further.
func (x *experiment) follow(m *member, r *rebuildSpec, ring *replay.Ring, calls int) error {
	g, err := x.parts.generator(m.agent, m.seed)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.Load(bytes.NewReader(r.Generator), m.real); err != nil {
		return err
	}
	if err := g.StartGenerate(r.Knobs, r.Occasion); err != nil {
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
